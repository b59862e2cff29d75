#include "fs/announce.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/mailbox.h"

#define DELAY_NS (5 * CLOCK_MS)
#define BATCH 512
#define WAITING_MAX (1u << 24)

struct reply {
	sample_id id;
	uint32_t since_ms;             /* clock_now() in ms, the low 32 bits */
};

struct announce {
	struct serve *serve;
	struct mailbox *replies;
	pthread_t thread;
};

static uint32_t now_ms(void)
{
	return (uint32_t)(clock_now() / CLOCK_MS);
}

static void sleep_until_old(uint32_t since_ms)
{
	uint32_t age = now_ms() - since_ms;

	if (age <= DELAY_NS / CLOCK_MS)
		usleep((useconds_t)((DELAY_NS / CLOCK_MS + 1 - age) * 1000));
}

static void *announce_main(void *arg)
{
	struct announce *a = arg;
	struct reply replies[BATCH];
	size_t count;

	while ((count = mailbox_take(a->replies, replies, BATCH, UINT64_MAX)) > 0) {
		sleep_until_old(replies[count - 1].since_ms);
		for (size_t i = 0; i < count; i++)
			engine_known(a->serve->engine, replies[i].id);
	}
	return NULL;
}

int announce_start(struct serve *s, struct announce **ret)
{
	struct announce *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return -ENOMEM;
	a->serve = s;
	r = mailbox_new(sizeof(struct reply), WAITING_MAX, &a->replies);
	if (r == 0)
		r = -pthread_create(&a->thread, NULL, announce_main, a);
	if (r < 0) {
		mailbox_free(a->replies);
		free(a);
		return r;
	}
	*ret = a;
	return 0;
}

void announce_stop(struct announce *a)
{
	if (!a)
		return;
	mailbox_close(a->replies);
	pthread_join(a->thread, NULL);
}

void announce_free(struct announce *a)
{
	if (!a)
		return;
	mailbox_free(a->replies);
	free(a);
}

void announce_reply(struct announce *a, sample_id id)
{
	struct reply r = { .id = id, .since_ms = now_ms() };

	/* Lost only without memory or beyond 2^24 waiting ones: such a sample stays in memory
	 * until it is looked up again. */
	int lost = mailbox_post(a->replies, &r, 0);

	(void)lost;
}
