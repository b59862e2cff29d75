#define FUSE_USE_VERSION 35
#include "fs/mount.h"

#include <fcntl.h>
#include <fuse_log.h>
#include <fuse_lowlevel.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>

#include "base/log.h"
#include "base/refuse.h"
#include "fs/host/host.h"

struct mount {
	struct fuse_session *session;
	char *mountpoint;
	uint32_t minor;
	int marker;
	bool detached;
};

static void mount_closep(struct mount **m) { mount_close(*m); }
static void args_fini(struct fuse_args *args) { fuse_opt_free_args(args); }

const char *mount_marker(uint32_t minor, char text[MOUNT_MARKER_SIZE])
{
	snprintf(text, MOUNT_MARKER_SIZE, "dlfs-mount-%u", minor);
	return text;
}

/* --- What is needed ------------------------------------------------------------------- */

#define CONTAINER_CURE "in a container: --device /dev/fuse --cap-add SYS_ADMIN"

static int check_device(char reterr[REFUSE_MAX])
{
	dl_cleanup(dl_closep) int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		return 0;
	if (errno == EACCES || errno == EPERM)
		return refuse(reterr, -errno, "/dev/fuse may not be opened (%s); as root: chmod "
			      "666 /dev/fuse; " CONTAINER_CURE, strerror(errno));
	return refuse(reterr, -errno, "there is no /dev/fuse (%s); as root: modprobe fuse; "
		      CONTAINER_CURE, strerror(errno));
}

static int check_user(const struct config *c, char reterr[REFUSE_MAX])
{
	if (geteuid() == 0)
		return 0;
	if (!host_has_program("fusermount3"))
		return refuse(reterr, -ENOENT, "ordinary users mount by fusermount3, which is not "
			      "here; install the package fuse3, or mount as root");
	if ((c->allow_other || c->allow_root) && !host_user_allow_other())
		return refuse(reterr, -EPERM, "%s is not allowed to ordinary users; as root, write "
			      "user_allow_other into /etc/fuse.conf",
			      c->allow_other ? "allow_other" : "allow_root");
	return 0;
}

/* --- Mounting ------------------------------------------------------------------------- */

static int add_name(struct fuse_args *args, const char *key, const char *value)
{
	dl_cleanup(dl_freep) char *pair = NULL, *escaped = NULL;

	if (asprintf(&pair, "%s=%s", key, value) < 0) {
		pair = NULL;
		return -ENOMEM;
	}
	if (fuse_opt_add_opt_escaped(&escaped, pair) < 0 || fuse_opt_add_arg(args, "-o") < 0 ||
	    fuse_opt_add_arg(args, escaped) < 0)
		return -ENOMEM;
	return 0;
}

static int make_args(const struct config *c, struct fuse_args *args)
{
	bool others = c->allow_other || c->allow_root;
	int r = 0;

	/* Not "ro": the kernel would refuse setxattr too, by which commands are given.  The server
	 * refuses every change. */
	if (fuse_opt_add_arg(args, "dlfs") < 0)
		return -ENOMEM;
	if (others && fuse_opt_add_arg(args, c->allow_root ? "-oallow_root" : "-oallow_other") < 0)
		return -ENOMEM;
	/* Otherwise the kernel lets everybody read what one could read before. */
	if (others && !c->no_default_permissions &&
	    fuse_opt_add_arg(args, "-odefault_permissions") < 0)
		return -ENOMEM;
	r = add_name(args, "fsname", c->fsname ? c->fsname : c->source);
	return r < 0 ? r : add_name(args, "subtype", c->subtype ? c->subtype : "dlfs");
}

/* libfuse and fusermount3 explain failures on stderr.  These words become the end of our one
 * sentence: stderr is a file in memory for as long as the call lasts. */
struct overheard { int file, stderr_; };

static void overhear(struct overheard *o)
{
	o->file = memfd_create("dlfs-stderr", MFD_CLOEXEC);
	o->stderr_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	fflush(stderr);
	/* Without a way back it stays where it is. */
	if (o->file >= 0 && o->stderr_ >= 0)
		dup2(o->file, STDERR_FILENO);
}

static void stop_overhearing(struct overheard *o, char said[160])
{
	ssize_t n = o->file >= 0 ? pread(o->file, said, 159, 0) : 0;

	said[n > 0 ? n : 0] = '\0';
	said[strcspn(said, "\n")] = '\0';
	if (o->stderr_ >= 0)
		dup2(o->stderr_, STDERR_FILENO);
	dl_closep(&o->stderr_);
	dl_closep(&o->file);
}

static int mount_session(struct mount *m, char reterr[REFUSE_MAX])
{
	struct overheard o;
	char said[160];
	int r;

	overhear(&o);
	r = fuse_session_mount(m->session, m->mountpoint);
	stop_overhearing(&o, said);
	if (r == 0)
		return 0;
	m->detached = true;
	/* docker run --user N */
	if (strstr(said, "could not determine username"))
		return refuse(reterr, -EIO, "fusermount3 asks for the name of uid %u, which has "
			      "none here; as root: useradd -u %u NAME; or mount as root",
			      (unsigned)geteuid(), (unsigned)geteuid());
	return refuse(reterr, -EIO, "cannot mount at %.60s: %.110s; it needs CAP_SYS_ADMIN or a "
		      "set-uid fusermount3", m->mountpoint, *said ? said : "not permitted");
}

static void unmount(struct mount *m)
{
	int r = host_unmount(m->mountpoint, true);

	if (r < 0)
		log_warning("cannot detach %s: %s", m->mountpoint, strerror(-r));
}

static int note_minor(struct mount *m, char reterr[REFUSE_MAX])
{
	dl_cleanup(host_mount_fini) struct host_mount found = { 0 };
	char name[MOUNT_MARKER_SIZE];
	int r = host_mount_of(m->mountpoint, &found);

	/* What cannot be seen is there all the same: it is ours, made a moment ago. */
	if (r < 0) {
		m->detached = true;
		unmount(m);
		return refuse(reterr, r, "what is mounted cannot be seen any more: %s; is /proc "
			      "mounted?", strerror(-r));
	}
	/* None at all: in a chroot that lies in no mount of its own. */
	if (r == 0 || strcmp(found.mountpoint, m->mountpoint) != 0)
		return refuse(reterr, -ENOENT, "%.150s was mounted and is gone again",
			      m->mountpoint);
	m->minor = found.minor;
	m->marker = memfd_create(mount_marker(m->minor, name), MFD_CLOEXEC);
	if (m->marker < 0)             /* `dlfs umount` would not find us */
		return refuse(reterr, -errno, "no memory or descriptor is left: %s",
			      strerror(errno));
	return 0;
}

int mount_open(const struct config *c, struct mount **ret, char reterr[REFUSE_MAX])
{
	static const struct fuse_lowlevel_ops none;
	dl_cleanup(args_fini) struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	dl_cleanup(mount_closep) struct mount *m = NULL;
	int r = check_device(reterr);

	if (r == 0)
		r = check_user(c, reterr);
	if (r < 0)
		return r;
	m = calloc(1, sizeof(*m));
	if (m)
		*m = (struct mount){ .marker = -1, .mountpoint = strdup(c->mountpoint) };
	if (!m || !m->mountpoint || make_args(c, &args) < 0)
		return refuse(reterr, -ENOMEM, "out of memory");
	m->session = fuse_session_new(&args, &none, sizeof(none), NULL);
	if (!m->session)
		return refuse(reterr, -EINVAL, "libfuse refuses the mount options");
	r = mount_session(m, reterr);
	if (r == 0)
		r = note_minor(m, reterr);
	if (r < 0)
		return r;
	*ret = DL_TAKE(m);
	return 0;
}

int mount_fd(const struct mount *m)
{
	return fuse_session_fd(m->session);
}

uint32_t mount_minor(const struct mount *m)
{
	return m->minor;
}

/* --- Leaving -------------------------------------------------------------------------- */

/* Also once the descriptor is closed. */
bool mount_ended(const struct mount *m)
{
	struct pollfd p = { .fd = fuse_session_fd(m->session) };

	return poll(&p, 1, 0) > 0;
}

/* The kernel gives the minor number and the mount id of a mount that is gone to the next one at
 * once.  While the connection lives they are ours; after it only a mount that nobody serves can
 * be. */
static bool is_ours(const struct mount *m)
{
	dl_cleanup(host_mount_fini) struct host_mount found = { 0 };
	bool there = host_mount_of(m->mountpoint, &found) == 1 && found.minor == m->minor &&
		     strcmp(found.mountpoint, m->mountpoint) == 0;

	if (!there || !mount_ended(m))
		return there;
	host_mount_fini(&found);
	return host_mounted(m->mountpoint, &found) == 1 && found.minor == m->minor && found.dead;
}

/* Not by libfuse: it would take away whatever lies at that place by now. */
void mount_detach(struct mount *m)
{
	if (!m || m->detached)
		return;
	m->detached = true;
	if (is_ours(m))
		unmount(m);
}

/* The files that end connections are rarely mounted in a container, so they are also tried in
 * an instance that is mounted nowhere. */
static int open_connections(void)
{
	dl_cleanup(dl_closep) int context = fsopen("fusectl", FSOPEN_CLOEXEC);
	int folder;

	if (context < 0 || fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	folder = fsmount(context, FSMOUNT_CLOEXEC, 0);
	return folder < 0 ? -errno : folder;
}

int mount_open_abort(uint32_t minor)
{
	dl_cleanup(dl_closep) int folder = -1;
	char name[64];
	int file;

	snprintf(name, sizeof(name), "/sys/fs/fuse/connections/%u/abort", minor);
	file = open(name, O_WRONLY | O_CLOEXEC);
	if (file >= 0)
		return file;
	folder = open_connections();
	if (folder < 0)
		return folder;
	snprintf(name, sizeof(name), "%u/abort", minor);
	file = openat(folder, name, O_WRONLY | O_CLOEXEC);
	return file < 0 ? -errno : file;
}

void mount_abort(int file)
{
	int r = file < 0 ? file : write(file, "1", 1) < 0 ? -errno : 0;

	if (r < 0)
		log_warning("cannot end a FUSE connection: %s", strerror(-r));
}

void mount_close(struct mount *m)
{
	if (!m)
		return;
	if (m->session && !m->detached && m->mountpoint && fuse_session_fd(m->session) >= 0)
		mount_detach(m);
	if (m->session)
		fuse_session_destroy(m->session);
	dl_closep(&m->marker);
	free(m->mountpoint);
	free(m);
}
