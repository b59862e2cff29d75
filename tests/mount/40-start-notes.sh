#!/bin/bash
# What is amiss although the mount works: a line at the mount, lines of stats, the result of a refresh.
. "$(dirname "$0")/common.sh"

cd "$work"
mkdir src empty mnt
echo 1 > src/file
# notes WORDS SOURCE OPTIONS: mounts, and says this
notes() {
	local options=${3:-order=auto}
	"$DLFS" mount "$2" mnt -o "$options" 2> err || fail "$2 $options: $(cat err)"
	remember "$work/mnt"
	grep -q -- "$1" err && [ "$(wc -l < err)" = 1 ] || fail "$2 $options: $(cat err)"
}

notes 'the source .* holds no files' empty
umount_dlfs mnt
notes 'memory is more than the [0-9]* MiB' src memory=1TiB
umount_dlfs mnt

XDG_STATE_HOME=/proc/x notes 'not kept for the next mount: /proc/x: No such file or .*; set XDG_STATE_HOME' src
umount_dlfs mnt

notes 'max_short_side=1 makes images of a few pixels' src max_short_side=1
umount_dlfs mnt
mount_dlfs src mnt max_short_side=32,max_long_side=0 2> err
[ ! -s err ] || fail "small pictures are pictures: $(cat err)"
umount_dlfs mnt

notes 'recode_match alone changes no file' src recode_match=file
umount_dlfs mnt
mount_dlfs src mnt recode_match=file,png=fast 2> err
[ ! -s err ] || fail "a setting that says what to do: $(cat err)"
umount_dlfs mnt

# A pattern that matches nothing is told once the dataset is known.
"$DLFS" mount -f src mnt -o 'keep=fil?\,nosuch/*,never=other' 2> err & pid=$!
remember "$work/mnt"
told() { grep -q 'never: no file of the dataset matches "other"' err; }
wait_for 30 told && grep -q 'keep: no file of the dataset matches "nosuch/\*"' err &&
	[ "$(grep -c 'no file of the dataset' err)" = 2 ] || fail "patterns: $(cat err)"
umount_dlfs mnt
wait $pid || fail "the mount ended with $?"
# And at the mount, if that is found at once.
warned() {
	mount_dlfs src mnt 'keep=fil?,never=other\,another' 2> err; umount_dlfs mnt
	grep -qx 'dlfs: warning: never: no file of the dataset matches "other"' err
}
wait_for 30 warned || fail "no warning: $(cat err)"

# A folder that nobody can make.
notes 'store /proc/x cannot be used, nothing is kept there: No such file' src store.path=/proc/x
"$DLFS" stats mnt | grep -q '^store      not in use: No such file' || fail "$("$DLFS" stats mnt)"
umount_dlfs mnt
mkdir store
mount_dlfs src mnt store.path=store 2> err
[ ! -s err ] || fail "a store that works: $(cat err)"
"$DLFS" stats mnt | grep -q '^store      .* of ' || fail "$("$DLFS" stats mnt)"
umount_dlfs mnt
[ "$(stat -c %a store)" = 755 ] || fail "somebody's folder has another mode now"
notes 'store.size is 900 TiB, but the disk of .*/made has .* in all; give less' src store.path=made,store.size=900TiB
"$DLFS" stats mnt | grep -q '^store      .* of ' || fail "too large a size: $("$DLFS" stats mnt)"
umount_dlfs mnt
[ "$(stat -c %a made)" = 700 ] || fail "the folder that was made can be read by others"
notes 'nothing will be stored: store.keep_free is 900 TiB' src store.path=made,store.keep_free=900TiB
umount_dlfs mnt
notes 'store.size without store.path: there is no store' src store.size=1GiB
umount_dlfs mnt
# It is a store: it is taken again.
mount_dlfs src mnt store.path=made
umount_dlfs mnt

# A source that is gone is not an empty one.
mount_dlfs src mnt
"$DLFS" refresh mnt
mv src away
expect_fail "$DLFS" refresh mnt
grep -q 'what is known of the source stays: No such file' .out || fail "$(cat .out)"
[ -e mnt/file ] || fail "what was known is gone"
mv away src
"$DLFS" refresh mnt
umount_dlfs mnt
# Nor is a mount dead whose source is.
mkdir below
mount_dlfs src below
mount_dlfs below mnt
server=$(jq .pid below/.dlfs/stats.json)
kill -STOP "$server"
kill -9 "$(ps -o ppid= -p "$server" | tr -d ' ')" "$server"
is_dead() { ! stat below > /dev/null 2>&1; }
wait_for 30 is_dead || fail "the source did not die"
expect_fail "$DLFS" refresh mnt
grep -q 'what is known of the source stays: Input/output error' .out || fail "$(cat .out)"
umount_dlfs mnt
umount_dlfs below

# An order that is refused has a name, and a reason.
printf '0\n7\n' > list
notes "order list:$work/list was refused, .*line 2" src "order=list:$work/list"
umount_dlfs mnt
# To its end, also if a path in it is long.
long=$(printf '%060d' 7)
echo "$long" > list
notes "order list:$work/list was refused, .*$long.* in this dataset\$" src "order=list:$work/list"
umount_dlfs mnt
printf '0\n7\n' > list
notes 'order .* was refused, .*none: no such folder' src 'order=torch:seed=0\,root=none'
umount_dlfs mnt
mount_dlfs src mnt "order=list:$work/list" 2> err
refused() { "$DLFS" stats mnt | grep -q "^order      list:$work/list, refused: .*line 2"; }
wait_for 30 refused || fail "$("$DLFS" stats mnt)"
"$DLFS" order mnt | grep -q "^list:$work/list refused" || fail "$("$DLFS" order mnt)"
expect_fail "$DLFS" order mnt --list
grep -q "the order list:$work/list was refused: .*line 2" .out || fail "$(cat .out)"
"$DLFS" order mnt sequential
"$DLFS" order mnt --list | grep -qx file || fail "known before the first open: $("$DLFS" order mnt --list)"
# A seed that does not fit: `stats` and `order` say so.
mkdir src/many
for i in $(seq 200); do echo "$i" > "src/many/$i"; done
"$DLFS" refresh mnt
"$DLFS" order mnt torch:seed=8
"$DLFS" order mnt | grep -q 'waits for the first opens; [0-9]* ways' || fail "$("$DLFS" order mnt)"
unknown() { expect_fail "$DLFS" order mnt "$1"; grep -q "$2" .out || fail "order $1: $(cat .out)"; }
unknown --list 'running epoch .* is not known yet (order torch:seed=8): .*the first opens will tell which'
unknown --next 'next epoch .* is not known yet'
"$DLFS" stats mnt | grep -qx 'order      torch:seed=8, believed' || fail "$("$DLFS" stats mnt)"
"$DLFS" order mnt --epoch 3
"$DLFS" order mnt | grep -q 'next epoch: 3' || fail "$("$DLFS" order mnt)"
cat mnt/many/* > /dev/null
wrong() { "$DLFS" stats mnt | grep -qx 'order      torch:seed=8, searching: the last opens do not fit it'; }
wait_for 30 wrong || fail "$("$DLFS" stats mnt)"
"$DLFS" order mnt | grep -q 'the last opens fit none of' || fail "$("$DLFS" order mnt)"
"$DLFS" order mnt | grep -q 'Seed just before' || fail "no hint: $("$DLFS" order mnt)"
"$DLFS" order mnt --epoch 2
"$DLFS" order mnt | grep -q '^torch:seed=8 believed' || fail "$("$DLFS" order mnt)"
# What is said to be wrong is what was told last.
error_of() { getfattr --only-values -n user.dlfs.error mnt; }
expect_fail setfattr -n user.dlfs.epoch -v x mnt
error_of | grep -q 'no number' || fail "error: $(error_of)"
"$DLFS" order mnt --epoch 2
[ -z "$(error_of)" ] || fail "an error after an epoch that was taken: $(error_of)"
"$DLFS" drop mnt | grep -q '^forgotten: .* in memory; there is no store' || fail "$("$DLFS" drop mnt)"
for order in auto none; do
	"$DLFS" order mnt $order
	unknown --list "no epoch is known: no order is followed\|(order auto): .* found out from the opens"
	expect_fail "$DLFS" order mnt --epoch 3
	grep -q "^dlfs: $order.*by itself\|^dlfs: .*no order is followed" "$work/.out" || fail "$(cat "$work/.out")"
done
[ "$("$DLFS" order mnt | head -1)" = none ] || fail "none: $("$DLFS" order mnt)"
"$DLFS" stats mnt | grep -qx 'order      none' || fail "$("$DLFS" stats mnt)"
umount_dlfs mnt
