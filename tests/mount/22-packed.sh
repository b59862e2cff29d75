#!/bin/bash
# What shrinks is stored smaller, and large files in parts: the same bytes, and none of the source's.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt store=$work/store
mkdir -p "$src" "$mnt"
python3 - "$src" << 'END'
import random, struct, sys
random.seed(3)
noise = [random.randrange(16) for _ in range(1 << 16)]
def sound(samples, phase):
    return b"".join(struct.pack("<h", (i // 8 + phase) % 2000 + noise[i * 7 % 65521]) for i in range(samples))
piece = sound(1 << 18, 0)
with open(f"{sys.argv[1]}/large.npy", "wb") as f:
    for i in range(24):
        f.write(piece[i * 64:] + bytes(i * 64 + i))
for i in range(40):
    with open(f"{sys.argv[1]}/{i}.wav", "wb") as f:
        f.write(piece[i * 1000:i * 1000 + 50000 + i])
    with open(f"{sys.argv[1]}/{i}.jpg", "wb") as f:
        f.write(random.randbytes(30000 + i))
END
sleep 2.1              # a file that has just changed is not kept yet
at_least() { [ "$(stat_of "$1")" -ge "$2" ]; }
mount_store() {
	mount_dlfs "$src" "$mnt" "memory=128MiB,store.path=$store,store.size=256MiB,store.keep_free=0,order=none,$1"
	wait_for 30 at_least store_limit 1 || fail "no store"
	"$DLFS" refresh "$mnt"
}
same() { cmp "$src/$1" "$mnt/$1" || fail "$1: wrong bytes, $2"; }
all_same() { (cd "$src" && ls) | while read -r name; do same "$name" "$1"; done; }
bytes=$(cat "$src"/* | wc -c)

mount_store store.zstd=2
all_same "from the source"
kept() { [ "$(stat_of store_lengths)" = "$bytes" ]; }
wait_for 60 kept || fail "$(stat_of store_lengths) of $bytes bytes are kept"
[ "$(stat_of store_records)" -gt 90 ] || fail "a large file is not kept in parts: $(stat_of store_records)"
[ "$(stat_of store_bytes)" -lt $((bytes * 3 / 4)) ] || fail "$(stat_of store_bytes) of $bytes bytes"
umount_dlfs "$mnt"

# Small reads here and there: each asks for one part, and none goes to the source.
mount_store store.zstd=off
python3 - "$src/large.npy" "$mnt/large.npy" << 'END'
import os, random, sys
a, b = (os.open(path, os.O_RDONLY) for path in sys.argv[1:])
os.posix_fadvise(b, 0, 0, os.POSIX_FADV_RANDOM)
random.seed(4)
size = os.fstat(a).st_size
for at in [random.randrange(size) for _ in range(300)] + list(range(size - 4096, 0, -700000)):
    assert os.pread(a, 4096, at) == os.pread(b, 4096, at), at
END
[ "$(stat_of bytes_fetched)" = 0 ] || fail "$(stat_of bytes_fetched) bytes came from the source"
[ "$(stat_of store_hits)" -gt 12 ] || fail "hits: $(stat_of store_hits)"
all_same "from the store"
[ "$(stat_of bytes_fetched)" = 0 ] || fail "$(stat_of bytes_fetched) bytes came from the source"
umount_dlfs "$mnt"
"$DLFS" verify "$store" | grep -q ' 0 damaged' || fail "$("$DLFS" verify "$store")"

# Without it, all is as it was.
rm -r "$store"
mount_store store.zstd=off
all_same "from the source, again"
wait_for 60 kept || fail "$(stat_of store_lengths) of $bytes bytes are kept"
[ "$(stat_of store_bytes)" -gt "$bytes" ] || fail "something was made smaller"
umount_dlfs "$mnt"
