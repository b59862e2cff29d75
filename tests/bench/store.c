/* A store with so many records, for tests/bench/store.py.
 *
 *     store fill FOLDER COUNT     write it
 *     store open FOLDER COUNT     seconds from nothing to the first hit, past the page cache
 *     store kill FOLDER           open it, and die
 */
#include <signal.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "tests/lib/disk_stage.h"

#define LEN 64u                        /* of a sample: what is measured is the index */
#define DRAIN 20000u

static int fail(const char *what, int error)
{
	fprintf(stderr, "%s: %s\n", what, strerror(-error));
	return 1;
}

static int fill(struct disk *d, uint64_t count)
{
	for (uint64_t n = 0; n < count; n++) {
		put(d, SOURCE, n, 1, LEN);
		if (n % DRAIN == 0)
			writer_drain(d);
	}
	writer_drain(d);
	disk_close(d);
	return 0;
}

static int forget_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	int fd = kind == FTW_F ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	(void)st;
	(void)at;
	if (fd < 0)
		return 0;
	fdatasync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
	return 0;
}

static int first_hit(const struct disk_options *o, uint64_t count)
{
	struct disk *d = NULL;
	uint64_t start;
	int r, pid;

	nftw(o->folder, forget_one, 16, FTW_PHYS);
	start = clock_now();
	r = disk_open(o, &d, &pid);
	if (r < 0)
		return fail(o->folder, r);
	while (get(d, SOURCE, count / 2, 1, LEN) < 0)
		usleep(1000);
	printf("%.4f\n", (double)(clock_now() - start) / (double)CLOCK_S);
	while (!disk_report(d).online || disk_report(d).records < count)
		usleep(1000);
	disk_close(d);
	return 0;
}

int main(int argc, char **argv)
{
	struct disk_options o = { .folder = argc > 2 ? argv[2] : "", .size = 64 * GiB,
				  .zstd = DISK_RAW, .patient = true };
	uint64_t count = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	struct disk *d = NULL;
	int r, pid;

	log_set_level(LOG_LEVEL_ERROR);
	if (argc > 3 && strcmp(argv[1], "open") == 0)
		return first_hit(&o, count);
	o.patient = false;
	r = disk_open(&o, &d, &pid);
	if (r < 0)
		return fail(o.folder, r);
	if (argc > 3 && strcmp(argv[1], "fill") == 0)
		return fill(d, count);
	raise(SIGKILL);
	return 1;
}
