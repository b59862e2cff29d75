#!/bin/bash
# The serving process is killed again and again while a program reads: nobody notices.
. "$(dirname "$0")/common.sh"

IFS=.- read -r major minor _ <<< "$(uname -r)"
[ "$major" -gt 6 ] || { [ "$major" = 6 ] && [ "$minor" -ge 9 ]; } ||
	skip "kernel $(uname -r) cannot hand over open requests (6.9 can)"

src=$work/src mnt=$work/mnt
mkdir "$src" "$mnt"
for i in $(seq 200); do head -c $((20000 + i * 97)) /dev/urandom > "$src/$i"; done
mount_dlfs "$src" "$mnt" order=sequential,source_layers=slow:latency=5ms
# What another server says is not what the kernel has kept of the one before: two texts of one size, in
# the same turn.
order=torch-distributed:world=1,seed
tell() { setfattr -n user.dlfs.order -v "$order=$1" "$mnt"; }
follows() { [ "$(getfattr --only-values -n user.dlfs.order "$mnt")" = "$order=$1" ]; }
wait_for 60 tell 1 || fail "no order is taken"
pid=$(jq .pid "$mnt/.dlfs/stats.json")
cp "$mnt/.dlfs/order" "$work/order"
tell 2
kill -9 "$pid"
wait_for 60 test ! -e "/proc/$pid" || fail "$pid does not go"
wait_for 60 follows 2 || fail "another server does not follow what was told"
[ "$(jq .pid "$mnt/.dlfs/stats.json")" != "$pid" ] || fail "a report of the server that is gone"
cp "$mnt/.dlfs/order" "$work/order2"
[ "$(wc -l < "$work/order2")" = 200 ] || fail "the order has $(wc -l < "$work/order2") lines"
! cmp -s "$work/order" "$work/order2" || fail "an order of the server that is gone"
(cd "$src" && sha256sum -- *) > "$work/sums"
: > "$work/rounds"
(
	while [ ! -e "$work/stop" ]; do
		(cd "$mnt" && sha256sum --quiet -c "$work/sums") >> "$work/bad" 2>&1 || exit 1
		echo >> "$work/rounds"
	done
) &
reader=$!
for i in 1 2 3 4 5 6; do
	pid=$(jq .pid "$mnt/.dlfs/stats.json")
	kill -9 "$pid"
	wait_for 60 other_server "$pid" || fail "nobody took over from $pid"
	# Not too many deaths in a short time: that would be given up.
	sleep 0.3
done
touch "$work/stop"
wait $reader || fail "the reader saw: $(cat "$work/bad")"
[ -s "$work/rounds" ] || fail "the reader did not finish a round"
[ ! -s "$work/bad" ] || fail "the reader saw: $(cat "$work/bad")"
[ "$(jq .restarts "$mnt/.dlfs/stats.json")" = 7 ] || fail "restarts: $(jq .restarts "$mnt/.dlfs/stats.json")"
umount_dlfs "$mnt"
