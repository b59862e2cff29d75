#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pwd.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "fs/cli/cli.h"
#include "fs/host/host.h"

enum verdict { OK, WARN, FAIL };

/* One line, and the cure, within 100 columns. */
DL_PRINTF(2, 3)
static int say(enum verdict v, const char *format, ...)
{
	static const char *const words[] = { "OK", "WARN", "FAIL" };
	char text[96];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	printf("%-4s %s\n", words[v], text);
	return v == FAIL;
}

static int look_at_device(void)
{
	dl_cleanup(dl_closep) int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		return say(OK, "/dev/fuse can be opened");
	if (errno == EACCES || errno == EPERM)
		return say(FAIL, "/dev/fuse: %s; as root: chmod 666 /dev/fuse", strerror(errno));
	return say(FAIL, "/dev/fuse: %s; modprobe fuse, or docker run --device /dev/fuse",
		   strerror(errno));
}

static bool has_capability(unsigned number)
{
	dl_cleanup(buf_free) struct buf status = BUF_EMPTY;
	const char *line;
	unsigned long long set;

	if (file_read("/proc/self/status", SIZE_MAX, &status) < 0)
		return false;
	line = strstr((char *)status.at, "\nCapEff:");
	return line && sscanf(line + 8, "%llx", &set) == 1 && (set >> number & 1);
}

#define CAPABILITY_SYS_ADMIN 21

static int look_at_mounting(void)
{
	bool admin = has_capability(CAPABILITY_SYS_ADMIN), helper = host_has_program("fusermount3");

	if (admin)
		return say(OK, "this user may mount (CAP_SYS_ADMIN)%s",
			   helper ? "; others by fusermount3" : "");
	if (helper && geteuid() != 0 && !getpwuid(geteuid()))
		return say(FAIL, "uid %u has no name, and fusermount3 asks for it; as root: "
			   "useradd -u %u NAME", (unsigned)geteuid(), (unsigned)geteuid());
	if (helper && geteuid() != 0)
		return say(OK, "mounts are made by fusermount3");
	if (helper)
		return say(FAIL, "no CAP_SYS_ADMIN; docker run --cap-add SYS_ADMIN --device "
			   "/dev/fuse");
	return say(FAIL, "there is no fusermount3; install the package fuse3, or mount as root");
}

static int look_at_allow_other(void)
{
	if (geteuid() == 0)
		return say(OK, "root may use allow_other; without it, others cannot read");
	if (host_user_allow_other())
		return say(OK, "users may use allow_other; without it, only who mounts can read");
	return say(WARN, "no allow_other; write user_allow_other into /etc/fuse.conf if others "
		   "read");
}

static int look_at_fanotify(void)
{
	dl_cleanup(dl_closep) int fd = fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC, O_RDONLY);

	if (fd >= 0 && fanotify_mark(fd, FAN_MARK_ADD | FAN_MARK_FILESYSTEM, FAN_OPEN, AT_FDCWD,
				     "/proc/self") == 0)
		return say(OK, "fanotify: opens are seen with their process");
	return say(WARN, "fanotify: %s; opens are seen by inotify (or mount as root)",
		   strerror(errno));
}

static int look_at_inotify(void)
{
	dl_cleanup(buf_free) struct buf text = BUF_EMPTY;
	long watches = 0;

	if (file_read("/proc/sys/fs/inotify/max_user_watches", SIZE_MAX, &text) == 0)
		watches = strtol((char *)text.at, NULL, 10);
	if (watches >= 65536)
		return say(OK, "inotify: %ld folders can be watched", watches);
	return say(WARN, "inotify: only %ld folders; sysctl fs.inotify.max_user_watches=524288",
		   watches);
}

static int look_at_memory(void)
{
	uint64_t limit = host_cgroup_limit(), memory;
	char what[64], cgroup[40] = "no cgroup limit";

	memory = host_memory(what);
	if (limit != UINT64_MAX)
		snprintf(cgroup, sizeof(cgroup), "cgroup limit %llu MiB",
			 (unsigned long long)(limit / MiB));
	if (memory >= 64 * MiB)
		return say(OK, "memory: %s; default bound %llu MiB", cgroup,
			   (unsigned long long)(memory / MiB));
	return say(WARN, "memory: %s; default bound only %llu MiB; raise it: -o memory=", cgroup,
		   (unsigned long long)(memory / MiB));
}

static int look_at_kernel(void)
{
	struct utsname u;
	unsigned major = 0, minor = 0;

	if (uname(&u) < 0 || sscanf(u.release, "%u.%u", &major, &minor) != 2)
		return say(WARN, "kernel: unknown");
	if (major > 6 || (major == 6 && minor >= 9))
		return say(OK, "kernel %.30s: a dead server is replaced unnoticed", u.release);
	return say(WARN, "kernel %.20s: replacing a dead server ends open files (6.9: not)",
		   u.release);
}

static int look_at_uring(void)
{
	struct io_uring_params p = { 0 };
	long fd = syscall(SYS_io_uring_setup, 4, &p);

	if (fd >= 0)
		close((int)fd);
	return fd >= 0 ? say(OK, "io_uring is allowed") :
		say(WARN, "io_uring: %s; threads read instead (sysctl kernel.io_uring_disabled=0)",
		    strerror(errno));
}

static int look_at_cores(void)
{
	cpu_set_t set;
	int cores = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;

	return cores > 1 ? say(OK, "%d cores", cores) :
		say(WARN, "1 core: dlfs and the reader take turns; give it more");
}

static int look_at_propagation(void)
{
	dl_cleanup(host_mount_fini) struct host_mount m = { 0 };

	if (host_mount_of("/", &m) != 1 || m.shared)
		return say(OK, "mounts made here are seen in other mount namespaces");
	return say(WARN, "containers do not see mounts made here (docker: "
		   "bind-propagation=rshared)");
}

static int look_at_log(void)
{
	return access("/dev/log", F_OK) == 0 ? say(OK, "syslog takes the log of mounts") :
		say(WARN, "no /dev/log: a mount's log is lost; `dlfs mount -f` writes it to "
		    "stderr");
}

static int run(int argc, char **argv)
{
	int failed = 0;

	if (argc > 1)
		return cli_usage(&cmd_doctor, "\"%s\" is one argument too many", argv[1]);
	failed += look_at_device();
	failed += look_at_mounting();
	failed += look_at_allow_other();
	failed += look_at_fanotify();
	failed += look_at_inotify();
	failed += look_at_memory();
	failed += look_at_kernel();
	failed += look_at_uring();
	failed += look_at_cores();
	failed += look_at_propagation();
	failed += look_at_log();
	return cli_printed(failed ? CLI_FAILED : CLI_OK);
}

const struct command cmd_doctor = {
	.name = "doctor",
	.usage = "",
	.summary = "Look whether mounts can work here, and what would make them better",
	.help = "",
	.run = run,
};
