"""Files that programs map or read in pieces: numpy's mmap_mode, a shared mapping, LMDB with a
sparse map of 1 TiB and forked readers; and ways of opening that must fail with EROFS at once."""
import errno
import fcntl
import mmap
import os

import lmdb
import numpy

from rig import Watcher, expect, fail, mounted, workplace

with workplace() as folder:
    numpy.save(os.path.join(folder, "x.npy"), numpy.arange(5_000_000))
    env = lmdb.open(os.path.join(folder, "db"), map_size=1 << 40)
    with env.begin(write=True) as txn:
        for i in range(3000):
            txn.put(b"%08d" % i, bytes([i % 251]) * 4000)
    env.close()
    with mounted(folder, "order=none,memory=64MiB,chunk=1MiB") as mount:
        x = numpy.load(os.path.join(mount.at, "x.npy"), mmap_mode="r")
        expect(int(x.sum()) == 4_999_999 * 2_500_000, "mapped array differs")
        with open(os.path.join(mount.at, "x.npy"), "rb") as f:
            m = mmap.mmap(f.fileno(), 0, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ)
            expect(m[-8:] == (4_999_999).to_bytes(8, "little"), "shared mapping differs")
            m.close()
            fcntl.flock(f.fileno(), fcntl.LOCK_SH)

        before = mount.stats()["bytes_fetched"]
        children = []
        for c in range(4):
            pid = os.fork()
            if pid == 0:
                env = lmdb.open(os.path.join(mount.at, "db"), readonly=True, lock=False)
                with env.begin() as txn:
                    good = all(txn.get(b"%08d" % i) == bytes([i % 251]) * 4000
                               for i in range(c, 3000, 7))
                os._exit(0 if good else 1)
            children.append(pid)
        for pid in children:
            expect(os.waitpid(pid, 0)[1] == 0, "an LMDB reader failed")
        moved = mount.stats()["bytes_fetched"] - before
        print(f"LMDB: {moved >> 20} MiB were fetched for {3000 * 4000 >> 20} MiB of values")
        expect(moved < 40 << 20, f"{moved} bytes were fetched")

        at = os.path.join(mount.at, "x.npy")
        for what, act in {
            "create": lambda: open(mount.at + "/x.lock", "w"),
            "write": lambda: os.write(os.open(at, os.O_RDWR), b"x"),
            "mkdir": lambda: os.mkdir(mount.at + "/d"),
            "utime": lambda: os.utime(at),
            "chmod": lambda: os.chmod(at, 0o600),
            "unlink": lambda: os.unlink(at),
            "rename": lambda: os.rename(at, at + "2"),
            "symlink": lambda: os.symlink("x", mount.at + "/l"),
            "truncate": lambda: os.truncate(at, 0),
        }.items():
            try:
                act()
                fail(f"{what} succeeded")
            except OSError as e:
                expect(e.errno == errno.EROFS, f"{what}: {e}")
        os.close(os.open(at, os.O_RDONLY | os.O_CREAT))
        print("mutations: EROFS")
