#!/bin/bash
# Many processes open one cold file at once: each gets the whole right file, and it is fetched once.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir -p "$src" "$mnt"
for i in $(seq 20); do head -c $((i * 60000)) /dev/urandom > "$src/f$i"; done
mount_dlfs "$src" "$mnt" order=none,source_layers=slow:latency=20ms
python3 - "$src" "$mnt" <<'P'
import hashlib, multiprocessing, sys

src, mnt = sys.argv[1:]

def reader(barrier, bad):
    for i in range(1, 21):
        barrier.wait(60)
        got = hashlib.sha256(open(f"{mnt}/f{i}", "rb").read()).digest()
        if got != hashlib.sha256(open(f"{src}/f{i}", "rb").read()).digest():
            bad.value += 1

barrier, bad = multiprocessing.Barrier(32), multiprocessing.Value("i", 0)
readers = [multiprocessing.Process(target=reader, args=(barrier, bad)) for _ in range(32)]
for r in readers:
    r.start()
for r in readers:
    r.join()
    assert r.exitcode == 0, r.exitcode
assert bad.value == 0, f"{bad.value} reads were wrong"
P
n=$(jq .fetches "$mnt/.dlfs/stats.json")
[ "$n" = 20 ] || fail "$n fetches of 20 files"
