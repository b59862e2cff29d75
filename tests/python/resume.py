"""Resume in the middle of an epoch: the window jumps to where the reader is, what was skipped is
not fetched, and the next epoch follows without a word."""
import os

import torch
from torch.utils.data import Subset

from rig import (Watcher, epoch, expect, expect_hits, folder_of, loader_of, make_images, mounted,
                 workplace)

FILES, START = 8000, 5000

with workplace() as folder:
    make_images(folder, files=FILES, side=8)
    orders = []
    g = torch.Generator()
    for e in range(2):
        g.manual_seed(11 + e)
        orders.append(torch.randperm(FILES, generator=g).tolist())
    with mounted(folder, "order=torch-distributed:seed=11\\,world=1,memory=64MiB,lead=200") as mount:
        data = folder_of(mount)
        watcher = Watcher(mount)
        rest = orders[0][START:]
        expect(epoch(mount, loader_of(Subset(data, rest), workers=2)) == rest, "order")
        counted = watcher.since()
        expect_hits(counted, 0.85, "the rest of the epoch")
        fetched = mount.stats()["fetches"]
        print(f"{fetched} fetches for {len(rest)} opens")
        # Workers of the same job may lie up to 2048 positions behind the first open.
        expect(fetched < len(rest) + 2048 + 600, f"{fetched} fetches: skipped samples were fetched")
        expect(epoch(mount, loader_of(Subset(data, orders[1]), workers=2)) == orders[1], "order")
        expect_hits(watcher.since(), 0.85, "the next epoch")
