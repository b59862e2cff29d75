#!/bin/bash
# Samples that are kept on a local disk: over mounts, changes, damage, a killed server, a full disk.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt store=$work/store
mkdir -p "$src/a" "$mnt" "$work/mnt2" "$work/src2"
echo 1 > "$work/src2/file"
for i in $(seq 120); do head -c $((20000 + i * 331)) /dev/urandom > "$src/a/$i.jpg"; done
bytes=$(cat "$src"/a/* | wc -c)
far=slow:latency=2ms
options=source_layers=$far,store.path=$store,store.size=64MiB,store.keep_free=0
at_least() { [ "$(stat_of "$1")" -ge "$2" ]; }
sums() { (cd "$src" && find . -type f -print0 | sort -z | xargs -0 sha256sum); }
epoch() { (cd "$mnt" && sha256sum --quiet -c "$work/sums") || fail "$1: wrong bytes"; }
mount_store() { mount_dlfs "$src" "$mnt" "$1"; wait_for 30 at_least store_limit 1 || fail "no store: $1"; }
again() { umount_dlfs "$mnt"; mount_store "$1"; "$DLFS" refresh "$mnt"; }

# The first epoch is read from the source, and kept; the next mount asks the source for nothing.
settle() { sleep 2.1; }   # a file that has just changed is not kept yet
sums > "$work/sums"
settle
mount_store "$options"
epoch "epoch 1"
[ "$(stat_of bytes_fetched)" = "$bytes" ] || fail "fetched $(stat_of bytes_fetched) of $bytes bytes"
wait_for 30 at_least store_written 120 || fail "kept only $(stat_of store_written) files"
[ "$(stat_of store_records)" = 120 ] || fail "records: $(stat_of store_records)"
[ "$(stat_of store_limit)" = $((64 << 20)) ] || fail "limit: $(stat_of store_limit)"
"$DLFS" stats "$mnt" | grep -q '^store  *120 files,' || fail "$("$DLFS" stats "$mnt")"
grep -q '^dlfs_store_written_total 120$' "$mnt/.dlfs/metrics" || fail "not in the metrics"
again "$options"
epoch "from the store"
[ "$(stat_of bytes_fetched)" = 0 ] || fail "the source gave $(stat_of bytes_fetched) bytes again"
[ "$(stat_of store_hits)" = 120 ] || fail "hits: $(stat_of store_hits)"

# A second mount cannot have it, and is told so in a line.
code=0; "$DLFS" mount "$work/src2" "$work/mnt2" -o "store.path=$store" 2> "$work/err" || code=$?
[ $code = 32 ] || fail "a second mount of the store ended with $code"
[ "$(wc -l < "$work/err")" = 1 ] || fail "not one line: $(cat "$work/err")"
grep -q "used by another mount (process $(stat_of pid))" "$work/err" || fail "$(cat "$work/err")"
! grep -q " $work/mnt2 " /proc/self/mounts || fail "it is mounted"

# Another version of a file is not what was kept, even with its size and mtime.
touch -r "$src/a/7.jpg" "$work/stamp"
head -c "$(stat -c %s "$src/a/7.jpg")" /dev/urandom > "$work/other"
cat "$work/other" > "$src/a/7.jpg"; touch -r "$work/stamp" "$src/a/7.jpg"
sums > "$work/sums"
settle
"$DLFS" refresh "$mnt"
epoch "changed under the mount"
[ "$(stat_of bytes_fetched)" = "$(stat -c %s "$src/a/7.jpg")" ] || fail "fetched: $(stat_of bytes_fetched)"
umount_dlfs "$mnt"
touch -r "$src/a/8.jpg" "$work/stamp"; cp "$src/a/8.jpg" "$work/old"
head -c "$(stat -c %s "$src/a/8.jpg")" /dev/urandom > "$work/other"
cat "$work/other" > "$src/a/8.jpg"; touch -r "$work/stamp" "$src/a/8.jpg"
sums > "$work/sums"
# At once, while the saved manifest is still the old one: an error at worst.
mount_dlfs "$src" "$mnt" "$options"
cat "$mnt/a/8.jpg" > "$work/got" 2> /dev/null || true
! cmp -s "$work/got" "$work/old" || fail "the old version came from the store"
"$DLFS" refresh "$mnt"
epoch "changed between mounts"
# Nor for a reader that opened it before the change was seen.
settle
"$DLFS" refresh "$mnt"
epoch "kept again"
umount_dlfs "$mnt"; mount_store "$options,order=none"; "$DLFS" refresh "$mnt"
cp "$src/a/9.jpg" "$work/old"
exec 8< "$mnt/a/9.jpg"
head -c "$(stat -c %s "$src/a/9.jpg")" /dev/urandom > "$work/other"
cat "$work/other" > "$src/a/9.jpg"
sums > "$work/sums"
"$DLFS" refresh "$mnt"
cat <&8 > "$work/got" 2> /dev/null || true
exec 8<&-
! cmp -s "$work/got" "$work/old" || fail "the old version came from the store to who had it open"
epoch "changed while open"
umount_dlfs "$mnt"
settle

# A bit flipped in each 64 KiB of what is kept: no wrong byte; it is fetched and kept again.
python3 - "$store"/*.seg << 'END'
import os, random, sys
random.seed(1)
for path in sys.argv[1:]:
    with open(path, "r+b") as f:
        for at in range(0, os.path.getsize(path), 65536):
            at = min(at + random.randrange(65536), os.path.getsize(path) - 1)
            f.seek(at)
            byte = f.read(1)[0]
            f.seek(at)
            f.write(bytes([byte ^ 1 << random.randrange(8)]))
END
code=0; "$DLFS" verify "$store" > "$work/out" || code=$?
[ $code = 1 ] && grep -q '^1[0-9][0-9] files, [1-9][0-9]* damaged; --repair' "$work/out" ||
	fail "verify ended with $code: $(cat "$work/out")"
mount_store "$options"
"$DLFS" refresh "$mnt"
epoch "after bit flips"
[ "$(stat_of bytes_fetched)" -gt 0 ] || fail "nothing was damaged"
[ "$(stat_of store_bad)" -gt 0 ] || fail "no bad record was counted"
kept_again() { [ "$(stat_of store_records)" -ge 120 ]; }
wait_for 30 kept_again || fail "what was damaged is not kept again: $(stat_of store_records)"
expect_fail "$DLFS" verify "$store"
grep -q 'used by a mount' "$work/.out" || fail "verify under a mount: $(cat "$work/.out")"
umount_dlfs "$mnt"
"$DLFS" verify --repair "$store" > /dev/null || true
"$DLFS" verify "$store" | grep -q ' 0 damaged' || fail "not repaired: $("$DLFS" verify "$store")"
rm "$store/lock"       # who copies a store may leave it out
"$DLFS" verify "$store" | grep -q '^[1-9][0-9]* files, 0 damaged' || fail "without a lock file"
truncate -s 1100G "$store/00ffffff.seg"
records=$("$DLFS" verify "$store")
rm -f "$store/00ffffff.seg"
[ "$("$DLFS" verify "$store")" = "$records" ] || fail "verify took of a large store what is good: $records"
mkdir "$work/nothing"
for folder in "$src" "$work/nothing"; do
	expect_fail "$DLFS" verify "$folder"
	grep -q 'is no store' "$work/.out" || fail "$folder: $(cat "$work/.out")"
	[ ! -e "$folder/lock" ] || fail "$folder is a store now"
done
mount_store "$options"

# The serving process is killed while it reads and writes: the next one has the store.
IFS=.- read -r major minor _ <<< "$(uname -r)"
if [ "$major" -gt 6 ] || { [ "$major" = 6 ] && [ "$minor" -ge 9 ]; }; then
	umount_dlfs "$mnt"
	rm "$store"/*.seg
	mount_store "$options"
	"$DLFS" refresh "$mnt"
	(for _ in 1 2 3; do epoch "killed" || exit 1; done) > "$work/bad" 2>&1 &
	reader=$!
	for _ in 1 2 3; do
		pid=$(stat_of pid)
		kill -9 "$pid"
		wait_for 60 other_server "$pid" || fail "nobody took over from $pid"
		sleep 0.3      # not too many deaths in a short time: that would be given up
	done
	wait $reader || fail "the reader saw: $(cat "$work/bad")"
	[ "$(stat_of store_limit)" -gt 0 ] || fail "the last server has no store"
	[ "$(stat_of restarts)" = 3 ] || fail "restarts: $(stat_of restarts)"
	again "$options"
	epoch "after the deaths"
	[ "$(stat_of store_hits)" -gt 0 ] || fail "nothing was left in the store: $(cat "$mnt/.dlfs/stats.json")"
fi
umount_dlfs "$mnt"

# A store that is smaller than the dataset has the same part of it for each epoch.
part=source_layers=$far,store.path=$work/part,store.size=3MiB,store.keep_free=0
mount_store "$part"
"$DLFS" refresh "$mnt"
epoch "small store"
umount_dlfs "$mnt"
for i in 1 2; do
	mount_store "$part"
	epoch "small store, again"
	[ "$(stat_of store_size)" -le $((3 << 20)) ] || fail "larger than it may be: $(stat_of store_size)"
	[ "$(stat_of store_hits)" -gt 20 ] || fail "hits: $(stat_of store_hits)"
	[ "$(($(stat_of bytes_fetched) + $(stat_of store_bytes)))" -ge "$bytes" ] || fail "who gave the rest?"
	jq .store_hits "$mnt/.dlfs/stats.json" > "$work/hits.$i"
	umount_dlfs "$mnt"
done
# None is traded.  One that came faster than it could be written has its place later.
[ "$(cat "$work/hits.2")" -ge "$(cat "$work/hits.1")" ] || fail "fewer hits: $(cat "$work"/hits.*)"

# A bound on files is kept as well, is shown, and shrinks a store that has more.
few=source_layers=$far,store.path=$work/few,store.size=64MiB,store.keep_free=0,store.files
records_are() { [ "$(stat_of store_records)" = "$1" ]; }
says_files() { "$DLFS" stats "$mnt" | grep -q "^store  *$1 files," || fail "$("$DLFS" stats "$mnt")"; }
mount_store "$few=0"
"$DLFS" refresh "$mnt"
epoch "no bound on files"
wait_for 30 records_are 120 || fail "records: $(stat_of store_records)"
says_files 120
[ "$(stat_of store_records_limit)" = 0 ] || fail "a bound: $(stat_of store_records_limit)"
again "$few=50"
records_are 50 || fail "not shrunk: $(stat_of store_records) records"
for _ in 1 2 3; do
	again "$few=50"
	epoch "few files"
	[ "$(stat_of store_records)" -le 50 ] || fail "too many: $(stat_of store_records) records"
	[ "$(stat_of store_hits)" -ge 45 ] || fail "hits: $(stat_of store_hits)"
done
says_files '50 of 50'
[ "$(stat_of store_records_limit)" = 50 ] || fail "no bound: $(stat_of store_records_limit)"
"$DLFS" drop "$mnt" > /dev/null
epoch "filled again"
enough() { [ "$(stat_of store_records)" -ge 40 ]; }
wait_for 30 enough || fail "records: $(stat_of store_records)"
[ "$(stat_of store_records)" -le 50 ] || fail "too many: $(stat_of store_records) records"
umount_dlfs "$mnt"

# A disk that is full: a warning, right bytes, and no more memory than was allowed.
[ "$(id -u)" = 0 ] || exit 0
mkdir "$work/small"
mount -t tmpfs -o size=3m none "$work/small"; remember "$work/small"
"$DLFS" mount -f "$src" "$mnt" 2> "$work/log" \
	-o "memory=4MiB,source_layers=$far,store.path=$work/small/store,store.size=64MiB,store.keep_free=0" &
remember "$mnt"
wait_for 30 test -e "$mnt/.dlfs/stats.json" || fail "no mount: $(cat "$work/log")"
# What comes faster than it can be written is not kept, so that one epoch may not be enough.
becomes_full() {
	epoch "full disk"
	[ "$(stat_of memory_bytes)" -le "$(stat_of memory_limit)" ] || fail "the memory bound was broken"
	grep -q 'cannot be written' "$work/log"
}
wait_for 60 becomes_full || fail "no warning: $(cat "$work/log")"
epoch "full disk, again"
[ "$(grep -c 'cannot be written' "$work/log")" = 1 ] || fail "not one warning: $(cat "$work/log")"
[ "$(stat_of store_size)" -le $((3 << 20)) ] || fail "size: $(stat_of store_size)"
umount_dlfs "$mnt"
rm -r "$work/small/store"
cd "$work"
mount_dlfs "$src" "$mnt" store.path=small/new/
[ -e "$work/small/new/lock" ] || fail "a relative path leads elsewhere"
[ "$(stat_of store_limit)" = $((3 << 19)) ] || fail "by default half of the disk, not $(stat_of store_limit)"
umount_dlfs "$mnt"

# One that cannot be written at all: the same.
mount -o remount,ro "$work/small"
"$DLFS" mount -f "$src" "$mnt" 2> "$work/log" -o "store.path=$work/small/new" &
wait_for 30 test -e "$mnt/.dlfs/stats.json" || fail "no mount: $(cat "$work/log")"
epoch "read-only disk"
[ "$(grep -c "store.* cannot be used: Read-only" "$work/log")" = 1 ] || fail "not one warning: $(cat "$work/log")"
[ "$(stat_of store_limit)" = 0 ] || fail "a store that cannot be used has a limit"
umount_dlfs "$mnt"
umount "$work/small"
