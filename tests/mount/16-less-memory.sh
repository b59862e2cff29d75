#!/bin/bash
# A memory cgroup whose limit is lowered in mid-run, or in which another program takes memory: dlfs makes
# way before it is killed, says so, and grows back.
. "$(dirname "$0")/common.sh"
[ "$(id -u)" = 0 ] || skip "by design: needs root"
[[ "$(ldd "$DLFS")" != *libasan* ]] || skip "by design: a sanitizer needs memory of its own"

src=$work/src mnt=$work/mnt
mkdir -p "$src/c" "$mnt"
for i in $(seq 640); do head -c 600000 /dev/urandom > "$src/c/$i.jpg"; done    # four times `memory`
limit=$((160 << 20)) memory=$((96 << 20))
make_cgroup $limit
kills() { grep -h '^oom_kill ' "$group/memory.oom_control" "$group/memory.events" 2> /dev/null || true; }
# set_limit BYTES: version 1 takes it once so much can be taken back
set_limit() {
	if [ -e "$group/memory.max" ]; then
		echo "$1" > "$group/memory.max"
	else
		wait_for 30 write_limit "$1" || fail "the limit cannot be lowered"
	fi
}
write_limit() { (echo "$1" > "$group/memory.limit_in_bytes") 2> /dev/null; }
in_group() { (echo $BASHPID > "$group/cgroup.procs"; exec "$@"); }
begin() {
	in_group "$DLFS" mount "$src" "$mnt" -o "memory=$memory,order=torch:seed=1" || fail "no mount"
	remember "$mnt"
	server=$(stat_of pid) killed=$(kills)
}
end() {
	[ "$(stat_of pid)" = "$server" ] || fail "the server was killed"
	[ "$(kills)" = "$killed" ] || fail "a process of the group was killed"
	umount_dlfs "$mnt"
}
pushed() { [ "$(stat_of bytes_pushed)" -ge "$1" ]; }
holds() { [ "$(stat_of memory_bytes)" -ge "$1" ]; }
share_below() { [ "$(stat_of memory_share)" -lt "$1" ]; }
within_share() { jq -e '.memory_bytes <= .memory_share' "$mnt/.dlfs/stats.json" > /dev/null; }
all_again() { jq -e '.memory_share == .memory_limit' "$mnt/.dlfs/stats.json" > /dev/null; }
says() { "$DLFS" stats "$mnt" | grep -q '^memory .* while others need it'; }

# The limit is lowered to a half while an epoch is read, and raised again.
cat > "$work/read.py" << 'PYTHON'
import os, sys
source, mount, stop = sys.argv[1:]
names = os.listdir(mount)                 # ImageFolder's listing: the kernel knows all of them
while not os.path.exists(stop):
    for name in names:
        if open(f"{mount}/{name}", "rb").read() != open(f"{source}/{name}", "rb").read():
            sys.exit(f"{name}: wrong bytes")
PYTHON
begin
python3 "$work/read.py" "$src/c" "$mnt/c" "$work/stop" & reader=$!
wait_for 60 holds $((memory / 4 * 3)) || fail "it holds only $(stat_of memory_bytes)"
all_again || fail "it has not all of its memory: $(stat_of memory_share)"
# Until the reader has listed the folder all waits in memory, which the kernel cannot take back at once.
wait_for 60 pushed $((memory / 2)) || fail "only $(stat_of bytes_pushed) bytes were pushed"
set_limit $((limit / 2))
wait_for 60 share_below $((limit / 2)) || fail "the limit is half, the share $(stat_of memory_share)"
says || fail "$("$DLFS" stats "$mnt")"
wait_for 60 within_share || fail "it holds $(stat_of memory_bytes) of $(stat_of memory_share)"
set_limit $limit
wait_for 120 all_again || fail "it has not grown back: $(stat_of memory_share)"
touch "$work/stop"
wait $reader || fail "wrong bytes"
end

# What cannot be pushed yet waits in memory, where the kernel cannot take it.  Another program of the group
# takes what is free, and more as dlfs makes way; where dlfs does not, it waits in vain.
cat > "$work/take.py" << 'PYTHON'
import os, sys, time
most, limit, usage, told = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
held = []
while len(held) < most:
    if limit - int(open(usage).read()) > 4 * 2**20:
        held.append(bytearray(b"x" * 2**20))
    time.sleep(0.02)
open(told, "w")
while os.path.exists(told):
    time.sleep(0.1)
PYTHON
begin
wait_for 60 holds $((memory / 4 * 3)) || fail "it holds only $(stat_of memory_bytes)"
usage=$group/memory.usage_in_bytes
[ -e "$usage" ] || usage=$group/memory.current
in_group python3 "$work/take.py" 90 $limit "$usage" "$work/taken" & taker=$!
wait_for 120 test -e "$work/taken" || fail "the other program did not get its memory"
share_below $((memory / 4 * 3)) || fail "90 MiB of 160 are taken, the share is $(stat_of memory_share)"
within_share || fail "it holds $(stat_of memory_bytes) of $(stat_of memory_share)"
rm "$work/taken"
wait $taker || fail "the other program was killed"
wait_for 120 all_again || fail "it has not grown back: $(stat_of memory_share)"
for i in 1 320 640; do cmp "$src/c/$i.jpg" "$mnt/c/$i.jpg" || fail "wrong bytes"; done
end
