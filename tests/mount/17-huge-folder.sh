#!/bin/bash
# One folder with very many names: all are listed, with their types, in a number of requests that
# grows with the names and not with their square, and none is asked for one by one.  If one file
# changes, the kernel need not ask for the others again.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir -p "$src/d" "$mnt"
python3 -c "
import os, sys
os.chdir(sys.argv[1])
for i in range(50000):
    os.close(os.open('%06d.jpg' % i, os.O_CREAT | os.O_WRONLY))" "$src/d"
mount_dlfs "$src" "$mnt" order=none
# While the folder is being read nothing is empty, and then the order is known.
known() {
	"$DLFS" order "$mnt" | grep -q '^none' || fail "order: $("$DLFS" order "$mnt")"
	"$DLFS" stats "$mnt" > "$work/out"
	grep -q '^order      none$\|^order      none yet: the folders of the source are being read$' "$work/out" ||
		fail "$(cat "$work/out")"
	grep -qx 'order      none' "$work/out"
}
wait_for 60 known || fail "$(cat "$work/out")"
[ "$(ls -f "$mnt/d" | wc -l)" = 50002 ] || fail "ls shows other names"
python3 - "$mnt/d" <<'P'
import os, sys
assert sum(e.is_file() for e in os.scandir(sys.argv[1])) == 50000
P
[ "$(find "$mnt/d" -type f | wc -l)" = 50000 ] || fail "find shows other names"
n=$(jq .requests "$mnt/.dlfs/stats.json")
[ "$n" -le 20000 ] || fail "$n requests for three listings of 50000 names"

echo more >> "$src/d/000500.jpg"
others=$(printf "$mnt/d/%06d.jpg " $(seq 501 1000))
stat $others > /dev/null
"$DLFS" refresh "$mnt"
[ "$(cat "$mnt/d/000500.jpg")" = more ] || fail "the change is not seen"
n=$(jq .requests "$mnt/.dlfs/stats.json")
stat $others > /dev/null
n=$(($(jq .requests "$mnt/.dlfs/stats.json") - n))
[ "$n" -lt 250 ] || fail "$n requests for 500 names of which none has changed"
