#!/bin/bash
# Every change is refused with EROFS, at once; read locks work; O_RDONLY|O_CREAT opens.  What is written into a
# shared mapping does not stay.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir -p "$src/d" "$mnt"; echo hello > "$src/d/f"
mount_dlfs "$src" "$mnt" order=sequential
python3 - "$mnt" <<'P'
import errno, fcntl, os, sys
m = sys.argv[1]
f = m + "/d/f"
acts = {
    "create": lambda: os.open(m + "/new", os.O_CREAT | os.O_RDWR),
    "write": lambda: os.write(os.open(f, os.O_RDWR), b"x"),
    "append": lambda: os.write(os.open(f, os.O_WRONLY | os.O_APPEND), b"x"),
    "truncate": lambda: os.truncate(f, 0),
    "O_TRUNC": lambda: os.open(f, os.O_WRONLY | os.O_TRUNC),
    "mkdir": lambda: os.mkdir(m + "/e"),
    "rmdir": lambda: os.rmdir(m + "/d"),
    "unlink": lambda: os.unlink(f),
    "rename": lambda: os.rename(f, m + "/g"),
    "link": lambda: os.link(f, m + "/g"),
    "symlink": lambda: os.symlink("x", m + "/g"),
    "mknod": lambda: os.mkfifo(m + "/p"),
    "chmod": lambda: os.chmod(f, 0o600),
    "chown": lambda: os.chown(f, 1, 1),
    "utime": lambda: os.utime(f),
    "setxattr": lambda: os.setxattr(f, "user.x", b"1"),
}
for name, act in acts.items():
    try:
        act()
        sys.exit(f"FAIL: {name} succeeded")
    except OSError as e:
        if e.errno != errno.EROFS:
            sys.exit(f"FAIL: {name}: {e}")
fd = os.open(f, os.O_RDONLY | os.O_CREAT)
fcntl.flock(fd, fcntl.LOCK_SH)
fcntl.lockf(fd, fcntl.LOCK_SH)
print(len(acts), "changes were refused")
P
[ "$(cat "$src/d/f")" = hello ] || fail "the source changed"

# Only a file that is in the page cache to stay shows it: the pages of others are dropped anyway.
ls -l "$mnt/d" > /dev/null
is_pushed() { [ "$(getfattr --only-values -n user.dlfs.state "$mnt/d/f" 2> /dev/null)" = page-cache ]; }
wait_for 30 is_pushed || fail "the file was not pushed"
python3 - "$mnt/d/f" <<'P'
import mmap, os, sys, time
reader = os.open(sys.argv[1], os.O_RDONLY)
fd = os.open(sys.argv[1], os.O_RDWR)
m = mmap.mmap(fd, 0)
m[0:4] = b"EVIL"
m.close()
os.close(fd)
end = time.monotonic() + 30
while os.pread(reader, 9, 0) != b"hello\n":
    if time.monotonic() > end:
        sys.exit("FAIL: everybody reads what one program wrote")
    time.sleep(0.05)
P
