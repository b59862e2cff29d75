#!/bin/bash
# `dlfs umount`: in use or not, hanging or not, ours or not.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir "$src" "$mnt"
echo 1 > "$src/file"
gone() { ! pgrep -f -- "dlfs.*mount.*$work" > /dev/null; }

expect_fail "$DLFS" umount "$mnt"
grep -q 'nothing is mounted' "$work/.out" || fail "not mounted: $(cat "$work/.out")"
expect_fail "$DLFS" umount "$work/none"
expect_fail "$DLFS" umount /proc
grep -q 'not a dlfs mount' "$work/.out" || fail "another mount: $(cat "$work/.out")"

mount_dlfs "$src" "$mnt"
"$DLFS" umount "$mnt/" || fail "umount"
gone || fail "processes are left after umount"

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
gone || fail "processes are left after umount -l"
kill $!

mount_dlfs "$src" "$mnt"
kill -STOP "$(jq .pid "$mnt/.dlfs/stats.json")"
timeout 60 "$DLFS" umount "$mnt" || fail "umount of a mount that hangs"
gone || fail "processes are left of a mount that hung"

mount_dlfs "$src" "$mnt"
umount "$mnt" || fail "umount(8)"
wait_for 30 gone || fail "processes are left after umount(8)"
