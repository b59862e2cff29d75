"""order=torch:seed=S against what a script with that seed really reads: the default generator
and generator=, 0 and 4 workers, persistent workers, a validation loop in between.  What
.dlfs/order says is what was read, and nearly all opens are hits.
"""
import os
import sys

import torch

from rig import (Watcher, epoch, expect, expect_hits, folder_of, loader_of, make_images, mounted,
                 ready, relative, workplace)

CASES = {
    "plain": dict(workers=0),
    "workers": dict(workers=4),
    "persistent": dict(workers=2, persistent_workers=True),
    "generator": dict(workers=2, generator=True),
    "validation": dict(workers=2, validation=True),
}


def run(source, workers, generator=False, validation=False, **more):
    with mounted(source, "order=torch:seed=7\\,root=train,memory=64MiB") as mount:
        train = folder_of(mount, "train")
        val = folder_of(mount, "val")
        torch.manual_seed(7)
        if generator:
            more["generator"] = torch.Generator().manual_seed(7)
        loader = loader_of(train, workers, shuffle=True, **more)
        val_loader = loader_of(val, workers)
        watcher = Watcher(mount)
        for e in range(3):
            seen = epoch(mount, loader)
            mount.expect_order(relative(mount, train, seen), f"epoch {e}")
            expect_hits(watcher.since(), 0.85 if e == 0 else 0.90, f"epoch {e}")
            if validation:
                got = epoch(mount, val_loader, pace=False)
                expect(got == list(range(len(val))), "validation files differ")
                counted = watcher.since()
                expect(counted["mispredicted"] == 0, f"validation was mispredicted: {counted}")
        state = mount.stats()["order"]
        expect(state["state"] == "confirmed", f"state is {state}")


with workplace() as folder:
    make_images(os.path.join(folder, "train"), files=900)
    make_images(os.path.join(folder, "val"), files=120, seed=2)
    for name, case in CASES.items():
        print(f"-- {name}", flush=True)
        run(folder, **case)
