"""JPEGs recoded at several floors of SSIM: is the floor held, as scikit-image computes it; bytes; processor time to
recode, and of that to search, beside decode + encode by libjpeg-turbo; and how long PIL decodes the result."""
import json
import os
import subprocess

from common import run
from png import photos_of

HERE = os.path.dirname(os.path.abspath(__file__))
PARTS = ("libjpeg reads the coefficients", "read", "measure the original", "find the step", "code once more", "colours",
         "write")
RATIOS = ("0.99", "0.98", "0.95", "0.90", "0.85")


def python_with_skimage():
    for python in (os.environ.get("PYTHON"), "/usr/bin/python3", "python3"):
        if python and subprocess.run([python, "-c", "import PIL, skimage.metrics"], stderr=subprocess.DEVNULL,
                                     check=False).returncode == 0:
            return python
    return None


def one_ratio(bench, python, ratio, photos):
    into = bench.path(f"quality-{ratio}")
    listed = "".join(p + "\n" for p in photos)
    lines = [line.split(None, 16) for line in
             run(bench.recode, ratio, into, input=listed, timeout=3600).splitlines()]
    kept = sum(int(line[2] if line[0] == "0" else line[1]) for line in lines)
    done = [line for line in lines if line[0] == "0"]
    seconds = [sum(float(line[i]) for line in done) for i in range(5, 16)]
    found = json.loads(run(python, os.path.join(HERE, "quality_check.py"), into, input=listed, timeout=3600))
    floor, ssim = float(ratio), found["ssim"]
    name = f"quality {ratio}"
    bench.row(name, "SSIM", "", ssim)
    bench.row(name, "images below the floor", "%", [100 * sum(s < floor for s in ssim) / len(lines)])
    bench.row(name, "below the floor - 0.002", "%", [100 * sum(s < floor - 0.002 for s in ssim) / len(lines)])
    bench.row(name, "bytes", "of 1", [kept / sum(int(line[1]) for line in lines)],
              note=f"{len(done)} of {len(lines)} recoded")
    bench.row(name, "recode", "ms", [1000 * seconds[0] / len(done)])
    for i, what in enumerate(("decode", "decode + encode", "decode + encode, optimised codes")):
        other = seconds[1] + (seconds[1 + i] if i else 0)
        bench.row(name, what, "ms", [1000 * other / len(done)], note=f"recode: {other / seconds[0]:.2f} x its rate")
    parts = dict(zip(PARTS, seconds[4:]))
    for part, took in parts.items():
        bench.row(name, part, "ms", [1000 * took / len(done)])
    search = parts["measure the original"] + parts["find the step"] - parts["code once more"]
    bench.row(name, "of recoding, the search", "ms", [1000 * search / len(done)],
              note=f"{search / seconds[1]:.2f} x the time to decode")
    bench.row(name, "PIL decodes the result", "of 1", [found["decode"]])
    for i, plane in enumerate("Y Cb Cr".split()):
        bench.row(name, f"PSNR of {plane}", "dB", [p[i] for p in found["psnr"]])


def quality(bench):
    python = python_with_skimage()
    if not python:
        bench.miss("quality", "all", "no Python with PIL and scikit-image")
        return
    folder = photos_of(bench, python)
    photos = sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)
    for ratio in RATIOS[2:3] if bench.short else RATIOS:
        one_ratio(bench, python, ratio, photos)
