#!/bin/bash
# A file that is cut between its stat and its read is never padded with zeros.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir -p "$src" "$mnt"
for i in 1 2 3 4 5; do head -c 20000 /dev/zero | tr '\0' Z > "$src/f$i"; done
mount_dlfs "$src" "$mnt" order=none,verify=never
ls -l "$mnt" > "$work/list"
for i in 1 2 3 4 5; do
	truncate -s 5000 "$src/f$i"
	cat "$mnt/f$i" > "$work/got" 2> /dev/null || true
	[ "$(tr -d Z < "$work/got" | wc -c)" = 0 ] || fail "zeros that the source never had"
	[ "$(wc -c < "$work/got")" = 0 ] || [ "$(wc -c < "$work/got")" = 5000 ] ||
		fail "$(wc -c < "$work/got") bytes of a file that has 5000"
	wait_for 30 sh -c "[ \$(cat $mnt/f$i 2>/dev/null | wc -c) = 5000 ]" || fail "the new version is not seen"
done
