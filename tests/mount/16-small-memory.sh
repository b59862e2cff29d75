#!/bin/bash
# A memory cgroup with a limit of a quarter of the dataset, default options: no OOM kill.
. "$(dirname "$0")/common.sh"
[ "$(id -u)" = 0 ] || skip "by design: needs root"
[[ "$(ldd "$DLFS")" != *libasan* ]] || skip "by design: a sanitizer needs memory of its own"

src=$work/src mnt=$work/mnt
mkdir -p "$src/c" "$mnt"
for i in $(seq 160); do head -c 1000000 /dev/urandom > "$src/c/$i.jpg"; done
limit=$((40 << 20))
make_cgroup $limit
# In one process: on a machine that others use, each that starts would wait for its turn.
cat > "$work/read.py" << 'END'
import os, random, sys
source, mount = sys.argv[1:]
names = os.listdir(mount)
random.Random(1).shuffle(names)
for name in names:
    with open(f"{mount}/{name}", "rb") as got, open(f"{source}/{name}", "rb") as right:
        if got.read() != right.read():
            sys.exit(f"{name}: wrong bytes")
END
# epochs OPTIONS: two of them, over a mount in the cgroup
epochs() {
	(echo $BASHPID > "$group/cgroup.procs"; mount_dlfs "$src" "$mnt" "$1")
	remember "$mnt"
	local pid; pid=$(jq .pid "$mnt/.dlfs/stats.json")
	[ "$(jq .memory_limit "$mnt/.dlfs/stats.json")" -lt $limit ] || fail "the default exceeds the cgroup"
	for _ in 1 2; do
		python3 "$work/read.py" "$src/c" "$mnt/c" || fail "wrong bytes"
	done
	[ "$(jq .pid "$mnt/.dlfs/stats.json")" = "$pid" ] || fail "the server was killed"
	umount_dlfs "$mnt"
}
epochs order=torch:seed=1
# What is stored into files of a tmpfs stays in memory.
[ "$(stat -f -c %T "$work")" = tmpfs ] ||
	epochs "order=torch:seed=1,store.path=$work/store,store.size=100MiB,store.keep_free=0"
