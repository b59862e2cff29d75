#!/bin/bash
# A known order: what was pushed is read without a request, seen by fanotify, inotify and OPEN.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir -p "$src" "$mnt"
python3 - "$src" <<'P'
import os, random, sys
r = random.Random(1)
for i in range(300):
    d = f"{sys.argv[1]}/c{i % 5}"
    os.makedirs(d, exist_ok=True)
    open(f"{d}/{i:03d}.jpg", "wb").write(r.randbytes(r.randrange(1, 60000)))
P
for observe in fanotify inotify open; do
	[ "$observe" != fanotify ] || [ "$(id -u)" = 0 ] || continue
	mount_dlfs "$src" "$mnt" "order=sequential,memory=64MiB,lead=1000,observe=$observe"
	find "$mnt" -type f -printf '' -o -print > /dev/null
	wait_for 60 sh -c "[ \$(jq .lead $mnt/.dlfs/stats.json) -ge 300 ]" ||
		fail "$observe: lead is $(jq .lead "$mnt/.dlfs/stats.json")"
	(cd "$src" && find . -type f | LC_ALL=C sort) > "$work/names"
	while read -r name; do cmp "$src/$name" "$mnt/$name"; done < "$work/names"
	wait_for 30 sh -c "[ \$(jq .opens $mnt/.dlfs/stats.json) -ge 300 ]" ||
		fail "$observe: $(jq .opens "$mnt/.dlfs/stats.json") opens were seen"
	wait_for 30 sh -c "jq -e '.hits + .late == .opens' $mnt/.dlfs/stats.json" > /dev/null || fail "sums"
	jq -c '{opens, hits, hits_page_cache, hits_memory, late}' "$mnt/.dlfs/stats.json"
	# All of them, but for pages that the kernel takes back on a machine with other work.
	[ "$(jq .hits "$mnt/.dlfs/stats.json")" -ge 285 ] || fail "$observe: too few hits"
	umount_dlfs "$mnt"
done

mount_dlfs "$src" "$mnt" observe=off
"$DLFS" stats "$mnt" | grep -q '^opens .*not seen (observe=off)$' || fail "unseen opens: $("$DLFS" stats "$mnt")"
umount_dlfs "$mnt"
