"""order=auto where the files are not numbered by an ImageFolder: a glob, natural order, os.walk.

Each order is one of 2^32 (see auto.py) of one of several lists; of those that a search comes to
early.  The files lie deep below the mount, beside others: which folder it is shows in the opens alone.
"""
import os
import re
from glob import glob

import torch
from torch.utils.data import Dataset

from rig import (SEARCH, Watcher, believes, early_seed, expect, expect_hits, loader_of, mounted,
                 ready, wait_for, workplace)

FOLDERS = {"a": 500, "a/x": 300, "a-b": 700, "B": 400, ".": 300}
SET = "photos/v2/train"
FILES = sum(FOLDERS.values())
SIZE = 8192                             # so that memory holds a small part of all
NO_UTF8 = b"img_\xe9.jpg"               # Python sorts it before U+E000, the bytes say after
PRIVATE = "img_\ue000.jpg"
FOUND_AT = 8                            # batches, after which the loop waits for the order
BATCH, WORKERS = 16, 2
IN_FLIGHT = 2 * WORKERS * BATCH          # opens that the workers may be about to do


class Files(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        with open(self.paths[index], "rb") as f:
            return len(f.read()), index


def by_glob(root):
    return sorted(glob(os.path.join(root, "**", "*.jpg"), recursive=True))


def natural_key(path):
    return [int(s) if s.isdigit() else s for s in re.split(r"(\d+)", path.lower())]


def by_nature(root):
    return sorted(by_walk(root), key=natural_key)


def by_walk(root):
    return [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]


def make_files(folder):
    def put(*parts):
        path = os.path.join(os.fsencode(folder), *(os.fsencode(p) for p in parts))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write((path * SIZE)[:SIZE])

    for below, count in FOLDERS.items():
        for i in range(count):
            put(SET, below, f"img_{i * 7}.jpg")
    put(SET, "a", NO_UTF8)
    put(SET, "a", PRIVATE)
    for i in range(600):
        put("photos/v2/val", f"img_{i}.jpg")
        put("notes", f"{i}.txt")


def one_epoch(mount, loader):
    """The indices read, and what became of the opens once the order was found."""
    watcher, seen = None, []
    for i, (_, indices) in enumerate(loader):
        seen += indices.tolist()
        if i == FOUND_AT:
            wait_for("an order to be found", lambda: believes(mount), SEARCH)
            watcher = Watcher(mount)
        if watcher:
            ready(mount, len(loader.dataset) - len(seen) - IN_FLIGHT, IN_FLIGHT + BATCH)
    return seen, watcher.since()


def finds(source, what, number):
    with mounted(source, "order=auto,memory=4MiB,lead=200") as mount:
        data = Files(number(os.path.join(mount.at, SET)))
        expect(len(data) == FILES + 2, f"{what}: {len(data)} files")
        loader = loader_of(data, workers=WORKERS, batch=BATCH, shuffle=True)
        torch.manual_seed(early_seed(1, 2**26))
        seen, counted = one_epoch(mount, loader)
        read = [os.fsencode(os.path.relpath(data.paths[i], mount.at)) for i in seen]
        told = mount.control("order").split(b"\n")[:-1]
        expect(told == read, f"{what}: .dlfs/order is not what was read ({len(told)} lines)")
        expect_hits(counted, 0.85, f"{what}: after the order was found")


with workplace() as folder:
    make_files(folder)
    orders = [[os.path.relpath(p, folder) for p in number(os.path.join(folder, SET))]
              for number in (by_glob, by_nature)]
    expect(orders[0] != orders[1], "the orders differ")
    finds(folder, "sorted glob", by_glob)
    finds(folder, "natural order", by_nature)
    finds(folder, "os.walk", by_walk)
