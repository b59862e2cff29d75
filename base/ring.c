#include "base/ring.h"

#include <assert.h>
#include <liburing.h>
#include <poll.h>
#include <sys/eventfd.h>

#include "base/clock.h"

#define READ_MAX (UINT64_C(1) << 30)   /* a call's length is an unsigned int */

struct ring {
	struct io_uring uring;
	int wakes;                     /* an eventfd that the ring polls; its tag is NULL */
	bool polled;
};

static bool has_calls(struct io_uring *u)
{
	static const int needed[] = {
		IORING_OP_OPENAT2, IORING_OP_STATX, IORING_OP_READ, IORING_OP_CLOSE,
		IORING_OP_POLL_ADD,
	};
	struct io_uring_probe *probe;
	bool all = true;

	/* Waiting with a deadline must not itself be a call. */
	if (!(u->features & IORING_FEAT_EXT_ARG))
		return false;
	probe = io_uring_get_probe_ring(u);
	if (!probe)
		return false;
	for (size_t i = 0; i < DL_COUNT(needed); i++)
		all = all && io_uring_opcode_supported(probe, needed[i]);
	io_uring_free_probe(probe);
	return all;
}

static int set_up(struct ring *r, unsigned calls)
{
	/* Opens may wait for a server, and by default the kernel has few threads for that. */
	unsigned workers[2] = { calls, 0 };
	int error = io_uring_queue_init(calls + 1, &r->uring, 0);

	if (error < 0)
		return error;
	if (!has_calls(&r->uring)) {
		io_uring_queue_exit(&r->uring);
		return -ENOSYS;
	}
	io_uring_register_iowq_max_workers(&r->uring, workers);
	r->wakes = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->wakes < 0) {
		error = -errno;
		io_uring_queue_exit(&r->uring);
	}
	return error;
}

int ring_open(unsigned calls, struct ring **ret)
{
	struct ring *r = calloc(1, sizeof(*r));
	int error;

	if (!r)
		return -ENOMEM;
	error = set_up(r, calls);
	if (error < 0) {
		free(r);
		return error;
	}
	*ret = r;
	return 0;
}

void ring_close(struct ring *r)
{
	if (!r)
		return;
	io_uring_queue_exit(&r->uring);
	close(r->wakes);
	free(r);
}

static struct io_uring_sqe *next_call(struct ring *r)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&r->uring);

	assert(sqe);                   /* the owner keeps to its number of calls */
	return sqe;
}

void ring_openat2(struct ring *r, int folder, const char *path, struct open_how *how, bool waits,
		  void *tag)
{
	struct io_uring_sqe *sqe = next_call(r);

	io_uring_prep_openat2(sqe, folder, path, how);
	if (waits)
		io_uring_sqe_set_flags(sqe, IOSQE_ASYNC);
	io_uring_sqe_set_data(sqe, tag);
}

void ring_shut(struct ring *r, int fd, void *tag)
{
	struct io_uring_sqe *sqe = next_call(r);

	io_uring_prep_close(sqe, fd);
	io_uring_sqe_set_flags(sqe, IOSQE_ASYNC);
	io_uring_sqe_set_data(sqe, tag);
}

void ring_fstat(struct ring *r, int fd, struct statx *ret, void *tag)
{
	struct io_uring_sqe *sqe = next_call(r);

	io_uring_prep_statx(sqe, fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, ret);
	io_uring_sqe_set_data(sqe, tag);
}

void ring_read(struct ring *r, int fd, void *at, size_t len, uint64_t offset, void *tag)
{
	struct io_uring_sqe *sqe = next_call(r);

	io_uring_prep_read(sqe, fd, at, (unsigned)DL_MIN(len, READ_MAX), offset);
	io_uring_sqe_set_data(sqe, tag);
}

static void poll_wakes(struct ring *r)
{
	struct io_uring_sqe *sqe;

	if (r->polled)
		return;
	sqe = next_call(r);
	io_uring_prep_poll_add(sqe, r->wakes, POLLIN);
	io_uring_sqe_set_data(sqe, NULL);
	r->polled = true;
}

static void woken(struct ring *r)
{
	uint64_t count;

	r->polled = false;
	if (read(r->wakes, &count, sizeof(count)) < 0)
		assert(errno == EAGAIN || errno == EINTR);
}

static size_t collect(struct ring *r, struct ring_result *at, size_t max)
{
	struct io_uring_cqe *cqe;
	size_t count = 0;

	while (count < max && io_uring_peek_cqe(&r->uring, &cqe) == 0) {
		if (io_uring_cqe_get_data(cqe))
			at[count++] = (struct ring_result){ io_uring_cqe_get_data(cqe), cqe->res };
		else
			woken(r);
		io_uring_cqe_seen(&r->uring, cqe);
	}
	return count;
}

size_t ring_wait(struct ring *r, struct ring_result *at, size_t max, uint64_t deadline)
{
	struct __kernel_timespec left, *limit = NULL;
	struct io_uring_cqe *cqe;
	uint64_t now = clock_now();

	if (deadline != UINT64_MAX) {
		uint64_t ns = deadline > now ? deadline - now : 0;

		left.tv_sec = (int64_t)(ns / CLOCK_S);
		left.tv_nsec = (int64_t)(ns % CLOCK_S);
		limit = &left;
	}
	poll_wakes(r);
	/* A failure (interrupted, timed out, short of memory) is only a wait that ended early:
	 * what was not handed over stays in the ring for the next time. */
	(void)io_uring_submit_and_wait_timeout(&r->uring, &cqe, 1, limit, NULL);
	return collect(r, at, max);
}

void ring_wake(struct ring *r)
{
	static const uint64_t one = 1;

	/* Can only fail when 2^64 - 2 wake-ups wait already. */
	if (write(r->wakes, &one, sizeof(one)) < 0)
		assert(errno == EAGAIN || errno == EINTR);
}
