#!/bin/bash
# Of a source a part hangs, here a mount below it whose server is stopped: who reads the rest does not wait for it.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt below=$work/below
mkdir -p "$src/fine" "$src/part" "$mnt" "$below"
for i in $(seq 20); do
	head -c 50000 /dev/urandom > "$src/fine/$i"
	head -c 50000 /dev/urandom > "$below/$i"
done
mount_dlfs "$below" "$src/part" order=none
part=$(jq .pid "$src/part/.dlfs/stats.json")
mount_dlfs "$src" "$mnt" memory=64MiB,order=none
[ "$(ls "$mnt/part" | wc -l)" = 20 ] || fail "the part is not shown"
kill -STOP "$part"
readers=()
for i in $(seq 10); do cmp "$below/$i" "$mnt/part/$i" & readers+=($!); done
all_asked() { [ "$(stat_of memory_bytes)" -ge 500000 ]; }
wait_for 30 all_asked || fail "only $(stat_of memory_bytes) bytes of the part are asked for"
for i in $(seq 20); do cmp "$src/fine/$i" "$mnt/fine/$i" || echo "$i"; done > "$work/wrong" 2>&1 & others=$!
gone() { ! kill -0 $others 2> /dev/null; }
wait_for 60 gone || fail "others wait for the part that hangs"
[ ! -s "$work/wrong" ] || fail "$(cat "$work/wrong")"
kill -CONT "$part"
for p in "${readers[@]}"; do wait "$p" || fail "a file of the part is another"; done
umount_dlfs "$mnt"
umount_dlfs "$src/part"
