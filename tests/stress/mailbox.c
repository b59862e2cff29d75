/* Eight threads post, one takes, then it is closed under them: no message is lost, doubled
 * or out of its sender's order. */
#undef NDEBUG
#include <assert.h>
#include <sched.h>
#include <stdio.h>

#include "base/mailbox.h"

#define SENDERS 8
#define EACH 20000

struct message {
	uint32_t sender, number;
};

struct sender {
	pthread_t thread;
	struct mailbox *to;
	uint32_t id, posted;
};

static void *send_all(void *arg)
{
	struct sender *s = arg;

	while (s->posted < EACH) {
		struct message m = { s->id, s->posted };
		int r = mailbox_post(s->to, &m, 0);

		if (r == -ESHUTDOWN)
			break;
		assert(r == 0 || r == -EAGAIN);
		if (r == 0)
			s->posted++;
		else
			sched_yield();
	}
	return NULL;
}

/* Take until `stop` messages have come; 0: until it is closed and empty. */
static uint32_t receive(struct mailbox *from, uint32_t next[SENDERS], uint32_t stop)
{
	struct message got[64];
	uint32_t sum = 0;
	size_t n;

	while ((stop == 0 || sum < stop) &&
	       (n = mailbox_take(from, got, DL_COUNT(got), UINT64_MAX)) > 0) {
		for (size_t i = 0; i < n; i++) {
			assert(got[i].sender < SENDERS);
			assert(got[i].number == next[got[i].sender]);
			next[got[i].sender]++;
		}
		sum += (uint32_t)n;
	}
	return sum;
}

static void run(size_t limit, uint32_t close_after)
{
	struct sender senders[SENDERS];
	uint32_t next[SENDERS] = { 0 }, posted = 0, received;
	struct mailbox *m;

	assert(mailbox_new(sizeof(struct message), limit, &m) == 0);
	for (uint32_t i = 0; i < SENDERS; i++) {
		senders[i] = (struct sender){ .to = m, .id = i };
		assert(pthread_create(&senders[i].thread, NULL, send_all, &senders[i]) == 0);
	}
	received = receive(m, next, close_after);
	mailbox_close(m);
	received += receive(m, next, 0);
	for (uint32_t i = 0; i < SENDERS; i++) {
		assert(pthread_join(senders[i].thread, NULL) == 0);
		assert(senders[i].posted == next[i]);
		posted += senders[i].posted;
	}
	assert(received == posted);
	assert(received >= close_after);
	mailbox_free(m);
}

int main(void)
{
	run(1000000, SENDERS * EACH);
	run(7, SENDERS * EACH / 16);
	run(64, 1000);
	puts("nothing lost");
	return 0;
}
