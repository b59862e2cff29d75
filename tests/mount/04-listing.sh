#!/bin/bash
# Rewinding a folder shows the same list again; a mapped file survives a listing of its folder; a
# path may be longer than one call can name.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir -p "$src/d" "$src/e" "$mnt"
for i in $(seq 2500); do echo "$i" > "$src/d/file-$i"; echo "$i" > "$src/e/$i"; done
head -c 300000 /dev/urandom > "$src/d/mapped"
cat > "$work/deep.py" <<'P'
import os, sys

fd = os.open(sys.argv[2], os.O_RDONLY)
for _ in range(45):
    if sys.argv[1] == "make":
        os.mkdir("x" * 200, dir_fd=fd)
    fd = os.open("x" * 200, os.O_RDONLY, dir_fd=fd)
if sys.argv[1] == "make":
    os.write(os.open("f", os.O_WRONLY | os.O_CREAT, dir_fd=fd), b"deep")
assert os.read(os.open("f", os.O_RDONLY, dir_fd=fd), 9) == b"deep"
P
python3 "$work/deep.py" make "$src"
mount_dlfs "$src" "$mnt"
python3 "$work/deep.py" read "$mnt" || fail "the bytes at the end of a long path"
python3 - "$src/d" "$mnt/d" <<'P'
import ctypes, mmap, os, sys

libc = ctypes.CDLL(None, use_errno=True)
libc.opendir.restype = libc.readdir.restype = ctypes.c_void_p
libc.readdir.argtypes = libc.rewinddir.argtypes = libc.closedir.argtypes = [ctypes.c_void_p]

def names(d):
    found = []
    while True:
        e = libc.readdir(d)
        if not e:
            return found
        found.append(ctypes.string_at(e + 19))

src, mnt = sys.argv[1:]
want = open(src + "/mapped", "rb").read()
with open(mnt + "/mapped", "rb") as f:
    m = mmap.mmap(f.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)
assert m[:] == want, "mapped bytes differ"
d = libc.opendir(mnt.encode())
first = names(d)
libc.rewinddir(d)
second = names(d)
libc.closedir(d)
assert first == second, "the second pass differs"
assert sorted(first) == sorted([b".", b".."] + os.listdir(src.encode())), "names differ"
assert m[:] == want, "mapped bytes differ after the listing"
print(len(first), "names, twice")
P
for _ in 1 2 3; do ls "$mnt/d" | wc -l; done | sort -u > "$work/counts"
[ "$(cat "$work/counts")" = 2501 ] || fail "ls: $(cat "$work/counts")"

# A listing that goes on after a refresh brings no old file back.
python3 - "$src/e" "$mnt" "$DLFS" <<'P'
import ctypes, subprocess, sys

src, mnt, dlfs = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
libc.opendir.restype = libc.readdir.restype = ctypes.c_void_p
libc.readdir.argtypes = [ctypes.c_void_p]
d = libc.opendir((mnt + "/e").encode())
assert libc.readdir(d)
with open(src + "/999", "a") as f:
    f.write("more")
subprocess.check_call([dlfs, "refresh", mnt])
while libc.readdir(d):
    pass
with open(mnt + "/e/999", "rb") as f:
    assert f.read() == b"999\nmore", "the old file is back"
P
