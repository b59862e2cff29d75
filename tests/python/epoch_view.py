"""The epoch view: the examples of the README, as they stand there, and a DataLoader over four ranks of
which one is killed and resumed.  Each sample comes once an epoch, with its label, and is a hit.
"""
import os
import re
import subprocess
import sys
import tempfile

import torch
from PIL import Image
from torch.utils.data import DataLoader

from rig import (TO_TENSOR, Watcher, expect, expect_hits, make_images, mounted, wait_for, workplace)

README = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../README.md")
FILES, CLASSES = 600, 10


def examples():
    with open(README, encoding="utf-8") as f:
        text = f.read()
    found = dict(re.findall(r"<!-- run by tests/python/epoch_view.py -->\n```(\w+)\n(.*?)```", text,
                            re.DOTALL))
    expect(set(found) == {"python", "sh"}, f"the README has the examples {set(found)}")
    return found


def label_of(image):
    """make_images() draws random pixels, which say which file it was."""
    return image.numpy().tobytes()


def known(source, classes):
    return {label_of(TO_TENSOR(Image.open(os.path.join(at, name)).convert("RGB"))):
            classes[os.path.basename(at)] for at, _, names in os.walk(source) for name in names}


def run_python(text, mount, source, classes):
    seen, labels_of = [], known(source, classes)

    def step(images, labels):
        for image, label in zip(images, labels):
            which = label_of(image)
            expect(labels_of.get(which) == int(label), f"a sample has the label {label}, not {labels_of.get(which)}")
            seen.append(which)

    watcher = Watcher(mount)
    exec(text, {"torch": torch, "os": os, "Image": Image, "DataLoader": DataLoader, "step": step,
                "MOUNT": mount.at, "classes": classes, "transform": TO_TENSOR})
    expect(len(seen) == 3 * FILES, f"{len(seen)} samples in 3 epochs of {FILES}")
    for e in range(3):
        epoch = seen[e * FILES:(e + 1) * FILES]
        expect(set(epoch) == set(labels_of), f"epoch {e} has {len(set(epoch))} different samples")
    expect(seen[:FILES] != seen[FILES:2 * FILES], "two epochs are the same")
    expect_hits(watcher.since(), 0.8, "three epochs of the example")
    expect(mount.stats()["order"]["epoch"] == 2, f"followed: {mount.stats()['order']}")


def run_shell(text, mount, work):
    subprocess.run(["sh", "-c", text], check=True, cwd=work, env=dict(os.environ, MOUNT=mount.at))
    with open(os.path.join(work, "files.txt"), encoding="utf-8") as f:
        lines = [line.split() for line in f]
    expect(len(lines) == FILES, f"files.txt has {len(lines)} lines")
    targets = {os.path.realpath(path) for path, _ in lines}
    expect(len(targets) == FILES, f"{len(targets)} different files")
    for path, name in lines:
        expect(os.path.realpath(path).split("/")[-2] == name, f"{path} is not in {name}")


RANK = """
import os, sys, time
folder, log = sys.argv[1:]
done = len(open(log).read().split("\\n")) - 1 if os.path.exists(log) else 0
with open(log, "a", buffering=1) as out:
    for name in sorted(os.listdir(folder))[done:]:
        path = os.path.realpath(os.path.join(folder, name))
        with open(path, "rb") as f:
            f.read()
        out.write(path + "\\n")
        time.sleep(float(os.environ.get("PAUSE", 0)))
"""


def run_ranks(mount, work):
    script = os.path.join(work, "rank.py")
    with open(script, "w", encoding="utf-8") as f:
        f.write(RANK)

    def start(rank, **more):
        return subprocess.Popen([sys.executable, script,
                                 f"{mount.at}/.dlfs/epoch/5,rank={rank},world=4", f"{work}/log{rank}"],
                                env=dict(os.environ, **more))

    ranks = [start(r) for r in range(3)]
    victim = start(3, PAUSE="0.01")
    wait_for("rank 3 to read", lambda: os.path.exists(f"{work}/log3") and
             os.path.getsize(f"{work}/log3") > 1000)
    victim.kill()
    victim.wait()
    ranks.append(start(3))
    expect(all(r.wait() == 0 for r in ranks), "a rank failed")
    read = []
    for r in range(4):
        with open(f"{work}/log{r}", encoding="utf-8") as f:
            read += f.read().split("\n")[:-1]
    expect(len(read) == FILES and len(set(read)) == FILES, f"{len(read)}, {len(set(read))} different")


with workplace() as folder:
    make_images(folder, files=FILES, classes=CLASSES)
    numbers = {name: i for i, name in enumerate(sorted(os.listdir(folder)))}
    texts = examples()
    with mounted(folder, "memory=64MiB") as at, tempfile.TemporaryDirectory() as scratch:
        run_shell(texts["sh"], at, scratch)
        run_python(texts["python"], at, folder, numbers)
        run_ranks(at, scratch)
