#include "fs/pressure.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/file.h"
#include "fs/host/host.h"
#include "prefetch/store/disk.h"

/* A tenth of a second of stalls in two seconds, which anybody may ask for. */
#define TRIGGER "some 100000 2000000"
#define SHORT_PART 8                   /* of the machine's memory: less than that free is little */

struct pressure {
	struct serve *serve;
	pthread_t thread;
	int stop, cgroup, machine;     /* fds; -1: there is none */
};

static int open_trigger(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0 && write(fd, TRIGGER, sizeof(TRIGGER)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The one of version 2, which stands alone after "0::". */
static int open_cgroup(void)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
	dl_cleanup(dl_freep) char *path = NULL;
	const char *line;

	if (file_read("/proc/self/cgroup", SIZE_MAX, &text) < 0)
		return -1;
	for (line = (char *)text.at; line && strncmp(line, "0::", 3) != 0;) {
		line = strchr(line, '\n');
		line += line != NULL;
	}
	if (!line)
		return -1;
	if (asprintf(&path, "/sys/fs/cgroup%.*s/memory.pressure", (int)strcspn(line + 3, "\n"),
		     line + 3) < 0) {
		path = NULL;
		return -1;
	}
	return open_trigger(path);
}

static uint64_t number_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* Stalls of the machine may be those of a group that has reached its own limit: then there is
 * nothing that we could give. */
static bool is_machine_short(const struct serve *s)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
	uint64_t free, all, ours = stats_get(&s->stats->memory_bytes);

	if (file_read("/proc/meminfo", SIZE_MAX, &text) < 0)
		return false;
	all = number_after((char *)text.at, "MemTotal:") * KiB;
	free = number_after((char *)text.at, "MemAvailable:") * KiB;
	/* What we have pushed counts as available. */
	return free < all / SHORT_PART + ours;
}

static void *run(void *arg)
{
	struct pressure *p = arg;
	struct pollfd fds[] = {
		{ .fd = p->stop, .events = POLLIN },
		{ .fd = p->cgroup, .events = POLLPRI },
		{ .fd = p->machine, .events = POLLPRI },
	};

	for (;;) {
		if (poll(fds, DL_COUNT(fds), -1) < 0 && errno != EINTR)
			return NULL;
		if (fds[0].revents)
			return NULL;
		for (size_t i = 1; i < DL_COUNT(fds); i++)
			if (fds[i].revents & (POLLERR | POLLNVAL))     /* the group is gone */
				fds[i].fd = -1;
		if (fds[1].revents & POLLPRI ||
		    (fds[2].revents & POLLPRI && is_machine_short(p->serve)))
			engine_pressed(p->serve->engine);
	}
}

uint64_t pressure_fits(void *serve, uint64_t waiting, uint64_t pushed)
{
	const struct serve *s = serve;
	uint64_t queued = s->tier.disk ? disk_waiting(s->tier.disk) : 0;
	uint64_t fits = host_memory_fits(waiting + queued, pushed);

	return fits - DL_MIN(fits, s->tier.queue);
}

static void free_pressure(struct pressure *p)
{
	dl_closep(&p->stop);
	dl_closep(&p->cgroup);
	dl_closep(&p->machine);
	free(p);
}

int pressure_start(struct serve *s, struct pressure **ret)
{
	struct pressure *p = calloc(1, sizeof(*p));
	int r = 0;

	*ret = NULL;
	if (!p)
		return -ENOMEM;
	*p = (struct pressure){
		.serve = s, .stop = eventfd(0, EFD_CLOEXEC), .cgroup = open_cgroup(),
		.machine = open_trigger("/proc/pressure/memory"),
	};
	if (p->stop < 0)
		r = -errno;
	else if (p->cgroup >= 0 || p->machine >= 0)
		r = -pthread_create(&p->thread, NULL, run, p);
	if (r == 0 && (p->cgroup >= 0 || p->machine >= 0))
		*ret = p;
	else
		free_pressure(p);
	return r;
}

void pressure_stop(struct pressure *p)
{
	uint64_t one = 1;

	if (!p)
		return;
	if (write(p->stop, &one, sizeof(one)) == sizeof(one))
		pthread_join(p->thread, NULL);
	free_pressure(p);
}
