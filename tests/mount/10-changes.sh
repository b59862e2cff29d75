#!/bin/bash
# The source changes below: files that grow, are replaced, appear, vanish.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir -p "$src/d" "$mnt"
printf 'hello\n' > "$src/d/log"
head -c 1048576 /dev/zero | tr '\0' A > "$src/d/f"
printf AAAA > "$src/d/same"
mount_dlfs "$src" "$mnt" verify_ttl=1s,verify=ttl,chunk=64KiB
cat "$mnt/d/log" "$mnt/d/same" > "$work/first"

# Appears: a name that was asked for before, and a folder.
expect_fail stat "$mnt/d/new"
echo new > "$src/d/new"; mkdir "$src/e"; echo 1 > "$src/e/1"
wait_for 30 test -e "$mnt/d/new" || fail "a new file is not seen"
wait_for 30 test -e "$mnt/e/1" || fail "a new folder is not seen"
ls "$mnt/d" | grep -qx new || fail "a new file is not listed"

# Grows: never zeros.
printf 'more\n' >> "$src/d/log"
wait_for 30 sh -c "[ \$(stat -c %s $mnt/d/log) = 11 ]" || fail "the size did not change"
[ "$(cat "$mnt/d/log")" = "$(printf 'hello\nmore')" ] || fail "log: $(xxd "$mnt/d/log")"

# Replaced while it is open: the old handle gives the old bytes or an error, never a mix.
exec 5< "$mnt/d/f"
head -c 65536 <&5 > "$work/old"
head -c 1048576 /dev/zero | tr '\0' B > "$src/d/f.new"
mv "$src/d/f.new" "$src/d/f"
"$DLFS" refresh "$mnt"
[ "$(tr -d B < "$mnt/d/f" | wc -c)" = 0 ] || fail "the new file is mixed"
[ "$(wc -c < "$mnt/d/f")" = 1048576 ] || fail "the new file is short"
cat <&5 >> "$work/old" 2> /dev/null || true
exec 5<&-
[ "$(tr -d A < "$work/old" | wc -c)" = 0 ] || fail "an old handle got bytes of the new file"

# Same size and time, other content: told by ctime.
touch -r "$src/d/same" "$work/stamp"
printf BBBB > "$src/d/same"; touch -r "$work/stamp" "$src/d/same"
"$DLFS" refresh "$mnt"
[ "$(cat "$mnt/d/same")" = BBBB ] || fail "a change with the old mtime was not seen"

rm "$src/d/log"; rm -r "$src/e"
"$DLFS" refresh "$mnt"
expect_fail cat "$mnt/d/log"
expect_fail ls "$mnt/e"
[ "$(stat -c %i "$mnt/d/new")" = "$(stat -c %i "$src/d/new")" ] || fail "st_ino changed"
