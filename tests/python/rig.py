"""What the loader tests share: a dataset, a mount of it, and a training loop that keeps pace.

Nothing here measures time.  A step of the loop waits until dlfs is ready for it (its lead in
stats.json), so a hit rate says whether the prediction was right, not how busy the machine is.
"""
import contextlib
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

import numpy
import torch
from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import ImageFolder

DLFS = os.environ["DLFS"]
PATIENCE = 60                           # seconds until a test gives up waiting
OBSERVE = os.environ.get("OBSERVE", "auto")


def fail(text):
    sys.exit(f"FAIL: {text}")


def expect(claim, text):
    if not claim:
        fail(text)


def wait_for(what, claim, patience=PATIENCE):
    end = time.monotonic() + patience
    while not claim():
        if time.monotonic() > end:
            fail(f"waited {patience} s for: {what}")
        time.sleep(0.02)


def make_images(folder, classes=10, files=600, side=12, seed=1):
    """Small valid JPEGs of different content and size, in class folders."""
    from PIL import Image

    rng = random.Random(seed)
    for i in range(files):
        into = os.path.join(folder, f"class{i % classes:02d}")
        os.makedirs(into, exist_ok=True)
        w, h = side + rng.randrange(9), side + rng.randrange(9)
        image = Image.frombytes("RGB", (w, h), rng.randbytes(3 * w * h))
        image.save(os.path.join(into, f"{i:05d}.jpg"), quality=rng.randrange(60, 95))


class Mount:
    def __init__(self, source, at):
        self.source, self.at = source, at

    def control(self, name):
        with open(os.path.join(self.at, ".dlfs", name), "rb") as f:
            return f.read()

    def stats(self):
        return json.loads(self.control("stats.json"))

    def order(self, name="order"):
        return self.control(name).decode().split("\n")[:-1]

    def expect_order(self, want, when):
        """`.dlfs/order` is what was read."""
        told = self.order()
        if told != want:
            differ = next((i for i, (a, b) in enumerate(zip(told, want)) if a != b), -1)
            belief = os.getxattr(self.at, "user.dlfs.belief").decode()
            fail(f"{when}: .dlfs/order has {len(told)} lines, {len(want)} were read; the first "
                 f"difference is at {differ}; {self.stats()['order']}; {belief}")

    def tell(self, spec):
        os.setxattr(self.at, "user.dlfs.order", spec.encode())


@contextlib.contextmanager
def workplace():
    folder = tempfile.mkdtemp(prefix="dlfs-loader-")
    os.chmod(folder, 0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def mounted(source, options="", at=None, state=None):
    at = at or tempfile.mkdtemp(prefix="dlfs-mount-")
    own_state = state or tempfile.mkdtemp(prefix="dlfs-state-")
    env = dict(os.environ, XDG_STATE_HOME=own_state)
    words = f"observe={OBSERVE}" + ("," + options if options else "")
    subprocess.run([DLFS, "mount", source, at, "-o", words], check=True, env=env, timeout=60)
    try:
        yield Mount(source, at)
    finally:
        subprocess.run([DLFS, "umount", "-l", at], check=True, timeout=60)
        os.rmdir(at)
        if not state:
            shutil.rmtree(own_state, ignore_errors=True)


TO_TENSOR = transforms.Compose([transforms.Resize((8, 8)), transforms.ToTensor()])


class Paths(ImageFolder):
    """An ImageFolder that reads its file as ever and also says which one it was."""

    def __init__(self, root):
        super().__init__(root, transform=TO_TENSOR)

    def __getitem__(self, index):
        image, _ = super().__getitem__(index)
        return image.sum(), index


def folder_of(mount, below=""):
    return Paths(os.path.join(mount.at, below) if below else mount.at)


def relative(mount, dataset, indices):
    return [os.path.relpath(dataset.samples[i][0], mount.at) for i in indices]


def ready(mount, left, ahead=32):
    """Wait until dlfs has the next samples, if it believes anything at all; no more of them than it
    aims at, which is less while the kernel takes some away."""
    def enough():
        s = mount.stats()
        return s["order"]["state"] not in ("believed", "confirmed") or \
            s["lead"] >= min(ahead, left, s["lead_target"]) or left <= 0
    wait_for(f"a lead of {min(ahead, left)} (is {mount.stats()['lead']})", enough)


def epoch(mount, loader, stop=None, pace=True):
    """One epoch; the indices in the order in which the loop got them."""
    seen = []
    total = len(loader.sampler) if loader.sampler is not None else len(loader.dataset)
    ahead = loader.num_workers * (loader.prefetch_factor or 2) if loader.num_workers else 0
    for _, indices in loader:
        seen += indices.tolist()
        opened = len(seen) + ahead * loader.batch_size
        if pace:
            ready(mount, total - opened)
        if stop and len(seen) >= stop:
            break
    return seen


class Watcher:
    """Counters since it was made, or since the last call."""

    def __init__(self, mount):
        self.mount, self.last = mount, self.quiet(mount)

    @staticmethod
    def quiet(mount):
        """Stats once every open has been judged."""
        def settled():
            s = mount.stats()
            return s["hits"] + s["late"] == s["opens"]
        wait_for("hits + late == opens", settled)
        return mount.stats()

    def since(self):
        now = self.quiet(self.mount)
        keys = ("opens", "hits", "late", "mispredicted", "bytes_fetched")
        result = {k: now[k] - self.last[k] for k in keys}
        self.last = now
        return result


def expect_hits(counted, share, text):
    expect(counted["opens"] > 0, f"{text}: no open was seen")
    got = counted["hits"] / counted["opens"]
    print(f"{text}: {counted['hits']} of {counted['opens']} opens were hits ({got:.1%}), "
          f"{counted['mispredicted']} mispredicted")
    expect(got >= share, f"{text}: hits {got:.1%} < {share:.0%}")


SEARCH = 900                            # seconds; of a machine that does much else besides


def early_seed(epochs, below=2**28, start=0):
    """A seed for torch.manual_seed(), of whose epochs a search comes to the seeds early: to try all
    2**32 takes minutes here.  They are too large to be taken for chosen ones."""
    for seed in itertools.count(start):
        torch.manual_seed(seed)
        drawn = [torch.empty((), dtype=torch.int64).random_().item() for _ in range(2 * epochs)]
        if all(2**24 < s & 0xffffffff < below for s in drawn[1::2]):
            return seed


def seed_with_model(epochs, seed=42, below=2**25):
    """torch.manual_seed() and a model's weights, so many that a search comes to the seeds of the first
    epochs early."""
    words = numpy.random.RandomState(seed).randint(0, 2**32, 2**22, dtype=numpy.uint32)
    early = (words > 2**24) & (words < below)
    last = 4 * epochs - 1               # a DataLoader draws four words an epoch
    hits = numpy.all([early[i:len(words) - last + i] for i in range(3, last + 1, 4)], axis=0)
    weights = int(numpy.argmax(hits))
    expect(hits[weights], f"no early seeds among the words of {seed}")
    torch.manual_seed(seed)
    torch.empty(weights, dtype=torch.int32).random_(0, 2**20)


def believes(mount):
    return mount.stats()["order"]["state"] in ("believed", "confirmed")


def epoch_of(mount):
    return mount.stats()["order"]["epoch"] if believes(mount) else -1


def patient_epoch(mount, loader, found=believes, batch=8):
    """One epoch, in whose midst the loop waits until dlfs has found what it shall."""
    seen = []
    for i, (_, indices) in enumerate(loader):
        seen += indices.tolist()
        if i == batch:
            wait_for("an order to be found", lambda: found(mount), SEARCH)
    return seen


def loader_of(dataset, workers=0, batch=16, **more):
    return DataLoader(dataset, batch_size=batch, num_workers=workers, **more)
