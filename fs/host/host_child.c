#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "fs/host/internal.h"

#define LOOK_AGAIN_MS 10
#define KILLED_MS 100

/* Where there is no pidfd (an old kernel, no descriptor left) it is looked again and again. */
static bool has_ended(pid_t pid, int ms)
{
	dl_cleanup(dl_closep) int fd = pidfd_open(pid, 0);
	struct pollfd ended = { .fd = fd, .events = POLLIN };
	uint64_t now = clock_now(), deadline = now + (uint64_t)ms * CLOCK_MS;
	siginfo_t how = { .si_pid = 0 };

	do {
		int left = (int)((deadline - now) / CLOCK_MS) + 1;

		poll(&ended, 1, fd >= 0 ? left : DL_MIN(left, LOOK_AGAIN_MS));
		waitid(P_PID, (id_t)pid, &how, WEXITED | WNOHANG | WNOWAIT);
		now = clock_now();
	} while (how.si_pid == 0 && now < deadline);
	return how.si_pid != 0;
}

/* A group of its own, so that what it runs can be killed with it; and no longer there than who
 * waits for it. */
_Noreturn static void be_child(int (*call)(const void *context), const void *context)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	_exit(-call(context));
}

int child_call(int (*call)(const void *context), const void *context, int ms)
{
	pid_t pid = fork();
	int status = 0;

	if (pid < 0)
		return -errno;
	if (pid == 0)
		be_child(call, context);
	setpgid(pid, pid);                     /* whoever comes first */
	if (!has_ended(pid, ms)) {
		/* Stuck in the kernel, beyond any signal, it goes when the call does. */
		kill(-pid, SIGKILL);
		if (!has_ended(pid, KILLED_MS))
			return -ETIMEDOUT;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -ETIMEDOUT;
}
