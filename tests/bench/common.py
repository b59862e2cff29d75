"""What the benchmarks share: a dataset, mounts of it, and rows of one table."""
import contextlib
import hashlib
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PATIENCE = 120


class Failed(Exception):
    """A figure that could not be had although all it needs is there."""


class Missing(Exception):
    """What a contender needs is not on this machine."""


class Bench:
    def __init__(self, programs, work, args):
        self.dlfs, self.reader = programs["dlfs"], programs["read"]
        self.busy, self.seeds = programs["busy"], programs["seeds"]
        self.store = programs["store"]
        self.recode = programs["recode"]
        self.draws = programs["draws"]
        self.work, self.short = work, args.short
        self.rounds = args.rounds or (1 if args.short else 7)
        self.folder = os.path.abspath(args.folder) if args.folder else None
        self.seed = args.seed
        self.runs = args.runs or (3 if args.short else 100)
        self.searches = (0 if args.short else 2) if args.searches is None else args.searches
        self.rows, self.missing = [], []

    def row(self, bench, contender, unit, values, base=None, note=""):
        self.rows.append((bench, contender, unit, values, base, note))
        print(f"  {bench}: {contender}: {statistics.median(values):.4g} {unit} {note}", flush=True)

    def miss(self, bench, contender, why):
        self.missing.append(f"{bench}: {contender}: {why}")

    def path(self, name):
        at = os.path.join(self.work, name)
        os.makedirs(at, exist_ok=True)
        return at


def print_table(bench):
    head = ("benchmark", "contender", "median", "least", "most", "unit", "ratio", "")
    lines = [head]
    for name, contender, unit, values, base, note in bench.rows:
        middle = statistics.median(values)
        ratio = f"{middle / statistics.median(base):.2f}" if base else ""
        lines.append((name, contender, f"{middle:.4g}", f"{min(values):.4g}",
                      f"{max(values):.4g}", unit, ratio, note))
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    print()
    for line in lines:
        cells = [line[0].ljust(widths[0]), line[1].ljust(widths[1])]
        cells += [line[i].rjust(widths[i]) for i in range(2, 5)]
        cells += [line[5].ljust(widths[5]), line[6].rjust(widths[6]), line[7]]
        print("  ".join(cells).rstrip())
    for line in bench.missing:
        print(f"not measured: {line}")


def run(*command, timeout=PATIENCE, text=True, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=text,
                          timeout=timeout, **more)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}: code {done.returncode}: {str(done.stderr).strip()}")
    return done.stdout


def progress(text):
    print(f"  ... {text}", file=sys.stderr, flush=True)


def wait_for(what, claim, patience=PATIENCE):
    end = time.monotonic() + patience
    while not claim():
        if time.monotonic() > end:
            raise Failed(f"waited {patience} s for {what}")
        time.sleep(0.02)


def make_files(at, files, size, classes=10):
    """Random bytes under the names of images, in class folders; sizes around `size`."""
    rng = random.Random(1)
    for i in range(files):
        into = os.path.join(at, f"class{i % classes:03d}")
        os.makedirs(into, exist_ok=True)
        with open(os.path.join(into, f"{i:06d}.jpg"), "wb") as f:
            f.write(rng.randbytes(rng.randrange(size // 2, size * 3 // 2)))
    return at


def files_below(root):
    found = []
    for folder, below, names in os.walk(root):
        below.sort()
        found += [os.path.relpath(os.path.join(folder, n), root) for n in sorted(names)]
    return [f for f in found if os.path.isfile(os.path.join(root, f)) and "\n" not in f]


def python_with_torch():
    for python in (os.environ.get("PYTHON"), "/usr/bin/python3", "python3"):
        if python and shutil.which(python) and subprocess.run(
                [python, "-c", "import torch, torchvision"], stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, timeout=120, check=False).returncode == 0:
            return python
    return None


def shuffled_list(bench, root, name):
    """A file with the paths below root in a random order; how many there are, and their bytes."""
    paths = files_below(root)
    random.Random(3).shuffle(paths)
    at = os.path.join(bench.work, name)
    with open(at, "w", encoding="utf-8", errors="surrogateescape") as f:
        f.writelines(p + "\n" for p in paths)
    return at, len(paths), sum(os.path.getsize(os.path.join(root, p)) for p in paths)


def read_list(bench, root, listed, readers=1, passes=1):
    """Nanoseconds for the files of a list; checks that none was left out or short."""
    words = map(str, (readers, passes))
    files, size, ns = map(int, run(bench.reader, root, listed, *words).split())
    return files, size, ns


def digest(root, listed):
    total = hashlib.sha256()
    with open(listed, encoding="utf-8", errors="surrogateescape") as f:
        for line in f:
            with open(os.path.join(root, line[:-1]), "rb") as sample:
                total.update(sample.read())
    return total.hexdigest()


def expect_same_bytes(root, other, listed, who):
    if digest(root, listed) != digest(other, listed):
        raise Failed(f"{who}: wrong bytes")


class Mount:
    """A mount of dlfs."""

    def __init__(self, at):
        self.at = at

    def stats(self):
        with open(os.path.join(self.at, ".dlfs/stats.json"), encoding="utf-8") as f:
            return json.load(f)

    def processes(self):
        """The serving process and, if it is dlfs too, its parent."""
        pid = self.stats()["pid"]
        parent = int(read_proc(pid, "stat").rsplit(")", 1)[1].split()[1])
        both = [pid]
        if parent > 1 and "dlfs" in read_proc(parent, "comm"):
            both.append(parent)
        return both

    def wait_ready(self, count, patience=PATIENCE):
        """Until that many samples are ready; fewer if dlfs has stopped to bring more."""
        best, since = -1, time.monotonic()
        begin = since
        while best < count and time.monotonic() < since + 5 and time.monotonic() < begin + patience:
            lead = self.stats()["lead"]
            if lead > best:
                best, since = lead, time.monotonic()
            time.sleep(0.05)
        return best


def read_proc(pid, name):
    with open(f"/proc/{pid}/{name}", encoding="utf-8", errors="replace") as f:
        return f.read()


def resident_bytes(pids):
    total = 0
    for pid in pids:
        for line in read_proc(pid, "status").split("\n"):
            if line.startswith("VmRSS:"):
                total += int(line.split()[1]) * 1024
    return total


@contextlib.contextmanager
def dlfs_mount(bench, source, options="", state=None, enter=None):
    """state: where the manifest is saved; enter: called in the mounting process before exec."""
    at = tempfile.mkdtemp(prefix="mnt-", dir=bench.work)
    own_state = state or tempfile.mkdtemp(prefix="state-", dir=bench.work)
    env = dict(os.environ, XDG_STATE_HOME=own_state)
    words = ["-o", options] if options else []
    run(bench.dlfs, "mount", source, at, *words, env=env, preexec_fn=enter)
    try:
        yield Mount(at)
    finally:
        run(bench.dlfs, "umount", at)
        os.rmdir(at)
        if not state:
            shutil.rmtree(own_state, ignore_errors=True)
