#!/bin/bash
# `dlfs umount` ends by force what it cannot kill, and only that: the kernel has given the number of the
# connection to another mount by then.
. "$(dirname "$0")/common.sh"

src=$work/src
mkdir -p "$src" "$work/a" "$work/far"
echo 1 > "$src/1.jpg"

# A process that looks like one of the mount's and cannot be killed: it waits for an answer that
# another mount's stopped server has in hand, about the size of an image that is still to be coded.
mount_dlfs "$src" "$work/far" order=none,quality_ratio=0.9,source_layers=slow:latency=5s
mount_dlfs "$src" "$work/a"
far=$(jq .pid "$work/far/.dlfs/stats.json")
number=$(mountpoint -d "$work/a"); number=${number#0:}
cat > "$work/stay.py" << 'END'
import os, sys, threading, time
number, path, seen = sys.argv[1:]
marker = os.memfd_create(f"dlfs-mount-{number}")
threading.Thread(target=os.stat, args=[path]).start()
while not os.path.exists(seen):
    time.sleep(0.01)
os.close(marker)       # it must not be in the way of who has the number later
END
python3 "$work/stay.py" "$number" "$work/far/1.jpg" "$work/seen" & stuck=$!
waits() { grep -qs request_wait_answer "/proc/$stuck"/task/*/wchan; }
wait_for 10 waits || skip "nothing waits for the server"
sleep 0.3              # until the server has the request
kill -STOP "$far"

"$DLFS" umount "$work/a" 2> "$work/err" & umounting=$!
unmounted() { ! grep -q " $work/a " /proc/self/mounts; }
wait_for 30 unmounted || fail "it is not unmounted"
touch "$work/seen"
# The lowest number that is free is given first.
for i in $(seq 20); do
	mkdir "$work/next$i"
	mount_dlfs "$src" "$work/next$i"
	at=$(mountpoint -d "$work/next$i")
	[ "$at" != "0:$number" ] || break
done
[ "$at" = "0:$number" ] || skip "another program has the number: $at"
! wait $umounting && grep -q "cannot be ended (pid $stuck)" "$work/err" ||
	fail "what cannot be killed was ended: $(cat "$work/err")"
[ "$(cat "$work/next$i/1.jpg")" = 1 ] || fail "another mount was ended"
kill -CONT "$far"
gone() { ! kill -0 "$stuck" 2> /dev/null; }
wait_for 30 gone || fail "what waited for the stopped server stays"
for ((; i > 0; i--)); do umount_dlfs "$work/next$i"; done
umount_dlfs "$work/far"
