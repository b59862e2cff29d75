"""DistributedSampler, two ranks as two processes on one mount, set_epoch called or forgotten."""
import multiprocessing
import os

from torch.utils.data.distributed import DistributedSampler

from rig import (Watcher, epoch, expect, expect_hits, folder_of, loader_of, make_images, mounted,
                 relative, wait_for, workplace)

EPOCHS = 3


def rank_main(mount, rank, seen, barrier, call_set_epoch):
    data = folder_of(mount)
    sampler = DistributedSampler(data, num_replicas=2, rank=rank, seed=5)
    loader = loader_of(data, workers=2, sampler=sampler)
    for e in range(EPOCHS):
        if call_set_epoch:
            sampler.set_epoch(e)
        barrier.wait(120)
        seen[rank, e] = relative(mount, data, epoch(mount, loader))
        barrier.wait(120)
        barrier.wait(120)


def run(source, call_set_epoch):
    with mounted(source, "order=torch-distributed:seed=5\\,world=2,memory=64MiB") as mount, \
            multiprocessing.Manager() as manager:
        seen, barrier = manager.dict(), manager.Barrier(3)
        ranks = [multiprocessing.Process(target=rank_main,
                                         args=(mount, r, seen, barrier, call_set_epoch))
                 for r in (0, 1)]
        for r in ranks:
            r.start()
        watcher = Watcher(mount)
        for e in range(EPOCHS):
            barrier.wait(120)
            barrier.wait(120)
            both = [path for pair in zip(seen[0, e], seen[1, e]) for path in pair]
            mount.expect_order(both, f"epoch {e}")
            counted = watcher.since()
            # A forgotten set_epoch surprises once, at the second epoch's first opens.
            expect_hits(counted, 0.85 if call_set_epoch or e != 1 else 0.6, f"epoch {e}")
            barrier.wait(120)
        for r in ranks:
            r.join(60)
            expect(r.exitcode == 0, f"a rank ended with {r.exitcode}")


with workplace() as folder:
    make_images(folder, files=801)
    for call in (True, False):
        print(f"-- set_epoch {'called' if call else 'forgotten'}", flush=True)
        run(folder, call)
