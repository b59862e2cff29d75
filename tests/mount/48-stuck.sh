#!/bin/bash
# The server is killed while it waits in the kernel for the lock of a folder, which a lookup holds
# that it had not answered: what is left of it does not keep the next one from taking over, and the
# store is used again once it is gone.
. "$(dirname "$0")/common.sh"

IFS=.- read -r major minor _ <<< "$(uname -r)"
[ "$major" -gt 6 ] || { [ "$major" = 6 ] && [ "$minor" -ge 9 ]; } ||
	skip "kernel $(uname -r) cannot hand over open requests (6.9 can)"

src=$work/src mnt=$work/mnt
mkdir -p "$src/a" "$mnt"
for i in 1 2 3; do echo "$i" > "$src/a/$i.jpg"; done
with=quality_ratio=0.95,order=none,store.path=$work/store,store.keep_free=0
mount_dlfs "$src" "$mnt" "$with,source_layers=slow:latency=3s"
pid=$(jq .pid "$mnt/.dlfs/stats.json")

# Its size is known when it was read, which takes so long.
stat -c %s "$mnt/a/1.jpg" > "$work/size" & reader=$!
asks() { grep -q request_wait_answer "/proc/$reader/wchan"; }
wait_for 2 asks || skip "the lookup was not seen"
rm "$src/a/3.jpg"
echo 9 > "$src/a/9.jpg"
"$DLFS" refresh "$mnt" & refresher=$!
waits() { cat "/proc/$pid"/task/*/wchan | grep -q fuse_reverse_inval_entry; }
wait_for 2 waits || skip "nothing waited for the folder"
kill -9 "$pid"
wait_for 60 other_server "$pid" || fail "nobody took over from $pid"
wait_for 60 test -s "$work/size" || fail "the lookup was not answered"
wait $reader && [ "$(cat "$work/size")" = 2 ] || fail "the lookup was answered with '$(cat "$work/size")'"
wait $refresher || fail "dlfs refresh ended with $?"
[ "$(ls "$mnt/a" | tr '\n' ' ')" = "1.jpg 2.jpg 9.jpg " ] || fail "the folder has $(ls "$mnt/a")"
[ ! -e "$mnt/a/3.jpg" ] && cmp "$src/a/9.jpg" "$mnt/a/9.jpg" || fail "the change was not seen"
wait_for 60 sh -c "! kill -0 $pid 2> /dev/null" || fail "something of $pid is left"
timeout 100 "$DLFS" warm "$mnt" > "$work/warmed" || fail "the store is not used again: $(cat "$work/warmed")"
[ "$(jq .store_written "$mnt/.dlfs/stats.json")" -gt 0 ] || fail "nothing was kept"
umount_dlfs "$mnt"
