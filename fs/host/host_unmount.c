#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "base/file.h"
#include "fs/host/internal.h"

#define UNMOUNT_MS 10000               /* it takes moments, if nothing hangs */

/* Where libfuse looks when PATH has no fusermount3. */
static const char *const usual_folders[] = { "/usr/bin", "/bin", "/usr/local/bin" };

static bool can_run(const char *folder, size_t len, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.*s/%s", (int)len, folder, name);
	return access(path, X_OK) == 0;
}

bool host_has_program(const char *name)
{
	const char *path = getenv("PATH");

	while (path && *path) {
		size_t len = strcspn(path, ":");

		if (can_run(path, len, name))
			return true;
		path += len;
		path += *path == ':';
	}
	for (size_t i = 0; i < DL_COUNT(usual_folders); i++)
		if (can_run(usual_folders[i], strlen(usual_folders[i]), name))
			return true;
	return false;
}

bool host_user_allow_other(void)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
	char *save = NULL;

	if (file_read("/etc/fuse.conf", SIZE_MAX, &text) < 0)
		return false;
	for (char *line = strtok_r((char *)text.at, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		line += strspn(line, " \t");
		if (strncmp(line, "user_allow_other", 16) == 0 &&
		    line[16 + strspn(line + 16, " \t\r")] == '\0')
			return true;
	}
	return false;
}

/* The program says in words what went wrong; "busy" is the one that matters here. */
static int run_fusermount(const char *mountpoint, bool lazily)
{
	int out[2], status = 0;
	char said[512] = "";
	pid_t pid;
	ssize_t n;

	if (pipe2(out, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		dup2(out[1], STDERR_FILENO);
		execlp("fusermount3", "fusermount3", lazily ? "-uz" : "-u", "--", mountpoint,
		       (char *)NULL);
		_exit(127);
	}
	n = pid < 0 ? -errno : 0;
	close(out[1]);
	if (n == 0)
		n = file_fill(out[0], said, sizeof(said) - 1);
	close(out[0]);
	if (pid < 0)
		return (int)n;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return -ENOENT;
	return strstr(said, "busy") ? -EBUSY : -EPERM;
}

struct unmounting { const char *mountpoint; bool lazily; };

static int unmount(const void *context)
{
	const struct unmounting *u = context;
	int flags = UMOUNT_NOFOLLOW | (u->lazily ? MNT_DETACH : 0);

	if (umount2(u->mountpoint, flags) == 0)
		return 0;
	if (errno != EPERM && errno != EACCES)
		return -errno;
	return run_fusermount(u->mountpoint, u->lazily);
}

int host_unmount(const char *mountpoint, bool lazily)
{
	struct unmounting u = { mountpoint, lazily };

	return child_call(unmount, &u, UNMOUNT_MS);
}
