#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/wait.h>

#include "fs/host/internal.h"

static bool has_ended(pid_t pid, int ms)
{
	dl_cleanup(dl_closep) int fd = pidfd_open(pid, 0);
	struct pollfd ended = { .fd = fd, .events = POLLIN };

	return fd >= 0 && poll(&ended, 1, ms) == 1;
}

int child_call(int (*call)(const void *context), const void *context, int ms)
{
	pid_t pid = fork();
	int status = 0;

	if (pid < 0)
		return -errno;
	if (pid == 0)
		_exit(-call(context));
	if (!has_ended(pid, ms)) {
		/* Stuck in the kernel, beyond any signal, it goes when the call does. */
		kill(pid, SIGKILL);
		if (!has_ended(pid, 100))
			return -ETIMEDOUT;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -ETIMEDOUT;
}
