#!/bin/bash
# What dlfs drop forgets, beside what the plan holds: pages that the kernel has since somebody read them, and
# what was under way; and what dlfs stats says of the store then.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt store=$work/store
mkdir -p "$src/a" "$src/b" "$mnt"
for i in $(seq 40); do
	head -c 20000 /dev/urandom > "$src/a/$i.jpg"
	head -c 30000 /dev/urandom > "$src/b/$i.jpg"
done
head -c 9000000 /dev/urandom > "$src/b/large.bin"
sleep 2.1      # a file that has just changed is not kept yet
stored=store.path=$store,store.size=64MiB,store.keep_free=0
# cached PATH…: bytes of them that the kernel has. Others may take some of them.
cached() { fincore --bytes --noheadings --output RES "$@" | awk '{ n += $1 } END { print n + 0 }'; }
say() { "$DLFS" "$@" > "$work/out" 2>&1 || fail "$* ended with $?: $(cat "$work/out")"; }
has() { grep -q "$1" "$work/out" || fail "no \"$1\" in: $(cat "$work/out")"; }

# What was read late, and large files. Only what was named goes.
mount_dlfs "$src" "$mnt" "order=none"
read_all() {
	cat "$mnt"/a/*.jpg "$mnt"/b/* > "$work/read"
	[ "$(cached "$mnt"/b/large.bin)" -ge 5000000 ] && [ "$(cached "$mnt"/a/*.jpg)" -ge 400000 ]
}
wait_for 30 read_all || fail "the kernel has $(cached "$mnt"/b/large.bin) and $(cached "$mnt"/a/*.jpg) bytes"
say drop "$mnt" b
[ "$(cached "$mnt"/b/*)" = 0 ] || fail "of what was forgotten the kernel has $(cached "$mnt"/b/*) bytes"
[ "$(cached "$mnt"/a/*.jpg)" -ge 400000 ] || fail "more was forgotten: $(cached "$mnt"/a/*.jpg) bytes are left"
IFS=.- read -r major minor _ <<< "$(uname -r)"
newer() { [ "$major" -gt "$1" ] || { [ "$major" = "$1" ] && [ "$minor" -ge "$2" ]; }; }
! newer 6 5 || has '^forgotten: [5-9]\.[0-9]* MiB in memory'
say drop "$mnt"
[ "$(cached "$mnt"/a/*.jpg)" = 0 ] || fail "of what was forgotten the kernel has $(cached "$mnt"/a/*.jpg) bytes"
! newer 6 5 || has '^forgotten: [4-8][0-9][0-9] KiB in memory'
say drop "$mnt"
has '^forgotten: 0 B in memory'

# Who opens them for that is no reader.
cat "$mnt"/a/*.jpg > "$work/read"
all_seen() { opens=$(stat_of opens) && [ "$opens" -ge 80 ] && sleep 0.2 && [ "$(stat_of opens)" = "$opens" ]; }
wait_for 30 all_seen || fail "$(stat_of opens) opens are seen"
say drop "$mnt"
sleep 0.2
[ "$(stat_of opens)" = "$opens" ] || fail "its own opens are counted: $(stat_of opens), not $opens"

# Also what an earlier server had handed out, or pushed.
if newer 6 9; then
	cat "$mnt"/a/*.jpg > "$work/read"
	say warm "$mnt" 'b/*.jpg'
	server=$(stat_of pid)
	kill -9 "$server"
	wait_for 30 other_server "$server" || fail "no other server"
	[ "$(cached "$mnt"/a/*.jpg)" -ge 400000 ] || fail "the kernel has $(cached "$mnt"/a/*.jpg) bytes"
	say drop "$mnt"
	[ "$(cached "$mnt"/a/* "$mnt"/b/*)" = 0 ] || fail "the kernel has $(cached "$mnt"/a/* "$mnt"/b/*) bytes"
fi
umount_dlfs "$mnt"

# What is on its way comes to the store, however long it takes; then it is forgotten as well.
mount_dlfs "$src" "$mnt" "order=sequential,source_layers=slow:latency=2500ms\\,parallel=4,$stored"
say drop "$mnt" b
say drop "$mnt"
has '^waiting for [0-9]* files on the way from the source'
[ "$(stat_of store_records)" = 0 ] || fail "$(stat_of store_records) are there"
fetches=$(stat_of fetches)
sleep 3
[ "$(stat_of fetches),$(stat_of store_records)" = "$fetches,0" ] ||
	fail "fetched since: $(($(stat_of fetches) - fetches)); $(stat_of store_records) are there"
umount_dlfs "$mnt"
rm -r "$store"

# In the store is what was not forgotten, though its place is free only once all is forgotten that lies
# beside it.
mount_dlfs "$src" "$mnt" "order=none,chunk=1MiB,$stored"
"$DLFS" warm "$mnt" > /dev/null 2>&1 || true   # but the large one
size=$(stat_of store_size)
say drop "$mnt" b
[ "$(stat_of store_size)" -ge $((size / 2)) ] || fail "$(stat_of store_size) of $size bytes: nothing is shown by this"
say stats "$mnt"
has '^store      40 files, 78[0-9] KiB; .* MiB of 64.0 MiB on the disk; '
"$DLFS" warm "$mnt" > /dev/null 2>&1 || true
[ "$(stat_of store_records)" = 80 ] || fail "$(stat_of store_records) are there"
umount_dlfs "$mnt"

# A store that cannot be used is neither full nor empty.
mount_dlfs "$src" "$mnt" "order=none,store.path=/proc/x" 2> "$work/err"
for command in warm drop; do
	expect_fail timeout 30 "$DLFS" $command "$mnt"
	grep -q '^dlfs: .*the store' "$work/.out" && ! grep -q 'no room\|is full' "$work/.out" ||
		fail "$command: $(cat "$work/.out")"
done
umount_dlfs "$mnt"

# What is never to be kept, and is there from a mount before, is forgotten.
mount_dlfs "$src" "$mnt" "order=none,chunk=1MiB,$stored,never=b"
half() { [ "$(stat_of store_records)" = 40 ]; }
wait_for 30 half || fail "$(stat_of store_records) are there"
cat "$mnt"/a/*.jpg "$mnt"/b/*.jpg > "$work/read"
cat "$src"/a/*.jpg "$src"/b/*.jpg | cmp - "$work/read"
half && [ "$(stat_of store_hits)" = 40 ] || fail "$(stat_of store_hits) of $(stat_of store_records) came from the store"
umount_dlfs "$mnt"
rm -r "$store"

# Also what the store has of files that are gone from the source; but nothing of another source.
mount_dlfs "$src/a" "$mnt" "order=none,$stored"
say warm "$mnt"
umount_dlfs "$mnt"
mount_dlfs "$src" "$mnt" "order=none,chunk=1MiB,$stored"
say warm "$mnt" '*.jpg'
[ "$(stat_of store_records)" = 120 ] || fail "$(stat_of store_records) are there"
rm "$src"/b/[1-4].jpg
say refresh "$mnt"
say drop "$mnt" b
has '^forgotten: 36 files'
say drop "$mnt"
has '^forgotten: 44 files'
[ "$(stat_of store_records)" = 40 ] || fail "$(stat_of store_records) are there"
umount_dlfs "$mnt"
mount_dlfs "$src/a" "$mnt" "order=none,$stored"
say warm "$mnt"
has '(40 were already)'

# Without that they go as soon as others have no room.
rm "$src"/a/1?.jpg
for i in $(seq 10); do head -c 20000 /dev/urandom > "$src/a/new$i.jpg"; done
sleep 2.1
umount_dlfs "$mnt"
mount_dlfs "$src/a" "$mnt" "order=none,$stored,store.files=40"
say refresh "$mnt"
[ "$(stat_of store_records)" = 40 ] || fail "$(stat_of store_records) are there"
say warm "$mnt"
say warm "$mnt"
has '(40 were already)'
[ "$(stat_of store_records)" = 40 ] || fail "$(stat_of store_records) are there"
umount_dlfs "$mnt"
