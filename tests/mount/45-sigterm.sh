#!/bin/bash
# SIGTERM while files are open and reads are under way: gone, and nobody hangs.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir "$src" "$mnt"
for i in $(seq 40); do head -c 100000 /dev/urandom > "$src/$i"; done
unmounted() { ! grep -q " $mnt " /proc/mounts; }
ended() { ! kill -0 "$1" 2> /dev/null; }

# who: the parent or the serving process gets it
for who in parent server; do
	mount_dlfs "$src" "$mnt" source_layers=slow:latency=20s
	server=$(jq .pid "$mnt/.dlfs/stats.json")
	parent=$(ps -o ppid= -p "$server" | tr -d ' ')
	tail -f "$mnt/1" > /dev/null 2>&1 & readers=($!)
	for i in $(seq 2 20); do cat "$mnt/$i" > /dev/null 2>&1 & readers+=($!); done
	kill -TERM "${!who}"
	wait_for 60 unmounted || fail "still mounted after SIGTERM to the $who"
	wait_for 60 ended "$server" || fail "the server stays after SIGTERM to the $who"
	wait_for 60 ended "$parent" || fail "the parent stays after SIGTERM to the $who"
	kill "${readers[0]}" 2> /dev/null || true
	for r in "${readers[@]}"; do
		wait_for 60 ended "$r" || fail "a reader hangs after SIGTERM to the $who"
	done
	wait
done

# A server that hangs is killed.
mount_dlfs "$src" "$mnt"
server=$(jq .pid "$mnt/.dlfs/stats.json")
parent=$(ps -o ppid= -p "$server" | tr -d ' ')
kill -STOP "$server"
kill -TERM "$parent"
wait_for 60 ended "$server" || fail "a stopped server stays"
wait_for 60 ended "$parent" || fail "its parent stays"
unmounted || fail "still mounted"
mount_dlfs "$src" "$mnt"
cmp "$src/1" "$mnt/1" || fail "the next mount"
umount_dlfs "$mnt"
