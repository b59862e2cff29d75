#!/bin/bash
# Other file systems are mounted in the source: their files have inodes of the same numbers.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir -p "$src/A" "$src/B" "$src/own" "$mnt" "$work/copy"
for name in A B; do
	mount -t tmpfs none "$src/$name" || skip "by design: nothing can be mounted here"
	on_exit umount "$src/$name"
done
for name in A/cat B/dog own/cow; do
	mkdir "$src/$name"
	echo "$name" > "$src/$name/1"
	ln "$src/$name/1" "$src/$name/2"
done
[ "$(stat -c %i "$src/A/cat/1")" = "$(stat -c %i "$src/B/dog/1")" ] || fail "the numbers differ: nothing is shown"
# One file alone, too; it has links where it comes from.
touch "$src/A/cat/3"
mount --bind "$src/B/dog/1" "$src/A/cat/3"
on_exit umount "$src/A/cat/3"

check()
{
	rm -rf "$work/copy"; mkdir "$work/copy"
	(cd "$mnt" && tar cf - A B own) | tar xf - -C "$work/copy"
	diff -r "$src" "$work/copy" || fail "$1: tar's copy differs"
	for name in A/cat B/dog own/cow; do
		[ "$work/copy/$name/1" -ef "$work/copy/$name/2" ] || fail "$1: $name: the link is lost"
	done
	! [ "$mnt/A/cat/1" -ef "$mnt/A/cat/3" ] || fail "$1: two files are taken for one"
	rm -rf "$work/copy"; cp -a "$mnt" "$work/copy" 2> "$work/said" || fail "$1: cp: $(cat "$work/said")"
	diff -r "$src" "$work/copy" || fail "$1: the copy of cp differs"
	[ "$(cd "$mnt"; find . -path ./.dlfs -prune -o -print | sort)" = "$(cd "$src"; find . | sort)" ] \
		|| fail "$1: find"
	[ "$(stat -c %i "$mnt/own/cow/1")" = "$(stat -c %i "$src/own/cow/1")" ] || fail "$1: st_ino"
	[ "$(ls -i "$mnt" | awk '{ print $1, $2 }' | sort)" = \
		"$(cd "$mnt"; stat -c '%i %n' -- * | sort)" ] || fail "$1: ls -i"
}

mount_dlfs "$src" "$mnt"
check "new"
umount_dlfs "$mnt"
mount_dlfs "$src" "$mnt"
check "saved"
