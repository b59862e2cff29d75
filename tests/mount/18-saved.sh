#!/bin/bash
# What a dataset holds is saved, found again at the next mount, and checked against the source.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir -p "$src/a" "$src/b" "$mnt"
for i in 1 2 3 4; do echo "$i" > "$src/a/$i.jpg"; echo "$i$i" > "$src/b/$i.jpg"; done
saved() { find "$work/state" -type f 2> /dev/null | grep -q .; }

mount_dlfs "$src" "$mnt"
wait_for 30 saved || fail "nothing was saved"
umount_dlfs "$mnt"

# Changes while nothing is mounted.
echo 5 > "$src/a/5.jpg"; rm "$src/b/1.jpg"; echo changed > "$src/b/2.jpg"
mount_dlfs "$src" "$mnt"
"$DLFS" refresh "$mnt"
diff -r "$src" "$mnt"

# verify=never believes it until it is told to look.
umount_dlfs "$mnt"
echo 6 > "$src/a/6.jpg"
mount_dlfs "$src" "$mnt" verify=never
[ "$(ls "$mnt/a" | wc -l)" = 5 ] || fail "with verify=never the source was read"
"$DLFS" refresh "$mnt"
diff -r "$src" "$mnt"
umount_dlfs "$mnt"

# A damaged file is no harm.
for f in $(find "$work/state" -type f); do
	printf 'garbage' | dd of="$f" bs=1 seek=100 conv=notrunc status=none
done
mount_dlfs "$src" "$mnt"
diff -r "$src" "$mnt"
umount_dlfs "$mnt"
for f in $(find "$work/state" -type f); do truncate -s 50 "$f"; done
mount_dlfs "$src" "$mnt"
diff -r "$src" "$mnt"
