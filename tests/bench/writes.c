/* What the store's writes would cost through io_uring, beside what they cost:
 *
 *     bench-writes FOLDER [RECORD-BYTES [MB]]
 *
 * Segments are written as the store does it, one record a call.  Processor time for a MB, of all
 * threads of the process: median of ROUNDS, taken in turns, and the range.
 */
#include <fcntl.h>
#include <liburing.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

#include "prefetch/store/disk_segment.h"

#define SEGMENT (64 * MiB)
#define ROUNDS 7
#define DEPTH_MOST 8u

struct run {
	int folder, fd, before;
	uint32_t number;
	uint64_t offset, bytes;
	uint8_t *record;
	struct io_uring ring;
};

static const unsigned depths[] = { 0, 1, DEPTH_MOST };  /* records at once; 0: no ring */

static void die(const char *what, int error)
{
	fprintf(stderr, "%s: %s\n", what, strerror(error));
	exit(1);
}

static void end_segment(struct run *r)
{
	if (r->before >= 0) {
		segment_clean(r->before);
		close(r->before);
	}
	if (r->fd >= 0)
		segment_written(r->fd);
	r->before = r->fd;
	r->fd = -1;
}

static void begin_segment(struct run *r)
{
	end_segment(r);
	r->fd = segment_create(r->folder, ++r->number);
	if (r->fd < 0)
		die("a segment", -r->fd);
	r->offset = 0;
}

static void write_some(struct run *r, unsigned depth)
{
	struct iovec part[2] = { { r->record, RECORD_HEAD }, { r->record, r->bytes } };
	uint64_t len = RECORD_HEAD + r->bytes;
	struct io_uring_cqe *cqe;

	if (depth == 0 && pwritev(r->fd, part, 2, (off_t)r->offset) != (ssize_t)len)
		die("pwritev", errno);
	for (unsigned i = 0; i < depth; i++)
		io_uring_prep_writev(io_uring_get_sqe(&r->ring), r->fd, part, 2,
				     r->offset + i * len);
	if (depth > 0)
		io_uring_submit_and_wait(&r->ring, depth);
	for (unsigned i = 0; i < depth; i++) {
		if (io_uring_wait_cqe(&r->ring, &cqe) < 0 || cqe->res != (int)len)
			die("io_uring", EIO);
		io_uring_cqe_seen(&r->ring, cqe);
	}
	r->offset += DL_MAX(depth, 1u) * len;
}

static double processor_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* ms for a MB */
static double measure(struct run *r, unsigned depth, uint64_t all)
{
	double start = processor_time();
	uint64_t done = 0;

	r->offset = SEGMENT;
	while (done < all) {
		uint64_t before;

		if (r->offset + DEPTH_MOST * (RECORD_HEAD + r->bytes) > SEGMENT)
			begin_segment(r);
		before = r->offset;
		write_some(r, depth);
		done += r->offset - before;
	}
	start = processor_time() - start;
	end_segment(r);
	end_segment(r);
	for (; r->number > 0; r->number--)
		if (segment_remove(r->folder, r->number) < 0)
			die("a segment", errno);
	return start / ((double)done / 1e6);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	uint64_t all = (argc > 3 ? strtoull(argv[3], NULL, 10) : 256) * 1000000;
	struct run r = { .fd = -1, .before = -1, .bytes = argc > 2 ? strtoull(argv[2], NULL, 10) :
			 110000 };
	double ms[DL_COUNT(depths)][ROUNDS];

	r.folder = open(argc > 1 ? argv[1] : "", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r.record = r.bytes >= RECORD_HEAD && r.bytes <= 4 * MiB ? malloc(r.bytes) : NULL;
	if (r.folder < 0 || !r.record)
		die("usage: bench-writes FOLDER [RECORD-BYTES [MB]]", EINVAL);
	if (io_uring_queue_init(2 * DEPTH_MOST, &r.ring, 0) < 0)
		die("io_uring", EPERM);
	memset(r.record, 'x', r.bytes);
	for (unsigned i = 0; i < ROUNDS; i++)
		for (unsigned k = 0; k < DL_COUNT(depths); k++)
			ms[k][i] = measure(&r, depths[k], all);
	for (unsigned k = 0; k < DL_COUNT(depths); k++) {
		qsort(ms[k], ROUNDS, sizeof(ms[k][0]), by_value);
		printf("%u at once%s: %.2f ms/MB (%.2f to %.2f)\n", DL_MAX(depths[k], 1u),
		       depths[k] ? " in a ring" : ", pwritev", ms[k][ROUNDS / 2], ms[k][0],
		       ms[k][ROUNDS - 1]);
	}
	return 0;
}
