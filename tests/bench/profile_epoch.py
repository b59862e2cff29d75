"""What `dlfs profile` predicts for an epoch, and how long a real one takes: an ImageFolder on a
mount, PIL, transforms and a step that takes its time.  Several kinds of trouble: a slow source, a
slow step, few cores, and few cores while images are coded anew, then also with one worker, which
leaves a core to that.  Predictions are for what was measured, so the ratio should be 1.  What the
loop takes apart from decoding, the user has to know: it is measured over files in memory, without
dlfs, once a round.

Predictions are for a machine on which nothing else runs.  What other programs had of the processors
is in the last column: an epoch that the processor bounds takes longer by up to as much.  So its own
ratio is between that to all of its time and that to the time without their part."""
import os
import re
import shutil

from common import Failed, dlfs_mount, files_below, python_with_torch, run

HERE = os.path.dirname(os.path.abspath(__file__))
SEED, WORKERS, STEP = 7, 2, 400
SLOW = "slow:latency=10ms,parallel=64,bandwidth=25MB/s"
WAYS = {                               # layers of the source, files/s of the step, epochs, quality_ratio, workers
    "slow source": (SLOW, 5000, 1, 1, WORKERS),
    "slow step": ("", STEP, 2, 1, WORKERS),
    "slow processor": ("", 100000, 3, 1, WORKERS),
    "slow processor, ratio 0.9": ("", 100000, 3, 0.9, WORKERS),
    "one worker and a slow processor, ratio 0.95": ("", 100000, 3, 0.95, 1),
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


def predicted(bench, source, layers, rate, ratio=1, workers=WORKERS, **loop):
    """Seconds of the first epoch, of a later one, and to decode a file."""
    more = ["--source-layers", layers] if layers else []
    for name, seconds in loop.items():
        more += [f"--{name}", f"{max(seconds, 1e-6) * 1e6:.0f}us"]
    out = run(bench.dlfs, "profile", source, "--ratios", f"1,{ratio}", "--step-rate", str(rate),
              "--workers", str(workers), *more)
    epochs = re.search(rf"^ratio {ratio} +([\d.]+) +([\d.]+)", out, re.MULTILINE)
    decoded = re.search(r"decoded/s.*\n +1 .* ([\d.]+) ", out)
    if not epochs or not decoded:
        raise Failed(f"no prediction in: {out}")
    return float(epochs.group(1)), float(epochs.group(2)), 1 / float(decoded.group(1))


def real(python, root, rate, epochs, workers=WORKERS):
    """What profile_loop.py prints, a list each: of one number, and of one for each epoch."""
    out = run(python, os.path.join(HERE, "profile_loop.py"), root, str(SEED), str(workers), str(rate),
              str(epochs), timeout=600)
    return [list(map(float, line.split())) for line in out.splitlines()]


def measure_loop(bench, python, source, few):
    """What the loop takes of files in memory: all of it by those of `source`, the rest by a few of them."""
    (a_file,), *_ = real(python, source, 100000, 1)
    decode = predicted(bench, source, "", 100000)[2]
    _, _, starts, receive, _ = real(python, few, STEP, 3)
    return {"prepare": a_file - decode, "receive": min(receive), "start": min(starts)}


def measure(bench, python, source, way, loop):
    """(predicted, real, part of the processors that others had) of the first epoch, and of the later ones."""
    layers, rate, epochs, ratio, workers = way
    first, later, _ = predicted(bench, source, layers, rate, ratio, workers, **loop)
    options = f"order=none,quality_ratio={ratio}"
    if layers:
        options += ",source_layers=" + layers.replace(",", r"\,")
    with dlfs_mount(bench, source, options) as mount:
        _, seconds, _, _, others = real(python, mount.at, rate, epochs, workers)
    return ((first, seconds[0], others[0]),
            ((epochs - 1) * later, sum(seconds[1:]), sum(others[1:]) / max(epochs - 1, 1)))


def rows(bench, name, found, note):
    """`found`: what measure() says, of each round."""
    told, got, others = zip(*found)
    had = f"others: {100 * min(others):.0f} to {100 * max(others):.0f} % of the processors"
    bench.row("profile", f"{name}: real", "s", got, got, f"{note}; {had}")
    bench.row("profile", f"{name}: predicted", "s", told, got)
    own = f"{name}: predicted, each to its own"
    bench.row("profile", own, "of 1", [t / g for t, g in zip(told, got)])
    if "processor" in name:
        bench.row("profile", f"{own}, less the others' part", "of 1", [t / g / (1 - o) for t, g, o in found])


def profile_epoch(bench):
    python = python_with_torch()
    if not python:
        bench.miss("profile", "all", "no python with torch and torchvision here")
        return
    source, few = bench.path("photos"), bench.path("few-photos")
    make_photos(bench, source, 60 if bench.short else 6000)
    make_photos(bench, few, 60 if bench.short else 1800)
    found = {name: [] for name in WAYS}
    for _ in range(bench.rounds):
        loop = measure_loop(bench, python, source, few)
        for name, way in WAYS.items():
            found[name].append(measure(bench, python, source, way, loop))
    for name, rounds in found.items():
        epochs = WAYS[name][2]
        rows(bench, f"{name}: first", [first for first, _ in rounds], "1 epoch")
        if epochs > 1:
            rows(bench, f"{name}: later", [later for _, later in rounds], f"{epochs - 1} epochs")
    shutil.rmtree(source)
    shutil.rmtree(few)
