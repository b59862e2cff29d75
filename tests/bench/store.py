"""The store: from the command to the first hit with many records, and files that are made smaller."""
import os
import random
import shutil
import subprocess
import time

from common import Failed, dlfs_mount, run, wait_for

PIECE, SMALL = 128 << 10, 4096


def opened(bench, folder, count):
    return float(run(bench.store, "open", folder, str(count), timeout=600))


def kill_owner(bench, folder):
    done = subprocess.run([bench.store, "kill", folder], check=False, timeout=600)
    if done.returncode != -9:
        raise Failed(f"bench-store kill: code {done.returncode}")


def many_records(bench):
    count = 20000 if bench.short else 1000000
    folder = os.path.join(bench.path("many"), "store")
    run(bench.store, "fill", folder, str(count), timeout=3600)
    name, rounds = f"{count} records", range(bench.rounds)
    bench.row(name, "store closed, past the page cache, first hit", "s",
              [opened(bench, folder, count) for _ in rounds])
    killed = []
    for _ in rounds:
        kill_owner(bench, folder)
        killed.append(opened(bench, folder, count))
    bench.row(name, "store of a killed process, first hit", "s", killed)
    shutil.rmtree(os.path.join(folder, "index"))
    bench.row(name, "index lost, made anew in the background", "s", [opened(bench, folder, count)])
    shutil.rmtree(folder)


def write_array(at, size):
    """Sound of 16 bits: slow waves and a little noise."""
    rng = random.Random(1)
    piece = bytearray()
    for i in range(1 << 19):
        piece += ((i // 8) % 2000 + rng.randrange(16)).to_bytes(2, "little")
    with open(at, "wb") as f:
        for i in range(size // len(piece)):
            f.write(piece[i * 64:] + piece[:i * 64])


def forget(fd):
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)


def in_sequence(path):
    """Bytes a second, past the page cache."""
    with open(path, "rb", buffering=0) as f:
        forget(f.fileno())
        begin, size = time.monotonic(), 0
        while piece := f.read(PIECE):
            size += len(piece)
        return size / (time.monotonic() - begin)


def at_random(path, reads):
    """Seconds a read."""
    rng = random.Random(2)
    with open(path, "rb", buffering=0) as f:
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        forget(f.fileno())
        size = os.fstat(f.fileno()).st_size
        begin = time.monotonic()
        for _ in range(reads):
            os.pread(f.fileno(), SMALL, rng.randrange(size - SMALL))
        return (time.monotonic() - begin) / reads


class Kept:
    """A file that is kept in a store of its own."""

    def __init__(self, bench, source, zstd):
        self.bench, self.source = bench, source
        self.folder = os.path.join(bench.path("kept"), f"store-{zstd}")
        self.options = f"memory=256MiB,order=none,store.path={self.folder},store.size=4GiB," \
                       f"store.keep_free=0,store.zstd={zstd}"
        self.sequence, self.random, self.size, self.packed = [], [], 0, 0
        self.size = os.path.getsize(os.path.join(source, "array.npy"))
        with dlfs_mount(bench, source, self.options) as mount:
            wait_for("the store", lambda: mount.stats()["store_limit"] > 0)
            wait_for("what is to be kept", lambda: self.fill(mount))
            self.packed = mount.stats()["store_bytes"]

    def fill(self, mount):
        in_sequence(os.path.join(mount.at, "array.npy"))
        return mount.stats()["store_lengths"] >= self.size

    def measure(self, reads):
        with dlfs_mount(self.bench, self.source, self.options) as mount:
            wait_for("the store", lambda: mount.stats()["store_limit"] > 0)
            run(self.bench.dlfs, "refresh", mount.at)
            path = os.path.join(mount.at, "array.npy")
            self.random.append(at_random(path, reads) * 1e6)
            self.sequence.append(in_sequence(path) / 1e6)
            if mount.stats()["bytes_fetched"] > 0:
                raise Failed("the source was read for what is kept")


def packed(bench):
    size, reads = (16 << 20, 50) if bench.short else (256 << 20, 1000)
    source = bench.path("array")
    write_array(os.path.join(source, "array.npy"), size)
    time.sleep(2.5)        # what has just changed is not kept
    raw, small = Kept(bench, source, "off"), Kept(bench, source, "3")
    for _ in range(bench.rounds):
        raw.measure(reads)
        small.measure(reads)
    name = f"a file of {size >> 20} MiB"
    for what, kept in (("as it is", raw), ("zstd", small)):
        bench.row(name, f"store, {what}, takes", "MB", [kept.packed / 1e6], [raw.packed / 1e6])
        bench.row(name, f"store, {what}, in sequence", "MB/s", kept.sequence, raw.sequence)
        bench.row(name, f"store, {what}, 4 KiB at random", "us", kept.random, raw.random)


def store(bench):
    many_records(bench)
    packed(bench)
