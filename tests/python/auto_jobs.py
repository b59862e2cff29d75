"""order=auto with what training scripts do besides: workers that stay, a validation loop, a subset,
eight ranks on one host, a run that is killed and resumed."""
import multiprocessing
import os
import random
import shutil
import sys
import tempfile

import numpy
import torch
from torch.utils.data import Subset
from torch.utils.data.distributed import DistributedSampler

from rig import (SEARCH, Watcher, believes, early_seed, epoch, epoch_of, expect, expect_hits,
                 folder_of, loader_of, make_images, mounted, patient_epoch, ready, relative, wait_for,
                 workplace)

FILES, WORLD = 2000, 8
OPTIONS = "order=auto,memory=64MiB"


def expect_order(mount, read, what):
    mount.expect_order(read, what)
    state = mount.stats()["order"]["state"]
    expect(state == "confirmed", f"{what}: the state is {state}")
    print(f"{what}: found", flush=True)


def with_validation(source):
    """Workers that stay, and a validation loader between the epochs."""
    with mounted(source, OPTIONS) as mount:
        train, val = folder_of(mount, "train"), folder_of(mount, "val")
        loader = loader_of(train, workers=2, shuffle=True, persistent_workers=True,
                           generator=torch.Generator().manual_seed(11))
        check = loader_of(val, workers=2)
        for e in range(3):
            read = patient_epoch(mount, loader, lambda m, e=e: epoch_of(m) == e)
            read = relative(mount, train, read)
            expect_order(mount, read, f"workers that stay, epoch {e}")
            watcher = Watcher(mount)
            seen = epoch(mount, check)
            expect(seen == list(range(len(val))), "the validation loader's order")
            if e > 0:
                expect_hits(watcher.since(), 0.85, f"validation after epoch {e}")


def subset(source):
    """The list of a Subset is nowhere to be seen: nothing may be believed that is wrong."""
    with mounted(source, OPTIONS) as mount:
        train = folder_of(mount, "train")
        chosen = Subset(train, range(3, FILES, 2))
        torch.manual_seed(early_seed(1))
        loader = loader_of(chosen, workers=2, shuffle=True)
        for _ in range(2):
            watcher = Watcher(mount)
            read = epoch(mount, loader)
            expect(sorted(read) == list(chosen.indices), "an epoch of the subset")
            expect(watcher.since()["mispredicted"] < len(read) / 20, "a wrong belief")
            expect(not believes(mount), f"believed: {mount.stats()['order']}")
        print("subset: nothing is believed", flush=True)


def rank_main(mount, rank, seen, barrier):
    data = folder_of(mount, "train")
    sampler = DistributedSampler(data, num_replicas=WORLD, rank=rank)
    loader = loader_of(data, workers=1, batch=4, sampler=sampler)
    for e in range(2):
        sampler.set_epoch(e)
        barrier.wait(SEARCH)
        read = patient_epoch(mount, loader, lambda m: len(m.order()) == FILES)
        seen[rank, e] = relative(mount, data, read)
        barrier.wait(SEARCH)
        barrier.wait(SEARCH)


def eight_ranks(source):
    with mounted(source, OPTIONS) as mount, multiprocessing.Manager() as manager:
        seen, barrier = manager.dict(), manager.Barrier(WORLD + 1)
        ranks = [multiprocessing.Process(target=rank_main, args=(mount, r, seen, barrier))
                 for r in range(WORLD)]
        for r in ranks:
            r.start()
        for e in range(2):
            barrier.wait(SEARCH)
            barrier.wait(SEARCH)
            read = [path for paths in zip(*(seen[r, e] for r in range(WORLD))) for path in paths]
            expect_order(mount, read, f"eight ranks, epoch {e}")
            barrier.wait(SEARCH)
        for r in ranks:
            r.join(60)
            expect(r.exitcode == 0, f"a rank ended with {r.exitcode}")


def belief(mount):
    return os.getxattr(mount.at, "user.dlfs.belief").decode()


def sampler_seed(seed):
    """What a DataLoader's RandomSampler draws in the first epoch."""
    torch.manual_seed(seed)
    torch.empty((), dtype=torch.int64).random_()
    return torch.empty((), dtype=torch.int64).random_().item() & 0xffffffff


class InTurns(multiprocessing.context.ForkContext):
    """Each process is started after one of the other job, so that their pids alternate."""
    def __init__(self, mine, other):
        super().__init__()
        self.mine, self.other = mine, other

    def Process(self, *words, **more):              # pylint: disable=invalid-name
        process = multiprocessing.context.ForkProcess(*words, **more)
        start = process.start

        def start_in_turn():
            self.mine.acquire(timeout=SEARCH)
            start()
            self.other.release()
        process.start = start_in_turn
        return process


def job_main(mount, seed, turns, barrier):
    torch.manual_seed(seed)
    loader = loader_of(folder_of(mount, "train"), workers=3, shuffle=True,
                       multiprocessing_context=InTurns(*turns))
    barrier.wait(SEARCH)
    for batch, _ in enumerate(loader):
        if batch == 16:
            barrier.wait(SEARCH)
            barrier.wait(SEARCH)


def two_jobs(source):
    """Two unseeded scripts that begin at once, the workers of each among the other's: when one was
    found, the other is searched for."""
    with mounted(source, OPTIONS) as mount:
        seeds = [early_seed(1, 2**25), early_seed(1, 2**25, 5000)]
        barrier = multiprocessing.Barrier(3)
        one, two = multiprocessing.Semaphore(1), multiprocessing.Semaphore(0)
        jobs = [multiprocessing.Process(target=job_main, args=(mount, s, turns, barrier))
                for s, turns in zip(seeds, ((one, two), (two, one)))]
        for j in jobs:
            j.start()
        barrier.wait(SEARCH)
        barrier.wait(SEARCH)
        wait_for("both jobs to be found",
                 lambda: all(f"seed {sampler_seed(s)}," in belief(mount) for s in seeds), SEARCH)
        watcher = Watcher(mount)
        barrier.wait(SEARCH)
        for j in jobs:
            j.join(60)
            expect(j.exitcode == 0, f"a job ended with {j.exitcode}")
        counted = watcher.since()
        expect(counted["mispredicted"] < counted["opens"] / 10, f"two jobs: {counted}")
        print("two jobs: found", flush=True)


def resumed(source):
    """The next run goes on in the middle of the epoch that the last one was killed in."""
    state = tempfile.mkdtemp(prefix="dlfs-state-")
    g = torch.Generator().manual_seed(early_seed(1) + 2**25)
    order = torch.randperm(FILES, generator=g).tolist()
    half = FILES // 2
    with mounted(source, OPTIONS, state=state) as mount:
        train = folder_of(mount, "train")
        patient_epoch(mount, loader_of(Subset(train, order), workers=2))
        wait_for("the lesson to be kept", lambda: any(n.endswith(".orders") for n in
                                                      os.listdir(os.path.join(state, "dlfs"))))
    with mounted(source, OPTIONS, state=state) as mount:
        train = folder_of(mount, "train")
        watcher = Watcher(mount)
        expect(epoch(mount, loader_of(Subset(train, order[half:]), workers=2)) == order[half:], "order")
        expect_order(mount, relative(mount, train, order), "resumed")
        expect_hits(watcher.since(), 0.85, "the rest of the epoch")
    shutil.rmtree(state)


def shuffled_by_the_user(source):
    """Nothing is known of the order, but each run has the same: only the first one is a surprise."""
    state = tempfile.mkdtemp(prefix="dlfs-state-")
    order = numpy.random.RandomState(0).permutation(FILES).tolist()
    for run in range(2):
        with mounted(source, OPTIONS, state=state) as mount:
            train = folder_of(mount, "train")
            loader = loader_of(Subset(train, order), workers=2)
            watcher = Watcher(mount)
            read = epoch(mount, loader)
            expect(read == order, "order")
            if run == 1:
                expect(sorted(mount.order()) == sorted(relative(mount, train, read)), "what is kept")
                expect_hits(watcher.since(), 0.85, "the second run")
        wait_for("the order to be kept", lambda: any(n.endswith(".again") for n in
                                                     os.listdir(os.path.join(state, "dlfs"))))
    shutil.rmtree(state)


def through_a_buffer(listed, size):
    """tf.data's Dataset.shuffle(size): each that is taken, any of so many, makes room for the next."""
    draw = random.Random(size)
    buffer, rest = listed[:size], iter(listed[size:])
    while buffer:
        at = draw.randrange(len(buffer))
        yield buffer[at]
        following = next(rest, None)
        if following is None:
            buffer.pop(at)
        else:
            buffer[at] = following


def keras(source):
    """image_dataset_from_directory(): numpy shuffles the list, with one of 10^6 seeds, and each epoch
    reads it through a buffer of eight batches."""
    with mounted(source, OPTIONS) as mount:
        train = folder_of(mount, "train")
        listed = list(range(FILES))
        numpy.random.RandomState(523910).shuffle(listed)
        for e in range(2):
            watcher = Watcher(mount)
            for i, index in enumerate(through_a_buffer(listed, 64)):
                with open(train.samples[index][0], "rb") as file:
                    file.read()
                if e == 0 and i == 200:
                    wait_for("an order to be found", lambda: believes(mount), SEARCH)
                if e == 1 or i >= 200:
                    ready(mount, FILES - 64 - i)
            expect_order(mount, relative(mount, train, listed), f"Keras, epoch {e}")
            expect(epoch_of(mount) == e, f"it is epoch {epoch_of(mount)}")
            counted = watcher.since()
            expect(counted["mispredicted"] < FILES / 50, f"{counted['mispredicted']} mispredicted")
            if e == 1:
                expect_hits(counted, 0.85, "Keras, the second epoch")


with workplace() as folder:
    make_images(os.path.join(folder, "train"), files=FILES)
    make_images(os.path.join(folder, "val"), files=300, seed=2)
    for test in [globals()[name] for name in sys.argv[1:]] or (with_validation, subset, eight_ranks, resumed,
                                                            shuffled_by_the_user, keras):
        test(folder)
