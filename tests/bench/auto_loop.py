"""One epoch of a DataLoader whose order dlfs has to find by itself.
    auto_loop.py SOURCE MOUNTPOINT WORKERS CONSTANT
The loop waits in its midst until an order is believed, then goes on at the pace of dlfs.  Prints
JSON: the opens since then, how many were hits, and how long the search took.  CONSTANT 1: with a
generator that nobody seeded, which is found at once; 0: unseeded, one of 2^32.
"""
import json
import os
import sys
import time

import torch
from torchvision.datasets import ImageFolder

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../python"))
import rig  # noqa: E402

SEARCH = 900                            # seconds
STALL = 8                               # batches


class Sizes(ImageFolder):
    """Reads files as ever; says which one it was."""

    def __getitem__(self, index):
        with open(self.samples[index][0], "rb") as f:
            return len(f.read()), index


def believed(mount):
    return mount.stats()["order"]["state"] in ("believed", "confirmed")


def main():
    source, at, workers, constant = *sys.argv[1:3], *map(int, sys.argv[3:5])
    mount = rig.Mount(source, at)
    rig.wait_for("the scan", lambda: mount.stats()["order"]["spec"] == "auto")
    data = Sizes(at)
    generator = torch.Generator() if constant else None
    loader = rig.loader_of(data, workers=workers, shuffle=True, generator=generator)
    seen, ahead = [], workers * 2 * loader.batch_size
    for i, (_, indices) in enumerate(loader):
        seen += indices.tolist()
        if i == STALL:
            begin = time.monotonic()
            rig.wait_for("an order to be found", lambda: believed(mount), SEARCH)
            seconds = time.monotonic() - begin
            watcher = rig.Watcher(mount)
        if i >= STALL:
            rig.ready(mount, len(data) - len(seen) - ahead)
    counted = watcher.since()
    mount.expect_order(rig.relative(mount, data, seen), "afterwards")
    print(json.dumps({"opens": counted["opens"], "hits": counted["hits"], "seconds": seconds}))


main()
