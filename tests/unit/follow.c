/* One job whose readers are far apart, and what the next epoch knows of them. */
#include "prefetch/order/follow.h"
#include "tests/lib/script_stage.h"

#define N 600000u
#define RANKS 16u

struct reader {
	struct list list;
	struct follow *f;
	uint64_t now;
};

/* Of 16 ranks, whose window is as wide as half of what can be waited for; positions are indices. */
static void begin_at(struct reader *r, uint32_t position)
{
	struct sequence *q = sequence_new(N, N);
	struct epoch rule = { .rule = EPOCH_DISTRIBUTED };

	*r = (struct reader){ .list = { 1, FIRST_ID, N }, .now = SECOND };
	for (uint32_t i = 0; i < N; i++)
		q->at[i] = i;
	q->step = RANKS;
	cr_assert_eq(follow_new(&r->list, q, &rule, &r->f), 0);
	follow_jump(r->f, position);
}

static void take(struct reader *r, uint32_t from, uint32_t to, uint32_t step)
{
	for (uint32_t p = from; p < to; p += step) {
		uint32_t position;

		cr_assert_leq(follow_judge(r->f, p, &position), FOLLOW_WITHIN, "%u", p);
		follow_take(r->f, position, 50, r->now += 1000);
	}
}

/* A rank that is far ahead, and the others where they were: nobody is given up for him. */
Test(follow, who_is_far_ahead_leaves_nobody_behind)
{
	struct reader r;

	begin_at(&r, 0);
	take(&r, 0, 10000, 1);
	cr_assert_not(follow_stretch(r.f, 10000 + TRACKER_WIDEST + 1), "so far none can wait");
	cr_assert_eq(r.f->course.reach, 10000u);
	cr_assert(follow_stretch(r.f, 110000));
	for (uint32_t i = 0; i < 10; i++) {
		take(&r, 110000 + i * 160, 110160 + i * 160, RANKS);
		take(&r, 10000 + i * 10, 10010 + i * 10, 1);
		cr_assert_eq(r.f->course.front, 10010 + i * 10);
	}
	follow_free(r.f);
}

/* And one that is far behind. */
Test(follow, who_is_far_behind_is_waited_for_as_far_as_can_be)
{
	struct reader r;

	begin_at(&r, 200000);
	take(&r, 200000, 201000, 1);
	cr_assert_not(follow_stretch(r.f, 201000 - TRACKER_WIDEST - 1));
	cr_assert_eq(r.f->course.front, 201000u);
	cr_assert(follow_stretch(r.f, 100000));
	for (uint32_t i = 0; i < 10; i++) {
		take(&r, 100000 + i * 10, 100010 + i * 10, 1);
		take(&r, 201000 + i * 10, 201010 + i * 10, 1);
		cr_assert_eq(r.f->course.front, 100010 + i * 10);
	}
	follow_free(r.f);
}

static void see(struct stage *s, const struct sequence *q, uint32_t from, uint32_t to,
		uint32_t step, uint32_t pid)
{
	for (uint32_t p = from; p < to; p += step)
		stage_see(s, FIRST_ID + q->at[p], pid);
}

static void expect_front(const struct stage *s, const struct sequence *q, uint32_t front)
{
	const struct course *all;

	cr_assert_eq(main_course(s, q)->front, front, "%u", main_course(s, q)->front);
	cr_assert_eq(tracker_courses(s->tracker, &all), 1u);
}

/* His first opens were seen before it was clear whose they are. */
Test(follow, a_distant_worker_has_had_his_first_opens)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = epoch_of(PLAIN, 60000, 0);
	struct stage s;

	stage_open(&s, "torch:seed=7", 60000, NULL);
	read_all(&s, q, 0, 1000, 2, 50);
	see(&s, q, 9000, 9100, 1, 60);         /* ahead */
	see(&s, q, 1000, 9000, 1, 50);
	expect_front(&s, q, 9100);
	cr_assert_eq(tracker_mispredicted(s.tracker), 0u);
	stage_close(&s);

	stage_open(&s, "torch:seed=7", 60000, NULL);
	read_all(&s, q, 20000, 21000, 2, 50);
	see(&s, q, 10000, 20000, 1, 60);       /* and behind */
	expect_front(&s, q, 21000);
	stage_close(&s);
}

Test(follow, a_distant_rank_has_had_his_first_opens)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = torch_sequence(200000, 0, 0);
	const struct course *c;
	struct stage s;

	stage_open(&s, "torch-distributed:seed=0,world=16", 200000, NULL);
	see(&s, q, 0, 1600, 1, 50);
	see(&s, q, 80000, 81600, RANKS, 60);
	c = main_course(&s, q);
	cr_assert_eq(c->front, 1600u);
	for (uint32_t p = 80000; p < 81600; p += RANKS)
		cr_assert(c->opened[p / 64] >> (p % 64) & 1, "%u", p);
	stage_close(&s);
}

/* Readers that are close to each other are so in the next epoch, too: what they have left behind is
 * not waited for. */
Test(follow, how_far_apart_readers_are_is_known_in_the_next_epoch)
{
	dl_cleanup(sequence_unrefp) struct sequence *q = epoch_of(PLAIN, 20000, 0);
	dl_cleanup(sequence_unrefp) struct sequence *next = epoch_of(PLAIN, 20000, 1);
	struct stage s;

	stage_open(&s, "torch:seed=7", 20000, NULL);
	read_all(&s, q, 0, 20000, 2, 50);
	read_all(&s, next, 0, 1000, 2, 60);
	read_all(&s, next, 4000, 10000, 2, 60);
	expect_front(&s, next, 10000);
	stage_close(&s);
}
