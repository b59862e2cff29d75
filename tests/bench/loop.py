"""One epoch as a training program runs it: ImageFolder, a shuffling DataLoader with workers, and
a step that takes as long as the batch's bytes take at a bandwidth.
    loop.py ROOT SEED WORKERS BYTES-A-SECOND
prints "samples bytes seconds"; the start of the workers is part of the time.
"""
import sys
import time

import torch
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder


def read(path):
    with open(path, "rb") as f:
        return len(f.read())


def main():
    root, seed, workers, speed = sys.argv[1], *map(int, sys.argv[2:5])
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    dataset = ImageFolder(root, loader=read)
    loader = DataLoader(dataset, batch_size=16, shuffle=True, num_workers=workers)
    samples = total = 0
    begin = time.monotonic()
    for sizes, _ in loader:
        time.sleep(int(sizes.sum()) / speed)
        samples += len(sizes)
        total += int(sizes.sum())
    print(samples, total, time.monotonic() - begin)


main()
