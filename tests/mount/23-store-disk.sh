#!/bin/bash
# A store on a disk that fails for real (ext4 in a file): it becomes read-only, or gives EIO for everything,
# in mid-run.  No reader sees any of it, one warning says so, and once the disk is mounted anew all is kept again.
. "$(dirname "$0")/common.sh"
[ "$(id -u)" = 0 ] || skip "by design: needs root"
command -v mkfs.ext4 > /dev/null || skip "by design: needs mkfs.ext4"

src=$work/src mnt=$work/mnt disk=$work/disk image=$work/image
mkdir -p "$src/a" "$mnt" "$disk"
for i in $(seq 60); do head -c $((20000 + i * 331)) /dev/urandom > "$src/a/$i.jpg"; done
truncate -s 64M "$image"
mkfs.ext4 -q -F "$image"
mount_disk() { mount -o loop,errors=remount-ro "$image" "$disk"; }
mount_disk 2> /dev/null || skip "by design: no loop device can be mounted here"
remember "$disk"
loop=$(losetup -n -O NAME -j "$image")
[ -w "/sys/fs/ext4/${loop##*/}/trigger_fs_error" ] || skip "by design: this kernel's ext4 cannot be made to fail"
mkdir "$disk/here"     # only there: a store is not made in the folder below the mount
sync -f "$disk"
sleep 2.1              # a file that has just changed is not kept yet
epoch() { same_past_cache "$src/a" "$mnt/a" || fail "$1: $(cat "$work/log")"; }
all_kept() { epoch "$1"; [ "$(stat_of store_records)" -ge 60 ]; }
fill() { wait_for 120 all_kept "$1" || fail "$1: $(stat_of store_records) are kept: $(cat "$work/log")"; }
from_store() {
	local before; before=$(stat_of bytes_fetched)
	epoch "$1"
	[ "$(stat_of bytes_fetched)" = "$before" ] || fail "$1: the source was read"
}
# new_files: versions that are not kept yet
new_files() {
	for i in 1 20 40 60; do head -c $((25000 + i)) /dev/urandom > "$src/a/$i.jpg"; done
	sleep 2.1
	"$DLFS" refresh "$mnt"
}
warned() { grep -q "$disk.*: $1" "$work/log"; }
one_warning() {
	[ "$(grep -c "$disk.*not kept" "$work/log")" = 1 ] || fail "$1: not one warning: $(cat "$work/log")"
}
epoch_and() { epoch "$1"; shift; "$@"; }
let_go() { [ -z "$(losetup -n -O NAME -j "$image")" ]; }
# fails NAME ERROR: the disk has begun to
fails() {
	new_files
	wait_for 60 epoch_and "$1" warned "$2" || fail "$1: no warning: $(cat "$work/log")"
	for _ in 1 2 3; do epoch "$1"; done
	one_warning "$1"
	"$DLFS" stats "$mnt" | grep -q "^store .*$2" || fail "$1: $("$DLFS" stats "$mnt")"
	expect_fail "$DLFS" drop "$mnt"
	grep -q "^dlfs: not all is forgotten: .*$2" "$work/.out" || fail "$1: drop: $(cat "$work/.out")"
	# As its owner does then: it is taken away, checked, and mounted anew.
	umount -l "$disk"
	wait_for 120 epoch_and "$1, and taken away" let_go || fail "$1: the store is still open"
	e2fsck -fp "$image" > /dev/null || [ $? -le 1 ] || fail "$1: the file system is damaged"
	mount_disk
	fill "$1, and mounted anew"
	from_store "$1, and mounted anew"
	one_warning "$1"
	: > "$work/log"
}

options=memory=4MiB,order=none,store.size=32MiB,store.keep_free=0
"$DLFS" mount -f "$src" "$mnt" -o "$options,store.path=$disk/here/store" 2>> "$work/log" &
remember "$mnt"
wait_for 30 test -e "$mnt/.dlfs/stats.json" || fail "no mount: $(cat "$work/log")"
fill "first"
from_store "first"
cat "$work/log"; : > "$work/log"
echo simulated > "/sys/fs/ext4/${loop##*/}/trigger_fs_error"
fails "read-only" "Read-only file system"
# EXT4_IOC_SHUTDOWN: as if it were pulled out
python3 -c 'import fcntl, os, sys
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587d, (2).to_bytes(4, "little"))' "$disk" ||
	fail "the file system cannot be shut down"
fails "I/O errors" "Input/output error"
umount_dlfs "$mnt"
