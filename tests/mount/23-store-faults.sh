#!/bin/bash
# What may happen to a store under a running mount: no reader sees any of it, and it comes back.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt store=$work/store
mkdir -p "$src/a" "$mnt"
for i in $(seq 60); do head -c $((20000 + i * 331)) /dev/urandom > "$src/a/$i.jpg"; done
sleep 2.1              # a file that has just changed is not kept yet
options=memory=4MiB,order=none,store.size=64MiB,store.keep_free=0
at_least() { [ "$(stat_of "$1")" -ge "$2" ]; }
epoch() { same_past_cache "$src/a" "$mnt/a" || fail "$1"; }
warnings() { grep -c "$1" "$work/log" || true; }
# In the foreground, for its log.
start() {
	"$DLFS" mount -f "$src" "$mnt" -o "$options,$1" 2> "$work/log" &
	remember "$mnt"
	wait_for 30 test -e "$mnt/.dlfs/stats.json" || fail "no mount: $(cat "$work/log")"
}
stop() { umount_dlfs "$mnt"; wait; }
# Read until all is kept: what comes faster than it can be written is left for the next time.
all_kept() { epoch "$1"; at_least store_records 60; }
fill() { wait_for 60 all_kept "$1" || fail "$1: $(stat_of store_records) are kept: $(cat "$work/log")"; }
from_store() {
	local before; before=$(stat_of bytes_fetched)
	epoch "$1"
	[ "$(stat_of bytes_fetched)" = "$before" ] || fail "$1: the source was read"
}

# Its folder is removed, and the mount goes on; some time later there is a new one.
start "store.path=$store"
fill "first"
rm -r "$store"
epoch "removed"
fill "removed, and made again"
[ -e "$store/lock" ] || fail "no new store"
[ "$(warnings 'samples are not kept')" = 1 ] || fail "not one warning: $(cat "$work/log")"
from_store "made again"
stop

# The index is lost, or of an older version: it is made from the segments. What an older version wrote
# there is not believed.
rm -r "$store/index"
start "store.path=$store"
wait_for 30 at_least store_records 60 || fail "not made again: $(stat_of store_records)"
"$DLFS" refresh "$mnt"
from_store "without an index"
stop
for file in "$store"/*.seg; do printf '\x01dlsd001' | dd of="$file" conv=notrunc status=none; done
rm -r "$store/index"
start "store.path=$store"
fill "an older version"
stop

# A damaged page of the index may kill a server; another takes over, and makes the index anew.
IFS=.- read -r major minor _ <<< "$(uname -r)"
if [ "$major" -gt 6 ] || { [ "$major" = 6 ] && [ "$minor" -ge 9 ]; }; then
	start "store.path=$store"
	wait_for 30 at_least store_records 60 || fail "no store"
	for damage in zeros cut noise; do
		size=$(stat -c %s "$store/index/data.mdb")
		case $damage in
		zeros) head -c "$size" /dev/zero 1<> "$store/index/data.mdb" ;;
		cut) truncate -s 4096 "$store/index/data.mdb" ;;
		noise) (head -c 8192; head -c $((size - 8192)) /dev/urandom) \
			< "$store/index/data.mdb" 1<> "$store/index/data.mdb" ;;
		esac
		epoch "the index: $damage"
		fill "after the index: $damage"
		sleep 1        # not too many deaths in a short time
	done
	stop
fi

# Two mounts, one store: the second is refused, and has it once the first was killed.
mkdir -p "$work/src2" "$work/mnt2"
mount_dlfs "$src" "$mnt" "$options,store.path=$store"
expect_fail "$DLFS" mount "$work/src2" "$work/mnt2" -o "store.path=$store"
grep -q "used by another mount (process $(stat_of pid))" "$work/.out" || fail "$(cat "$work/.out")"
server=$(stat_of pid)
kill -9 "$(ps -o ppid= -p "$server" | tr -d ' ')" "$server"
umount -l "$mnt"
gone() { ! kill -0 "$server" 2> /dev/null; }
wait_for 30 gone || fail "the killed server is still there"
mount_dlfs "$work/src2" "$work/mnt2" "store.path=$store"
umount_dlfs "$work/mnt2"

# One that cannot be opened at the start is there once it can.
[ "$(id -u)" = 0 ] || exit 0
mkdir "$work/disk"
mount -t tmpfs -o size=16m,ro none "$work/disk"; remember "$work/disk"
start "store.path=$work/disk/store"
epoch "read-only"
[ "$(warnings 'cannot be used')" = 1 ] || fail "not one warning: $(cat "$work/log")"
[ "$(stat_of store_limit)" = 0 ] || fail "a store that cannot be used has a limit"
mount -o remount,rw "$work/disk"
fill "writable after all"
from_store "writable after all"
# Somebody else fills the disk, and makes room again.
head -c 64M /dev/zero > "$work/disk/filler" 2> /dev/null || true
rm "$work/disk/store"/*.seg
epoch "full"
not_written() { "$DLFS" stats "$mnt" | grep -q '^store .* on the disk; .*; not written now: '; }
wait_for 30 not_written || fail "full: $("$DLFS" stats "$mnt")"
rm "$work/disk/filler"
fill "room again"
stop
umount "$work/disk"
