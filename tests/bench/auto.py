"""The order that nobody told: what finding it costs, what it does to the programs beside it, and
what it brings.  A search runs at SCHED_IDLE, so these want a machine that does nothing else."""
import json
import os
import random
import shutil
import subprocess
import time

from common import (PATIENCE, Failed, dlfs_mount, files_below, make_files, progress,
                    python_with_torch, read_list, read_proc, run, wait_for)

HERE = os.path.dirname(os.path.abspath(__file__))
ALL_SEEDS = 1 << 32
MANY, FEW = 1281167, 1000               # files: ImageNet, and a small dataset
CORES = len(os.sched_getaffinity(0))
HOUR = 3600


# --- Trying seeds ---------------------------------------------------------------------------

def speed(bench, kernel, threads, n, count):
    """(wall, thread-)seconds for so many seeds."""
    return map(float, run(bench.seeds, "speed", kernel, str(threads), str(n), str(count),
                          timeout=HOUR).split())


def kernels(bench, names, count):
    """Thread-seconds for all seeds, from a part of them."""
    for n in (MANY, FEW):
        times = {name: [] for name in names}
        for _ in range(bench.rounds):
            for name in names:
                times[name].append([*speed(bench, name, 1, n, count)][1] * (ALL_SEEDS / count))
        for name, values in times.items():
            bench.row(f"auto-seeds, n={n}", f"{name}, 1 thread", "thread-s", values,
                      note=f"extrapolated from 1/{ALL_SEEDS // count}")


def scaling(bench, kernel, count):
    times = {t: [] for t in sorted({CORES, *(1 << i for i in range(CORES.bit_length()))})}
    for _ in range(bench.rounds):
        for t, values in times.items():
            values.append([*speed(bench, kernel, t, MANY, count)][0] * (ALL_SEEDS / count))
    for t, values in times.items():
        bench.row(f"auto-seeds, n={MANY}", f"{kernel}, on {t}", "s", values, times[1],
                  f"extrapolated from 1/{ALL_SEEDS // count}")


def whole(bench, kernel):
    progress(f"all 2^32 seeds with {CORES} threads, {kernel}")
    wall, cpu = speed(bench, kernel, CORES, MANY, ALL_SEEDS)
    name = f"{kernel}, {CORES} threads, all"
    bench.row(f"auto-seeds, n={MANY}", name, "s", [wall], note="not extrapolated")
    bench.row(f"auto-seeds, n={MANY}", name, "thread-s", [cpu], note="not extrapolated")


def left(bench, count):
    """How many seeds begin as the true one does, and after how many opens it is alone."""
    progress(f"{count} seeds with {CORES} threads: how many are left after each open")
    rng = random.Random(1)
    truths = [(n, rng.randrange(count)) for n, times in ((MANY, 16), (FEW, 2))
              for _ in range(times)]
    lines = run(bench.seeds, "left", str(CORES), str(count), *(f"{n}:{s}" for n, s in truths),
                timeout=HOUR).splitlines()
    lines = [[*map(int, line.split())] for line in lines]
    note = "" if count == ALL_SEEDS else f"of {count} seeds only"
    for n in (MANY, FEW):
        counts = [line[2:] for line in lines if line[0] == n]
        if min(min(c) for c in counts) < 1:
            raise Failed(f"left: a true seed was missed: {counts}")
        alone = [c.index(1) + 1 if 1 in c else 7 for c in counts]
        for m in range(min(max(alone), 6)):
            bench.row(f"auto-seeds, n={n}", f"exact entries: {m + 1}", "seeds left",
                      [c[m] for c in counts], note=note)
        bench.row(f"auto-seeds, n={n}", "one seed is left after", "opens", alone, note=note)


def seeds(bench):
    names = run(bench.seeds, "kernels").split()
    kernels(bench, names, 1 << (20 if bench.short else 24))
    scaling(bench, names[-1], 1 << (22 if bench.short else 26))
    if not bench.short:
        whole(bench, names[-1])
    left(bench, 1 << 24 if bench.short else ALL_SEEDS)


def small(bench):
    ways = {"pids known": (MANY, 1), "pids unknown": (MANY, 0)}
    if bench.short:
        ways.popitem()
    times = {way: [] for way in ways}
    for _ in range(min(bench.rounds, 3)):
        for way, (n, pids) in ways.items():
            done = run(bench.seeds, "small", str(n), str(pids), timeout=HOUR)
            times[way].append(float(done.split()[1]))
    for way, values in times.items():
        bench.row("auto-small, 2^20 seeds", way, "thread-s", values, note=f"n={ways[way][0]}")


# --- A search beside other programs -----------------------------------------------------------

class Searchers:
    """The threads of a mount's server, and those of them that run at SCHED_IDLE."""

    def __init__(self, mount):
        self.pid = mount.stats()["pid"]
        threads = [int(t) for t in os.listdir(f"/proc/{self.pid}/task")]
        self.idle = [t for t in threads if os.sched_getscheduler(t) == os.SCHED_IDLE]
        self.others = [t for t in threads if t not in self.idle]
        if not self.idle:
            raise Failed("no thread of dlfs runs at SCHED_IDLE")

    def read(self, thread, name):
        return read_proc(self.pid, f"task/{thread}/{name}")

    def cpu_ns(self, threads):
        return sum(int(self.read(t, "schedstat").split()[0]) for t in threads)

    def idle_ns(self):
        return self.cpu_ns(self.idle)

    def other_ns(self):
        return self.cpu_ns(self.others)

    def expect_work(self):
        before = self.idle_ns()
        wait_for("a search to go on", lambda: self.idle_ns() > before + 20e6)

    def expect_rest(self):
        last = [self.idle_ns(), time.monotonic()]

        def rests():
            now = self.idle_ns()
            if now != last[0]:
                last[:] = now, time.monotonic()
            return time.monotonic() > last[1] + 0.3
        wait_for("a search to end", rests)


def read_files(root, names):
    for name in names:
        with open(os.path.join(root, name), "rb") as f:
            f.read()


def tell(mount, order):
    os.setxattr(mount.at, "user.dlfs.order", order.encode())


def search_on(mount, searchers, names):
    """Opens in an order that nothing explains; what was believed of others is forgotten."""
    tell(mount, "auto")
    read_files(mount.at, random.SystemRandom().sample(names, 256))
    searchers.expect_work()


def search_off(mount, searchers):
    tell(mount, "none")
    searchers.expect_rest()


def steps(bench, searchers, seconds):
    """Steps a second, and percent of all processors that the searchers had while all were busy: from
    the first step on, which begins in the midst of a search."""
    before = searchers.idle_ns()
    with subprocess.Popen([bench.busy, str(CORES), str(seconds)], stdout=subprocess.PIPE,
                          text=True) as busy:
        done = busy.communicate(timeout=PATIENCE)[0]
        share = (searchers.idle_ns() - before) / seconds / CORES / 1e7
    if busy.returncode != 0:
        raise Failed(f"{bench.busy}: code {busy.returncode}")
    return sum(map(int, done.split())) / seconds, share


def loss_rounds(bench, mount, searchers, names):
    """Steps a second without a search and with one, and the search's share of all processors."""
    quiet, busy, shares = [], [], []
    seconds = 0.5 if bench.short else 4
    for turn in range(bench.rounds):
        for search in (turn % 2 == 0, turn % 2 == 1):
            if not search:
                search_off(mount, searchers)
                quiet.append(steps(bench, searchers, seconds)[0])
                continue
            search_on(mount, searchers, names)
            done, share = steps(bench, searchers, seconds)
            searchers.expect_work()     # or it came to its end in the midst of the round
            busy.append(done)
            shares.append(share)
    return quiet, busy, shares


def idle_share(mount, searchers, names):
    """Percent of the CPU of all threads of dlfs that is used at SCHED_IDLE, in a search."""
    search_on(mount, searchers, names)
    idle, others = searchers.idle_ns(), searchers.other_ns()
    wait_for("a second's work", lambda: searchers.idle_ns() > idle + 1e9)
    idle, others = searchers.idle_ns() - idle, searchers.other_ns() - others
    return 100 * idle / (idle + others)


def autogroup():
    """SCHED_IDLE counts inside a group of processes only; with autogroups each session is one."""
    try:
        with open("/proc/sys/kernel/sched_autogroup_enabled", encoding="ascii") as f:
            return "on" if int(f.read()) else "off"
    except FileNotFoundError:
        return "none"


def loss(bench):
    source = make_files(bench.path("loss"), 2000, 1000)
    names = files_below(source)
    with dlfs_mount(bench, source, "order=none,memory=64MiB") as mount:
        wait_for("the scan", lambda: mount.stats()["samples"] == len(names))
        searchers = Searchers(mount)
        idle = idle_share(mount, searchers, names)
        quiet, busy, share = loss_rounds(bench, mount, searchers, names)
    name = f"auto-loss, {CORES} busy processes"
    bench.row(name, "no search", "steps/s", quiet, quiet)
    bench.row(name, "beside a search", "steps/s", busy, quiet)
    bench.row(name, "lost, pair by pair", "%", [100 * (1 - b / q) for q, b in zip(quiet, busy)])
    bench.row(name, "processors that the search had meanwhile", "%", share)
    bench.row("auto-loss", "CPU of dlfs in a search that is at SCHED_IDLE", "%", [idle],
              note=f"{len(searchers.idle)} threads, autogroup {autogroup()}")
    shutil.rmtree(source)


# --- An order that cannot be found ------------------------------------------------------------

def with_weights(rng, names):
    weights = [rng.random() ** 2 for _ in names]
    return rng.choices(names, weights, k=len(names))


def permutation(rng, names):
    return rng.sample(names, len(names))


HOPELESS = {"with replacement": with_weights, "unseeded permutation": permutation}
SLOW = r"source_layers=slow:latency=10ms\,parallel=64,"
SOURCES = {"": (10000, 4), ", 10 ms": (2000, 16)}       # files, readers
SHARES = {0.25: "", 2: ", memory for all"}      # of the dataset, as memory
SPANS = {"epoch 0": (0, 1), "epoch 1": (1, 2), "epochs 2 to 29": (2, 30)}        # with one rate each
EPOCHS, SIZE = 30, 40000
# What differs between the first two is the noise of the figures.
CONTENDERS = {"order=none": "none", "order=none again": "none", "order=auto": "auto"}


def lists_of(bench, names, what):
    """A file for each epoch."""
    made = []
    for epoch in range(EPOCHS):
        made.append(os.path.join(bench.work, f"hopeless-{epoch}.list"))
        with open(made[-1], "w", encoding="utf-8") as f:
            f.writelines(name + "\n" for name in HOPELESS[what](random.SystemRandom(), names))
    return made


def hopeless_epochs(bench, source, options, lists, count, readers):
    """Files a second, of each span of epochs of a mount."""
    times = []
    with dlfs_mount(bench, source, options) as mount:
        wait_for("the scan", lambda: mount.stats()["samples"] == count)
        searchers = Searchers(mount)
        for listed in lists:
            files, _, ns = read_list(bench, mount.at, listed, readers)
            if files != count:
                raise Failed(f"hopeless: {files} files of {count}")
            times.append(ns)
        if "auto" in options:
            searchers.expect_work()
    return [count * (end - begin) / sum(times[begin:end]) * 1e9 for begin, end in SPANS.values()]


def hopeless_rows(bench, source, what, where, share):
    """Files a second, of each contender's spans of epochs, by round."""
    names, readers = files_below(source), SOURCES[where][1]
    rates = {contender: [[] for _ in SPANS] for contender in CONTENDERS}
    for turn in range(bench.rounds):
        lists = lists_of(bench, names, what)
        first = turn % len(CONTENDERS)
        for contender in [*CONTENDERS][first:] + [*CONTENDERS][:first]:
            options = f"{SLOW if where else ''}order={CONTENDERS[contender]}," \
                      f"memory={int(len(names) * SIZE * share)}"
            got = hopeless_epochs(bench, source, options, lists, len(names), readers)
            for values, rate in zip(rates[contender], got):
                values.append(rate)
    for i, span in enumerate(SPANS):
        for contender, values in rates.items():
            bench.row(f"auto-hopeless, {what}{where}{SHARES[share]}", f"{contender}, {span}",
                      "files/s", values[i], rates["order=none"][i], f"{readers} readers")
    return rates


def hopeless_sums(bench, where, parts):
    """A row's noise is some percent: so all of a source's, beside order=none of the same round."""
    for i, span in enumerate(SPANS):
        for contender in [*CONTENDERS][1:]:
            pairs = [mine / none for rates in parts
                     for mine, none in zip(rates[contender][i], rates["order=none"][i])]
            bench.row(f"auto-hopeless, all{where}", f"{contender}, {span}", "of order=none", pairs,
                      note=f"{len(pairs)} pairs")


def hopeless(bench):
    for where, (files, _) in SOURCES.items():
        source = make_files(bench.path("hopeless"), files // 4 if bench.short else files, SIZE)
        parts = [hopeless_rows(bench, source, what, where, share)
                 for what in HOPELESS for share in SHARES]
        hopeless_sums(bench, where, parts)
        shutil.rmtree(source)


# --- Orders that can --------------------------------------------------------------------------

def script(bench, name, *words):
    """What a torch program prints as JSON; None, if there is no torch.  It tells on standard error
    how far it is."""
    python = python_with_torch()
    if not python:
        bench.miss("auto", name, "no python with torch and torchvision here")
        return None
    env = dict(os.environ, DLFS=bench.dlfs, PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run([python, os.path.join(HERE, name), *map(str, words)],
                          stdout=subprocess.PIPE, text=True, timeout=HOUR, env=env, check=False)
    if done.returncode != 0:
        raise Failed(f"{name}: code {done.returncode}")
    return json.loads(done.stdout)


def hits(bench):
    source = make_files(bench.path("hits"), 2000 if bench.short else 4000, 20000)
    shares, seconds = [], []
    for turn in range(1 if bench.short else min(bench.rounds, 2)):
        progress(f"a DataLoader whose order is to be found, {turn + 1}")
        with dlfs_mount(bench, source, "order=auto,memory=24MiB") as mount:
            got = script(bench, "auto_loop.py", source, mount.at, 4, int(bench.short))
        if not got:
            return
        shares.append(100 * got["hits"] / got["opens"])
        seconds.append(got["seconds"])
    how = "generator=, a constant" if bench.short else "unseeded"
    bench.row("auto-hits, 4 workers", how, "% of opens", shares, note="since it was believed")
    bench.row("auto-hits, 4 workers", f"{how}: found after", "s", seconds)
    shutil.rmtree(source)


def runs(bench):
    seed = 1 if bench.short else random.SystemRandom().randrange(1 << 32)
    seed = seed if bench.seed is None else bench.seed
    got = script(bench, "auto_runs.py", bench.work, bench.runs, bench.searches, seed)
    if not got:
        return
    for rule, (found, of) in sorted(got["rules"].items()):
        bench.row("auto-runs", f"{rule}: found", "epochs", [found], [of], f"of {of}")
    bench.row("auto-runs", "something wrong was believed", "runs", [got["wrong"]],
              note=f"of {bench.runs}, seed {seed}")
    if got["wrong"] and not bench.short:   # short: does the bench work; the count is in its table
        raise Failed("auto-runs: something wrong was believed, see above")


AUTO = {"auto-seeds": seeds, "auto-small": small, "auto-loss": loss, "auto-hopeless": hopeless,
        "auto-hits": hits, "auto-runs": runs}
