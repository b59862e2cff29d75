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

# Replaced by another file, which nobody has seen yet: who is told so by an error opens it again at once, and has
# the new one, whole.  Many read it at the same time.
cat > "$work/again.py" << 'END'
import concurrent.futures, errno, os, sys
source, mount = sys.argv[1:]
def read(path):
    with open(path, "rb") as f:
        return f.read()
def read_twice(name):
    try:
        return read(f"{mount}/{name}")
    except OSError as e:
        assert e.errno == errno.ESTALE, e
        return read(f"{mount}/{name}")
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    for i in range(60):
        name = f"r/{i}"
        with open(f"{source}/r.new", "wb") as f:
            f.write(b"N" * (100 + i))
        os.rename(f"{source}/r.new", f"{source}/{name}")
        for got in pool.map(read_twice, [name] * (1 + i % 8)):
            assert got == b"N" * (100 + i), f"{name}: {len(got)} bytes of {got[:1]}"
END
mkdir "$src/r"
for i in $(seq 0 59); do head -c 20000 /dev/zero | tr '\0' O > "$src/r/$i"; done
"$DLFS" refresh "$mnt"
ls -l "$mnt/r" > "$work/list"
python3 "$work/again.py" "$src" "$mnt"
umount_dlfs "$mnt"
