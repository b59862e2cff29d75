"""Files that are in memory before they are opened: microseconds a file, for each way to serve
them.  The contenders take turns, so that a slow moment of the machine hits all of them."""
import contextlib
import os
import shutil
import subprocess

from common import (Failed, Missing, dlfs_mount, expect_same_bytes, make_files, read_list, run,
                    shuffled_list, wait_for)


def need(program):
    found = shutil.which(program)
    if not found:
        raise Missing(f"no {program} here")
    return found


class Plain:
    """Read once, a file system of the kernel or one that keeps its pages is warm."""

    def __init__(self, name, root):
        self.name, self.root, self.note = name, root, ""

    def prepare(self, listed, count):
        pass


class Dlfs(Plain):
    def __init__(self, name, mount):
        super().__init__(name, mount.at)
        self.mount = mount

    def prepare(self, listed, count):
        ready = self.mount.wait_ready(count)
        if ready < count:
            self.note = f"only {ready} of {count} were ready"


@contextlib.contextmanager
def native(bench, source, image, listed, size):
    yield Plain("native", source)


@contextlib.contextmanager
def tmpfs(bench, source, image, listed, size):
    """Pages of 4 KiB, as those of FUSE are; native ones may be larger."""
    if os.geteuid() != 0:
        raise Missing("needs root")
    at = bench.path("tmpfs")
    run("mount", "-t", "tmpfs", "-o", "huge=never", "dlfs-bench", at)
    try:
        shutil.copytree(source, at, symlinks=True, dirs_exist_ok=True)
        yield Plain("tmpfs", at)
    finally:
        run("umount", at)


def dlfs_with(observe):
    @contextlib.contextmanager
    def contender(bench, source, image, listed, size):
        if observe == "fanotify" and os.geteuid() != 0:
            raise Missing("needs root")
        memory = max(2 * size, 256 << 20) >> 20
        escaped = listed.replace("\\", "\\\\").replace(",", "\\,")
        options = f"observe={observe},memory={memory}MiB,order=list:{escaped}"
        with dlfs_mount(bench, source, options) as mount:
            # As a training program does first: look at every file, so the kernel knows it.
            run("find", mount.at, "-size", "+0", "-name", "nothing")
            yield Dlfs(f"dlfs, {observe}", mount)
    contender.__name__ = f"dlfs, {observe}"
    return contender


@contextlib.contextmanager
def fuse_peer(bench, name, command):
    at = bench.path(f"{name}-mount")
    server = subprocess.Popen(command + [at], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        def mounted():
            if server.poll() is not None:
                raise Failed(f"{name} ended with {server.returncode}")
            return os.path.ismount(at)
        wait_for(f"{name} to mount", mounted, 30)
        yield Plain(name, at)
    finally:
        subprocess.run(["umount", at] if os.geteuid() == 0 else ["fusermount3", "-u", at],
                       check=False)
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


@contextlib.contextmanager
def squashfuse(bench, source, image, listed, size):
    with fuse_peer(bench, "squashfuse", [need("squashfuse"), "-f", image()]) as peer:
        yield peer


@contextlib.contextmanager
def squashfuse_ll(bench, source, image, listed, size):
    with fuse_peer(bench, "squashfuse_ll", [need("squashfuse_ll"), "-f", image()]) as peer:
        yield peer


@contextlib.contextmanager
def bindfs(bench, source, image, listed, size):
    with fuse_peer(bench, "bindfs", [need("bindfs"), "-f", source]) as peer:
        yield peer


@contextlib.contextmanager
def squashfs(bench, source, image, listed, size):
    if os.geteuid() != 0:
        raise Missing("needs root")
    at = bench.path("squashfs-mount")
    made = image()
    done = subprocess.run(["mount", "-t", "squashfs", "-o", "loop,ro", made, at],
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Missing(f"it cannot be mounted: {done.stderr.strip()}")
    try:
        yield Plain("squashfs", at)
    finally:
        run("umount", at)


FILES = 6000                            # opens a round: fewer say more of the moment than of the way

CONTENDERS = [native, tmpfs, dlfs_with("off"), dlfs_with("fanotify"), dlfs_with("inotify"), squashfs,
              squashfuse_ll, squashfuse, bindfs]


def image_maker(bench, source):
    at = os.path.join(bench.work, "image.squashfs")

    def image():
        if not os.path.exists(at):
            run(need("mksquashfs"), source, at, "-noI", "-noD", "-noF", "-noX", "-quiet",
                "-no-progress", timeout=600)
        return at
    return image


def dataset(bench):
    at = os.path.join(bench.work, "hot")
    if bench.folder:
        shutil.copytree(bench.folder, at, symlinks=True)
        return at
    return make_files(at, 100 if bench.short else 1000, 110000)


def measure(bench, peers, listed, count, size):
    cores = len(os.sched_getaffinity(0))
    passes = 1 if bench.short else -(-FILES // count)
    for readers in sorted({1, cores}):
        times = {peer.name: [] for peer in peers}
        for turn in range(bench.rounds):
            for peer in peers[turn % len(peers):] + peers[:turn % len(peers)]:
                peer.prepare(listed, count)
                files, got, ns = read_list(bench, peer.root, listed, readers, passes)
                if (files, got) != (count * passes, size * passes):
                    raise Failed(f"{peer.name}: {files} files of {count * passes}, {got} bytes")
                times[peer.name].append(ns / files / 1000)
        for peer in peers:
            bench.row(f"hot, {readers} reader" + "s" * (readers > 1), peer.name, "µs a file",
                      times[peer.name], times["native"], peer.note)


def compact_memory():
    """Pages that lie side by side are read a fifth faster than scattered ones, whoever serves them;
    how much of a machine's free memory is scattered depends on what ran before, and what that left
    in the page cache stands in the way."""
    os.sync()
    try:
        for name in ("drop_caches", "compact_memory"):
            with open(f"/proc/sys/vm/{name}", "w", encoding="ascii") as knob:
                knob.write("1")
    except OSError as why:
        return f"not compacted ({why.strerror})"
    return "compacted"


def hot(bench):
    source = dataset(bench)
    print(f"  hot: free memory {compact_memory()}", flush=True)
    listed, count, size = shuffled_list(bench, source, "hot.list")
    image = image_maker(bench, source)
    with contextlib.ExitStack() as stack:
        peers = []
        for contender in CONTENDERS:
            try:
                peers.append(stack.enter_context(contender(bench, source, image, listed, size)))
            except Missing as why:
                bench.miss("hot", contender.__name__, str(why))
        for peer in peers:
            if not isinstance(peer, Dlfs):
                read_list(bench, peer.root, listed)
        measure(bench, peers, listed, count, size)
        for peer in peers:
            expect_same_bytes(source, peer.root, listed, peer.name)
    shutil.rmtree(source)
