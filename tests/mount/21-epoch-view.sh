#!/bin/bash
# .dlfs/epoch/E/: what it lists, each sample once over ranks and a killed reader, the same answers
# after the server was killed, and names that mean nothing.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir -p "$src" "$mnt"
for c in a b c; do
	mkdir "$src/$c"
	for i in $(seq -w 40); do head -c 5000 /dev/urandom > "$src/$c/$i.jpg"; done
done
(cd "$src" && find . -type f | sort) > "$work/all"
# Looked up at once: before the dataset was read to its end, perhaps.
mount_dlfs "$src" "$mnt" memory=4MiB
epochs=$mnt/.dlfs/epoch
cd "$mnt"

# targets FOLDER: where its entries lead, in name order
targets() { find "$1" -mindepth 1 -printf '%f %l\n' | sort | cut -d' ' -f2; }
# expect_once FILE…: together they have each sample once
expect_once() { sort "$@" | sed 's,^../../../,./,' | cmp - "$work/all" || fail "$* have not each sample once"; }

[ "$(ls "$epochs/0" | wc -l)" = 120 ] || fail "an epoch has $(ls "$epochs/0" | wc -l) entries"
[ "$(ls "$epochs/0" | sed -n '1p;$p' | tr '\n' ' ')" = "000000000.jpg 000000119.jpg " ] ||
	fail "$(ls "$epochs/0" | head -3)"
[ -z "$(ls "$epochs")" ] || fail "some epochs are listed: $(ls "$epochs")"
targets "$epochs/0" > "$work/0"
targets "$epochs/1" > "$work/1"
expect_once "$work/0"
expect_once "$work/1"
! cmp -s "$work/0" "$work/1" || fail "two epochs are the same"
# A shuffle, not pieces in a row: hardly one is followed by its neighbour.
rows=$(sed 's,.*/\([a-c]\)/0*\([0-9]*\).jpg,\1 \2,' "$work/0" |
	awk '$1 == c && $2 == n + 1 { k++ } { c = $1; n = $2 } END { print k + 0 }')
[ "$rows" -lt 12 ] || fail "$rows entries lead to the file after the last one"
cmp "$epochs/0/000000017.jpg" "$src/$(sed -n '18s,^../../../,,p' "$work/0")" || fail "wrong bytes through an entry"
[ "$(stat -c %s "$epochs/0/000000017.jpg")" = "$(sed -n 18p "$work/0" | tr -d '\n' | wc -c)" ] ||
	fail "st_size of a link"

# Another job has the same; ranks share it out.
targets "$epochs/0,job=eval" > "$work/eval"
cmp "$work/0" "$work/eval" || fail "a job's epoch is another one"
for r in 0 1 2 3; do targets "$epochs/1,rank=$r,world=4" > "$work/rank$r"; done
expect_once "$work"/rank[0-3]
sed -n '3~4p' "$work/1" > "$work/every4"
cmp "$work/rank2" "$work/every4" || fail "rank 2 of 4 is not every fourth from number 2 on"
[ "$(ls "$epochs/1,rank=3,world=7" | wc -l)" = 17 ] || fail "rank 3 of 7 has $(ls "$epochs/1,rank=3,world=7" | wc -l)"
[ "$(ls "$epochs/1,rank=400,world=401" | wc -l)" = 0 ] || fail "rank 400 of 401 has entries"
[ "$(ls "$epochs/1,job=x,rank=1,world=2" | wc -l)" = 60 ] || fail "a job's rank"

for name in 01 -1 1.0 x "" "1," 1,job= 1,rank=0 1,rank=4,world=4 1,world=2 1,rank=0,world=0 1,rank=0,world=4097 \
	1,rank=0,world=2,x 1000001 99999999999999999999; do
	[ -z "$name" ] || [ ! -e "$epochs/$name" ] || fail "epoch/$name is there"
done
for name in 000000120.jpg 00000000.jpg 0000000000.jpg 000000000 000000000.png 00000000x.jpg; do
	[ ! -e "$epochs/0/$name" ] || fail "epoch/0/$name is there"
done
expect_fail touch "$epochs/0/new"
expect_fail cat "$epochs/0"
ls "$epochs/0/000000000.jpg/" > /dev/null 2>&1 && fail "an entry is a folder"

# Four readers of one epoch, one of which is killed midway and goes on where it was: it had what it
# had, and nobody else gets that.
read_rank() { # RANK FROM: the names of what was read, one a line
	local i f
	for ((i = $2; i < 30; i++)); do
		f=$(printf '%s/7,rank=%d,world=4/%09d.jpg' "$epochs" "$1" "$i")
		cat "$f" > /dev/null && readlink "$f" || return 1
	done
}
read_rank 0 0 > "$work/r0" & read_rank 1 0 > "$work/r1" & read_rank 2 0 > "$work/r2" &
( read_rank 3 0 > "$work/r3" ) & victim=$!
wait_for 60 test -s "$work/r3" || fail "rank 3 reads nothing"
kill -9 $victim 2> /dev/null || true
wait || true
lines=$(wc -l < "$work/r3")
read_rank 3 "$lines" > "$work/r3b"
expect_once "$work"/r[0-3] "$work/r3b"

# The order is followed: an epoch that is read on is foreseen.
wait_for 30 sh -c "[ \$(jq -r .order.epoch $mnt/.dlfs/stats.json) = 7 ]" ||
	fail "$(jq -c .order "$mnt/.dlfs/stats.json")"
case $(jq -r .order.spec "$mnt/.dlfs/stats.json") in drawn:*) ;; *)
	fail "$(jq -c .order "$mnt/.dlfs/stats.json")" ;; esac
for f in "$epochs"/8/*; do cat "$f" > /dev/null; done
wait_for 30 sh -c "[ \$(jq -r .order.epoch $mnt/.dlfs/stats.json) = 8 ]" ||
	fail "$(jq -c .order "$mnt/.dlfs/stats.json")"
targets "$epochs/8" | sed 's,^../../../,,' > "$work/8"
cmp "$work/8" "$mnt/.dlfs/order" || fail ".dlfs/order is not epoch 8"

# Another server: the same answers, also in a folder that somebody is in.
IFS=.- read -r major minor _ <<< "$(uname -r)"
targets "$epochs/9" > "$work/9"
if [ "$major" -gt 6 ] || { [ "$major" = 6 ] && [ "$minor" -ge 9 ]; }; then
	cd "$epochs/9"
	pid=$(jq .pid "$mnt/.dlfs/stats.json")
	kill -9 "$pid"
	wait_for 60 other_server "$pid" || fail "nobody took over from $pid"
	targets . > "$work/after"
	cmp "$work/9" "$work/after" || fail "another epoch after another server came"
	cd /
fi

# A changed dataset: the epochs that were read stay, a new one has the new file.
cd /
printf new > "$src/a/new.jpg"
"$DLFS" refresh "$mnt"
targets "$epochs/9" > "$work/again"
cmp "$work/9" "$work/again" || fail "a running epoch is another one after a refresh"
targets "$epochs/20" > "$work/20"
(cd "$src" && find . -type f | sort) > "$work/all"
expect_once "$work/20"
# One that is read again, of a dataset that has grown meanwhile, has no links of before; nor does one list
# what is not there any more.  (The kernel asks for a folder's mtime once a second.)
lists() { stat "$1" > /dev/null && [ "$(ls "$1" | wc -l)" = "$2" ]; }
for more in 0 16; do
	for ((i = 0; i < more; i++)); do echo $i > "$src/b/new$i.jpg"; done
	"$DLFS" refresh "$mnt"
	for e in 30 31 32; do targets "$epochs/$e" > "$work/$e"; done
	wait_for 10 lists "$epochs/9" $((121 + more)) || fail "epoch 9 lists $(ls "$epochs/9" | wc -l)"
	targets "$epochs/9" > "$work/9"
	(cd "$src" && find . -type f | sort) > "$work/all"
	expect_once "$work/9"
done
lists "$epochs/40" 137 || fail "epoch 40 lists $(ls "$epochs/40" | wc -l)"
rm "$src"/c/{01..32}.jpg
echo one > "$src/c/one.jpg"
"$DLFS" refresh "$mnt"
wait_for 10 lists "$epochs/40" 106 || fail "epoch 40 lists $(ls "$epochs/40" | wc -l)"
umount_dlfs "$mnt"

# Who only looks at an epoch changes no order, also if all of it is read later, the last that was looked at last; who
# opens its entries does.
look() {
	ls -lL "$epochs/3" > /dev/null
	ls -l "$epochs/3" > /dev/null
	"$DLFS" refresh "$mnt"         # after whatever that had begun
	"$DLFS" order "$mnt" | grep -q "^sequential" || fail "$1: ls -l changed the order: $("$DLFS" order "$mnt")"
}
mount_dlfs "$src" "$mnt" order=sequential
targets "$epochs/3" | sed 's,^../../../,,' > "$work/3"
look "at first"
(cd "$mnt" && xargs cat < "$work/3" > /dev/null)
all_seen() { [ "$(stat_of opens)" -ge "$(wc -l < "$work/3")" ]; }
wait_for 30 all_seen || fail "opens: $(stat_of opens)"
look "after an epoch"
for f in "$epochs"/3/*; do cat "$f" > /dev/null; done
wait_for 30 sh -c "\"$DLFS\" order $mnt | grep -q ^drawn" || fail "not followed: $("$DLFS" order "$mnt")"
# The entries that were opened before it was count, and each epoch's for that one.
read_whole() { jq -e ".order.epoch == $1 and .order.position == .order.length" "$mnt/.dlfs/stats.json" > /dev/null; }
wait_for 30 read_whole 3 || fail "epoch 3 was read: $(jq -c .order "$mnt/.dlfs/stats.json")"
for e in 4 5; do
	for f in "$epochs/$e"/*; do cat "$f" > /dev/null; done
	wait_for 30 read_whole $e || fail "epoch $e was read: $(jq -c .order "$mnt/.dlfs/stats.json")"
done
umount_dlfs "$mnt"

# Several extensions: none is in the names.  No samples: no epochs.
printf x > "$src/a/other.png"
mount_dlfs "$src" "$mnt"
"$DLFS" refresh "$mnt"
[ "$(ls "$epochs/0" | head -1)" = 000000000 ] || fail "$(ls "$epochs/0" | head -1)"
umount_dlfs "$mnt"
mkdir "$work/none"
mount_dlfs "$work/none" "$mnt"
[ ! -e "$epochs/0" ] || fail "an empty dataset has an epoch"
