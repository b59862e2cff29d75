"""What `dlfs profile` predicts for an epoch, and how long a real one takes: an ImageFolder on a
mount, PIL, transforms and a step that takes its time.  Three datasets' worth of trouble: a slow
source, few cores, a slow step.  Predictions are for what was measured, so the ratio should be 1."""
import os
import re
import shutil

from common import Failed, dlfs_mount, files_below, python_with_torch, run

HERE = os.path.dirname(os.path.abspath(__file__))
SEED, WORKERS = 7, 2
SLOW = "slow:latency=10ms,parallel=64,bandwidth=25MB/s"
WAYS = {                               # layers of the source, files/s of the step, epochs
    "slow source": (SLOW, 5000, 1),
    "slow step": ("", 400, 2),
    "slow processor": ("", 100000, 5),
}


def make_photos(bench, at, count):
    """Copies of real photos, or images with as many bytes that PIL makes."""
    if bench.folder:
        photos = [os.path.join(bench.folder, f) for f in files_below(bench.folder)
                  if f.lower().endswith((".jpg", ".jpeg"))]
    else:
        photos = run(python_with_torch(), os.path.join(HERE, "make_photos.py"),
                     bench.path("some"), "60").split("\n")[:-1]
    for i in range(count):
        into = os.path.join(at, f"class{i % 10:02d}")
        os.makedirs(into, exist_ok=True)
        shutil.copyfile(photos[i % len(photos)], os.path.join(into, f"{i:06d}.jpg"))


def predicted(bench, source, layers, rate, prepare):
    """Seconds of the first epoch, of a later one, and to decode a file."""
    more = ["--source-layers", layers] if layers else []
    out = run(bench.dlfs, "profile", source, "--ratios", "1", "--step-rate", str(rate),
              "--workers", str(WORKERS), "--prepare", f"{prepare * 1e6:.0f}us", *more)
    epochs = re.search(r"^ratio 1 +([\d.]+) +([\d.]+)", out, re.MULTILINE)
    decoded = re.search(r"decoded/s.*\n +1 .* ([\d.]+) ", out)
    if not epochs or not decoded:
        raise Failed(f"no prediction in: {out}")
    return float(epochs.group(1)), float(epochs.group(2)), 1 / float(decoded.group(1))


def real(python, root, rate, epochs):
    """Seconds of all epochs, and those of a processor for a file."""
    seconds, a_file = run(python, os.path.join(HERE, "profile_loop.py"), root, str(SEED),
                          str(WORKERS), str(rate), str(epochs), timeout=600).split()
    return float(seconds), float(a_file)


def measure(bench, python, source, way, prepare):
    layers, rate, epochs = way
    first, later, _ = predicted(bench, source, layers, rate, prepare)
    options = f"order=torch:seed={SEED}"
    if layers:
        options += ",source_layers=" + layers.replace(",", r"\,")
    with dlfs_mount(bench, source, options) as mount:
        return first + (epochs - 1) * later, real(python, mount.at, rate, epochs)[0]


def profile_epoch(bench):
    python = python_with_torch()
    if not python:
        bench.miss("profile", "all", "no python with torch and torchvision here")
        return
    source = bench.path("photos")
    make_photos(bench, source, 60 if bench.short else 2000)
    # What the rest of the loader takes is the user's to know: here, all less the decoding.
    _, all_of_it = real(python, source, 100000, 2)
    prepare = max(all_of_it - predicted(bench, source, "", 100000, 1e-6)[2], 1e-6)
    for name, way in WAYS.items():
        both = [measure(bench, python, source, way, prepare) for _ in range(bench.rounds)]
        got = [real for _, real in both]
        bench.row("profile", f"{name}: real", "s", got, got, f"{way[2]} epochs")
        bench.row("profile", f"{name}: predicted", "s", [told for told, _ in both], got)
    shutil.rmtree(source)
