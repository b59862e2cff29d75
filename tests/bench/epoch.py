"""The epoch view, and a sequence, on a source that seeks: 8 ms before each read that does not follow
the last one, at 150 MB/s; memory a tenth of the dataset.  And whether its orders can be told from uniform shuffles,
by scipy: 50 epochs as large as ImageNet, and 50 as large as the dataset that is read here."""
import contextlib
import os
import shutil

from common import Failed, dlfs_mount, files_below, make_files, read_list, run, shuffled_list

LINE = 150e6
LAYER = r"source_layers=slow:latency=0ms\,parallel=8\,bandwidth=150MB/s\,seek=8ms"
SIZE, CLASSES, READERS = 110000, 4, 4
EPOCHS, BATCH = 50, 256


def write_list(bench, name, paths):
    at = os.path.join(bench.work, name)
    with open(at, "w", encoding="utf-8") as f:
        f.writelines(p + "\n" for p in paths)
    return at


def turns(files, number):
    """The entries of an epoch as 4 ranks would read them in step; FILES is a multiple of 4."""
    return [f".dlfs/epoch/{number},rank={r},world={READERS}/{i:09d}.jpg"
            for i in range(len(files) // READERS) for r in range(READERS)]


def view_epochs(bench, source, options, files, total):
    """Two epochs by 4 ranks from a cold start, without a pause: MB/s, and fetched to read."""
    listed = write_list(bench, "view.list", turns(files, 0) + turns(files, 1))
    with dlfs_mount(bench, source, options) as mount:
        count, size, ns = read_list(bench, mount.at, listed, READERS)
        fetched = mount.stats()["bytes_fetched"]
        if (count, size) != (2 * len(files), 2 * total):
            raise Failed(f"{count} samples and {size} bytes in two epochs of {len(files)}, {total}")
        for number in range(2):
            lead_to = [os.path.realpath(os.path.join(mount.at, e)) for e in turns(files, number)]
            if sorted(os.path.relpath(p, mount.at) for p in lead_to) != files:
                raise Failed(f"epoch {number} has not each sample once")
    return size / ns * 1e3, fetched / size


def apart(files, number):
    """The first eighth of each quarter of an epoch, each quarter by another reader: further apart than
    memory reaches."""
    quarter = len(files) // READERS
    return [f".dlfs/epoch/{number}/{r * quarter + i:09d}.jpg"
            for i in range(quarter // 8) for r in range(READERS)]


def sequence(files, readers):
    """The files as the workers of a DataLoader that does not shuffle read them: batches of 32 in turn."""
    batches = [files[i:i + 32] for i in range(0, len(files), 32)]
    shares = [[f for b in batches[r::readers] for f in b] for r in range(readers)]
    return [f for same in zip(*shares) for f in same]


def sequences(bench, source, options, files, line):
    for readers in 1, READERS:
        paths = sequence(files, readers)
        listed, values = write_list(bench, "sequence.list", paths), []
        for _ in range(bench.rounds):
            with dlfs_mount(bench, source, f"{options},order=sequential") as mount:
                count, size, ns = read_list(bench, mount.at, listed, readers)
            if count != len(paths):
                raise Failed(f"{count} samples of {len(paths)}")
            values.append(size / ns * 1e3)
        bench.row("epoch", f"in sequence, {readers} reader{'s' * (readers > 1)}", "MB/s", values, line)


def measure(bench, source, total, files):
    options = f"memory={total // 10},{LAYER}"
    shuffle, count, _ = shuffled_list(bench, source, "epoch.list")
    with open(shuffle, encoding="utf-8") as f:
        some = write_list(bench, "some.list", f.read().split("\n")[:count // 8])
    line, mbs = [LINE / 1e6], "MB/s"
    got, fetched = zip(*(view_epochs(bench, source, options, files, total)
                         for _ in range(bench.rounds)))
    bench.row("epoch", "the line, in sequence", mbs, line, line,
              f"{len(files)} files, {total / 1e6:.0f} MB")
    bench.row("epoch", "epoch view, 4 readers", mbs, got, line,
              f"each file fetched {max(fetched):.2f} times an epoch")
    with dlfs_mount(bench, source, options) as mount:
        _, size, ns = read_list(bench, mount.at, write_list(bench, "apart.list", apart(files, 0)), READERS)
    bench.row("epoch", "epoch view, readers a quarter apart", mbs, [size / ns * 1e3], line,
              "an eighth of an epoch")
    sequences(bench, source, options, files, line)
    with dlfs_mount(bench, source, f"{options},order=list:{some}") as mount:
        _, size, ns = read_list(bench, mount.at, some, READERS)
    bench.row("epoch", "ImageFolder's random order, told", mbs, [size / ns * 1e3], line,
              "an eighth of an epoch")


def chance_of_mix(numpy, stats, order, classes):
    """p of the class mix of batches: chi-square of batches × classes."""
    batches = len(order) // BATCH
    at = numpy.arange(batches * BATCH) // BATCH
    table = numpy.bincount(at * (classes.max() + 1) + classes[order[:batches * BATCH]],
                           minlength=batches * (classes.max() + 1)).reshape(batches, -1)
    expected = BATCH * table.sum(0) / (batches * BATCH)
    square = ((table - expected) ** 2 / expected).sum()
    return stats.chi2.sf(square, (batches - 1) * (len(expected) - 1))


def judge(bench, numpy, stats, name, orders, classes):
    """Of each epoch the mix, and of each and the next, and of the first and each, the rank correlation."""
    mixes, ranks, first, last = [], [], None, None
    n = len(classes)
    for order in orders:
        mixes.append(chance_of_mix(numpy, stats, order, classes))
        where = numpy.empty(n)
        where[order] = numpy.arange(n) - (n - 1) / 2
        for other in (last, first):
            if other is not None:
                rho = (where @ other) / (where @ where)
                ranks.append(2 * stats.norm.sf(abs(rho) * (n - 1) ** 0.5))
        first, last = where if first is None else first, where
    for what, chances in (("mix of batches", mixes), ("rank correlation", ranks)):
        below = sum(p < 0.05 for p in chances)
        uniform = stats.kstest(chances, "uniform").pvalue
        bench.row("epoch", f"{name}: {what}", "p", chances,
                  note=f"{below} of {len(chances)} below 0.05; uniform with p = {uniform:.2g}")


def drawn(bench, numpy, n, classes, piece, reservoir, epochs):
    for e in range(epochs):
        at = os.path.join(bench.work, "order.bin")
        with open(at, "wb") as f:
            f.write(run(bench.draws, *map(str, (n, classes, piece, reservoir, e, e + 1)), text=False))
        yield numpy.fromfile(at, numpy.uint32).astype(numpy.int64)


def compare(bench, numpy, stats, n, classes, piece, reservoir):
    epochs = 4 if bench.short else EPOCHS
    of = numpy.arange(n) * classes // n
    rng = numpy.random.default_rng(1)
    judge(bench, numpy, stats, f"view of {n}, {classes} classes",
          drawn(bench, numpy, n, classes, piece, reservoir, epochs), of)
    judge(bench, numpy, stats, f"numpy's shuffles of {n}", (rng.permutation(n) for _ in range(epochs)), of)


def randomness(bench):
    try:
        import numpy
        from scipy import stats
    except ImportError as why:
        bench.miss("epoch", "randomness", why)
        return
    # Pieces and reservoir as prefetch/epochs.c takes them for a memory of a tenth.
    compare(bench, numpy, stats, 9000, CLASSES, 98, 394)
    if not bench.short:
        compare(bench, numpy, stats, 1281167, 1000, 89, 97800)


def epoch(bench):
    source = make_files(bench.path("epoch"), 1200 if bench.short else 9000, SIZE, CLASSES)
    with contextlib.ExitStack() as last:
        last.callback(shutil.rmtree, source)
        files = sorted(files_below(source))
        total = sum(os.path.getsize(os.path.join(source, p)) for p in files)
        measure(bench, source, total, files)
    randomness(bench)
