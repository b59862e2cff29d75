#!/bin/bash
# Every name, byte, size, mode, owner, time, inode and link text is the source's; names are bytes.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir -p "$src/a/b" "$src/a/b-c" "$src/empty" "$mnt"
for n in 0 1 4095 4096 4097 131073 3000000; do
	head -c "$n" /dev/urandom > "$src/a/size-$n"
done
python3 - "$src/a/b" <<'P'
import os, sys
os.chdir(sys.argv[1].encode())
for i, name in enumerate([b"caf\xc3\xa9", b"cafe\xcc\x81", b"caf\xe9", b"a\nb", b" lead", b"trail ",
                          b"a%20b", b"a+b", b"a#b?c", b"-rf", b"\xff\xfe", b"x" * 255]):
    with open(name, "wb") as f:
        f.write(b"content %d of " % i + name)
P
ln -s b/a+b "$src/a/relative"
ln -s "$src/a/size-1" "$src/a/absolute"
ln -s nowhere "$src/a/dangling"
ln -s loop2 "$src/loop1"; ln -s loop1 "$src/loop2"
ln -s a "$src/folder-link"
ln "$src/a/size-4097" "$src/a/hard"
mkfifo "$src/a/p.jpg"; mknod "$src/a/null" c 1 3
touch -d '2001-02-03 04:05:06.123456789' "$src/a/size-0" "$src/empty"
chmod 4711 "$src/a/size-1"; chmod 0 "$src/a/size-4095"; chmod 1777 "$src/empty"
chown 1234:5678 "$src/a/size-4096"

mount_dlfs "$src" "$mnt"

python3 - "$src" "$mnt" <<'P'
import os, stat, sys

def facts(root):
    found = {}
    root = root.encode()
    for folder, folders, names in os.walk(root):
        for name in [b"."] + folders + names:
            path = os.path.join(folder, name)
            s = os.lstat(path)
            kind = stat.S_IFMT(s.st_mode)
            size = s.st_size if kind != stat.S_IFDIR else None
            what = (os.readlink(path) if kind == stat.S_IFLNK else
                    open(path, "rb").read() if kind == stat.S_IFREG else None)
            found[os.path.relpath(path, root)] = (s.st_mode, s.st_uid, s.st_gid, s.st_nlink, s.st_ino,
                                                  s.st_mtime_ns, size, what)
    return found

want, got = facts(sys.argv[1]), facts(sys.argv[2])
if want != got:
    for path in sorted(want.keys() | got.keys()):
        if want.get(path) != got.get(path):
            print(path, "source:", str(want.get(path))[:200], "mount:", str(got.get(path))[:200])
    sys.exit("FAIL: the trees differ")
for e in os.scandir(sys.argv[2] + "/a"):
    kind = stat.S_IFMT(os.lstat(e.path).st_mode)
    assert e.inode() == os.lstat(e.path).st_ino, e.path
    assert e.is_dir(follow_symlinks=False) == (kind == stat.S_IFDIR), e.path
    assert e.is_symlink() == (kind == stat.S_IFLNK), e.path
print(len(got), "names are equal in all")
P
diff -r --no-dereference "$src/a/b" "$mnt/a/b"
expect_fail cat "$mnt/a/dangling"
expect_fail cat "$mnt/loop1"
[ "$(cat "$mnt/a/relative")" = "$(cat "$src/a/relative")" ] || fail "a relative link leads elsewhere"
timeout 100 ls -l "$mnt/a" > "$work/listing" || fail "a FIFO made ls wait"
