#!/bin/bash
# In the midst of a later epoch of a told order another server takes over, or the source changes: the
# order goes on in its epoch, and at its place.
. "$(dirname "$0")/common.sh"
kernel=$(uname -r)
[ "$(printf '%s\n' 6.9 "$kernel" | sort -V | head -1)" = 6.9 ] || skip "by design: needs kernel 6.9"

src=$work/src mnt=$work/mnt n=400
mkdir -p "$src/a" "$src/b" "$mnt"
for i in $(seq $((n / 2))); do
	for class in a b; do head -c $((3000 + i)) /dev/urandom > "$src/$class/$((1000 + i)).jpg"; done
done
# What the reader has listed, once and for all.
(cd "$src" && printf '%s\n' */*) > "$work/files"
python3 "$(dirname "$0")/../lib/torch_epochs.py" 7 7 $n > "$work/epochs"

# read_part EPOCH FROM TO: positions
read_part() {
	sed -n "$(($1 + 1))p" "$work/epochs" | tr ' ' '\n' | sed -n "$(($2 + 1)),$3p" |
		awk 'NR == FNR { name[NR] = $0; next } { print name[$1 + 1] }' "$work/files" - |
		while read -r name; do cat "$mnt/$name" > /dev/null 2>> "$work/missed" || true; done
}
read_epoch() { read_part "$1" 0 $n; }
all_seen() { [ "$(stat_of opens)" -ge "$1" ]; }
at() { jq -e ".order | .state == \"$1\" and .epoch == $2 and .position >= $3 - 2 and .position <= $3" \
	"$mnt/.dlfs/stats.json" > "$work/.out" 2>&1; }
# expect WHAT STATE EPOCH POSITION
expect() {
	wait_for 30 at "$2" "$3" "$4" ||
		fail "$1: not epoch $3, $4, but $(jq -c .order "$mnt/.dlfs/stats.json")"
}
take_over() {
	local pid; pid=$(jq .pid "$mnt/.dlfs/stats.json")
	kill -9 "$pid"
	wait_for 60 other_server "$pid" || fail "nobody took over from $pid"
}

mount_dlfs "$src" "$mnt" order=torch:seed=7
expect "untouched" believed 0 0
read_epoch 0; read_epoch 1; read_part 2 0 150
expect "at first" confirmed 2 150
take_over
expect "another server" believed 2 150
read_part 2 150 300
expect "another server" confirmed 2 300
read_part 2 300 $n; read_part 3 0 100
expect "another server, the next epoch" confirmed 3 100

# Nothing that the order goes over has changed; one file has, and is the same; one is gone.
echo text > "$src/README.txt"
"$DLFS" refresh "$mnt"
expect "a file in no class" confirmed 3 100
read_part 3 100 200
cp "$src/a/1007.jpg" "$work/copy" && mv "$work/copy" "$src/a/1007.jpg"
"$DLFS" refresh "$mnt"
expect "a file that is another" confirmed 3 200
read_part 3 200 300
rm "$src/b/1011.jpg"
"$DLFS" refresh "$mnt"
expect "a file that is gone" confirmed 3 300
read_part 3 300 $n; read_part 4 0 100
[ "$(jq .order.epoch "$mnt/.dlfs/stats.json")" = 4 ] || fail "$(jq -c .order "$mnt/.dlfs/stats.json")"
mispredicted=$(stat_of mispredicted)
[ "$mispredicted" -le 20 ] || fail "$mispredicted opens were not expected"

# Another program lists what is there now, and begins.
(cd "$src" && printf '%s\n' */*) > "$work/files"
read_part 4 100 $n
python3 "$(dirname "$0")/../lib/torch_epochs.py" 7 7 $((n - 1)) > "$work/epochs"
read_part 0 0 200
begins_anew() {
	jq -e '.order | .state == "confirmed" and .epoch == 0 and .length == 399' "$mnt/.dlfs/stats.json" > "$work/.out"
}
wait_for 30 begins_anew || fail "another program: $(jq -c .order "$mnt/.dlfs/stats.json")"
