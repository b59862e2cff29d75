#!/bin/bash
# Another job in the memory cgroup takes what dlfs has: dlfs uses less, and all of it again afterwards.
. "$(dirname "$0")/common.sh"
[ "$(id -u)" = 0 ] || skip "by design: needs root"
! ldd "$DLFS" | grep -q libasan || skip "by design: a sanitizer needs memory of its own"

src=$work/src mnt=$work/mnt
mkdir -p "$src/c" "$mnt"
for i in $(seq 140); do head -c 1000000 /dev/urandom > "$src/c/$i.jpg"; done
limit=$((300 << 20))
make_cgroup $limit
stat_of() { jq ".$1" "$mnt/.dlfs/stats.json"; }
(echo $BASHPID > "$group/cgroup.procs"; mount_dlfs "$src" "$mnt" order=torch:seed=1,memory=100MiB)
remember "$mnt"
pid=$(stat_of pid)
all=$(stat_of memory_limit)
epoch() { cmp_all "$mnt/c" "$src/c" || fail "wrong bytes"; }
cmp_all() { find "$1" -type f | shuf | while read -r f; do cmp "$f" "$2/${f##*/}" || exit 1; done; }
epoch; epoch
[ "$(stat_of memory_share)" = "$all" ] || fail "before: $(stat_of memory_share) of $all"

# The other one: 240 MB that it never stops to use.
(echo $BASHPID > "$group/cgroup.procs"
 exec python3 -c '
import time
held = bytearray(240 << 20)
while True:
    for at in range(0, len(held), 4096):
        held[at] = 1
    time.sleep(0.01)') & other=$!
is_less() { epoch; [ "$(stat_of memory_share)" -lt $((all * 9 / 10)) ]; }
wait_for 60 is_less || fail "the share is $(stat_of memory_share) of $all; $(stat_of pressure) were lost"
"$DLFS" stats "$mnt" | grep -q '^memory .* while others need it$' || fail "$("$DLFS" stats "$mnt")"
kill -0 $other || fail "the other job was killed"
kill $other; wait $other 2> /dev/null || true
is_all() { [ "$(stat_of memory_share)" = "$all" ]; }
wait_for 120 is_all || fail "afterwards: $(stat_of memory_share) of $all"
epoch
[ "$(stat_of pid)" = "$pid" ] || fail "the server was killed"
