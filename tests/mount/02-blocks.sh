#!/bin/bash
# st_blocks is sane, so tar --sparse and cp --sparse copy data and du sees it.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir -p "$src/d" "$mnt" "$work/out"
for n in 0 1 511 512 513 70000; do head -c "$n" /dev/urandom > "$src/d/$n"; done
mount_dlfs "$src" "$mnt"
for n in 0 1 511 512 513 70000; do
	[ "$(stat -c %b "$mnt/d/$n")" = $(((n + 511) / 512)) ] || fail "st_blocks of $n bytes"
done
size=$(stat -c %o "$mnt/d/1")
[ "$size" -ge 4096 ] && [ "$size" -le 1048576 ] || fail "st_blksize is $size"
tar -S -cf "$work/t.tar" -C "$mnt" .
tar -C "$work/out" -xf "$work/t.tar"
diff -r "$src" "$work/out"
cp -r --sparse=auto "$mnt/d" "$work/copy"
diff -r "$src/d" "$work/copy"
[ "$(du -s "$mnt/d" | cut -f1)" -ge 68 ] || fail "du sees holes"
df "$mnt" > "$work/df" || fail "df failed"
