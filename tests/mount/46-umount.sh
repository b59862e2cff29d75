#!/bin/bash
# `dlfs umount`: in use or not, hanging or not, ours or not.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir "$src" "$mnt"
echo 1 > "$src/file"

expect_fail "$DLFS" umount "$mnt"
grep -q 'nothing is mounted' "$work/.out" || fail "not mounted: $(cat "$work/.out")"
expect_fail "$DLFS" umount "$work/none"
expect_fail "$DLFS" umount /proc
grep -q 'not a dlfs mount' "$work/.out" || fail "another mount: $(cat "$work/.out")"

mount_dlfs "$src" "$mnt"
"$DLFS" umount "$mnt/" || fail "umount"
no_process_left || fail "processes are left after umount"

mount_dlfs "$src" "$mnt"
(cd "$mnt" && exec "$DLFS" umount .) || fail "umount from inside"

mount_dlfs "$src" "$mnt"
sleep 600 < "$mnt/file" &
runs_sleep() { [ "$(cat /proc/$1/comm)" = sleep ]; }
wait_for 30 runs_sleep $! || fail "sleep does not start"
expect_fail "$DLFS" umount "$mnt"
grep -q "sleep (pid $!)" "$work/.out" || fail "in use: $(cat "$work/.out")"
[ "$(cat "$mnt/file")" = 1 ] || fail "a refused umount broke the mount"
"$DLFS" umount -l "$mnt" 2> "$work/err" || fail "umount -l: $(cat "$work/err")"
grep -q 'was in use by sleep' "$work/err" || fail "no note: $(cat "$work/err")"
! mountpoint -q "$mnt" || fail "still mounted after umount -l"
no_process_left || fail "processes are left after umount -l"
kill $!

mount_dlfs "$src" "$mnt"
kill -STOP "$(jq .pid "$mnt/.dlfs/stats.json")"
timeout 60 "$DLFS" umount "$mnt" || fail "umount of a mount that hangs"
no_process_left || fail "processes are left of a mount that hung"

mount_dlfs "$src" "$mnt"
umount "$mnt" || fail "umount(8)"
wait_for 30 no_process_left || fail "processes are left after umount(8)"

# The next mount at that place, while the server of the last one still ends.  The kernel gives it
# the same minor number.
ended() { local pid; for pid; do ! own_processes dlfs | grep -qx "$pid" || return 1; done; }
mount_dlfs "$src" "$mnt"
for how in "umount" "umount -l" "fusermount3 -u"; do
	for _ in 1 2 3; do
		old=$(own_processes dlfs)
		wait_for 60 $how "$mnt" 2> /dev/null || fail "$how"
		"$DLFS" mount "$src" "$mnt" || fail "a mount right after $how ended with $?"
		wait_for 30 ended $old || fail "processes are left after $how"
		mountpoint -q "$mnt" || fail "the server of the last mount took away the next ($how)"
		[ "$(cat "$mnt/file")" = 1 ] || fail "the next mount after $how does not answer"
	done
done
"$DLFS" umount "$mnt" || fail "umount of the last one"

# Nor do we keep it busy, while the watch walks to many folders.  The state is kept: they are known
# at once.
mkdir "$work/many"
(cd "$work/many" && seq 3000 | xargs mkdir)
mount_dlfs "$work/many" "$mnt"
[ "$(find "$mnt" | wc -l)" = 3001 ] || fail "not all folders are shown"
"$DLFS" umount "$mnt" || fail "umount of many folders"
for _ in 1 2 3 4 5; do
	mount_dlfs "$work/many" "$mnt"
	sleep 0.1
	# For a moment it may be: the copy that is walked in is made of it.
	umount "$mnt" || umount "$mnt" || umount "$mnt" || fail "busy, and nobody uses it"
	wait_for 30 no_process_left || fail "processes are left after an umount while the watch starts"
done
