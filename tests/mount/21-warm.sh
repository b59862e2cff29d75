#!/bin/bash
# dlfs warm fills the store, or memory, before a run; dlfs drop forgets; keep and never choose.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt store=$work/store
mkdir -p "$src/a" "$src/b" "$mnt"
for i in $(seq 60); do
	head -c $((5000 + i * 100)) /dev/urandom > "$src/a/$i.jpg"
	head -c 20000 /dev/urandom > "$src/b/$i.png"
done
head -c 9000000 /dev/urandom > "$src/b/large.bin"
bytes=$(cat "$src"/a/* "$src"/b/*.png | wc -c)
sleep 2.1      # a file that has just changed is not kept yet
far=source_layers=slow:latency=2ms\\,parallel=8
in_store=$far,order=none,store.path=$store,store.size=64MiB,store.keep_free=0
ends() {       # ends CODE COMMAND…
	local want=$1 code=0; shift
	"$@" > "$work/out" 2> "$work/err" || code=$?
	[ $code = "$want" ] || fail "$* ended with $code, not $want: $(cat "$work/err")"
}
says() { ends 0 "$@"; }
leaves_out() { ends 3 "$@"; }
has() { grep -q "$1" "$work/out" || fail "no \"$1\" in: $(cat "$work/out")"; }
state_of() { getfattr --absolute-names --only-values -n user.dlfs.state "$mnt/$1"; }

# What a pattern says, then all but what is too large; then nothing is left to do.
mount_dlfs "$src" "$mnt" "$in_store"
says "$DLFS" warm "$mnt" a
has '^60 files, 472 KiB in the source, are in the store (0 were already)'
[ "$(state_of a/1.jpg)" = disk ] && [ "$(state_of b/1.png)" = source ] || fail "the wrong files"
leaves_out "$DLFS" warm "$mnt"
has '^120 files, .*are in the store (60 were already)'
has '^1 file left out: too large'
grep -q '^dlfs: 1 file is not there; .chunk. at the mount' "$work/err" || fail "the cure: $(cat "$work/err")"
leaves_out "$DLFS" warm "$mnt" '*.bin'
has '^0 files'
[ "$(stat_of bytes_fetched)" = "$bytes" ] || fail "fetched $(stat_of bytes_fetched) of $bytes bytes"
says "$DLFS" warm "$mnt" '*.png'
has '(60 were already)'
(cd "$mnt" && sha256sum a/* b/*.png) > "$work/sums"
(cd "$src" && sha256sum --quiet -c "$work/sums") || fail "wrong bytes"
[ "$(stat_of bytes_fetched)" = "$bytes" ] || fail "what was warm was fetched again"
umount_dlfs "$mnt"
mount_dlfs "$src" "$mnt" "$in_store"
leaves_out "$DLFS" warm "$mnt"
has '(120 were already)'

# Forgotten is what was named; its room is free again.
says "$DLFS" drop "$mnt" b
has '^forgotten: 60 files, 1.15 MiB in the store; '
[ "$(state_of a/1.jpg)" = disk ] && [ "$(state_of b/1.png)" = source ] || fail "the wrong files"
says "$DLFS" drop "$mnt"
has '^forgotten: 60 files'
is_small() { [ "$(stat_of store_size)" -lt 300000 ]; }
wait_for 30 is_small || fail "the store still has $(stat_of store_size) bytes"
says "$DLFS" drop "$mnt"
has '^forgotten: 0 files'

# Wrong words, and somebody else's.
expect_fail "$DLFS" warm "$mnt" 'a**'
grep -q '"a\*\*" is no pattern: \*\* stands for whole folders' "$work/.out" || fail "$(cat "$work/.out")"
expect_fail "$DLFS" drop "$mnt" $'a\nb'
grep -q 'is no pattern: a pattern has no line end' "$work/.out" || fail "$(cat "$work/.out")"
expect_fail "$DLFS" warm "$work"
code=0; "$DLFS" warm 2> /dev/null || code=$?
[ $code = 2 ] || fail "usage error: code $code"
for command in warm drop; do
	for pattern in nosuch nosuch/ ./1.jpg "$mnt/nosuch" /nosuch/1.jpg; do
		expect_fail "$DLFS" $command "$mnt" "$pattern"
		grep -q '^dlfs: nothing matches' "$work/.out" || fail "$command $pattern: $(cat "$work/.out")"
	done
done

# What a shell completes is a pattern too.
for pattern in a/ ./a ./a/ "$mnt/a" "$mnt/a/" a//; do
	says "$DLFS" warm "$mnt" "$pattern"
	has '^60 files'
done
leaves_out "$DLFS" warm "$mnt" "$mnt/"
has '^120 files'
says "$DLFS" warm "$mnt" a/1.jpg
has '^1 file, .* is in the store (1 was already)'
(cd "$mnt" && says "$DLFS" warm . ./a/1.jpg && has '^1 file,')
says "$DLFS" drop "$mnt" a/
says "$DLFS" drop "$mnt" "$mnt/b/"
umount_dlfs "$mnt"

# It stays forgotten until somebody reads or tells an order, though one says what comes.
mount_dlfs "$src" "$mnt" "$far,order=sequential,store.path=$store,store.size=64MiB,store.keep_free=0"
leaves_out "$DLFS" warm "$mnt"
says "$DLFS" drop "$mnt"
fetches=$(stat_of fetches)
says "$DLFS" drop "$mnt"
has '^forgotten: 0 files, 0 B in the store; 0 B in memory'
for change in touch rm; do $change "$src/c.jpg" && "$DLFS" refresh "$mnt" > /dev/null; done
sleep 1
[ "$(stat_of store_records)" = 0 ] || fail "$(stat_of store_records) files are there again"
[ "$(stat_of fetches)" = "$fetches" ] || fail "fetched since: $(($(stat_of fetches) - fetches))"
all_there() { [ "$(stat_of store_records)" -ge 120 ]; }
for come in 'cat $mnt/a/1.jpg' '$DLFS order $mnt sequential' '$DLFS order $mnt --epoch 1'; do
	eval "$come" > /dev/null || fail "$come"
	wait_for 30 all_there || fail "$come: only $(stat_of store_records) files come again"
	says "$DLFS" drop "$mnt"
	[ "$(stat_of store_records)" = 0 ] || fail "not forgotten after $come"
done
umount_dlfs "$mnt"
rm -r "$store"

# What waits to be written is forgotten, too.
mkdir "$work/wide"
for i in $(seq 300); do head -c 45000 /dev/urandom | base64 > "$work/wide/$i.csv"; done
sleep 2.1
mount_dlfs "$work/wide" "$mnt" "order=none,store.path=$store,store.size=64MiB,store.keep_free=0,store.zstd=12"
cat "$mnt"/* > /dev/null
says "$DLFS" drop "$mnt"
sleep 1
[ "$(stat_of store_records)" = 0 ] || fail "$(stat_of store_records) files are there again"
umount_dlfs "$mnt"
rm -r "$store"

# Ctrl-C ends it: code 130, and what was read stays. Meanwhile there is no second one.
slow=source_layers=slow:latency=200ms\\,parallel=1,order=none,store.path=$store,store.size=64MiB,store.keep_free=0
mount_dlfs "$src" "$mnt" "$slow"
"$DLFS" warm "$mnt" > "$work/out" 2> "$work/err" & pid=$!
some() { [ "$(stat_of store_records)" -ge 2 ]; }
wait_for 30 some || fail "nothing comes"
expect_fail "$DLFS" drop "$mnt"
grep -q 'another .dlfs warm' "$work/.out" || fail "$(cat "$work/.out")"
kill -INT $pid; code=0; wait $pid || code=$?
[ $code = 130 ] || fail "code $code after Ctrl-C: $(cat "$work/err")"
grep -q 'are in the store' "$work/out" || fail "$(cat "$work/out")"
! grep -q 'left out: no room' "$work/out" || fail "interrupted: $(cat "$work/out")"
grep -q '^dlfs: interrupted' "$work/err" || fail "no word of the interrupt: $(cat "$work/err")"
records=$(stat_of store_records)
[ "$records" -ge 2 ] && [ "$records" -lt 120 ] || fail "records: $records"
! grep -v '^dlfs: interrupted' "$work/err" > "$work/shown" ||
	grep -q ' of 120 files, .* left$' "$work/shown" || fail "progress: $(cat "$work/err")"
umount_dlfs "$mnt"
rm -r "$store"

# Ended from elsewhere, and another one begun before it looked again: it does not take that for its
# own. Interrupted while its server is replaced: that is no success either.
begin_slow() {
	"$DLFS" warm "$mnt" > "$work/out" 2> "$work/err" & pid=$!
	wait_for 30 some || fail "nothing comes"
	kill -STOP $pid
}
mount_dlfs "$src" "$mnt" "$slow"
begin_slow
setfattr -n user.dlfs.cancel -v 1 "$mnt"
has_ended() { "$DLFS" drop "$mnt" > /dev/null 2>&1; }
wait_for 30 has_ended || fail "it goes on"
kill -CONT $pid; code=0; wait $pid || code=$?
[ $code = 1 ] && grep -q '^dlfs: another .dlfs drop. of .* was begun meanwhile' "$work/err" ||
	fail "code $code after a drop: $(cat "$work/err")"
begin_slow
server=$(stat_of pid)
kill -9 "$server"
if wait_for 30 other_server "$server"; then
	kill -INT $pid; kill -CONT $pid; code=0; wait $pid || code=$?
	[ $code = 130 ] || fail "code $code, interrupted while its server was replaced: $(cat "$work/err")"
else                   # a kernel where the mount is made again
	kill -9 $pid
fi
"$DLFS" umount "$mnt"
mount_dlfs "$src" "$mnt" "$slow"
begin_slow
umount_dlfs "$mnt"
kill -CONT $pid; code=0; wait $pid || code=$?
[ $code = 1 ] && grep -q "^dlfs: the mount at $mnt is gone: it was unmounted" "$work/err" ||
	fail "code $code after the mount: $(cat "$work/err")"
rm -r "$store"

# As much as has room is all that was asked for, unless it was asked for by name.
mount_dlfs "$src/a" "$mnt" "$far,order=none,store.path=$store,store.files=10,store.size=64MiB,store.keep_free=0"
says "$DLFS" warm "$mnt"
kept=$(stat_of store_records)
has "^the store is full: $kept of 60 files are there; a larger .store.files. at the mount has room for more"
leaves_out "$DLFS" warm "$mnt" '*.jpg'
umount_dlfs "$mnt"
rm -r "$store"

# A disk that does not take it is no store that is full: the reason is said.
mount_dlfs "$src/a" "$mnt" "$far,order=none,store.path=$store,store.size=64MiB,store.keep_free=1PiB" 2> "$work/err"
ends 1 "$DLFS" warm "$mnt"
grep -q '^dlfs: not all is there: nothing can be written to the store now: .*but store.keep_free' \
	"$work/err" && ! grep -q ' is full' "$work/out" || fail "no room on the disk: $(cat "$work/out" "$work/err")"
umount_dlfs "$mnt"
rm -r "$store"

# What it says is what is there in the end, though what is worth most is found out meanwhile, and takes its place.
mkdir "$work/mixed"
for i in $(seq 800); do head -c $((5000 + i % 7 * 5000)) /dev/urandom > "$work/mixed/$i.jpg"; done
sleep 2.1
deep=source_layers=slow:latency=10ms\\,parallel=16
mount_dlfs "$work/mixed" "$mnt" "$deep,order=none,store.path=$store,store.size=8MiB,store.keep_free=0"
for turn in 1 2; do
	says "$DLFS" warm "$mnt"
	kept=$(stat_of store_records)
	has "^$kept files, "
	has "^the store is full: $kept of 800 files are there; a larger .store.size. at the mount has room for more"
done
umount_dlfs "$mnt"
rm -r "$store"

# What is replaced before its turn comes is there as it is then, and what is removed is not missed; what cannot be read
# is, with the reason.
mkdir "$work/moving"
for i in $(seq 40); do head -c 5000 /dev/urandom > "$work/moving/$i.jpg"; done
mapfile -t last < <(cd "$work/moving" && ls -i | sort -rn | awk '{ print $2 }')
sleep 2.1
mount_dlfs "$work/moving" "$mnt" "$slow"
"$DLFS" warm "$mnt" > "$work/out" 2> "$work/err" & pid=$!
wait_for 30 some || fail "nothing comes"
head -c 6000 /dev/urandom > "$work/new" && mv "$work/new" "$work/moving/${last[0]}"
rm "$work/moving/${last[1]}"
code=0; wait $pid || code=$?
[ $code = 0 ] && grep -q '^39 files, ' "$work/out" || fail "code $code: $(cat "$work/out" "$work/err")"
[ "$(state_of "${last[0]}")" = disk ] || fail "the new version is not there"
cmp "$mnt/${last[0]}" "$work/moving/${last[0]}"
says "$DLFS" drop "$mnt"
rm "$work/moving/${last[2]}"
ends 1 "$DLFS" warm "$mnt"
has '^38 files, '
grep -q '^dlfs: 1 file could not be read: No such file or directory$' "$work/err" || fail "$(cat "$work/err")"
umount_dlfs "$mnt"
rm -r "$store"

# What is to be kept comes first, what is never to be kept does not come.
mount_dlfs "$src" "$mnt" "$far,order=none,store.path=$store,store.size=1MiB,store.keep_free=0,keep=b/1*,never=b/1?.png"
[ "$(grep -c '^keep: \["b/1\*"\]$' "$mnt/.dlfs/config.yaml")" = 1 ] || fail "$(cat "$mnt/.dlfs/config.yaml")"
leaves_out "$DLFS" warm "$mnt"
has '^the store is full: '
has '^1[0-9] files left out: never to be stored'
[ "$(state_of b/1.png)" = disk ] || fail "b/1.png is not kept"
for i in $(seq 10 19); do [ "$(state_of "b/$i.png")" = source ] || fail "b/$i.png is kept"; done
umount_dlfs "$mnt"

# Without a store: memory, as far as it reaches.
mount_dlfs "$src" "$mnt" "$far,order=none,memory=4MiB"
says "$DLFS" warm "$mnt" a
has '^60 files, 472 KiB in the source, are in memory'
! grep -q full "$work/out" || fail "$(cat "$work/out")"
[ "$(stat_of memory_bytes)" -gt 400000 ] || fail "memory: $(stat_of memory_bytes)"
cat "$mnt"/a/*.jpg > /dev/null
[ "$(stat_of late)" = 0 ] || fail "late: $(stat_of late)"
says "$DLFS" drop "$mnt" a
has ' in memory; there is no store$'
is_gone() { [ "$(stat_of memory_bytes)" -lt 100000 ]; }
wait_for 30 is_gone || fail "memory: $(stat_of memory_bytes)"
umount_dlfs "$mnt"

# The page cache has whole pages, however small the files are.
mkdir "$work/tiny"
for i in $(seq 1500); do echo 1234567 > "$work/tiny/$i.txt"; done
mount_dlfs "$work/tiny" "$mnt" "order=none,memory=4MiB"
ls -lR "$mnt" > /dev/null
says "$DLFS" warm "$mnt"
held=$(sed -n 's/^\([0-9]*\) files.* in memory.*/\1/p' "$work/out")
has "^memory is full: $held of 1500 files are there; a larger .memory. at the mount has room for more"
[ "$held" -le 1024 ] && [ "$held" -ge 500 ] || fail "$held pages in 4 MiB: $(cat "$work/out")"
[ "$(stat_of memory_bytes)" = $((held * 4096)) ] || fail "$(stat_of memory_bytes) bytes for $held pages"
[ "$(stat_of bytes_fetched)" -le 12000 ] || fail "fetched $(stat_of bytes_fetched) bytes"
umount_dlfs "$mnt"
