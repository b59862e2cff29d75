#include <string.h>

#include "base/log.h"
#include "prefetch/store/disk_writer.h"

bool writer_suspended(const struct disk *d)
{
	uint64_t until = atomic_load(&d->suspended_until);

	return until > 0 && clock_now() < until;
}

static void pause_writing(struct disk *d)
{
	struct writer *w = &d->writer;

	w->faulty = true;
	atomic_store(&d->suspended_until, clock_now() + w->pause);
	w->pause = DL_MIN(w->pause * 2, PAUSE_MOST);
}

void fault_open(struct disk *d, int error)
{
	if (d->patient && !d->writer.faulty)
		log_warning("nothing is kept in the store %s for now, it cannot be used: %s",
			    d->path, error == -ENOTEMPTY ? "it has files, and is no store" :
			    strerror(-error));
	atomic_store(&d->error, error);
	pause_writing(d);
}

/* That the store is full, and has nothing that it may take back, is no fault. */
void fault_seen(struct disk *d, int error)
{
	struct writer *w = &d->writer;

	if (error == -ENOBUFS) {
		atomic_store(&d->full, true);
		return;
	}
	if (!w->faulty)
		log_warning("%s: cannot be written, samples are not kept for now: %s", d->path,
			    strerror(-error));
	atomic_store(&d->error, error);
	pause_writing(d);
}

void fault_over(struct disk *d)
{
	struct writer *w = &d->writer;

	atomic_store(&d->error, 0);
	if (!w->faulty)
		return;
	log_info("%s: can be written again", d->path);
	w->faulty = false;
	w->pause = PAUSE_FIRST;
	atomic_store(&d->suspended_until, 0);
}
