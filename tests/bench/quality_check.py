"""quality_check.py FOLDER < LIST: compares each listed JPEG with FOLDER/NUMBER, where that is there. Prints JSON: SSIM
on PIL's L, PSNR of the three planes, and the processor time to decode, in parts of the source's."""
import json
import os
import sys
import time

import numpy
from PIL import Image
from skimage.metrics import structural_similarity


def decode(path):
    """The image, and the least time of three."""
    least = float("inf")
    for _ in range(3):
        with Image.open(path) as image:
            begin = time.process_time()
            image.load()
            least = min(least, time.process_time() - begin)
    return image, least


def ssim(a, b):
    return structural_similarity(numpy.asarray(a.convert("L")), numpy.asarray(b.convert("L")), gaussian_weights=True,
                                 sigma=1.5, use_sample_covariance=False, data_range=255)


def psnr(a, b):
    a, b = (numpy.asarray(i.convert("YCbCr"), dtype=float) for i in (a, b))
    errors = ((a - b) ** 2).mean((0, 1))
    return [10 * numpy.log10(255 ** 2 / max(e, 0.01)) for e in errors]


def main():
    times, found = [0, 0], {"ssim": [], "psnr": []}
    for number, path in enumerate(sys.stdin.read().splitlines()):
        recoded = os.path.join(sys.argv[1], f"{number:06d}")
        if not os.path.exists(recoded):
            continue
        (a, before), (b, after) = decode(path), decode(recoded)
        if (a.size, a.mode) != (b.size, b.mode):
            sys.exit(f"{path}: {a.size} {a.mode} became {b.size} {b.mode}")
        times[0] += before
        times[1] += after
        found["ssim"].append(ssim(a, b))
        if a.mode == "RGB":
            found["psnr"].append(psnr(a, b))
    print(json.dumps({**found, "decode": times[1] / times[0]}))


main()
