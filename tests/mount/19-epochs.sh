#!/bin/bash
# Which epoch is read is said in one way, before its first open and after another server took over; and
# that one judges the opens that the killed one had not judged.
. "$(dirname "$0")/common.sh"
kernel=$(uname -r)
[ "$(printf '%s\n' 6.9 "$kernel" | sort -V | head -1)" = 6.9 ] || skip "by design: needs kernel 6.9"

src=$work/src mnt=$work/mnt n=200
mkdir -p "$src/a" "$src/b" "$mnt"
for i in $(seq $((n / 2))); do
	for class in a b; do head -c $((3000 + i)) /dev/urandom > "$src/$class/$((1000 + i)).jpg"; done
done
(cd "$src" && printf '%s\n' */*) > "$work/files"
shuf --random-source=<(yes) "$work/files" > "$work/e0"
shuf --random-source=<(yes x) "$work/files" > "$work/e1"
{ cat "$work/e0"; echo ---; cat "$work/e1"; } > "$work/list"

# read_part LIST FROM TO: positions
read_part() { sed -n "$(($2 + 1)),$3p" "$1" | (cd "$mnt" && xargs cat) > /dev/null; }
take_over() {
	local pid; pid=$(jq .pid "$mnt/.dlfs/stats.json")
	kill -9 "$pid"
	wait_for 60 other_server "$pid" || fail "nobody took over from $pid"
}
says() { "$DLFS" order "$mnt" | head -1 | grep -qx "$2 epoch=$3 position=$4"; }
# expect WHAT SPEC-AND-STATE EPOCH POSITION
expect() { wait_for 30 says "$@" || fail "$1: $("$DLFS" order "$mnt")"; }
all_judged() { jq -e ".opens == $1 and .hits + .late == .opens" "$mnt/.dlfs/stats.json" > "$work/.out"; }

mount_dlfs "$src" "$mnt" "order=torch:seed=7\\,epoch=2"
expect "untouched" "torch:seed=7,epoch=2 believed" 2 0
"$DLFS" order "$mnt" --epoch 5
expect "a later one is told" "torch:seed=7,epoch=2 believed" 5 0
"$DLFS" order "$mnt" sequential:epoch=3,epochs=4
expect "one epoch alone" "sequential:epoch=3,epochs=4 believed" 3 0
expect_fail "$DLFS" order "$mnt" --epoch 4
grep -q 'its last epoch comes before that' "$work/.out" || fail "an epoch too many: $(cat "$work/.out")"
expect_fail "$DLFS" order "$mnt" torch:seed=7,epochs=0
grep -q 'epochs=0: 1 to ' "$work/.out" || fail "no epochs: $(cat "$work/.out")"

"$DLFS" order "$mnt" "list:$work/list"
read_part "$work/e0" 0 $n; read_part "$work/e1" 0 $n; read_part "$work/e0" 0 100
expect "a list from its beginning" "list:$work/list confirmed" 2 100
take_over
expect "another server" "list:$work/list believed" 2 100
wait_for 30 all_judged $((2 * n + 100)) || fail "opens: $(jq -c '[.opens, .hits, .late]' "$mnt/.dlfs/stats.json")"
[ "$(stat_of mispredicted)" = 0 ] || fail "$(stat_of mispredicted) mispredicted"

"$DLFS" order "$mnt" drawn
for i in $(seq 0 99); do cat "$mnt/.dlfs/epoch/4/$(printf %09d "$i").jpg" > /dev/null; done
expect "an epoch that its readers say" "drawn confirmed" 4 100
take_over
expect "another server, drawn" "drawn believed" 4 100
umount_dlfs "$mnt"
