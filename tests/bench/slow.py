"""An epoch over a source far away (10 ms, 100 MB/s).  The step takes as long as the line needs for
the batch, so the line would do; but the same loop over files in memory is slower than that (its
workers start, its sleeps end late): the larger of the two is the bound."""
import os
import shutil

from common import (Failed, dlfs_mount, expect_same_bytes, make_files, python_with_torch, run,
                    shuffled_list)

HERE = os.path.dirname(os.path.abspath(__file__))
SPEED = 100_000_000
LAYERS = r"source_layers=slow:latency=10ms\,parallel=64\,bandwidth=100MB/s"
SEED, WORKERS = 7, 4
WAYS = {
    "dlfs, order known": f"order=torch:seed={SEED}",
    "dlfs, order=none": "order=none",
}


def epoch(python, root, count, size):
    samples, got, seconds = run(python, os.path.join(HERE, "loop.py"), root, str(SEED),
                                str(WORKERS), str(SPEED), timeout=600).split()
    if (int(samples), int(got)) != (count, size):
        raise Failed(f"{root}: {samples} samples of {count}, {got} bytes of {size}")
    return float(seconds)


def slow(bench):
    python = python_with_torch()
    if not python:
        bench.miss("slow", "all", "no python with torch and torchvision here")
        return
    source = make_files(bench.path("slow"), 320 if bench.short else 4000, 110000)
    listed, count, size = shuffled_list(bench, source, "slow.list")
    times = {"native, in memory": [], **{way: [] for way in WAYS}}
    for turn in range(bench.rounds):
        times["native, in memory"].append(epoch(python, source, count, size))
        for way, order in WAYS.items():
            with dlfs_mount(bench, source, f"{LAYERS},{order}") as mount:
                times[way].append(epoch(python, mount.at, count, size))
                if turn == 0:
                    expect_same_bytes(source, mount.at, listed, way)
    line = [size / SPEED]
    bound = [max(line[0], compute) for compute in times["native, in memory"]]
    bench.row("slow", "the line alone", "s an epoch", line, bound,
              f"{count} files, {size / 1e6:.0f} MB")
    for way, values in times.items():
        bench.row("slow", way, "s an epoch", values, bound)
    shutil.rmtree(source)
