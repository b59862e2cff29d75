"""list: orders of paths and of indices, several epochs, with samples that repeat (a weighted
sampler), given at the mount, by `dlfs order` and by setxattr; bad ones change nothing.
"""
import os
import subprocess

import torch
from torch.utils.data import Subset, WeightedRandomSampler

from rig import (DLFS, Watcher, epoch, expect, expect_hits, fail, folder_of, loader_of,
                 make_images, mounted, relative, workplace)


def write_list(path, epochs):
    with open(path, "w") as f:
        f.write("\n---\n".join("\n".join(map(str, e)) for e in epochs) + "\n")


with workplace() as folder:
    source = os.path.join(folder, "data")
    make_images(source, files=500)
    with mounted(source, "memory=64MiB") as mount:
        data = folder_of(mount)
        torch.manual_seed(1)
        orders = [list(WeightedRandomSampler(torch.arange(1.0, len(data) + 1), len(data)))
                  for _ in range(2)]
        file = os.path.join(folder, "order, by path.txt")
        write_list(file, [relative(mount, data, o) for o in orders])
        subprocess.run([DLFS, "order", mount.at, "list:" + file], check=True)
        watcher = Watcher(mount)
        for e, order in enumerate(orders):
            seen = epoch(mount, loader_of(data, workers=2, sampler=order))
            expect(seen == order, "the loader itself went wrong")
            mount.expect_order(relative(mount, data, order), f"epoch {e}")
            expect_hits(watcher.since(), 0.85, f"by path, epoch {e}")

        file = os.path.join(folder, "indices")
        order = torch.randperm(len(data)).tolist()[:300]
        write_list(file, [order])
        mount.tell("list:" + file)
        watcher.since()
        expect(epoch(mount, loader_of(Subset(data, order), workers=2)) == order, "subset")
        expect_hits(watcher.since(), 0.85, "by index, a subset")
        mount.expect_order(relative(mount, data, order), "indices")

        before = mount.stats()["order"]["spec"]
        with open(file, "w") as f:
            f.write("0\n1\n99999999\n")
        for bad in ("list:" + file, "list:/no/such/file", "torch:seed=x", "nonsense", ""):
            try:
                mount.tell(bad)
                fail(f"{bad!r} was accepted")
            except OSError as e:
                print(f"{bad!r}: {e.strerror}")
        expect(mount.stats()["order"]["spec"] == before, "a bad spec changed the order")
