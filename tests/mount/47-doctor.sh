#!/bin/bash
# What `dlfs doctor` says, and whether it is so.
. "$(dirname "$0")/common.sh"

"$DLFS" doctor > "$work/out" || fail "doctor says that mounts cannot work: $(cat "$work/out")"
! grep -Evq '^(OK  |WARN|FAIL) ' "$work/out" || fail "a line without a verdict: $(cat "$work/out")"
! grep -q '.\{101\}' "$work/out" || fail "a line is longer than 100 columns"
for word in /dev/fuse fanotify inotify memory kernel io_uring core; do
	grep -q -- "$word" "$work/out" || fail "nothing is said of $word"
done
expect_fail "$DLFS" doctor more

# Somebody who may not open /dev/fuse is told so.
[ "$(id -u)" = 0 ] || exit 0
cp "$DLFS" "$work/dlfs"; chmod 755 "$work/dlfs"
as_user() { setpriv --reuid 1001 --regid 1001 --clear-groups "$@"; }
if ! as_user sh -c ': <> /dev/fuse' 2> /dev/null; then
	expect_fail as_user "$work/dlfs" doctor
	grep -q '^FAIL /dev/fuse' "$work/.out" || fail "no word of /dev/fuse: $(cat "$work/.out")"
fi
