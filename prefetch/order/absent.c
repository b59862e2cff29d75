#include "prefetch/order/absent.h"

#include "base/clock.h"

#define BITS 64
#define ABSENT_OPENS 64u               /* of each rank, on average, and ... */
#define ABSENT_NS (2 * CLOCK_S)

static uint64_t *new_bits(uint32_t count)
{
	return calloc(count / BITS + 1, sizeof(uint64_t));
}

static bool bit(const uint64_t *bits, uint32_t i)
{
	return bits && bits[i / BITS] >> (i % BITS) & 1;
}

static void set(uint64_t *bits, uint32_t i)
{
	bits[i / BITS] |= UINT64_C(1) << (i % BITS);
}

int absent_init(struct follow *f)
{
	uint32_t step = f->course.sequence->step;

	if (step == 1)
		return 0;
	f->ranks = calloc(step, sizeof(*f->ranks));
	f->course.absent = f->absent = new_bits(step);
	return f->ranks && f->absent ? 0 : -ENOMEM;
}

void absent_fini(struct follow *f)
{
	free(f->lost);
	free(f->absent);
	free(f->ranks);
}

int absent_over(struct follow *f, struct list *list)
{
	const struct sequence *q = f->course.sequence;
	uint64_t *lost = list_lost(list) ? new_bits(q->length) : NULL;

	if (!lost && list_lost(list))
		return -ENOMEM;
	f->lost_count = 0;
	for (uint32_t p = 0; lost && p < q->length; p++)
		if (list_lost_at(list, q->at[p])) {
			set(lost, p);
			f->lost_count += !bit(f->opened, p);
		}
	free(f->lost);
	f->course.lost = f->lost = lost;
	return 0;
}

bool absent_lost(const struct follow *f, uint32_t position)
{
	return bit(f->lost, position);
}

bool absent_at(const struct follow *f, uint32_t position)
{
	return absent_lost(f, position) || bit(f->absent, position % f->course.sequence->step);
}

void absent_greet(struct follow *f, uint32_t position, uint64_t now)
{
	uint32_t rank = position % f->course.sequence->step;

	if (!f->ranks)
		return;
	f->ranks[rank] = (struct rank){ now, f->taken };
	f->absent[rank / BITS] &= ~(UINT64_C(1) << (rank % BITS));
	if (f->since.opened == 0)
		f->since = f->ranks[rank];
}

/* A world was told, and not which of its ranks read here; or some of them have ended.  Where that
 * is wrong, of one that waited for long, it costs him what he opens until he is seen. */
void absent_opened(struct follow *f, uint32_t position, uint64_t now)
{
	uint32_t step = f->course.sequence->step;

	absent_greet(f, position, now);
	if (++f->taken % step != 0)
		return;
	for (uint32_t i = 0; f->ranks && i < step; i++) {
		const struct rank *last = f->ranks[i].opened ? &f->ranks[i] : &f->since;

		if (f->taken - last->taken >= ABSENT_OPENS * step &&
		    now >= last->opened + ABSENT_NS)
			set(f->absent, i);
	}
}

void absent_again(struct follow *f)
{
	f->since = (struct rank){ 0 };
	for (uint32_t i = 0; f->ranks && i < f->course.sequence->step; i++)
		f->ranks[i] = f->since;
}

void absent_after(struct follow *f, const struct follow *before)
{
	for (uint32_t i = 0; f->ranks && i < f->course.sequence->step; i++)
		if (f->ranks[i].opened == 0 && i < before->course.sequence->step &&
		    bit(before->absent, i))
			set(f->absent, i);
}
