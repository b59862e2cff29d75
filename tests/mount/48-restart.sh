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
	other() { [ "$(jq .pid "$mnt/.dlfs/stats.json")" != "$pid" ]; }
	wait_for 60 other || fail "nobody took over from $pid"
	# Not too many deaths in a short time: that would be given up.
	sleep 0.3
done
touch "$work/stop"
wait $reader || fail "the reader saw: $(cat "$work/bad")"
[ -s "$work/rounds" ] || fail "the reader did not finish a round"
[ ! -s "$work/bad" ] || fail "the reader saw: $(cat "$work/bad")"
[ "$(jq .restarts "$mnt/.dlfs/stats.json")" = 6 ] || fail "restarts: $(jq .restarts "$mnt/.dlfs/stats.json")"
umount_dlfs "$mnt"
