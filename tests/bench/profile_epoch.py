"""What `dlfs profile` predicts for an epoch, and how long a real one takes: an ImageFolder on a
mount, PIL, transforms and a step that takes its time.  Several kinds of trouble: a slow source, a
slow step, few cores, and few cores while images are coded anew.  Predictions are for what was
measured, so the ratio should be 1."""
import os
import re
import shutil

from common import Failed, dlfs_mount, files_below, python_with_torch, run

HERE = os.path.dirname(os.path.abspath(__file__))
SEED, WORKERS = 7, 2
SLOW = "slow:latency=10ms,parallel=64,bandwidth=25MB/s"
WAYS = {                               # layers of the source, files/s of the step, epochs, quality_ratio
    "slow source": (SLOW, 5000, 1, 1),
    "slow step": ("", 400, 2, 1),
    "slow processor": ("", 100000, 3, 1),
    "slow processor, ratio 0.9": ("", 100000, 3, 0.9),
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


def predicted(bench, source, layers, rate, prepare, ratio=1):
    """Seconds of the first epoch, of a later one, and to decode a file."""
    more = ["--source-layers", layers] if layers else []
    out = run(bench.dlfs, "profile", source, "--ratios", f"1,{ratio}", "--step-rate", str(rate),
              "--workers", str(WORKERS), "--prepare", f"{prepare * 1e6:.0f}us", *more)
    epochs = re.search(rf"^ratio {ratio} +([\d.]+) +([\d.]+)", out, re.MULTILINE)
    decoded = re.search(r"decoded/s.*\n +1 .* ([\d.]+) ", out)
    if not epochs or not decoded:
        raise Failed(f"no prediction in: {out}")
    return float(epochs.group(1)), float(epochs.group(2)), 1 / float(decoded.group(1))


def real(python, root, rate, epochs):
    """Seconds of a processor for a file, and those of the first epoch and of all that follow."""
    a_file, *seconds = map(float, run(python, os.path.join(HERE, "profile_loop.py"), root, str(SEED),
                                      str(WORKERS), str(rate), str(epochs), timeout=600).split())
    return a_file, seconds[0], sum(seconds[1:])


def measure(bench, python, source, way, prepare):
    """(predicted, real) of the first epoch, and of the later ones."""
    layers, rate, epochs, ratio = way
    first, later, _ = predicted(bench, source, layers, rate, prepare, ratio)
    options = f"order=none,quality_ratio={ratio}"
    if layers:
        options += ",source_layers=" + layers.replace(",", r"\,")
    with dlfs_mount(bench, source, options) as mount:
        _, real_first, real_later = real(python, mount.at, rate, epochs)
    return (first, real_first), ((epochs - 1) * later, real_later)


def rows(bench, name, both, note):
    """`both`: a (predicted, real) of each round."""
    got = [took for _, took in both]
    bench.row("profile", f"{name}: real", "s", got, got, note)
    bench.row("profile", f"{name}: predicted", "s", [told for told, _ in both], got)


def profile_epoch(bench):
    python = python_with_torch()
    if not python:
        bench.miss("profile", "all", "no python with torch and torchvision here")
        return
    source = bench.path("photos")
    make_photos(bench, source, 60 if bench.short else 6000)
    # What the rest of the loader takes is the user's to know: here, all less the decoding.
    all_of_it = real(python, source, 100000, 2)[0]
    prepare = max(all_of_it - predicted(bench, source, "", 100000, 1e-6)[2], 1e-6)
    for name, way in WAYS.items():
        rounds = [measure(bench, python, source, way, prepare) for _ in range(bench.rounds)]
        rows(bench, f"{name}: first", [first for first, _ in rounds], "1 epoch")
        if way[2] > 1:
            rows(bench, f"{name}: later", [later for _, later in rounds], f"{way[2] - 1} epochs")
    shutil.rmtree(source)
