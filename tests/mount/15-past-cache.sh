#!/bin/bash
# O_DIRECT with a known order: such reads say nothing of the kernel's pages, are served from memory,
# and no file is fetched twice once that is seen.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir -p "$src" "$mnt"
for i in $(seq -w 300); do head -c $((10#$i * 40 + 8000)) /dev/urandom > "$src/$i.jpg"; done
mount_dlfs "$src" "$mnt" "order=sequential,memory=64MiB,lead=40"
find "$mnt" -type f -printf '' -o -print > /dev/null
wait_for 60 sh -c "[ \$(jq .lead $mnt/.dlfs/stats.json) -ge 40 ]" || fail "lead is $(stat_of lead)"
python3 - "$src" "$mnt" <<'P'
import mmap, os, sys
space = mmap.mmap(-1, 1 << 16)          # aligned
for name in sorted(os.listdir(sys.argv[1])):
    fd = os.open(f"{sys.argv[2]}/{name}", os.O_RDONLY | os.O_DIRECT)
    n = os.readv(fd, [space])
    os.close(fd)
    assert space[:n] == open(f"{sys.argv[1]}/{name}", "rb").read(), name
P
wait_for 30 sh -c "jq -e '.opens >= 300 and .hits + .late == .opens' $mnt/.dlfs/stats.json" > /dev/null ||
	fail "$(stat_of opens) opens were seen"
jq -c '{fetches, pressure, hits, hits_memory, late}' "$mnt/.dlfs/stats.json"
[ "$(stat_of pressure)" = 0 ] || fail "$(stat_of pressure) files were taken for dropped by the kernel"
# What was pushed before the first such read was, and some were on their way.
[ "$(stat_of fetches)" -le 400 ] || fail "$(stat_of fetches) fetches of 300 files"
umount_dlfs "$mnt"
