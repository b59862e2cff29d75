/* The finder's threads: one that waits and decides, and those that search. */
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "prefetch/find/finder_internal.h"
#include "prefetch/find/process.h"

#define ASK_AGAIN_NS (CLOCK_S / 2)
#define ASKS_MAX 120
#define LOOK_OPENS 64u

/* --- Searchers ------------------------------------------------------------------------- */

static void *searcher_main(void *arg)
{
	struct finder *f = arg;
	const struct sched_param none = { 0 };

	if (!f->options.hasty && sched_setscheduler(0, SCHED_IDLE, &none) < 0)
		setpriority(PRIO_PROCESS, 0, 19);
	for (;;) {
		while (sem_wait(&f->work) < 0)
			;
		if (f->dismissed)
			return NULL;
		f->work_on(f);
		f->busy--;
		sem_post(&f->news);
	}
}

static bool take_unsaved(struct finder *f, struct lessons *ret)
{
	DL_HOLD(&f->lock);
	if (!DL_TAKE(f->unsaved))
		return false;
	*ret = f->lessons;
	return true;
}

static void save_lessons(struct finder *f)
{
	struct lessons lessons;

	if (f->options.save && take_unsaved(f, &lessons))
		f->options.save(f->options.context, &lessons);
}

/* What was learned is kept before anything is waited for: the server may be killed meanwhile. */
static void wait_news(struct finder *f, uint64_t ns)
{
	uint64_t end = clock_now() + ns;
	struct timespec until = { (time_t)(end / CLOCK_S), (long)(end % CLOCK_S) };

	save_lessons(f);
	if (ns > 0)                            /* no matter who sets the time of day */
		(void)sem_clockwait(&f->news, CLOCK_MONOTONIC, &until);
	else
		while (sem_wait(&f->news) < 0)
			;
}

/* --- The finder's thread --------------------------------------------------------------- */

static bool latest(void *context, struct evidence *ret)
{
	struct finder *f = context;

	DL_HOLD(&f->lock);
	*ret = f->evidence;
	return f->evidence.turn == f->tried;
}

static bool take_work(struct finder *f)
{
	struct search *s = &f->search;

	DL_HOLD(&f->lock);
	if (f->stopping || !finder_may_search(f))
		return false;
	memset(s, 0, sizeof(*s));
	f->tried = f->evidence.turn;
	f->stage = evidence_stage(&f->evidence);
	s->evidence = f->evidence;
	s->lessons = f->lessons;
	s->latest = latest;
	s->context = f;
	s->gentle = !f->options.hasty;
	search_init(s);
	for (; s->list_count < f->list_count; s->list_count++)
		s->lists[s->list_count] = list_ref(f->lists[s->list_count]);
	f->searching = true;
	return true;
}

static void let_all_work(struct finder *f, void (*on)(struct finder *f))
{
	f->work_on = on;
	f->busy = f->searcher_count;
	for (unsigned i = 0; i < f->searcher_count; i++)
		sem_post(&f->work);
}

static void work_on_search(struct finder *f)
{
	search_run(&f->search);
}

static void search_with_all(struct finder *f)
{
	if (!search_prepare(&f->search))
		return;
	let_all_work(f, work_on_search);
	while (f->busy > 0) {
		wait_news(f, ASK_AGAIN_NS);
		search_again(&f->search);
	}
	for (unsigned i = 0; i < ASKS_MAX && !f->search.stop && search_again(&f->search); i++)
		wait_news(f, ASK_AGAIN_NS);
}

static bool still_true(struct finder *f, const struct positions *positions, struct found *found)
{
	DL_HOLD(&f->lock);
	if (f->stopping || f->evidence.turn != f->tried)
		return false;
	search_ranks(&f->evidence, positions, found);
	f->evidence.held = found->rank_count > 0 || !evidence_has_pids(&f->evidence);
	return true;
}

/* Some ranks may only be late: as long as there is room for evidence they are waited for.  And
 * without pids for so many opens as tell whether there is another job. */
static bool all_there(struct finder *f, const struct found *found)
{
	DL_HOLD(&f->lock);
	if (found->rank_count > 0 && f->evidence.count < EVIDENCE_MAX)
		return false;
	return evidence_has_pids(&f->evidence) || evidence_stage(&f->evidence) == EVIDENCE_AMPLE;
}

/* The tracker wants to see it in the opens of late: they may not have come yet. */
static bool ask_to_follow(struct finder *f, const struct positions *positions)
{
	struct found found = f->search.found;
	uint32_t ranks = 0;
	bool followed = false;

	for (unsigned i = 0; i < ASKS_MAX && still_true(f, positions, &found); i++) {
		if (!followed || found.rank_count != ranks) {
			followed = f->options.found(f->options.context, &found);
			ranks = found.rank_count;
		}
		if (followed && all_there(f, &found))
			break;
		wait_news(f, ASK_AGAIN_NS);
	}
	return followed;
}

/* What is left is for the next search. */
static void acquit_found(struct finder *f, const struct positions *positions)
{
	DL_HOLD(&f->lock);
	if (f->evidence.turn == f->tried)
		search_acquit(&f->search.found, positions, &f->evidence);
}

/* true: something was found, and is followed. */
static bool take_found(struct finder *f)
{
	dl_cleanup(positions_fini) struct positions positions = { 0 };

	if (!f->search.claimed || search_positions(&f->search.found, &positions) < 0 ||
	    !ask_to_follow(f, &positions))
		return false;
	acquit_found(f, &positions);
	return true;
}

/* Unless there is a pause: then it is put off, for all but another job. */
static bool is_worth_it(struct finder *f)
{
	DL_HOLD(&f->lock);
	vain_meet(&f->vain, &f->search.evidence);
	f->search.from = f->vain.from;
	f->put_off = vain_rests(&f->vain);
	return !f->put_off;
}

/* One that was cut off counts by what it tried, and the next goes on there: in another epoch the
 * seed is another, or the same. */
static void note_vain(struct finder *f)
{
	const struct search *s = &f->search;
	bool over = f->evidence.turn != f->tried, more = evidence_stage(&f->evidence) > f->stage;

	f->vain.from = search_came_to(s, f->searcher_count);
	if (over || (f->stage >= EVIDENCE_FULL && !more))      /* else it begins anew at once */
		vain_searched(&f->vain, &s->evidence, search_share(s), clock_now());
}

static void conclude(struct finder *f, bool fruit)
{
	DL_HOLD(&f->lock);
	f->searching = false;
	f->evidence.held = false;
	if (fruit) {
		f->vain = (struct vain){ 0 };
		f->stage = EVIDENCE_AMPLE;     /* more of it changes nothing */
	} else if (!f->put_off) {
		note_vain(f);
	}
}

static void look(struct finder *f)
{
	sample_id opened[LOOK_OPENS];
	size_t count;

	{
		DL_HOLD(&f->lock);
		if (!f->options.look || f->stopping || !finder_may_search(f))
			return;
		count = DL_MIN(f->evidence.count, (size_t)LOOK_OPENS);
		for (size_t i = 0; i < count; i++)
			opened[i] = f->evidence.opens[i].id;
	}
	f->options.look(f->options.context, opened, count);
}

static void work_on_forecast(struct finder *f)
{
	forecast_run(&f->forecast);
}

/* While there is nothing else to do; a search goes first, and this begins anew after it. */
static bool take_forecast(struct finder *f, uint64_t *ret_turn)
{
	DL_HOLD(&f->lock);
	*ret_turn = f->lesson_turn;
	if (!f->options.foretold || f->stopping || f->foretold == f->lesson_turn)
		return false;
	if (forecast_prepare(&f->forecast, &f->lessons))
		return true;
	f->foretold = f->lesson_turn;
	return false;
}

/* true: there may be news that was not waited for. */
static bool foretell(struct finder *f)
{
	uint64_t turn;

	if (!take_forecast(f, &turn))
		return false;
	let_all_work(f, work_on_forecast);
	while (f->busy > 0)
		wait_news(f, 0);
	if (f->forecast.claimed) {
		f->forecast.known = f->forecast.found;
		f->options.foretold(f->options.context, &f->forecast);
	} else if (f->forecast.stop) {
		return true;
	}
	f->foretold = turn;
	return true;
}

static void *finder_main(void *arg)
{
	struct finder *f = arg;

	while (!f->stopping) {
		bool fruit = false;

		look(f);
		if (!take_work(f)) {
			if (!foretell(f))
				wait_news(f, 0);
			continue;
		}
		evidence_parents(&f->search.evidence, f->options.parent);
		if (is_worth_it(f)) {
			search_with_all(f);
			fruit = take_found(f);
		}
		search_fini(&f->search);
		conclude(f, fruit);
	}
	save_lessons(f);
	return NULL;
}

/* --- Start and stop -------------------------------------------------------------------- */

static unsigned threads_for(unsigned wanted)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	if (wanted == 0)
		wanted = processors > 0 ? (unsigned)processors : 1;
	return DL_MIN(wanted, (unsigned)FINDER_THREADS);
}

static int start_threads(struct finder *f)
{
	unsigned wanted = threads_for(f->options.threads);
	int r = 0;

	while (r == 0 && f->searcher_count < wanted) {
		r = -pthread_create(&f->searchers[f->searcher_count], NULL, searcher_main, f);
		if (r == 0)
			f->searcher_count++;
	}
	if (f->searcher_count == 0)
		return r;
	return -pthread_create(&f->thread, NULL, finder_main, f);
}

static void stop_searchers(struct finder *f)
{
	f->dismissed = true;
	for (unsigned i = 0; i < f->searcher_count; i++)
		sem_post(&f->work);
	for (unsigned i = 0; i < f->searcher_count; i++)
		pthread_join(f->searchers[i], NULL);
}

static void finder_free(struct finder *f)
{
	finder_drop_lists(f);
	sem_destroy(&f->news);
	sem_destroy(&f->work);
	dl_lock_fini(&f->lock);
	free(f);
}

int finder_start(const struct finder_options *options, struct finder **ret)
{
	struct finder *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return -ENOMEM;
	f->options = *options;
	if (!f->options.parent)
		f->options.parent = process_parent;
	f->evidence.turn = 1;          /* 0 was never searched */
	sem_init(&f->news, 0, 0);
	sem_init(&f->work, 0, 0);
	dl_lock_init(&f->lock);
	r = start_threads(f);
	if (r < 0) {
		stop_searchers(f);
		finder_free(f);
		return r;
	}
	*ret = f;
	return 0;
}

void finder_stop(struct finder *f)
{
	f->stopping = true;
	{
		DL_HOLD(&f->lock);
		finder_call_off(f);
	}
	pthread_join(f->thread, NULL);
	stop_searchers(f);
	finder_free(f);
}
