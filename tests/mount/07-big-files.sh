#!/bin/bash
# Beyond 2 and 4 GiB: right bytes, and one byte read does not fetch the file.
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
