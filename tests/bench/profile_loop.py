"""An epoch as a training program runs it: ImageFolder with PIL, the usual transforms, workers, and
a step of so many files a second.  A mount is told the order when the first epoch begins, so that
nothing is there before.
    profile_loop.py ROOT SEED WORKERS FILES-A-SECOND EPOCHS
prints a line each: the processor time a file, workers and all; the seconds of each epoch; those until
its first batch; those a file that are neither that nor the step; and the part of all processors that
other programs had meanwhile, dlfs not counted.
"""
import json
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


def others_time(root):
    """Processor time of all other programs since the machine is up; the mount of `root` is none of them."""
    tick = os.sysconf("SC_CLK_TCK")
    with open("/proc/stat", encoding="ascii") as f:
        user, nice, system, _, _, irq, soft, *_ = map(int, f.readline().split()[1:])
    used = (user + nice + system + irq + soft) / tick - processor_time()
    stats = os.path.join(root, ".dlfs/stats.json")
    if os.path.exists(stats):
        with open(stats, encoding="utf-8") as f:
            pid = json.load(f)["pid"]
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            used -= sum(map(int, f.read().rsplit(")", 1)[1].split()[11:13])) / tick
    return used


def main():
    root, seed, workers, rate, epochs = sys.argv[1], *map(int, sys.argv[2:6])
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    dataset = ImageFolder(root, PREPARE)
    loader = DataLoader(dataset, batch_size=32, shuffle=True, num_workers=workers)
    used, seconds, starts, others = processor_time(), [], [], []
    for epoch in range(epochs):
        begin, before = time.monotonic(), others_time(root)
        if epoch == 0 and os.path.isdir(os.path.join(root, ".dlfs")):
            os.setxattr(root, "user.dlfs.order", f"torch:seed={seed}".encode())
        for number, (images, _) in enumerate(loader):
            if number == 0:
                starts.append(time.monotonic() - begin)
            time.sleep(len(images) / rate)
        seconds.append(time.monotonic() - begin)
        others.append((others_time(root) - before) / seconds[-1] / os.cpu_count())
    files = len(dataset) * epochs
    print((processor_time() - used) / files)
    print(*seconds)
    print(*starts)
    print(*[(took - start) / len(dataset) - 1 / rate for took, start in zip(seconds, starts)])
    print(*others)


main()
