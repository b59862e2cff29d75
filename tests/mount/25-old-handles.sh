#!/bin/bash
# Hundreds of files held open, while others are read and some of them vanish: what is read on is right, or
# an error for what is gone; nothing is left open or stored above the limit afterwards.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir -p "$src" "$mnt"
for i in $(seq 300); do head -c $((20000 + i)) /dev/urandom > "$src/held$i"; done
for i in $(seq 60); do head -c 300000 /dev/urandom > "$src/other$i"; done
sleep 2.1              # a file that has just changed is not kept yet
mount_dlfs "$src" "$mnt" "memory=4MiB,order=none,store.path=$work/store,store.size=3MiB,store.keep_free=0"
open_files() { ls "/proc/$(stat_of pid)/fd" | wc -l; }
at_first=$(open_files)

python3 - "$src" "$mnt" "$DLFS" << 'END'
import errno, os, subprocess, sys
source, mount, dlfs = sys.argv[1:]
def data(name):
    with open(f"{source}/{name}", "rb") as f:
        return f.read()
right = [data(f"held{i}") for i in range(1, 301)]
held = [os.open(f"{mount}/held{i}", os.O_RDONLY) for i in range(1, 301)]
for fd, all_of_it in zip(held, right):
    assert os.pread(fd, 1, 0) == all_of_it[:1]
for i in range(1, 61):
    with open(f"{mount}/other{i}", "rb") as f:
        assert f.read() == data(f"other{i}"), i
for i in range(1, 101):
    os.unlink(f"{source}/held{i}")
def read_on(may_fail):
    failed = 0
    for fd, all_of_it in zip(held, right):
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        try:
            assert os.pread(fd, 1 << 20, 1) == all_of_it[1:]
        except OSError as e:
            assert e.errno in (errno.ESTALE, errno.EIO, errno.ENOENT), e
            failed += 1
    assert failed <= may_fail, failed
    return failed
read_on(100)
subprocess.run([dlfs, "refresh", mount], check=True)
read_on(100)
for fd in held:
    os.close(fd)
END
[ "$(stat_of store_size)" -le $((3 << 20)) ] || fail "the store has $(stat_of store_size) bytes"
closed() { [ "$(open_files)" -le $((at_first + 4)) ]; }
wait_for 30 closed || fail "$(open_files) files are open, at first $at_first"
[ "$(stat_of memory_bytes)" -le "$(stat_of memory_limit)" ] || fail "the memory bound was broken"
umount_dlfs "$mnt"
