"""PNGs of photographs as PIL saves them, as png=fast serves them, and not compressed at all:
processor time to decode them, and sizes."""
import json
import os

from common import python_with_torch, run

HERE = os.path.dirname(os.path.abspath(__file__))


def photos_of(bench, python):
    if bench.folder:
        return bench.folder
    at = bench.path("photos")
    run(python, os.path.join(HERE, "make_photos.py"), at, "4" if bench.short else "40")
    return at


def png(bench):
    python = python_with_torch()
    if not python:
        bench.miss("png", "all", "no Python with torch and torchvision")
        return
    tool = os.path.join(HERE, "png_time.py")
    count = 4 if bench.short else 100
    listed = run(python, tool, "make", photos_of(bench, python), bench.path("png"), str(count))
    coded = run(bench.recode, "1", bench.path("fast"), input=listed)
    found = json.loads(run(python, tool, "time", bench.path("fast"), str(bench.rounds), input=listed, timeout=600))
    for name in ("PIL", "torchvision"):
        base, fast, least = zip(*found[name])
        bench.row("png", f"{name}, as it was", "ms", base, base)
        bench.row("png", f"{name}, png=fast", "ms", fast, base)
        bench.row("png", f"{name}, each to itself", "of 1", [new / old for old, new, _ in found[name]])
        bench.row("png", f"{name}, least possible: stored", "ms", least, base)
    bench.row("png", "size", "of 1", [new / old for old, new, _ in found["sizes"]])
    bench.row("png", "size, stored", "of 1", [least / old for old, _, least in found["sizes"]])
    bench.row("png", "coding", "ms", [1000 * float(line.split()[5]) for line in coded.splitlines()])
