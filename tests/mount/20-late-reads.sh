#!/bin/bash
# A late block is given back once it was read to its end, so that readers of an order that nobody
# knows do not wait for each other: the reserve is 512 KiB here, and 100 times that is read.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir "$src" "$mnt"
for i in $(seq 500); do head -c 100000 /dev/urandom > "$src/$i"; done
head -c 20000000 /dev/urandom > "$src/big"
mount_dlfs "$src" "$mnt" order=none,memory=4MiB
timeout 100 cat "$mnt"/* > "$work/got" || fail "readers wait for blocks that nobody needs"
cat "$src"/* | cmp - "$work/got" || fail "wrong bytes"
umount_dlfs "$mnt"

# Nor for what nobody reads to its end: a block of each second was 40 s here.
rm "$src"/*
for i in $(seq 80); do head -c 250000 /dev/urandom > "$src/$i"; done
mount_dlfs "$src" "$mnt" order=none,memory=4MiB
for i in $(seq 80); do
	head -c 4096 "$src/$i" | cmp - <(head -c 4096 "$mnt/$i") || fail "wrong bytes of $i"
done & heads=$!
gone() { ! kill -0 $heads 2> /dev/null; }
wait_for 30 gone || fail "who reads the heads of files waits for blocks that nobody needs"
wait $heads
