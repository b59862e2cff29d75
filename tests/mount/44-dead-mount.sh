#!/bin/bash
# A mount whose processes were killed is taken away by the next one.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir "$src" "$mnt"
echo 1 > "$src/file"

kill_mount() {
	local pid parent
	pid=$(jq .pid "$mnt/.dlfs/stats.json")
	parent=$(ps -o ppid= -p "$pid" | tr -d ' ')
	# Stopped first, so that it cannot hear of its parent's death and leave in order.
	kill -STOP "$pid"
	kill -9 "$parent" "$pid"
	wait_for 30 is_dead || fail "the mount did not die"
}
is_dead() { ! LC_ALL=C stat "$mnt" > /dev/null 2> "$work/err" && grep -q 'not connected' "$work/err"; }

mount_dlfs "$src" "$mnt"
kill_mount
# Every command says so in one line, with the cure; also one that had begun before.
says_dead() { grep -q "the mount at $mnt is dead.*\`dlfs umount $mnt\`" "$work/.out"; }
for command in stats "stats --json" "stats --watch" order "order --list" refresh warm drop; do
	for at in "$mnt" "$mnt/"; do
		set -- $command
		expect_fail timeout 60 "$DLFS" "$1" "$at" "${@:2}"
		[ "$(wc -l < "$work/.out")" = 1 ] && says_dead || fail "$command $at: $(cat "$work/.out")"
	done
done
for order in "none" "--epoch 3"; do
	expect_fail timeout 60 "$DLFS" order "$mnt" $order
	says_dead || fail "order $order: $(cat "$work/.out")"
done
"$DLFS" umount "$mnt" > "$work/.out" 2>&1 || fail "umount of a dead mount: $(cat "$work/.out")"
! mountpoint -q "$mnt" || fail "the dead mount is still there after umount"
mount_dlfs "$src" "$mnt"
"$DLFS" stats "$mnt" --watch > /dev/null 2> "$work/.out" & watcher=$!
sleep 0.2
kill_mount
! wait $watcher && says_dead || fail "a watcher: $(cat "$work/.out")"
mount_dlfs "$src" "$mnt"
[ "$(cat "$mnt/file")" = 1 ] || fail "the new mount does not serve"
[ "$(grep -c " $mnt " /proc/mounts)" = 1 ] || fail "the dead mount is still below"

# The server dies while the next mount asks it.
asks() { ps -o state= --ppid "$next" | grep -q '[SD]'; }
pid=$(jq .pid "$mnt/.dlfs/stats.json")
parent=$(ps -o ppid= -p "$pid" | tr -d ' ')
kill -STOP "$parent" "$pid"
"$DLFS" mount "$src" "$mnt" & next=$!
wait_for 30 asks || fail "the next mount does not ask"
kill -9 "$parent" "$pid"
wait "$next" || fail "the next mount gave up"
[ "$(cat "$mnt/file")" = 1 ] || fail "the mount does not serve"

# Two find it dead: neither takes away what the other has mounted.
kill_mount
exec 8< "$work"; flock 8
"$DLFS" mount "$src" "$mnt" 8<&- 2> "$work/err1" & one=$!
"$DLFS" mount "$src" "$mnt" 8<&- 2> "$work/err2" & two=$!
both_wait() { [ "$(grep -c -- "-> FLOCK.*:$(stat -c %i "$work") " /proc/locks)" = 2 ]; }
wait_for 30 both_wait || fail "not both wait: $(cat /proc/locks)"
exec 8<&-
won=0
for p in $one $two; do ! wait "$p" || won=$((won + 1)); done
[ $won = 1 ] && grep -q 'already shows' "$work"/err? || fail "$won of 2 mounted: $(cat "$work"/err?)"

# The same while somebody stands in it.
(cd "$mnt" && exec sleep 600) &
runs_sleep() { [ "$(cat /proc/$1/comm)" = sleep ]; }
wait_for 30 runs_sleep $! || fail "nobody stands in it"
kill_mount
mount_dlfs "$src" "$mnt"
[ "$(cat "$mnt/file")" = 1 ] || fail "the new mount does not serve"
kill %1
kill_mount
"$DLFS" umount "$mnt" || fail "umount of a dead mount"
! mountpoint -q "$mnt" || fail "still mounted"

# The parent alone: the serving process leaves in order.
mount_dlfs "$src" "$mnt"
pid=$(jq .pid "$mnt/.dlfs/stats.json")
kill -9 "$(ps -o ppid= -p "$pid" | tr -d ' ')"
gone() { ! grep -q " $mnt " /proc/mounts; }
wait_for 30 gone || fail "the mount stays without its parent"
