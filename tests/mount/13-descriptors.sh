#!/bin/bash
# Descriptors are bounded: a walk over many files with a low limit, then reads.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir -p "$src" "$mnt"
python3 -c "
import os, sys
for i in range(20000):
    d = f'{sys.argv[1]}/d{i % 40}'
    os.makedirs(d, exist_ok=True)
    open(f'{d}/{i}', 'w').write(str(i))" "$src"
(ulimit -S -n 256; ulimit -H -n 256; mount_dlfs "$src" "$mnt" order=none)
remember "$mnt"
[ "$(find "$mnt" -type f | wc -l)" = 20000 ] || fail "find sees other files"
find "$mnt" -type f > "$work/files"
head -200 "$work/files" | xargs cat > /dev/null
pid=$(jq .pid "$mnt/.dlfs/stats.json")
n=$(ls "/proc/$pid/fd" | wc -l)
[ "$n" -le 200 ] || fail "$n descriptors are open"
