/* Getting to know the source: the saved manifest or a scan, and the order that was told.
 * Thread-safety: survey_stale() and survey_stale_read() on any thread; survey_known() and
 * survey_save() on the thread of serve.errands, the others on the main one.
 */
#pragma once
#include "fs/errand.h"

/* Take the saved manifest, if there is a good one; before any request is answered. */
void survey_load(struct serve *s);
/* Post what a server does first. */
int survey_begin(struct serve *s) DL_MUST_CHECK;
/* The manifest is complete, or another one than before: whom it concerns is told. */
void survey_known(struct serve *s);
/* true: it could not be done, nor by a refresh since, and why; on any thread. */
bool survey_failed(const struct serve *s, char why[160]);
/* Keep the manifest for the next mount; a failure is only logged. */
void survey_save(struct serve *s);
/* Keep what is served of files for the next mount, if that has changed; what fails
 * is logged, and tried again at the next call. */
void survey_save_served(struct serve *s);
/* A sample is not the version that the manifest knows: its folder is read again, soon. */
void survey_stale(void *serve, sample_id id);
/* The same for who reads it: answer() is called once the next open of its name gives the newer
 * version, or that cannot be had, on the thread of serve.awaited, whatever the other errands are
 * at.  false: it is not called. */
struct stale_reader {
	struct errand errand;
	sample_id id;
	void (*answer)(struct stale_reader *r);
};
bool survey_stale_read(struct serve *s, struct stale_reader *r);
