#include "fs/survey.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "fs/command.h"
#include "fs/early.h"
#include "fs/errand.h"
#include "fs/notify.h"
#include "fs/refresh.h"
#include "fs/unmatched.h"
#include "fs/unreadable.h"
#include "fs/watch/watch.h"

#define DRAIN_NS (5 * CLOCK_S)
#define PLACE_US 10000                 /* until there may be one among the errands */

static const char *order_in_force(const struct serve *s)
{
	const char *told = shared_spec(s->options->shared);

	return *told ? told : s->options->config->order;
}

/* Follow the order that was told last (or configured) over the dataset as it is now. */
static void follow_order(struct serve *s)
{
	const char *spec = order_in_force(s);
	char why[160] = "";

	command_note(s, spec, engine_order_again(s->engine, spec, s->options->mountpoint, why),
		     why);
}

/* Folders are numbered from 1: the highest stands for all. */
static void watch_all_folders(struct serve *s)
{
	if (s->watch)
		watch_folder(s->watch, manifest_usage(s->manifest).folders);
}

void survey_load(struct serve *s)
{
	const char *file = s->options->state_file;

	if (!file || manifest_scanned(s->manifest))
		return;
	if (manifest_load(s->manifest, file) < 0)
		log_debug("%s: nothing that can be used; the source is read", file);
	else if (s->served && s->options->served_file &&
		 served_load(s->served, s->options->served_file) < 0)
		log_debug("%s: nothing that can be used; images are coded anew",
			  s->options->served_file);
	s->served_saved = served_turn(s->served);
}

/* What was loaded, or is there from a server before; else from the source. */
static int know_source(struct serve *s, bool *ret_saved)
{
	*ret_saved = manifest_scanned(s->manifest);
	return *ret_saved ? 0 : manifest_scan(s->manifest, MANIFEST_THREADS,
					      errands_stopping(s->errands));
}

void survey_save(struct serve *s)
{
	const char *file = s->options->state_file;
	int r = file ? manifest_save(s->manifest, file) : 0;

	if (r < 0)
		log_warning("%s: what the dataset holds could not be saved: %s", file,
			    strerror(-r));
}

void survey_save_served(struct serve *s)
{
	const char *file = s->options->served_file;
	uint64_t turn = served_turn(s->served);
	int r;

	if (!file || turn == s->served_saved || !manifest_scanned(s->manifest))
		return;
	r = served_save(s->served, file);
	if (r < 0)
		log_warning("%s: the sizes of images could not be saved: %s", file, strerror(-r));
	else
		s->served_saved = turn;
}

void survey_known(struct serve *s)
{
	tier_dataset(s);
	engine_scanned(s->engine);
	early_answer(s);
	follow_order(s);
}

bool survey_failed(const struct serve *s, char why[160])
{
	int error = s->unread;

	why[0] = '\0';
	if (error == 0 || manifest_scanned(s->manifest))
		return false;
	snprintf(why, 160, "the source could not be read: %s; once it can, `dlfs refresh` does it",
		 strerror(-error));
	return true;
}

/* Until `dlfs refresh` nothing is known of the dataset: nobody waits for that. */
static void give_up(struct serve *s, int error)
{
	char why[160];

	s->unread = error;
	early_answer(s);
	if (survey_failed(s, why))
		command_note(s, order_in_force(s), error, why);
}

static void run_survey(struct errand *e, struct serve *s)
{
	_Atomic bool *checked = &s->options->shared->checked;
	bool saved;
	int r = know_source(s, &saved);

	free(e);
	if (r < 0) {
		if (!s->stopping)
			give_up(s, r);
		return;
	}
	if (!saved || s->options->config->verify == VERIFY_NEVER)
		*checked = true;
	unreadable_look(s);
	watch_all_folders(s);
	survey_known(s);
	if (!saved)
		survey_save(s);
	else if (!*checked && refresh_begin(s) < 0)
		log_warning("the saved manifest is not checked");
	unmatched_warn(s);
}

static int post(struct serve *s, struct errand *e)
{
	int r = errands_post(s->errands, e);

	if (r < 0)
		free(e);
	return r;
}

int survey_begin(struct serve *s)
{
	struct errand *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->run = run_survey;
	return post(s, e);
}

struct stale_errand {
	struct errand errand;
	sample_id id;
};

/* A file whose content is another one, although nothing else says so: it gets a new size once the
 * kernel has none any more. */
static void renew(struct serve *s, sample_id id)
{
	if (s->stopping || !served_wants(s->served, id))
		return;
	notify_forget_pages(s->notify, node_of_sample(id));
	/* If not, its next reader asks for it again. */
	if (notify_drain(s->notify, clock_now() + DRAIN_NS))
		served_renew(s->served, id);
}

/* Whether there is another version, which was not known.  If there is one, the kernel has forgotten
 * this one's name, also where a refresh that is still under way was first, before or meanwhile. */
static bool look_again(struct serve *s, sample_id id)
{
	node_id folder = manifest_parent(s->manifest, node_of_sample(id));
	bool changed;

	if (s->stopping)
		return false;
	changed = manifest_is_newest(s->manifest, id) &&
		manifest_refresh_folder(s->manifest, folder, notify_change(s->notify)) > 0;
	if (changed || !manifest_is_newest(s->manifest, id))
		notify_drain(s->notify, clock_now() + DRAIN_NS);
	return changed;
}

static void run_stale(struct errand *errand, struct serve *s)
{
	struct stale_errand *e = dl_container_of(errand, struct stale_errand, errand);

	if (look_again(s, e->id))
		survey_known(s);
	renew(s, e->id);
	free(e);
}

void survey_stale(void *serve, sample_id id)
{
	struct serve *s = serve;
	struct stale_errand *e = calloc(1, sizeof(*e));

	if (!e)
		return;
	e->errand.run = run_stale;
	e->id = id;
	/* With 64 errands waiting one of them may well be about the same folder; if not, the next
	 * reader of this sample asks again. */
	if (post(s, &e->errand) < 0)
		log_debug("a changed file waits for its next reader");
}

static void run_known(struct errand *errand, struct serve *s)
{
	if (!s->stopping)
		survey_known(s);
	free(errand);
}

/* There is always a place among the errands sooner or later: nobody but the next such reader waits
 * for it. */
static void post_known(struct serve *s)
{
	struct errand *e = calloc(1, sizeof(*e));
	int r = -ENOMEM;

	if (e)
		e->run = run_known;
	while (e && (r = errands_post(s->errands, e)) == -EAGAIN)
		usleep(PLACE_US);
	if (r < 0)
		free(e);
}

static void run_stale_read(struct errand *errand, struct serve *s)
{
	struct stale_reader *r = dl_container_of(errand, struct stale_reader, errand);
	bool changed = look_again(s, r->id);

	r->answer(r);
	if (changed)
		post_known(s);
}

/* Not of what is coded anew: renew() would wait for the pages that this reader has locked. */
bool survey_stale_read(struct serve *s, struct stale_reader *r)
{
	r->errand.run = run_stale_read;
	return !served_wants(s->served, r->id) && errands_post(s->awaited, &r->errand) == 0;
}
