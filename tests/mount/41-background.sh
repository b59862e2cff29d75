#!/bin/bash
# `dlfs mount` returns when the mount answers; what stays has no terminal, no descriptor of the
# caller, and paths that were relative.
. "$(dirname "$0")/common.sh"

cd "$work"
mkdir src mnt
echo 1 > src/file; echo file > list; printf 'order: sequential\n' > c.yaml
before=$(ls -A /)
# A pipe that somebody reads to its end: hangs if the daemon keeps it.
out=$(timeout 60 "$DLFS" mount src mnt -c c.yaml 2>&1 9>&1) || fail "mount: $out"
remember "$work/mnt"
[ "$(cat mnt/file)" = 1 ] || fail "it does not answer at once"
follows_file() { [ "$(jq -r .order.spec mnt/.dlfs/stats.json)" = sequential ]; }
wait_for 30 follows_file || fail "the file of settings was not read"
pid=$(jq .pid mnt/.dlfs/stats.json)
parent=$(ps -o ppid= -p "$pid" | tr -d ' ')
for p in $pid $parent; do
	[ "$(readlink /proc/$p/cwd)" = / ] || fail "$p works in $(readlink /proc/$p/cwd)"
	for fd in 0 1 2; do
		[ "$(readlink /proc/$p/fd/$fd)" = /dev/null ] || fail "$p has $(readlink /proc/$p/fd/$fd) as $fd"
	done
	[ "$(ps -o tty= -p $p | tr -d ' ')" = '?' ] || fail "$p has a terminal"
	[ "$(ps -o sid= -p $p | tr -d ' ')" = "$parent" ] || fail "$p is in a session of others"
done
[ "$(ls -A /)" = "$before" ] || fail "something was written to /"
umount_dlfs mnt

# The terminal goes away right after the command.
if command -v script > /dev/null; then
	script -qec "$(printf '%q mount src mnt' "$DLFS")" /dev/null < /dev/null > out ||
		fail "under script: $(cat out)"
	[ "$(cat mnt/file)" = 1 ] || fail "a hang-up ended the mount"
	# Lines are cut by the terminal while they are shown, and not after that.
	script -qefc "$(printf 'exec %q stats --watch mnt' "$DLFS")" watched < /dev/null > out & shows=$!
	# However long that takes.
	until grep -q "$(printf '\033')\[?7h" watched 2> /dev/null; do
		kill -0 $shows || fail "stats --watch ended: $(cat -v watched)"
		sleep 0.05
	done
	grep -q "^$(printf '\033')\[?7lmount" watched || fail "stats --watch: $(cat -v watched)"
	kill $(pgrep -P $shows)
	wait $shows || true
	umount_dlfs mnt
fi

# A list that was named from here.
"$DLFS" mount src mnt -o order=list:list 2> err || fail "list: $(cat err)"
follows_list() { "$DLFS" order mnt | grep -q "list:$work/list"; }
wait_for 30 follows_list || fail "order: $("$DLFS" order mnt)"
umount_dlfs mnt

# In the foreground it stays until it is told to go.
"$DLFS" mount src mnt --foreground 2> log &
front=$!
wait_for 30 mountpoint -q mnt || fail "nothing mounted in the foreground: $(cat log)"
[ "$(cat mnt/file)" = 1 ] || fail "no answer in the foreground"
kill -TERM $front
wait $front || fail "SIGTERM: exit code $?"
! mountpoint -q mnt || fail "still mounted after SIGTERM"

# Also as soon as it answers: for a pattern of a source without files it looks on for a quarter of a second.
mkdir none
"$DLFS" mount none mnt --foreground -o keep=x 2> log &
front=$!
wait_for 30 mountpoint -q mnt || fail "nothing mounted: $(cat log)"
ls mnt
kill -TERM $front
wait $front || fail "SIGTERM at once: exit code $?: $(cat log)"
