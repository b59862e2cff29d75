"""Wrong orders: another seed, reversed, garbage.  Every byte is right, the error is noticed, and
after the right order has been told all is well again.
"""
import os
import random

import torch

from rig import (Watcher, epoch, expect, expect_hits, folder_of, loader_of, make_images, mounted,
                 relative, wait_for, workplace)

with workplace() as folder:
    source = os.path.join(folder, "data")
    make_images(source, files=900)
    backwards = os.path.join(folder, "backwards")
    with open(backwards, "w") as f:
        f.write("\n".join(str(i) for i in reversed(range(900))) + "\n")
    with mounted(source, "memory=64MiB") as mount:
        data = folder_of(mount)
        for spec in ("torch:seed=8", "sequential", "list:" + backwards):
            mount.tell(spec)
            torch.manual_seed(random.Random(spec).randrange(2 ** 31))
            watcher = Watcher(mount)
            seen = epoch(mount, loader_of(data, workers=2, shuffle=True), pace=False)
            expect(sorted(seen) == list(range(900)), "files are missing")
            state = mount.stats()["order"]["state"]
            counted = watcher.since()
            print(f"{spec}: state {state}, {counted}")
            expect(state in ("searching", "none"), f"{spec}: still {state} after 900 wrong opens")
        mount.tell("torch:seed=9")
        torch.manual_seed(9)
        watcher = Watcher(mount)
        epoch(mount, loader_of(data, workers=2, shuffle=True))
        expect_hits(watcher.since(), 0.85, "the right one")
