"""Epoch after epoch in a memory cgroup of a quarter of the dataset: resident memory, what the
group was charged at most, and CPU that dlfs takes while nobody reads."""
import os
import shutil
import time

from common import (Failed, dlfs_mount, expect_same_bytes, make_files, read_list, read_proc,
                    resident_bytes, shuffled_list, wait_for)

V1, V2 = "/sys/fs/cgroup/memory", "/sys/fs/cgroup"


class Group:
    """A memory cgroup with a limit, of whichever version is here."""

    def __init__(self, limit):
        self.v2 = not os.path.isdir(V1)
        self.at = os.path.join(V2 if self.v2 else V1, f"dlfs-bench-{os.getpid()}")
        os.mkdir(self.at)
        try:
            self.write("memory.max" if self.v2 else "memory.limit_in_bytes", limit)
        except OSError:
            os.rmdir(self.at)
            raise

    def write(self, name, value):
        with open(os.path.join(self.at, name), "w", encoding="ascii") as f:
            f.write(str(value))

    def enter(self):
        self.write("cgroup.procs", os.getpid())

    def peak(self):
        name = "memory.peak" if self.v2 else "memory.max_usage_in_bytes"
        with open(os.path.join(self.at, name), encoding="ascii") as f:
            return int(f.read())

    def remove(self):
        def gone():
            try:
                os.rmdir(self.at)
                return True
            except OSError:
                return False
        wait_for("the cgroup to become empty", gone, 30)


def cpu_ticks(pids):
    fields = [read_proc(pid, "stat").rsplit(")", 1)[1].split() for pid in pids]
    return sum(int(f[11]) + int(f[12]) for f in fields)


def epochs(mount, bench, listed, count, size, how_many):
    """Resident memory after each epoch."""
    server, resident = mount.stats()["pid"], []
    for _ in range(how_many):
        if read_list(bench, mount.at, listed)[:2] != (count, size):
            raise Failed("memory: an epoch was not complete")
        resident.append(resident_bytes(mount.processes()))
        if mount.stats()["pid"] != server:
            raise Failed("memory: the serving process was replaced")
    return resident


def measure(bench, group, source, listed, count, size):
    with dlfs_mount(bench, source, f"order=list:{listed}", enter=group and group.enter) as mount:
        resident = epochs(mount, bench, listed, count, size, 3 if bench.short else 20)
        pids = mount.processes()
        time.sleep(1)
        seconds = 1 if bench.short else 10
        before = cpu_ticks(pids)
        time.sleep(seconds)
        idle = (cpu_ticks(pids) - before) / os.sysconf("SC_CLK_TCK") / seconds * 100
        expect_same_bytes(source, mount.at, listed, "memory")
    # An epoch leaves more or less of the next one waiting in dlfs' own memory: several, not one.
    some = max(1, len(resident) // 4)
    early, late = ([r / 1e6 for r in part] for part in (resident[1:1 + some], resident[-some:]))
    bench.row("memory", f"dlfs, resident after epochs 2 to {1 + some}", "MB", early)
    bench.row("memory", f"dlfs, resident after the last {some} of {len(resident)}", "MB", late,
              early, "to those")
    bench.row("memory", "dlfs, idle", "% of a core", [idle])


def memory(bench):
    source = make_files(bench.path("memory"), 1200 if bench.short else 2000, 110000)
    listed, count, size = shuffled_list(bench, source, "memory.list")
    group = None
    try:
        group = Group(size // 4)
    except OSError as why:
        bench.miss("memory", "limit of a quarter", f"no memory cgroup can be made: {why}")
    try:
        measure(bench, group, source, listed, count, size)
        if group:
            bench.row("memory", "cgroup, most charged", "MB", [group.peak() / 1e6],
                      [size / 4 / 1e6], "to the limit")
    finally:
        if group:
            group.remove()
    shutil.rmtree(source)
