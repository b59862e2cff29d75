#!/bin/bash
# `ls -lR` of many files costs a request or two for labels, not one a file.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir -p "$src" "$mnt"
python3 -c "
import os, sys
for i in range(3000):
    d = f'{sys.argv[1]}/d{i % 10}'
    os.makedirs(d, exist_ok=True)
    open(f'{d}/{i}', 'w').close()" "$src"
mount_dlfs "$src" "$mnt"
ls -lR "$mnt" > "$work/list"
[ "$(grep -c '^-' "$work/list")" = 3000 ] || fail "ls shows other files"
n=$(jq .xattr_requests "$mnt/.dlfs/stats.json")
[ "$n" -le 20 ] || fail "$n requests for extended attributes"
