#!/bin/bash
# What mount(8) does with a line of fstab: our names, its words.
. "$(dirname "$0")/common.sh"

mkdir "$work/bin" "$work/src" "$work/mnt"
echo 1 > "$work/src/file"
for name in mount.dlfs mount.fuse.dlfs; do
	ln -s "$DLFS" "$work/bin/$name"
	"$work/bin/$name" "$work/src" "$work/mnt" -v -n -o \
		rw,nofail,_netdev,noauto,x-systemd.automount,user,defaults,allow_other,nosuid,nodev,memory=8MiB \
		-t fuse.dlfs > "$work/out" || fail "$name"
	remember "$work/mnt"
	[ "$(cat "$work/mnt/file")" = 1 ] || fail "$name shows something else"
	grep -q "^$work/src $work/mnt fuse.dlfs " /proc/mounts || fail "$(grep "$work" /proc/mounts)"
	grep " $work/mnt " /proc/mounts | grep allow_other | grep -q default_permissions ||
		fail "allow_other without default_permissions"
	umount_dlfs "$work/mnt"
	"$work/bin/$name" "$work/src" "$work/mnt" -f || fail "$name -f"
	! mountpoint -q "$work/mnt" || fail "$name -f mounted"
	expect_fail "$work/bin/$name" "$work/src" "$work/mnt" -o nonsense
	grep -q nonsense "$work/.out" || fail "the unknown word is not named"
done

# mount.fuse calls the program without a command.
"$DLFS" "$work/src" "$work/mnt" -o ro,fsname=data,dev,suid 2> /dev/null || fail "without a command"
grep -q "^data $work/mnt fuse.dlfs " /proc/mounts || fail "fsname: $(grep "$work" /proc/mounts)"
umount_dlfs "$work/mnt"
[ "$(id -u)" = 0 ] || exit 0
if command -v mount.fuse > /dev/null || [ -x /sbin/mount.fuse ]; then
	mount -t fuse "$DLFS#$work/src" "$work/mnt" -o allow_other,_netdev,nofail || fail "mount -t fuse"
	[ "$(cat "$work/mnt/file")" = 1 ] || fail "mount -t fuse shows something else"
	umount "$work/mnt" || fail "umount(8)"
fi
