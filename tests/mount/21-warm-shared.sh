#!/bin/bash
# dlfs warm while the mount itself brings files, since nobody has told what comes: it counts what is there,
# whoever brought it, and nothing is fetched twice; after Ctrl-C it says that the mount goes on.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt store=$work/store
mkdir -p "$src" "$mnt"
for i in $(seq 60); do head -c $((20000 + i)) /dev/urandom > "$src/$i.jpg"; done
bytes=$(cat "$src"/* | wc -c)
stored=store.path=$store,store.size=64MiB,store.keep_free=0
sleep 2.1      # a file that has just changed is not kept yet
# It may grow between the two calls of one getfattr.
report() { getfattr --absolute-names --only-values -n user.dlfs.warm "$mnt" 2> /dev/null || echo '{}'; }
warm_of() { report | jq ".$1 // 0"; }
at_least() { [ "$(stat_of "$1")" -ge "$2" ]; }
has_counted() { [ "$(warm_of files)" -ge "$1" ]; }
begin() {      # begin LATENCY
	mount_dlfs "$src" "$mnt" "memory=32MiB,source_layers=slow:latency=$1\\,parallel=2,$stored"
	wait_for 60 at_least store_records 2 || fail "memory is not filled"
	"$DLFS" warm "$mnt" > "$work/out" 2> "$work/err" & pid=$!
	wait_for 60 has_counted 2 || fail "nothing is counted"
}

# Of fetches that were under way for the mount's own sake there are a dozen, and those that are asked for come
# after them, two every two seconds.
begin 2s
for turn in 1 2 3; do
	kept=$(stat_of store_records)
	wait_for 60 has_counted "$kept" || fail "$(warm_of files) are counted where $kept are there"
	now=$(stat_of store_records)
	[ "$now" -le $((kept + 4)) ] || fail "that $kept are there was said when there were $now"
	more() { at_least store_records $((kept + 1)); }
	wait_for 60 more || fail "nothing comes any more"
done
[ "$(warm_of before_bytes)" -lt "$(warm_of bytes)" ] || fail "no progress: $(warm_of .)"
kill -INT $pid; code=0; wait $pid || code=$?
[ $code = 130 ] || fail "code $code after Ctrl-C: $(cat "$work/err")"
grep -q 'interrupted.*; the mount goes on to fill memory, and the store with it' "$work/err" ||
	fail "$(cat "$work/err")"
kept=$(stat_of store_records)
wait_for 60 more || fail "the mount does not go on"
umount_dlfs "$mnt"
rm -r "$store"

# All of it, and each once. One may be on its way to the disk when it is looked for there.
begin 100ms
wait $pid || fail "code $?: $(cat "$work/err")"
grep -q '^60 files, .* are in the store' "$work/out" || fail "$(cat "$work/out")"
[ "$(stat_of bytes_fetched)" -le $((bytes + 20060)) ] || fail "fetched $(stat_of bytes_fetched) of $bytes bytes"
umount_dlfs "$mnt"
