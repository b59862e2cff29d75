#!/bin/bash
# Modes are checked with allow_other, before and after the owner has read the file.
. "$(dirname "$0")/common.sh"
[ "$(id -u)" = 0 ] || skip "by design: needs root"

src=$work/src mnt=$work/mnt
mkdir -p "$src" "$mnt"; chmod 755 "$work" "$src" "$mnt"
echo secret > "$src/s"; chown 1001 "$src/s"; chmod 600 "$src/s"
as() { setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}"; }
mount_dlfs "$src" "$mnt" allow_other
expect_fail as 1002 cat "$mnt/s"
[ "$(as 1001 cat "$mnt/s")" = secret ] || fail "the owner cannot read"
expect_fail as 1002 cat "$mnt/s"
umount_dlfs "$mnt"
mount_dlfs "$src" "$mnt"
expect_fail as 1001 cat "$mnt/s"
[ "$(cat "$mnt/s")" = secret ] || fail "root cannot read"
