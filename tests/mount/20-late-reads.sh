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
