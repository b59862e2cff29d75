"""Many files: from a saved manifest to the first answer, memory a file, a walk over the mount."""
import os
import shutil
import tempfile
import time

from common import (Failed, dlfs_mount, resident_bytes, run, wait_for)


def make_tree(at, folders, files):
    for i in range(folders):
        folder = os.path.join(at, f"d{i:04d}")
        os.makedirs(folder)
        for j in range(files):
            os.close(os.open(os.path.join(folder, f"{j:06d}.jpg"), os.O_CREAT | os.O_WRONLY, 0o644))


def walk(root, count):
    """Seconds for find, which looks at the type of all and at nothing else."""
    begin = time.monotonic()
    found = run("sh", "-c", 'find "$1" -type f | wc -l', "sh", root, timeout=600)
    seconds = time.monotonic() - begin
    if int(found) != count:
        raise Failed(f"{root}: find sees {found.strip()} files of {count}")
    return seconds


def first_answer(bench, source, state, name):
    """Seconds from the command to the first answered stat of a file deep inside."""
    begin = time.monotonic()
    with dlfs_mount(bench, source, "order=none", state) as mount:
        os.stat(os.path.join(mount.at, name))
        return time.monotonic() - begin


def save_manifest(bench, source, state, count):
    with dlfs_mount(bench, source, "order=none", state) as mount:
        wait_for("the scan", lambda: mount.stats()["samples"] == count, 600)


def million(bench):
    folders, files = (20, 1000) if bench.short else (1000, 1000)
    count = folders * files
    source, empty = bench.path("million"), bench.path("empty")
    state = tempfile.mkdtemp(prefix="state-", dir=bench.work)
    make_tree(source, folders, files)
    save_manifest(bench, source, state, count)
    last = f"d{folders - 1:04d}/{files - 1:06d}.jpg"
    bench.row(f"{count} files", "dlfs, saved manifest to first lookup", "s",
              [first_answer(bench, source, state, last) for _ in range(bench.rounds)])

    with dlfs_mount(bench, empty, "order=none") as mount:
        nothing = resident_bytes(mount.processes())
    native, ours = [], []
    with dlfs_mount(bench, source, "order=none", state) as mount:
        wait_for("the manifest", lambda: mount.stats()["samples"] == count, 600)
        walk(source, count)
        walk(mount.at, count)
        for _ in range(bench.rounds):
            native.append(walk(source, count))
            ours.append(walk(mount.at, count))
        resident = resident_bytes(mount.processes())
    bench.row(f"{count} files", "dlfs, memory", "bytes a file", [(resident - nothing) / count])
    bench.row(f"{count} files", "native, find, warm", "s", native, native)
    bench.row(f"{count} files", "dlfs, find, warm", "s", ours, native)
    shutil.rmtree(source)
    shutil.rmtree(state)
