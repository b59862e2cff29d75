"""What a store of a part of the dataset brings over epochs: hits, fetch time saved beside keeping
what comes first and beside LRU (which is what a page cache does), epochs in a memory cgroup of a
quarter of the dataset, and what filling the store costs the first epoch."""
import collections
import os
import random
import shutil
import sys
import time

from common import Failed, dlfs_mount, expect_same_bytes, files_below, make_files, run, wait_for
from memory import Group

HERE = os.path.dirname(os.path.abspath(__file__))
PARTS = (0.1, 0.3, 0.5, 0.9)
LINE = 100_000_000
REQUEST = 0.00125                      # seconds that one more fetch takes of the far source
FAR = "slow:latency=5ms\\,parallel=4"
NEAR = "slow:latency=1ms\\,parallel=8\\,bandwidth=400MB/s"
NEAR_RATE, FAR_RATE = 300e6, 60e6      # of the step: it leaves the source time
STEADY = 1                             # epochs before the one that counts


class Dataset:
    def __init__(self, bench, name, at, epochs):
        self.at, self.paths = at, files_below(at)
        self.sizes = {p: os.path.getsize(os.path.join(at, p)) for p in self.paths}
        self.size = sum(self.sizes.values())
        self.orders = []
        for epoch in range(epochs):
            random.Random(epoch).shuffle(order := list(self.paths))
            self.orders.append(order)
        self.lists = [self.write(bench, f"{name}.{i}", [o]) for i, o in enumerate(self.orders)]
        self.all = self.write(bench, f"{name}.all", self.orders)
        time.sleep(2.5)                # what has just changed is not kept

    @staticmethod
    def write(bench, name, orders):
        at = os.path.join(bench.work, name)
        with open(at, "w", encoding="utf-8") as f:
            f.write("---\n".join("".join(p + "\n" for p in order) for order in orders))
        return at

    def seconds(self, paths):
        """That their fetches take of the far source."""
        return REQUEST * len(paths)


def spread_sizes(at, files):
    """Sizes as photos have them: log-normal."""
    rng = random.Random(1)
    os.makedirs(os.path.join(at, "c"))
    for i in range(files):
        with open(os.path.join(at, "c", f"{i:06d}.jpg"), "wb") as f:
            f.write(rng.randbytes(max(1000, int(rng.lognormvariate(11.3, 0.7)))))
    return at


def even_sizes(at, files, size=110000):
    make_files(at, files, 2)
    for path in files_below(at):
        with open(os.path.join(at, path), "wb") as f:
            f.write(random.Random(path).randbytes(size))
    return at


def epoch(data, mount, number, rate=0, enter=None):
    files, size, seconds = run(sys.executable, os.path.join(HERE, "reservoir_loop.py"), mount.at,
                               data.lists[number], str(rate), preexec_fn=enter).split()
    if (int(files), int(size)) != (len(data.paths), data.size):
        raise Failed(f"reservoir: an epoch of {files} files, {size} bytes")
    return float(seconds)


def store_options(bench, name, size, layers, order):
    at = os.path.join(bench.work, name)
    shutil.rmtree(at, ignore_errors=True)
    return (f"source_layers={layers},order={order},store.path={at},store.size={int(size)},"
            f"store.keep_free=0")


def wait_written(mount):
    """Until nothing waits to be written any more."""
    last = -1

    def still():
        nonlocal last
        before, last = last, mount.stats()["store_written"]
        return before == last
    wait_for("the store to be written", still)


# --- Simulated, over the same epochs ---------------------------------------------------------------

def first_come(data, room):
    kept, used = set(), 0
    for path in data.orders[0]:
        if used + data.sizes[path] <= room:
            used += data.sizes[path]
            kept.add(path)
    return kept


def lru(data, room, number):
    """What was there in that epoch when it was read."""
    there, used, hits = collections.OrderedDict(), 0, []
    for order in data.orders[:number + 1]:
        hits = []
        for path in order:
            if path in there:
                hits.append(path)
                there.move_to_end(path)
                continue
            there[path] = True
            used += data.sizes[path]
            while used > room:
                used -= data.sizes[there.popitem(last=False)[0]]
    return hits


# --- Steady epochs ---------------------------------------------------------------------------------

def steady(bench, data, part, layers, rate):
    """Fetches of a steady epoch that the store served, which dlfs warm has filled; each file counts
    once.  The step at `rate` leaves the source time."""
    options = store_options(bench, "store", data.size * part, layers, f"list:{data.all}")
    with dlfs_mount(bench, data.at, options + ",memory=16MiB") as mount:
        run(bench.dlfs, "warm", mount.at)
        for number in range(STEADY):
            epoch(data, mount, number, rate)
            wait_written(mount)
        before = mount.stats()
        epoch(data, mount, STEADY, rate)
        after = mount.stats()
        if part == PARTS[0]:
            expect_same_bytes(data.at, mount.at, data.lists[0], "reservoir")
    return min(after["store_hits"] - before["store_hits"], after["store_records"])


def equal_sizes(bench):
    data = Dataset(bench, "even", even_sizes(bench.path("even"), 800 if bench.short else 8000,
                                             220000), STEADY + 1)
    for part in PARTS:
        hits = steady(bench, data, part, NEAR, NEAR_RATE)
        capacity = [part * len(data.paths)]
        bench.row("reservoir", f"hits an epoch, store of {part} of the dataset", "files", [hits],
                  capacity, "to what its size would hold; asked 0.99")
        bench.row("reservoir", "  LRU", "files", [len(lru(data, part * data.size, STEADY))],
                  capacity, "simulated")
    shutil.rmtree(data.at)


def real_sizes(bench):
    data = Dataset(bench, "real", spread_sizes(bench.path("real"), 400 if bench.short else 2000),
                   STEADY + 1)
    for part in PARTS:
        hits, room = steady(bench, data, part, FAR, FAR_RATE), part * data.size
        base = [data.seconds(first_come(data, room))]
        bench.row("reservoir", f"fetch time saved an epoch, store of {part}", "s",
                  [hits * REQUEST], base,
                  f"to first-come; {hits} of {len(data.paths)} files are hits")
        bench.row("reservoir", "  first-come", "s", base, base, "simulated, the same room")
        bench.row("reservoir", "  LRU", "s", [data.seconds(lru(data, room, STEADY))], base,
                  "simulated, the same room")
    shutil.rmtree(data.at)


# --- In a cgroup -----------------------------------------------------------------------------------

def limited(bench, data, group, rate, name):
    """Three epochs, a line of LINE, a store of half of the dataset; a step at `rate`."""
    layers = f"slow:latency=1ms\\,parallel=64\\,bandwidth={LINE / 1e6:.0f}MB/s"
    options = store_options(bench, "store", data.size / 2, layers, f"list:{data.all}")
    times, ideals = [], []
    with dlfs_mount(bench, data.at, options, enter=group and group.enter) as mount:
        for number in range(3):
            before = mount.stats()["bytes_fetched"]
            times.append(epoch(data, mount, number, rate, group and group.enter))
            missed = mount.stats()["bytes_fetched"] - before
            ideals.append(max(data.size / rate, missed / LINE))
    for number in (1, 2):
        bench.row("reservoir", f"epoch {number + 1}, {name}", "s", [times[number]],
                  [ideals[number]], "to max(compute, missed bytes / line); asked 1.05")


def first_epochs(bench, data):
    """Without a store and with one, in turn."""
    layers = f"slow:latency=1ms\\,parallel=64\\,bandwidth={LINE / 1e6:.0f}MB/s"
    times = {"without a store": [], "with a store of all": []}
    for _ in range(min(bench.rounds, 3)):
        for way, all_times in times.items():
            options = f"source_layers={layers},order=list:{data.all}"
            if way != "without a store":
                options = store_options(bench, "store", 2 * data.size, layers, f"list:{data.all}")
            with dlfs_mount(bench, data.at, options + ",memory=256MiB") as mount:
                all_times.append(epoch(data, mount, 0, 2 * LINE))
                if way != "without a store":
                    wait_written(mount)
                    kept = mount.stats()["store_records"]
    base = times["without a store"]
    bench.row("reservoir", "first epoch, without a store", "s", base, base)
    bench.row("reservoir", "first epoch, with a store of all", "s", times["with a store of all"],
              base, f"asked 1.03; {kept} of {len(data.paths)} files are kept")


def reservoir(bench):
    equal_sizes(bench)
    real_sizes(bench)
    data = Dataset(bench, "cgroup", even_sizes(bench.path("cgroup"), 800 if bench.short else 7200),
                   3)
    group = None
    try:
        group = Group(max(data.size // 4, 48 << 20))
    except OSError as why:
        bench.miss("reservoir", "limit of a quarter", f"no memory cgroup can be made: {why}")
    try:
        limited(bench, data, group, LINE, "compute as fast as the line")
        limited(bench, data, group, 4 * LINE, "compute 4 times as fast")
    finally:
        if group:
            group.remove()
    first_epochs(bench, data)
    shutil.rmtree(data.at)
