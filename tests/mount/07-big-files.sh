#!/bin/bash
# Beyond 2 and 4 GiB: right bytes, one byte read does not fetch the file, and a slow reader
# does not have it fetched many times.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir -p "$src" "$mnt"
truncate -s 5G "$src/s.bin"
marks="0 2147483647 2147483648 4294967295 4294967296 5368709119"
for at in $marks; do printf X | dd of="$src/s.bin" bs=1 seek="$at" conv=notrunc status=none; done
head -c 20000000 /dev/urandom > "$src/r.bin"
mount_dlfs "$src" "$mnt" order=none,memory=32MiB
for at in $marks; do
	[ "$(dd if="$mnt/s.bin" bs=1 skip="$at" count=1 status=none)" = X ] || fail "byte at $at"
done
fetched=$(jq .bytes_fetched "$mnt/.dlfs/stats.json")
[ "$fetched" -le 67108864 ] || fail "$fetched bytes were fetched for six"
cmp "$src/r.bin" "$mnt/r.bin"
tail -c 5000000 "$mnt/r.bin" | cmp - <(tail -c 5000000 "$src/r.bin")
python3 - "$src/r.bin" "$mnt/r.bin" <<'P'
import os, random, sys
a, b = (os.open(p, os.O_RDONLY) for p in sys.argv[1:])
r = random.Random(1)
for _ in range(400):
    n, at = r.randrange(1, 300000), r.randrange(0, 20000000)
    assert os.pread(a, n, at) == os.pread(b, n, at), (n, at)
P
[ "$(jq .memory_bytes "$mnt/.dlfs/stats.json")" -le $((32 << 20)) ] || fail "memory above its bound"
umount_dlfs "$mnt"

# Who takes less than the source gives: no more is fetched than that and a window, which is 64 MiB at most here.
mount_dlfs "$src" "$mnt" order=none,memory=1GiB
python3 - "$mnt/s.bin" <<'P'
import os, sys, time
file = os.open(sys.argv[1], os.O_RDONLY)
for _ in range(40):
    assert len(os.read(file, 1 << 20)) == 1 << 20
    time.sleep(0.1)
P
fetched=$(stat_of bytes_fetched)
[ "$fetched" -le $((120 << 20)) ] || fail "$fetched bytes were fetched for 40 MiB"
umount_dlfs "$mnt"

# What was read ahead is there still when its reader comes to it after a pause, of more than a second.
mount_dlfs "$src" "$mnt" order=none,memory=1GiB,source_layers=slow:latency=200ms
python3 - "$mnt" <<'P'
import json, os, sys, time
def fetched():
    return json.load(open(sys.argv[1] + "/.dlfs/stats.json"))["bytes_fetched"] >> 20
def fetched_at_last():
    at = -1
    while at != (at := fetched()):
        time.sleep(1.5)
    return at
file = os.open(sys.argv[1] + "/s.bin", os.O_RDONLY)
def read(blocks):
    for _ in range(blocks):
        assert len(os.read(file, 1 << 20)) == 1 << 20
read(16)
before = fetched_at_last()
assert before >= 16 + 7, f"only {before} MiB: nothing was read ahead"
read(4)
more = fetched_at_last() - before
assert more <= 4 + 2, f"{more} MiB were fetched for the next 4"
P
umount_dlfs "$mnt"

# From its end to its beginning, too, each block is fetched once.
mount_dlfs "$src" "$mnt" order=none,memory=32MiB
python3 - "$src/r.bin" "$mnt/r.bin" <<'P'
import os, sys
a, b = (os.open(p, os.O_RDONLY) for p in sys.argv[1:])
for at in reversed(range(0, 20000000, 65536)):
    assert os.pread(a, 65536, at) == os.pread(b, 65536, at), at
P
fetched=$(stat_of bytes_fetched)
[ "$fetched" -le 24000000 ] || fail "$fetched bytes were fetched for 20000000"
umount_dlfs "$mnt"

# Many who are slow, and room for little more than what they have in hand: that is not let go.
mount_dlfs "$src" "$mnt" order=none,memory=64MiB
python3 - "$mnt/s.bin" <<'P'
import os, sys, threading, time
def read(at):
    file = os.open(sys.argv[1], os.O_RDONLY)
    for i in range(40):
        assert len(os.pread(file, 1 << 17, at + (i << 17))) == 1 << 17
        time.sleep(0.25)
readers = [threading.Thread(target=read, args=[k << 29]) for k in range(7)]
for r in readers: r.start()
for r in readers: r.join()
P
fetched=$(stat_of bytes_fetched)
[ "$fetched" -le $((72 << 20)) ] || fail "$fetched bytes were fetched for 35 MiB"
umount_dlfs "$mnt"

# Farther than there are blocks nothing is read, and nothing else is shown in its place.
mkdir "$work/far"
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=16m none "$work/far"; then
	remember "$work/far"
	truncate -s 5P "$work/far/p.bin"
	python3 - "$work/far/p.bin" <<'P'
import os, sys
file = os.open(sys.argv[1], os.O_WRONLY)
for at in 0, (1 << 52) - 4, (1 << 52) + 5000:
    os.pwrite(file, b"here", at)
P
	mount_dlfs "$work/far" "$mnt" order=none,memory=64MiB
	python3 - "$mnt/p.bin" <<'P'
import os, sys
file = os.open(sys.argv[1], os.O_RDONLY)
for at in 0, (1 << 52) - 4:
    assert os.pread(file, 4, at) == b"here", at
try:
    sys.exit(f"beyond 4 PiB there is {os.pread(file, 4, (1 << 52) + 5000)}")
except OSError:
    pass
assert os.fstat(file).st_size == 5 << 50, os.fstat(file).st_size
P
	umount_dlfs "$mnt"
fi
