#!/bin/bash
# What was coded is kept on the local disk: `dlfs warm` codes all, the next mount takes it from there.
. "$(dirname "$0")/common.sh"

need_pil
src=$work/src mnt=$work/mnt
mkdir -p "$src" "$mnt"
"$python" - "$src" << 'P'
import random, sys
from PIL import Image, ImageFilter
rng = random.Random(1)
for i in range(30):
    w, h = rng.randrange(80, 300), rng.randrange(80, 300)
    picture = Image.frombytes("RGB", (w, h), rng.randbytes(3 * w * h)).filter(ImageFilter.GaussianBlur(1.5))
    picture.save(f"{sys.argv[1]}/{i:02d}." + ("png" if i % 5 == 0 else "jpg"), **({"quality": 95} if i % 5 else {}))
P
head -c 2000 "$src/01.jpg" > "$src/cut.jpg"
touch -d '1 hour ago' "$src"/*
sleep 2.1                               # files that have just changed are not kept

store=store.path=$work/store,store.size=256MiB,store.keep_free=0,order=none,memory=16MiB
with=quality_ratio=0.9,png=fast
sums() { (cd "$mnt" && sha256sum -- *) > "$1"; }

mount_dlfs "$src" "$mnt" "$with,$store"
"$DLFS" warm "$mnt" > "$work/warm"
[ "$(stat_of recoded)" = 30 ] || fail "warm coded $(stat_of recoded) of 30: $(cat "$work/warm")"
sums "$work/first"
kept() { [ "$(stat_of store_written)" -ge 31 ]; }
wait_for 30 kept || fail "$(stat_of store_written) were written"
umount_dlfs "$mnt"

# With the sizes that were saved, and without.
for state in kept lost; do
	[ $state = kept ] || rm -r "$work/state"
	mount_dlfs "$src" "$mnt" "$with,$store"
	sums "$work/again"
	cmp "$work/first" "$work/again" || fail "$state: $(diff "$work/first" "$work/again")"
	[ "$(stat_of store_hits)" -ge 30 ] || fail "$state: $(stat_of store_hits) came from the store"
	umount_dlfs "$mnt"
done

# Other settings: nothing of that is served.
mount_dlfs "$src" "$mnt" "quality_ratio=0.7,$store"
sums "$work/other"
[ "$(comm -12 <(sort "$work/first") <(sort "$work/other") | wc -l)" -le 2 ] || fail "0.7 serves what 0.9 left"
cmp "$src/00.png" "$mnt/00.png"
umount_dlfs "$mnt"
mount_dlfs "$src" "$mnt" "$store"
diff -r "$src" "$mnt"
umount_dlfs "$mnt"
