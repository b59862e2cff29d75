"""An unmodified ImageFolder and DataLoader over a mount with quality_ratio=0.95 and png=fast: the same labels and
sizes, images that look alike, fewer bytes; the second epoch is in memory; the next mount serves the same."""
import os
import random

import numpy
import torch
from PIL import Image, ImageFilter
from torchvision import transforms
from torchvision.datasets import ImageFolder

from rig import DataLoader, Watcher, expect, expect_hits, mounted, ready, workplace

WITH = "quality_ratio=0.95,png=fast,order=torch:seed=5"


def make_pictures(folder, files=60):
    rng = random.Random(2)
    for i in range(files):
        into = os.path.join(folder, f"class{i % 3}")
        os.makedirs(into, exist_ok=True)
        w, h = rng.randrange(120, 300), rng.randrange(120, 300)
        picture = Image.frombytes("RGB", (w, h), rng.randbytes(3 * w * h)).filter(ImageFilter.GaussianBlur(2))
        if i % 6 == 0:
            picture.save(os.path.join(into, f"{i:03d}.png"))
        else:
            picture.save(os.path.join(into, f"{i:03d}.jpg"), quality=95)


def epochs(root, workers, mount=None):
    torch.manual_seed(5)
    data = ImageFolder(root, transform=transforms.PILToTensor())
    loader = DataLoader(data, batch_size=None, shuffle=True, num_workers=workers)
    counted, images = [], []
    watcher = Watcher(mount) if mount else None
    for _ in range(2):
        seen = 0
        for image, label in loader:
            images.append((image.numpy().astype(int), int(label)))
            seen += 1
            if mount:
                ready(mount, len(data) - seen - 8)
        if watcher:
            counted.append(watcher.since())
    return images, counted


def psnr(a, b):
    return 10 * numpy.log10(255 ** 2 / max(((a - b) ** 2).mean(), 1e-9))


def check(want, got):
    expect(len(want) == len(got), f"{len(got)} images instead of {len(want)}")
    ratios = []
    for (a, label), (b, label_got) in zip(want, got):
        expect(label == label_got and a.shape == b.shape, "another label or size")
        ratios.append(psnr(a, b))
    expect(min(ratios) > 25, f"an image looks different: {min(ratios):.1f} dB")
    expect(max(ratios) > 99, "no PNG has all of its pixels")
    return min(ratios)


def bytes_below(root):
    return {os.path.relpath(os.path.join(d, n), root): open(os.path.join(d, n), "rb").read()
            for d, _, names in os.walk(root) for n in names}


with workplace() as folder, workplace() as state:
    make_pictures(folder)
    wants = epochs(folder, 0)[0]
    with mounted(folder, WITH, state=state) as fast:
        for workers in (2, 0):
            images, counts = epochs(fast.at, workers, fast)
            print(f"{workers} workers: at least {check(wants, images):.1f} dB")
        expect_hits(counts[1], 0.9, "an epoch of what was coded before")
        stats = fast.stats()
        expect(stats["recoded"] == 60, f"{stats['recoded']} were coded")
        expect(stats["recoded_bytes"] < 0.9 * stats["recoded_source_bytes"], "that saves nothing")
        served = bytes_below(fast.at)
    with mounted(folder, WITH, state=state) as again:
        sizes = {path: os.stat(os.path.join(again.at, path)).st_size for path in served}
        expect(sizes == {path: len(data) for path, data in served.items()}, "the next mount has other sizes")
        expect(bytes_below(again.at) == served, "the next mount serves other bytes")
