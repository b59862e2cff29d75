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

# Of the same size: whoever reads all of it with one call has the new one, and no error.
cat > "$work/same.py" << 'END'
import concurrent.futures, os, sys
source, mount = sys.argv[1:]
def read(name):
    with open(f"{mount}/{name}", "rb") as f:
        return f.read()
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    for i in range(60):
        name = f"s/{i}"
        held = os.open(f"{mount}/{name}", os.O_RDONLY)
        if i % 2:
            with open(f"{source}/s.new", "wb") as f:
                f.write(b"N" * 20000)
            os.rename(f"{source}/s.new", f"{source}/{name}")
        else:
            os.utime(f"{source}/{name}")
        right = (b"N" if i % 2 else b"O") * 20000
        for got in pool.map(read, [name] * (1 + i % 8)):
            assert got == right, f"{name}: {len(got)} bytes of {got[:1]}"
        os.close(held)
END
mkdir "$src/s"
for i in $(seq 0 59); do head -c 20000 /dev/zero | tr '\0' O > "$src/s/$i"; done
"$DLFS" refresh "$mnt"
ls -l "$mnt/s" > "$work/list"
python3 "$work/same.py" "$src" "$mnt"
# Not in part: who has read some of the old one is not given the rest of another.
head -c 3000000 /dev/zero | tr '\0' O > "$src/long"
"$DLFS" refresh "$mnt"
exec 5< "$mnt/long"
[ "$(head -c 100 <&5 | tr -d O | wc -c)" = 0 ] || fail "the first bytes of long"
head -c 3000000 /dev/zero | tr '\0' N > "$src/long"
"$DLFS" drop "$mnt" > /dev/null
cat <&5 > "$work/rest" 2> /dev/null || true
exec 5<&-
[ "$(tr -d O < "$work/rest" | wc -c)" = 0 ] || fail "bytes of two versions"
umount_dlfs "$mnt"
