#!/bin/bash
# Each thing that prevents a mount has a line of its own, and leaves nothing behind.
. "$(dirname "$0")/common.sh"

cd "$work"
mkdir -p src/sub full mnt
echo 1 > src/file; echo 1 > full/other
ln -s src link

# refuses WORDS ARGUMENT…: one line with the words, exit code not 0, nothing mounted
refuses() {
	local words=$1 code=0; shift
	"$DLFS" mount "$@" > out 2> err || code=$?
	[ $code != 0 ] || fail "succeeded: dlfs mount $*"
	[ "$(wc -l < err)" = 1 ] || fail "not one line: dlfs mount $*: $(cat err)"
	grep -q -- "$words" err || fail "dlfs mount $*: \"$(cat err)\" does not say \"$words\""
	grep -q '^dlfs: ' err || fail "no \"dlfs:\" before: $(cat err)"
	[ ! -s out ] || fail "something on stdout: $(cat out)"
	! grep -q " $work" /proc/mounts || fail "something is mounted after: dlfs mount $*"
}

refuses 'No such file' none mnt
for remote in s3://bucket/prefix nfs1:/export user@host:data //server/share; do
	refuses 'only a folder of this machine .*; mount it first' "$remote" mnt
done
refuses 'is a file' src/file mnt
refuses 'mkdir -p' src none
refuses 'not a folder' src full/other
refuses 'not empty.*nonempty' src full
refuses 'choose another folder$' src /
refuses 'choose another folder$' src / -o nonempty
refuses 'the source itself' src src
refuses 'inside the source' src src/sub
refuses 'the source itself' src link
refuses 'inside the source' src link/sub
refuses 'inside the source' link src/sub
refuses 'hide it' src/sub src
refuses 'did you mean memory' src mnt -o memoory=8MiB
refuses 'no option "nonsense"' src mnt -o nonsense
refuses 'memory is .*, not 8 bytes; write 8GiB' src mnt -o memory=8
refuses 'nothing.yaml' src mnt --config nothing.yaml
refuses "\"world\" belongs to order: .* -o 'order=.*,world=4'" src mnt -o order=torch-distributed:seed=0,world=4
refuses "\"drop_last\" belongs to order: .*,drop_last'" src mnt -o order=torch-distributed:seed=0,drop_last
refuses 'order: "sed" is not a word of this order; did you mean seed?' src mnt -o order=torch:sed=7
refuses 'order: "foo" is not a word of this order; it takes seed, epoch, epochs, root' src mnt -o order=torch:foo=7
refuses "after a colon: -o 'order=sequential:root=sub'" src mnt -o order=sequential,root=sub
refuses 'order: nothing stands after a comma' src mnt -o 'order=torch:seed=1\,'
refuses 'source_layers: "bogus" is no layer; there are slow' src mnt -o source_layers=bogus
refuses '"latency" is nothing for the layer slow; it takes latency=' src mnt -o source_layers=slow:latency
refuses 'comma inside a value' src mnt -o 'keep=a,*b*'
refuses 'did you mean store.path' src mnt -o store=/tmp/x
refuses 'from 0 to 65535' src mnt -o max_short_side=-1
refuses 'seed= is missing, as in torch:seed=7' src mnt -o order=torch
refuses '"shuffle" is no order' src mnt -o order=shuffle
refuses 'list nolist' src mnt -o order=list:nolist
refuses 'store.size is a size' src mnt -o store.path=store,store.size=large
refuses 'did you mean store.path' src mnt -o store.pth=store
refuses 'mkdir -p none/store' src mnt -o store.path=none/store
refuses 'is a file' src mnt -o store.path=full/other
refuses 'inside the source' src mnt -o store.path=src/store
refuses 'inside the source' src mnt -o store.path=link
HOME=$work refuses "inside the source" src mnt -o 'store.path=~/src/store'
refuses 'did you mean quality_ratio?' src mnt -o quality=0.95
refuses 'stands alone after -o' src mnt -o allow_other=1
refuses 'mount point is missing' src
refuses 'one argument too many' src mnt more
refuses '"--wrong" is unknown' src mnt --wrong
refuses '"-x" is unknown' -f -x src mnt
refuses '"-o" needs a value' src mnt -o
refuses '"--config" needs a value' src mnt --config
refuses '"--order" is unknown; order stands after -o' src mnt --order torch:seed=7
refuses '"--allow-other" is unknown; allow_other stands after -o' --allow-other src mnt
refuses '"--verbose=1" takes no value' src mnt --verbose=1
refuses 'has files and is no store' src mnt -o store.path=full
echo 'memory: 1' > bad.yaml
refuses '^dlfs: bad.yaml:1:9: memory is' src mnt -c bad.yaml
echo 'allow_other: true' > bad.yaml
refuses '"allow_other" .* stands alone after -o' src mnt -c bad.yaml

if [ "$(id -u)" = 0 ]; then
	mkdir bound
	mount --bind src bound; remember "$work/bound"
	code=0; "$DLFS" mount src bound/sub 2> err || code=$?
	[ $code != 0 ] && grep -q 'inside the source' err || fail "through a bind mount: $(cat err)"
	umount bound
	mount -t tmpfs none mnt; remember "$work/mnt"
	code=0; "$DLFS" mount src mnt 2> err || code=$?
	[ $code != 0 ] && grep -q 'already a mount point' err || fail "over a tmpfs: $(cat err)"
	[ "$(findmnt -no FSTYPE "$work/mnt")" = tmpfs ] || fail "the tmpfs is gone"
	umount mnt
fi

mount_dlfs "$work/src" "$work/mnt" 2> err
[ ! -s err ] || fail "a mount that works says $(cat err)"
code=0; "$DLFS" mount src mnt 2> err || code=$?
[ $code != 0 ] && grep -q 'already shows' err || fail "a second mount: $(cat err)"
[ "$(cat mnt/file)" = 1 ] || fail "the first mount does not serve any more"
for command in stats refresh order umount; do
	expect_fail "$DLFS" $command mnt/sub
	grep -q "the mount point is $work/mnt\$" .out || fail "$command below a mount: $(cat .out)"
done
umount_dlfs mnt

# Several at once: none looks while another is about to mount, and one wins.
exec 8< mnt; flock 8
mounting=()
for i in 1 2 3 4; do "$DLFS" mount src mnt 8<&- 2> err$i & mounting+=($!); done
all_wait() { [ "$(grep -c -- "-> FLOCK.*:$(stat -Lc %i /dev/fd/8) " /proc/locks)" = 4 ]; }
wait_for 30 all_wait || fail "not all wait for the mount point: $(cat /proc/locks)"
flock -u 8
won=0
for p in "${mounting[@]}"; do ! wait "$p" || won=$((won + 1)); done
[ "$won$(grep -c " $work/mnt " /proc/mounts)" = 11 ] || fail "$won of 4 mounted: $(cat /proc/mounts)"
[ "$(cat err? | grep -c 'already shows')" = 3 ] || fail "at once: $(cat err?)"
flock -n 8 || fail "what stays keeps the lock"
exec 8<&-
umount_dlfs mnt
"$DLFS" mount src full -o nonempty 2> /dev/null || fail "nonempty"
remember "$work/full"
[ "$(cat full/file)" = 1 ] || fail "nonempty shows something else"
umount_dlfs full
[ "$(cat full/other)" = 1 ] || fail "what was hidden did not come back"

code=0; "$DLFS" umuont mnt 2> err || code=$?
[ $code = 2 ] && grep -q 'did you mean `dlfs umount`' err || fail "unknown command: $(cat err)"
said() {       # said WORDS ARGUMENT…: it fails, in one line with the words
	local words=$1; shift
	expect_fail "$DLFS" "$@"
	grep -q -- "$words" .out && [ "$(wc -l < .out)" = 1 ] || fail "dlfs $*: $(cat .out)"
}
said 'option "--wrong" is unknown' --wrong
for command in umount stats order refresh warm drop verify profile; do said '^dlfs: "": No such file' $command ''; done
said 'src/file is a file; give the folder' profile src/file
said '--list and --next do not go together' order mnt --list --next
"$DLFS" --version | grep -q '^dlfs [0-9]' || fail "--version"
"$DLFS" mount --help > out
grep -q 'memory=' out || fail "mount --help lists no settings"
"$DLFS" help mount | cmp - out || fail "help mount is not mount --help"
