#!/bin/bash
# An ordinary user mounts by fusermount3; who may read what.
. "$(dirname "$0")/common.sh"

[ "$(id -u)" = 0 ] || skip "needs root, to become somebody else"
command -v fusermount3 > /dev/null || skip "needs fusermount3"
# /dev/fuse and /etc/fuse.conf as they are on a usual machine, for this test alone.
if [ -z "${DLFS_TEST_INSIDE-}" ]; then
	trap - EXIT
	rm -rf "$work"
	unshare -m --propagation private true 2> /dev/null || skip "needs mount namespaces"
	DLFS_TEST_INSIDE=1 exec unshare -m --propagation private "$0"
fi
mknod "$work/fuse" c 10 229
chmod 666 "$work/fuse"
mount --bind "$work/fuse" /dev/fuse
true 2> /dev/null <> /dev/fuse || skip "devices cannot be used in $work"
on_exit umount /dev/fuse
cp "$DLFS" "$work/dlfs"; chmod 755 "$work/dlfs"; DLFS=$work/dlfs
touch /etc/fuse.conf 2> /dev/null && : > "$work/conf" && mount --bind "$work/conf" /etc/fuse.conf
on_exit umount /etc/fuse.conf

# They need names: fusermount3 asks for its user's.
owner=$(id -u daemon) && other=$(id -u nobody) || skip "needs the users daemon and nobody"
as() { local who=$1; shift; setpriv --reuid "$who" --regid "$who" --clear-groups "$@"; }
src=$work/src mnt=$work/mnt
mkdir "$src" "$mnt" "$work/state"
echo open > "$src/open"; echo secret > "$src/secret"
chmod 600 "$src/secret"; chown -R "$owner:$owner" "$src" "$mnt" "$work/state"

as "$owner" "$DLFS" mount -v "$src" "$mnt" > "$work/out" 2>&1 || fail "as a user: $(cat "$work/out")"
remember "$mnt"
grep -q "to uid $owner only" "$work/out" || fail "it does not say who may read: $(cat "$work/out")"
[ "$(as "$owner" cat "$mnt/open" "$mnt/secret" | tr '\n' ' ')" = "open secret " ] || fail "the user cannot read"
expect_fail as "$other" cat "$mnt/open"
expect_fail as "$other" "$DLFS" stats "$mnt"
grep -q 'allow_other lets others in' "$work/.out" || fail "stats for others: $(cat "$work/.out")"
for command in "warm $mnt" "order $mnt --list"; do
	expect_fail as "$other" "$DLFS" $command
	grep -q 'allow_other lets others in' "$work/.out" || fail "$command for others: $(cat "$work/.out")"
done
expect_fail "$DLFS" order "$mnt" sequential
grep -q 'allow_root' "$work/.out" || fail "order for root: $(cat "$work/.out")"
expect_fail as "$other" "$DLFS" umount "$mnt"
as "$owner" "$DLFS" umount "$mnt" || fail "a user's umount"
! mountpoint -q "$mnt" || fail "still mounted"

# What this user may not read is counted, and the first of it named: at the mount, if it is found at
# once, in the log, in stats, and again once it has changed.
mkdir "$src/closed" "$src/half"
echo 1 > "$src/closed/1"; echo 1 > "$src/half/1"; echo 1 > "$src/half/2"
chown -R "$owner:$owner" "$src"
chmod 000 "$src/closed" "$src/half/1"
what='1 folder and 1 file' may_not="of the source may not be read by uid $owner" cure='or change the modes'
warned() {
	as "$owner" "$DLFS" mount "$src" "$mnt" 2> "$work/err" || fail "$(cat "$work/err")"
	grep -qx "dlfs: warning: $what $may_not, the first is closed; mount as who may, $cure" "$work/err" &&
		return 0
	as "$owner" "$DLFS" umount "$mnt"; return 1
}
wait_for 30 warned || fail "no warning: $(cat "$work/err")"
shown() {
	as "$owner" "$DLFS" stats "$mnt" > "$work/out"
	grep -qx "source     $what may not be read by who mounted it" "$work/out"
}
shown || fail "stats: $(cat "$work/out")"
chmod 755 "$src/closed"; chmod 000 "$src/half/2"
as "$owner" "$DLFS" refresh "$mnt"
what='2 files'; shown || fail "stats after a refresh: $(cat "$work/out")"
chmod 644 "$src/half/1" "$src/half/2"
as "$owner" "$DLFS" refresh "$mnt"
as "$owner" "$DLFS" stats "$mnt" > "$work/out"
! grep '^source' "$work/out" || fail "all can be read"
as "$owner" "$DLFS" umount "$mnt"
as "$owner" "$DLFS" mount "$src" "$mnt" 2> "$work/err" && [ ! -s "$work/err" ] || fail "$(cat "$work/err")"
as "$owner" "$DLFS" umount "$mnt"

expect_fail as "$owner" "$DLFS" mount "$src" "$mnt" -o observe=fanotify
grep -q 'observe=fanotify.*CAP_SYS_ADMIN' "$work/.out" || fail "no word of the cure: $(cat "$work/.out")"
! mountpoint -q "$mnt" || fail "mounted without what it was to be watched by"

expect_fail as "$owner" "$DLFS" mount "$src" "$mnt" -o allow_other
grep -q user_allow_other "$work/.out" || fail "allow_other: $(cat "$work/.out")"
echo user_allow_other > "$work/conf"
as "$owner" "$DLFS" mount "$src" "$mnt" -o allow_other || fail "allow_other as a user"
[ "$(as "$other" cat "$mnt/open")" = open ] || fail "allow_other lets nobody in"
expect_fail as "$other" cat "$mnt/secret"
[ "$(as "$owner" cat "$mnt/secret")" = secret ] || fail "the owner cannot read"
expect_fail as "$other" cat "$mnt/secret"
as "$owner" "$DLFS" umount "$mnt" || fail "a user's umount with allow_other"

# What may be read of another user's dataset may be shown to others, and who mounted still commands.
chown -R 0:0 "$src"
as "$owner" "$DLFS" mount "$src" "$mnt" -o allow_other || fail "allow_other of another user's files"
for command in "order $mnt sequential" "order $mnt --epoch 1" "refresh $mnt" "warm $mnt open" "drop $mnt"; do
	as "$owner" "$DLFS" $command > "$work/out" 2>&1 || fail "$command: $(cat "$work/out")"
	"$DLFS" $command > "$work/out" 2>&1 || fail "root, $command: $(cat "$work/out")"
	expect_fail as "$other" "$DLFS" $command
	grep -q 'only who mounted' "$work/.out" || fail "$command for others: $(cat "$work/.out")"
done
as "$owner" "$DLFS" umount "$mnt" || fail "a user's umount with allow_other"

expect_fail as "$other" "$DLFS" mount "$src" "$mnt"
# As by `docker run --user`.
nameless=54321
while getent passwd "$nameless" > /dev/null; do nameless=$((nameless + 1)); done
mkdir "$work/own"; chown "$nameless" "$work/own"
for command in "mount $src $work/own" doctor; do
	expect_fail as "$nameless" env XDG_STATE_HOME="$work/own/state" "$DLFS" $command
	grep -q "name.*useradd -u $nameless NAME" "$work/.out" || fail "no name: $command: $(cat "$work/.out")"
done
chmod 600 "$work/fuse"
expect_fail as "$owner" "$DLFS" mount -f "$src" "$mnt"
! grep 'is shown' "$work/.out" || fail "shown before it is mounted"
grep -q /dev/fuse "$work/.out" || fail "no /dev/fuse: $(cat "$work/.out")"
