"""order=auto: nobody says anything, and dlfs works out what an unmodified script reads.

An unseeded DataLoader's order is one of 2^32, found by trying them all: that takes a minute or
two of all processors, during which the loop waits for dlfs and not for a time to pass.
"""
import multiprocessing
import os
import shutil
import sys
import tempfile

import torch
from torch.utils.data.distributed import DistributedSampler

from rig import (OBSERVE, SEARCH, believes, early_seed, epoch, epoch_of, expect, folder_of, loader_of,
                 make_images, mounted, patient_epoch, relative, seed_with_model, wait_for,
                 workplace)

FILES = 2000
OPTIONS = "order=auto,memory=64MiB"


def check(mount, read, what, number=0):
    order = mount.stats()["order"]
    expect(order["spec"] == "auto", f"{what}: the spec is {order['spec']}")
    expect(order["state"] == "confirmed", f"{what}: the state is {order['state']}")
    expect(order["epoch"] == number, f"{what}: the epoch is {order['epoch']}")
    told = mount.order()
    expect(told == read, f"{what}: .dlfs/order is not what was read ({len(told)} lines)")
    print(f"{what}: found", flush=True)


def unseeded(source):
    """Each epoch's seed is drawn anew: the second one is a search of its own.  Without pids the
    search takes longer: an early seed must do there."""
    if OBSERVE == "inotify":
        torch.manual_seed(early_seed(1, 2**26))
    with mounted(source, OPTIONS) as mount:
        data = folder_of(mount)
        loader = loader_of(data, workers=2, shuffle=True)
        read = relative(mount, data, patient_epoch(mount, loader))
        check(mount, read, "unseeded")


def generator(source):
    """A generator's state goes on: the second epoch is known before it begins."""
    with mounted(source, OPTIONS) as mount:
        data = folder_of(mount)
        loader = loader_of(data, workers=2, shuffle=True,
                           generator=torch.Generator())
        check(mount, relative(mount, data, patient_epoch(mount, loader)), "generator")
        following = mount.order("order.next")
        read = relative(mount, data, epoch(mount, loader))
        expect(following == read, "generator: .dlfs/order.next was not what followed")
        check(mount, read, "generator's second epoch", 1)


def second_run(source):
    """Two epochs tell which seed the script has, and so all that follow.  What a run taught is known
    in the next one by its first opens, and so is its next epoch."""
    state = tempfile.mkdtemp(prefix="dlfs-state-")
    for run in range(2):
        with mounted(source, OPTIONS, state=state) as mount:
            data = folder_of(mount)
            loader = loader_of(data, workers=2, shuffle=True)
            seed_with_model(2)
            read = relative(mount, data, patient_epoch(mount, loader))
            check(mount, read, f"run {run}")
            following = mount.order("order.next")
            read = relative(mount, data, patient_epoch(mount, loader, lambda m: epoch_of(m) == 1))
            check(mount, read, f"run {run}, second epoch", 1)
            if run == 1:
                expect(following == read, "the second epoch was not known before it began")
            wait_for("the third epoch to be known", lambda: mount.order("order.next"), SEARCH)
            following = mount.order("order.next")
            read = relative(mount, data, epoch(mount, loader))
            check(mount, read, f"run {run}, third epoch", 2)
            expect(following == read, "the third epoch was not what was expected")
    shutil.rmtree(state)


def all_ranks(mount):
    return len(mount.order()) == FILES


def rank_main(mount, rank, seen, barrier):
    data = folder_of(mount)
    sampler = DistributedSampler(data, num_replicas=2, rank=rank, seed=5)
    loader = loader_of(data, workers=2, sampler=sampler)
    for e in range(2):
        sampler.set_epoch(e)
        barrier.wait(SEARCH)
        if rank == 1 and e == 0:        # late: the other one is believed to be alone
            wait_for("the first rank to be found", lambda: believes(mount), SEARCH)
        read = patient_epoch(mount, loader, all_ranks)
        seen[rank, e] = relative(mount, data, read)
        barrier.wait(SEARCH)
        barrier.wait(SEARCH)


def distributed(source):
    with mounted(source, OPTIONS) as mount, multiprocessing.Manager() as manager:
        seen, barrier = manager.dict(), manager.Barrier(3)
        ranks = [multiprocessing.Process(target=rank_main, args=(mount, r, seen, barrier))
                 for r in (0, 1)]
        for r in ranks:
            r.start()
        for e in range(2):
            barrier.wait(SEARCH)
            barrier.wait(SEARCH)
            both = [path for pair in zip(seen[0, e], seen[1, e]) for path in pair]
            check(mount, both, f"two ranks, epoch {e}", e)
            barrier.wait(SEARCH)
        for r in ranks:
            r.join(60)
            expect(r.exitcode == 0, f"a rank ended with {r.exitcode}")


TESTS = (generator, second_run, distributed, unseeded)

with workplace() as folder:
    make_images(folder, files=FILES)
    for test in TESTS if len(sys.argv) < 2 else [globals()[name] for name in sys.argv[1:]]:
        test(folder)
