"""Two jobs on one mount with the same order but started apart, a validation reader and a walk
over everything beside them: right bytes, and both jobs hit."""
import hashlib
import multiprocessing
import os

from rig import (Watcher, epoch, expect, expect_hits, folder_of, loader_of, make_images, mounted,
                 workplace)

import torch


def job(mount, seen, name, started, go):
    torch.manual_seed(7)
    loader = loader_of(folder_of(mount), workers=2, shuffle=True)
    it = []
    go.wait(120)
    for n, (_, indices) in enumerate(loader):
        it += indices.tolist()
        if n == 12:
            started.set()
    seen[name] = it


def walk(root):
    sums = {}
    for folder, _, names in sorted(os.walk(root)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            with open(path, "rb") as f:
                sums[os.path.relpath(path, root)] = hashlib.sha256(f.read()).digest()
    return sums


with workplace() as folder:
    make_images(folder, files=1500)
    want = walk(folder)
    with mounted(folder, "order=torch:seed=7,memory=64MiB") as mount, \
            multiprocessing.Manager() as manager:
        seen = manager.dict()
        started = [manager.Event(), manager.Event()]
        go = [manager.Event(), manager.Event()]
        jobs = [multiprocessing.Process(target=job, args=(mount, seen, n, started[n], go[n]))
                for n in (0, 1)]
        for j in jobs:
            j.start()
        go[0].set()
        expect(started[0].wait(120), "the first job did not start")
        go[1].set()
        expect(walk(mount.at) == want, "the walk read wrong bytes")
        for j in jobs:
            j.join(300)
            expect(j.exitcode == 0, f"a job ended with {j.exitcode}")
        expect(seen[0] == seen[1], "two jobs with one seed read different orders")
        counted = Watcher.quiet(mount)
        print({k: counted[k] for k in ("opens", "hits", "late", "mispredicted")})
        expect(counted["opens"] >= 4400, f"only {counted['opens']} opens were seen")
