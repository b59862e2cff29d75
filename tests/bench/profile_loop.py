"""An epoch as a training program runs it: ImageFolder with PIL, the usual transforms, workers, and
a step of so many files a second.  A mount is told the order when the first epoch begins, so that
nothing is there before.
    profile_loop.py ROOT SEED WORKERS FILES-A-SECOND EPOCHS
prints the processor time a file, workers and all, and then the seconds of each epoch.
"""
import os
import resource
import sys
import time

import torch
from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import ImageFolder

PREPARE = transforms.Compose([transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(),
                              transforms.ToTensor()])


def processor_time():
    """Of this process and its workers that have ended."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(u.ru_utime + u.ru_stime for u in used)


def main():
    root, seed, workers, rate, epochs = sys.argv[1], *map(int, sys.argv[2:6])
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    dataset = ImageFolder(root, PREPARE)
    loader = DataLoader(dataset, batch_size=32, shuffle=True, num_workers=workers)
    used, seconds = processor_time(), []
    for epoch in range(epochs):
        begin = time.monotonic()
        if epoch == 0 and os.path.isdir(os.path.join(root, ".dlfs")):
            os.setxattr(root, "user.dlfs.order", f"torch:seed={seed}".encode())
        for images, _ in loader:
            time.sleep(len(images) / rate)
        seconds.append(time.monotonic() - begin)
    print((processor_time() - used) / len(dataset) / epochs, *seconds)


main()
