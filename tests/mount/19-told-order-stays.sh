#!/bin/bash
# An order that was told to a running mount outlives a serving process that is killed.
. "$(dirname "$0")/common.sh"
kernel=$(uname -r)
[ "$(printf '%s\n' 6.9 "$kernel" | sort -V | head -1)" = 6.9 ] || skip "by design: needs kernel 6.9"

src=$work/src mnt=$work/mnt
mkdir -p "$src/a" "$mnt"
for i in 1 2 3 4; do echo "$i" > "$src/a/$i.jpg"; done
mount_dlfs "$src" "$mnt" order=none
setfattr -n user.dlfs.order -v torch-distributed:seed=1,world=2 "$mnt"
follows() { [ "$(jq -r .order.spec "$mnt/.dlfs/stats.json")" = torch-distributed:seed=1,world=2 ]; }
wait_for 30 follows || fail "the order was not taken"
cat "$mnt"/a/* > /dev/null
all_seen() { [ "$(stat_of opens)" -ge 4 ]; }
wait_for 60 all_seen || fail "opens: $(stat_of opens)"
opens=$(stat_of opens)
pid=$(jq .pid "$mnt/.dlfs/stats.json")
kill -9 "$pid"
[ "$(cat "$mnt/a/3.jpg")" = 3 ] || fail "the new server gives other bytes"
[ "$(jq .pid "$mnt/.dlfs/stats.json")" != "$pid" ] || fail "the server was not replaced"
wait_for 30 follows || fail "the order was forgotten: $(jq -c .order "$mnt/.dlfs/stats.json")"
[ "$(jq .restarts "$mnt/.dlfs/stats.json")" = 1 ] || fail "restarts: $(jq .restarts "$mnt/.dlfs/stats.json")"
[ "$(jq .opens "$mnt/.dlfs/stats.json")" -ge "$opens" ] || fail "counters began anew"
