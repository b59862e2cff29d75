#!/bin/bash
# /.dlfs is in no listing, hides what the source has there, and says what it should; commands by
# setxattr.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir -p "$src/c1/.dlfs" "$src/c2" "$src/.dlfs" "$src/.hidden" "$mnt"
echo own > "$src/.dlfs/own.jpg"
for i in 1 2 3; do echo $i > "$src/c1/$i.jpg"; echo $i > "$src/c2/$i.jpg"; done
mount_dlfs "$src" "$mnt" order=sequential
[ "$(ls -A "$mnt" | tr '\n' ' ')" = ".hidden c1 c2 " ] || fail "the root shows $(ls -A "$mnt")"
[ "$(ls "$mnt/.dlfs" | tr '\n' ' ')" = "config.yaml epoch metrics order order.next stats.json " ] ||
	fail "/.dlfs shows $(ls "$mnt/.dlfs")"
[ -d "$mnt/c1/.dlfs" ] || fail "the name is hidden below the root too"
jq -e '.pid > 0 and .samples == 6 and .order.spec == "sequential"
	and (.opens|type) == "number" and (.wait_seconds|type) == "number"' "$mnt/.dlfs/stats.json" > /dev/null ||
	fail "stats.json: $(cat "$mnt/.dlfs/stats.json")"
for key in pid samples opens hits late mispredicted wait_seconds bytes_fetched bytes_served \
	memory_bytes lead order; do
	jq -e "has(\"$key\")" "$mnt/.dlfs/stats.json" > /dev/null || fail "stats.json has no $key"
done
"$DLFS" stats --json "$mnt" | jq -e .pid > /dev/null || fail "dlfs stats --json"
grep -q '^dlfs_opens_total [0-9]' "$mnt/.dlfs/metrics" || fail "metrics"
grep -q '^# TYPE dlfs_opens_total counter' "$mnt/.dlfs/metrics" || fail "metrics have no type"
grep -q '^order: ' "$mnt/.dlfs/config.yaml" || fail "config.yaml"
# What auto came to stands beside it, and the file can be used as it is.
for note in 'memory: auto  # [0-9.]* [MGT]iB' 'lead: auto  # [0-9]* now' 'threads: auto  # [0-9]*' \
	'observe: auto  # [a-z]*notify'; do
	grep -qx "$note" "$mnt/.dlfs/config.yaml" || fail "no $note: $(cat "$mnt/.dlfs/config.yaml")"
done
cp "$mnt/.dlfs/config.yaml" "$work/config.yaml"
expect_fail "$DLFS" mount -c "$work/config.yaml"
grep -q 'already shows' "$work/.out" || fail "config.yaml is no file of settings: $(cat "$work/.out")"
wait_for 30 sh -c "[ \$(wc -l < $mnt/.dlfs/order) = 6 ]" || fail "order has no 6 lines"
[ "$(head -1 "$mnt/.dlfs/order")" = c1/1.jpg ] || fail "order begins with $(head -1 "$mnt/.dlfs/order")"

# Who has a text open can read it, however many others were made since.
python3 - "$mnt/.dlfs" << 'EOF' || fail "a text that is open cannot be read"
import json, sys
texts = [open(f"{sys.argv[1]}/{name}") for _ in range(100) for name in ("stats.json", "metrics", "order")]
assert all(json.load(text)["samples"] == 6 for text in texts[::3])
assert all(text.read().count("\n") == 6 for text in texts[2::3])
EOF

setfattr -n user.dlfs.order -v none "$mnt"
wait_for 30 sh -c "[ \$(jq -r .order.spec $mnt/.dlfs/stats.json) = none ]" || fail "order none was not taken"
expect_fail "$DLFS" order "$mnt" --list
grep -q 'no epoch is known: no order is followed' "$work/.out" || fail "no list: $(cat "$work/.out")"
expect_fail "$DLFS" order "$mnt" --next
grep -q 'no epoch is known: no order is followed' "$work/.out" || fail "no list: $(cat "$work/.out")"
expect_fail setfattr -n user.dlfs.order -v nonsense "$mnt"
[ "$(jq -r .order.spec "$mnt/.dlfs/stats.json")" = none ] || fail "a bad spec changed the order"
expect_fail setfattr -n user.dlfs.oder -v none "$mnt"
getfattr --only-values -n user.dlfs.error "$mnt" | grep -q '^user.dlfs.oder cannot be set; user.dlfs.order, ' ||
	fail "a name with a slip: $(getfattr -n user.dlfs.error "$mnt")"
expect_fail "$DLFS" order "$mnt" --epoch one
grep -q 'takes a number.*not "one"' "$work/.out" || fail "a wrong epoch: $(cat "$work/.out")"
: > "$work/empty"
expect_fail "$DLFS" order "$mnt" "list:$work/empty"
grep -q '^dlfs: the list has no entries' "$work/.out" || fail "an empty list: $(cat "$work/.out")"

# Where a file is, also if dlfs did not bring it there of its own accord.
state() { getfattr --absolute-names --only-values -n user.dlfs.state "$mnt/c1/1.jpg"; }
state_is() { [ "$(state)" = "$1" ]; }
"$DLFS" drop "$mnt" > /dev/null
wait_for 30 state_is source || fail "dropped, and is in $(state)"
if dd if="$mnt/c1/1.jpg" of=/dev/null bs=4096 iflag=direct 2> /dev/null; then
	wait_for 30 state_is source || fail "read past the page cache, and is in $(state)"
fi
cat "$mnt/c1/1.jpg" > /dev/null
state_is page-cache || fail "a late read left it in the page cache, not in $(state)"
[ "$(getfattr --only-values -n user.dlfs.source-size "$mnt/c1/1.jpg")" = 2 ] || fail "source-size"
[ -z "$(getfattr -d "$mnt/c1/1.jpg")" ] || fail "getfattr -d is not empty"

# What cannot be written is said, with a code.
"$DLFS" order "$mnt" sequential
wait_for 30 sh -c "[ \$(wc -l < $mnt/.dlfs/order) = 6 ]" || fail "order has no 6 lines"
for command in --version --help "help mount" doctor "stats $mnt" "stats $mnt --json" "order $mnt" "order $mnt --list" \
	"warm $mnt" "drop $mnt"; do
	code=0; "$DLFS" $command > /dev/full 2> "$work/err" || code=$?
	[ $code = 1 ] && grep -q '^dlfs: the output cannot be written: No space left' "$work/err" ||
		fail "$command ended with $code: $(cat "$work/err")"
done

if [ "$(id -u)" = 0 ]; then
	umount_dlfs "$mnt"
	mount_dlfs "$src" "$mnt" allow_other
	expect_fail setpriv --reuid 1234 --regid 1234 --clear-groups setfattr -n user.dlfs.order -v none "$mnt"
fi
