#include "fs/cli/daemon.h"

#include <fcntl.h>
#include <stdio.h>

#include "base/file.h"

#define READY_FD 3

static int become_daemon(int ready)
{
	dl_cleanup(dl_closep) int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* What the caller had open (a pipe that somebody reads to its end) is not ours to keep. */
	if (dup2(ready, READY_FD) < 0 || fcntl(READY_FD, F_SETFD, FD_CLOEXEC) < 0)
		return -errno;
	if (null >= 0 && (dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0))
		return -errno;
	null = -1;
	if (close_range(READY_FD + 1, ~0U, 0) < 0 || setsid() < 0 || chdir("/") < 0)
		return -errno;
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
	if (pid == 0) {
		r = become_daemon(ends[1]);
		if (r < 0)
			_exit(-r);
		*ret_ready_fd = READY_FD;
		return 0;
	}
	close(ends[1]);
	hear_out(ends[0], reterr);
	close(ends[0]);
	return 1;
}
