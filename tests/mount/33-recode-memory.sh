#!/bin/bash
# Coding large images stays below the bound on memory: in a tight cgroup nobody is killed.
. "$(dirname "$0")/common.sh"
[ "$(id -u)" = 0 ] || skip "by design: needs root"
[[ "$(ldd "$DLFS")" != *libasan* ]] || skip "by design: a sanitizer needs memory of its own"
need_pil

src=$work/src mnt=$work/mnt
mkdir -p "$src/large" "$src/middle" "$mnt"
"$python" - "$src" << 'P'
import random, sys
from PIL import Image, ImageFilter
rng = random.Random(1)
tile = Image.frombytes("RGB", (250, 250), rng.randbytes(3 * 250 * 250)).filter(ImageFilter.GaussianBlur(3))
for folder, width, height, count in ("large", 5000, 4000, 8), ("middle", 1750, 1500, 24):
    picture = Image.new("RGB", (width, height))
    for x in range(0, width, 250):
        for y in range(0, height, 250):
            picture.paste(tile, (x, y))
    for i in range(count):
        picture.save(f"{sys.argv[1]}/{folder}/{i}.jpg", quality=90)
P

# serve LIMIT OPTIONS: reads all of it, many at once, over a mount in a cgroup
serve() {
	make_cgroup $(($1 << 20))
	(echo $BASHPID > "$group/cgroup.procs"; mount_dlfs "$src" "$mnt" "order=sequential,$2")
	remember "$mnt"
	local pid; pid=$(jq .pid "$mnt/.dlfs/stats.json")
	find "$mnt" -name '*.jpg' -print0 | xargs -0 -P 16 -n 1 cat > "$work/all" || fail "$2: it cannot be read"
	[ "$(jq .pid "$mnt/.dlfs/stats.json")" = "$pid" ] || fail "$2: the server was killed"
	bound=$(jq .memory_limit "$mnt/.dlfs/stats.json")
	most=$(($(sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$pid/status") << 10))
	[ "$most" -lt $((bound + (24 << 20))) ] || fail "$2: $most bytes, and $bound are allowed"
	"$python" -c 'import sys
from PIL import Image
for path in sys.argv[1:]: Image.open(path).load()' "$mnt"/*/0.jpg || fail "$2: not an image"
	for folder in large middle; do
		how=$(getfattr --absolute-names --only-values -n user.dlfs.recode "$mnt/$folder/0.jpg")
		[ "$how" = "${!folder}" ] || fail "$2: $folder images: $how"
	done
	umount_dlfs "$mnt"
	rmdir_cgroup "$group"
}

large="too large" middle=recoded
serve 600 quality_ratio=0.9
large=recoded
serve 600 quality_ratio=0.9,max_short_side=500
