#!/bin/bash
# A source that could not be read when it was mounted: that is said in stats, and to who asks for what needs to know
# what it holds; nobody waits for it.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir -p "$src" "$mnt"
for i in $(seq 9); do echo "$i" > "$src/$i.txt"; done
why='the source could not be read: Too many open files; once it can, `dlfs refresh` does it'
# mount_with DESCRIPTORS: enough for all but the source
mount_with() {
	rm -rf "$XDG_STATE_HOME"
	(ulimit -n "$1" && mount_dlfs "$src" "$mnt" "order=sequential" 2> "$work/err") || return 1
	remember "$mnt"
	! ls "$mnt" > /dev/null 2>&1 || umount_dlfs "$mnt"
	mountpoint -q "$mnt"
}
for n in $(seq 40 -1 8); do ! mount_with "$n" || break; done
mountpoint -q "$mnt" || skip "it has as many descriptors as it needs, or does not start: $(cat "$work/err")"
is_said() { "$DLFS" stats "$mnt" | grep -qF "order      sequential, refused: $why"; }
wait_for 30 is_said || fail "$("$DLFS" stats "$mnt")"
for command in warm drop; do
	expect_fail timeout 30 "$DLFS" $command "$mnt"
	grep -qF "$why" "$work/.out" || fail "$command: $(cat "$work/.out")"
done
expect_fail timeout 30 ls "$mnt/.dlfs/epoch/0"
grep -q 'Input/output error' "$work/.out" || fail "the epoch view: $(cat "$work/.out")"
umount_dlfs "$mnt"
mount_dlfs "$src" "$mnt"
"$DLFS" warm "$mnt" | grep -q '^9 files' || fail "with descriptors it is not read"
umount_dlfs "$mnt"
