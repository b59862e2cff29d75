"""Random loaders over mounts to which nobody tells an order.
    auto_runs.py WORK RUNS SEARCHES SEED
torch's own samplers and DataLoader say which indices the batches have; files are opened by
processes that take them in turn, as a DataLoader's workers do.  In the midst of each epoch the
loop waits until dlfs has found the order, or has nothing left to try.  Most seeds are drawn from
those that are tried first; SEARCHES runs are not so kind: unseeded, and orders that have no seed.
Prints JSON: for each rule how many epochs were found, and how often something was believed that
was not what the loop read.
"""
import collections
import json
import multiprocessing
import os
import random
import shutil
import sys
import time
import types

import torch
from torch.utils.data import DataLoader, DistributedSampler

from common import Failed, dlfs_mount, files_below, make_files, progress, wait_for

SIZES = (600, 1000, 1777, 3000)
EARLY = range(1 << 24, 1 << 26)         # seeds that are soon tried, and that nobody chooses
STALL = 160                             # opens of a rank, if it has more than that
IDLE = 2.0                              # seconds without a searcher at work: nothing is left
PATIENCE = 900
PREFETCH = 2


# --- Which indices ------------------------------------------------------------------------------

def batches_of(loader):
    return [b.tolist() for b in loader]


def cut(order, batch):
    return [order[i:i + batch] for i in range(0, len(order), batch)]


def generator_of(seed):
    return torch.Generator().manual_seed(seed)


def rule_unseeded(rng, n, batch):
    """Each epoch's own generator, as RandomSampler makes it; seeds that are tried soon."""
    while True:
        yield [cut(torch.randperm(n, generator=generator_of(rng.choice(EARLY))).tolist(), batch)]


def rule_any_seed(rng, n, batch):
    torch.seed()
    while True:
        yield [batches_of(DataLoader(range(n), batch, shuffle=True))]


def rule_manual_seed(rng, n, batch):
    """The first epoch's generator is one of those that are tried soon."""
    sampler_seed = 0
    while sampler_seed not in EARLY:
        seed = rng.randrange(1 << 32)
        torch.manual_seed(seed)
        torch.empty((), dtype=torch.int64).random_()
        sampler_seed = int(torch.empty((), dtype=torch.int64).random_()) & 0xffffffff
    torch.manual_seed(seed)
    yield [batches_of(DataLoader(range(n), batch, shuffle=True))]


def rule_generator(rng, n, batch):
    generator = torch.Generator()
    if rng.randrange(4):
        generator.manual_seed(rng.randrange(EARLY.stop))
    while True:
        yield [batches_of(DataLoader(range(n), batch, shuffle=True, generator=generator))]


def rule_distributed(rng, n, batch):
    world = rng.randint(1, 8)
    here = range(world) if rng.randrange(2) else [rng.randrange(world)]
    options = {"num_replicas": world, "seed": rng.randrange(1 << rng.choice((4, 10, 16, 20))),
               "drop_last": rng.random() < 0.3}
    samplers = [DistributedSampler(range(n), rank=r, **options) for r in here]
    for epoch in range(100):
        for s in samplers:
            s.set_epoch(epoch)
        yield [batches_of(DataLoader(range(n), batch, sampler=s)) for s in samplers]


def rule_sequential(rng, n, batch):
    while True:
        yield [batches_of(DataLoader(range(n), batch))]


def rule_hopeless(rng, n, batch):
    while True:
        replace = rng.random() < 0.5
        yield [cut(rng.choices(range(n), k=n) if replace else rng.sample(range(n), n), batch)]


KIND = {"DistributedSampler": rule_distributed, "unseeded": rule_unseeded,
        "sequential": rule_sequential, "generator=": rule_generator,
        "manual_seed": rule_manual_seed}
UNKIND = {"unseeded, any of 2^32": rule_any_seed, "no seed": rule_hopeless}


# --- Who opens them -----------------------------------------------------------------------------

def open_all(paths):
    for path in paths:
        with open(path, "rb") as f:
            f.read()


def worker_main(pipe):
    while True:
        paths = pipe.recv()
        if paths is None:
            return
        open_all(paths)
        pipe.send(len(paths))


class Loader:
    """Workers take batches in turn, PREFETCH each ahead of the loop; without, the loop reads."""

    def __init__(self, batches, workers):
        self.batches, self.sent, self.taken = batches, 0, 0
        self.workers = []
        for _ in range(workers):
            ours, theirs = multiprocessing.Pipe()
            process = multiprocessing.Process(target=worker_main, args=(theirs,), daemon=True)
            process.start()
            self.workers.append((process, ours))
        for _ in range(PREFETCH * workers):
            self.send()

    def send(self):
        if self.sent < len(self.batches):
            self.workers[self.sent % len(self.workers)][1].send(self.batches[self.sent])
            self.sent += 1

    def step(self):
        """The next batch; how many files it has, 0 at the end."""
        if self.taken == len(self.batches):
            return 0
        batch = self.batches[self.taken]
        if self.workers:
            self.workers[self.taken % len(self.workers)][1].recv()
            self.send()
        else:
            open_all(batch)
        self.taken += 1
        return len(batch)

    def stop(self):
        for process, pipe in self.workers:
            pipe.send(None)
            process.join()


# --- What dlfs believes -------------------------------------------------------------------------

def in_turn(shares):
    """What the ranks of a host read, step by step."""
    return [path for step in zip(*shares) for path in step]


def is_what(told, shares):
    """What was read; drop_last, the only thing that cannot be seen, may end it a step earlier."""
    read = in_turn(shares)
    both = min(len(told), len(read))
    return told[:both] == read[:both] and len(told) - both <= len(shares) and both == len(read)


def is_some_ranks(told, shares):
    """Some ranks of those that read, as long as the others were not seen yet."""
    first = {share[0]: i for i, share in enumerate(shares)}
    head = [first[path] for path in told[:len(shares)] if path in first]
    ranks = sorted(set(head))
    return bool(ranks) and is_what(told, [shares[r] for r in ranks])


def read_file(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


class Belief:
    def __init__(self, mount, names):
        self.mount, self.names, self.wrong = mount, names, []
        task = f"/proc/{mount.stats()['pid']}/task"
        self.searchers = [f"{task}/{t}" for t in os.listdir(task)
                          if os.sched_getscheduler(int(t)) == os.SCHED_IDLE]
        self.cpu = None

    def text(self):
        return os.getxattr(self.mount.at, "user.dlfs.belief").decode()

    def told(self):
        """The order that is believed, or None."""
        before = self.mount.stats()["order"]
        lines = read_file(os.path.join(self.mount.at, ".dlfs/order")).split("\n")[:-1]
        after = self.mount.stats()["order"]
        sure = all(o["state"] in ("believed", "confirmed") for o in (before, after))
        return lines if sure and lines else None

    def judge(self, when, shares, earlier=None):
        """Whether what is read was found; what is believed and not read is noted."""
        told = self.told()
        if told is None:                # who reads by name is followed beside what was told
            return in_turn(shares) == self.names and "sequential" in self.text()
        if is_what(told, shares):
            return True
        if not is_some_ranks(told, shares) and not (earlier and is_some_ranks(told, earlier)):
            self.wrong.append(f"{when}: {len(told)} lines, begins {told[:3]}, read was "
                              f"{in_turn(shares)[:3]}; {self.mount.stats()['order']}; "
                              f"{self.text()}")
        return False

    def searching(self):
        """A searcher waits for its processor, or has had it since the last call."""
        states = [read_file(f"{path}/stat").rsplit(")", 1)[1].split()[0] for path in self.searchers]
        before, self.cpu = self.cpu, [read_file(f"{path}/schedstat") for path in self.searchers]
        return "R" in states or self.cpu != before

    def wait(self, when, shares, earlier):
        begin = last = time.monotonic()
        while not self.judge(when, shares, earlier) and not self.wrong:
            now = time.monotonic()
            if self.searching():
                last = now
            if now > last + IDLE or now > begin + PATIENCE:
                return
            time.sleep(0.05)


# --- Runs ---------------------------------------------------------------------------------------

def stall_of(share, workers):
    """How much of its share a rank reads before it waits: what is read ahead is not all of it, or the
    epoch would be over."""
    samples, batch = sum(map(len, share)), len(share[0])
    rest = samples - PREFETCH * workers * batch - batch
    return max(min(STALL, samples * 3 // 4, rest), batch)


def read_epoch(belief, when, shares, earlier, workers):
    """shares: batches of paths, of each rank here."""
    orders = [[path for batch in share for path in batch] for share in shares]
    whole = [[os.path.join(belief.mount.at, p) for p in b] for share in shares for b in share]
    loaders, seen, waited = [], 0, False
    stall = sum(stall_of(share, workers) for share in shares)
    for share in shares:
        loaders.append(Loader(whole[:len(share)], workers))
        del whole[:len(share)]
    while True:
        got = sum(loader.step() for loader in loaders)
        seen += got
        if got == 0:
            break
        if seen >= stall and not waited:
            belief.wait(when, orders, earlier)
            waited = True
    for loader in loaders:
        loader.stop()

    def settled():
        s = belief.mount.stats()
        return s["hits"] + s["late"] == s["opens"]
    wait_for("hits + late == opens", settled)
    return belief.judge(f"{when}, at its end", orders), orders


def one_run(bench, rng, name, rule, source, names):
    """Epochs found, of how many; whether something else was believed."""
    batch, workers = rng.choice((4, 8, 16, 32, 64)), rng.choice((0, 1, 2, 3, 4))
    epochs = rule(rng, len(names), batch)
    how_many = 1 if name in ("manual_seed", *UNKIND) else rng.choice((1, 1, 2))
    found, earlier = 0, None
    what = f"{name}, n={len(names)}, batch {batch}, {workers} workers"
    with dlfs_mount(bench, source, "order=auto,memory=16MiB") as mount:
        wait_for("the scan", lambda: mount.stats()["order"]["spec"] == "auto")
        belief = Belief(mount, names)
        for epoch in range(how_many):
            shares = [[[names[i] for i in b] for b in share] for share in next(epochs)]
            got, earlier = read_epoch(belief, f"{what}, epoch {epoch}", shares, earlier, workers)
            found += got
            if not got:
                progress(f"not found: {what}, {len(shares)} ranks here, epoch {epoch}")
    for text in belief.wrong:
        progress(f"WRONG: {text}")
    return found, how_many, bool(belief.wrong)


def datasets(work):
    made = []
    for n in SIZES:
        source = make_files(os.path.join(work, f"runs-{n}"), n, 300)
        made.append((source, files_below(source)))
    return made


def main():
    work, runs, searches, seed = sys.argv[1], *map(int, sys.argv[2:])
    bench = types.SimpleNamespace(dlfs=os.environ["DLFS"], work=work)
    multiprocessing.set_start_method("fork")
    torch.set_num_threads(1)
    rng, rules, wrong = random.Random(seed), collections.defaultdict(lambda: [0, 0]), 0
    progress(f"{runs} runs, of them {searches} long ones, seed {seed}")
    made = datasets(work)
    for turn in range(runs):
        kinds = UNKIND if turn < searches else KIND
        name = [*kinds][turn % len(kinds)]
        source, names = rng.choice(made)
        found, of, was_wrong = one_run(bench, rng, name, kinds[name], source, names)
        rules[name][0] += found
        rules[name][1] += of
        wrong += was_wrong
        if turn < searches or turn % 10 == 9:
            progress(f"run {turn + 1} of {runs}: {dict(rules)}, {wrong} wrong")
    for source, _ in made:
        shutil.rmtree(source)
    print(json.dumps({"rules": rules, "wrong": wrong}))


try:
    main()
except Failed as why:
    sys.exit(f"FAIL: {why}")
