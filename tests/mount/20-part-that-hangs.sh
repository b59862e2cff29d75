#!/bin/bash
# Of a source a part hangs, here a mount below it whose server is stopped: who reads the rest does not wait for it, also
# where more hangs than fetches are under way at once.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt below=$work/below
mkdir -p "$src/fine" "$src/part" "$mnt" "$below"
for i in $(seq 80); do
	head -c 50000 /dev/urandom > "$src/fine/$i"
	head -c 50000 /dev/urandom > "$below/$i"
done

all_asked() { [ "$(stat_of memory_bytes)" -ge $((readers * 50000)) ]; }
gone() { ! kill -0 $others 2> /dev/null; }

# part_hangs READERS LAYERS
part_hangs() {
	local readers=$1 part pids=()
	mount_dlfs "$below" "$src/part" order=none
	part=$(jq .pid "$src/part/.dlfs/stats.json")
	mount_dlfs "$src" "$mnt" "memory=64MiB,order=none,source_layers=$2"
	[ "$(ls "$mnt/part" | wc -l)" = 80 ] || fail "the part is not shown"
	kill -STOP "$part"
	for i in $(seq $readers); do cmp "$below/$i" "$mnt/part/$i" & pids+=($!); done
	wait_for 30 all_asked || fail "only $(stat_of memory_bytes) bytes of the part are asked for"
	for i in $(seq 20); do cmp "$src/fine/$i" "$mnt/fine/$i" || echo "$i"; done > "$work/wrong" 2>&1 & others=$!
	wait_for 60 gone || fail "others wait for the part that hangs"
	[ ! -s "$work/wrong" ] || fail "$(cat "$work/wrong")"
	kill -CONT "$part"
	for p in "${pids[@]}"; do wait "$p" || fail "a file of the part is another"; done
	umount_dlfs "$mnt"
	umount_dlfs "$src/part"
}

part_hangs 10 uring
part_hangs 80 uring
part_hangs 40 threads
