#include "fs/cli/daemon.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

#define READY_FD 3

/* NULL, or the call that failed, with errno; *ready is then still open. */
static const char *become_daemon(int *ready)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (dup2(*ready, READY_FD) < 0)
		return "dup2";
	*ready = READY_FD;
	if (fcntl(READY_FD, F_SETFD, FD_CLOEXEC) < 0)
		return "fcntl";
	if (null >= 0 && (dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0))
		return "dup2";
	/* What the caller had open (a pipe that somebody reads to its end) is not ours to keep. */
	if (close_range(READY_FD + 1, ~0U, 0) < 0)
		return "close_range";
	if (setsid() < 0)
		return "setsid";
	return chdir("/") < 0 ? "chdir" : NULL;
}

static int in_child(int ready, int *ret_ready_fd)
{
	const char *failed = become_daemon(&ready);

	if (failed) {
		dprintf(ready, "cannot go to the background: %s: %s", failed, strerror(errno));
		_exit(1);
	}
	*ret_ready_fd = READY_FD;
	return 0;
}

/* To the end of the pipe: a 0 byte means that all is well, with a note after it or none; words that
 * it is not. */
static void hear_out(int fd, char reterr[512])
{
	ssize_t n = file_fill(fd, reterr, 510);

	reterr[DL_MAX(n, 0)] = '\0';
	reterr[DL_MAX(n, 0) + 1] = '\0';
	if (n <= 0)
		snprintf(reterr, 512, "the process in the background ended without a word");
}

int daemon_start(int *ret_ready_fd, char reterr[512])
{
	int ends[2], r;
	pid_t pid;

	/* Descriptors 0 to 2 may be closed; /dev/null must not take the pipe's place. */
	while ((r = open("/dev/null", O_RDWR)) >= 0 && r <= STDERR_FILENO)
		;
	dl_closep(&r);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	fflush(NULL);
	pid = fork();
	if (pid < 0) {
		r = -errno;
		close(ends[0]);
		close(ends[1]);
		return r;
	}
	if (pid == 0)
		return in_child(ends[1], ret_ready_fd);
	close(ends[1]);
	hear_out(ends[0], reterr);
	close(ends[0]);
	return 1;
}
