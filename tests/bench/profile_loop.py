"""An epoch as a training program runs it: ImageFolder with PIL, the usual transforms, workers, and
a step of so many files a second.
    profile_loop.py ROOT SEED WORKERS FILES-A-SECOND EPOCHS
prints the seconds of all epochs, and the processor time a file, workers and all.
"""
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
    begin, used = time.monotonic(), processor_time()
    for _ in range(epochs):
        for images, _ in loader:
            time.sleep(len(images) / rate)
    print(time.monotonic() - begin, (processor_time() - used) / len(dataset) / epochs)


main()
