"""read_epoch.py MOUNTPOINT [PAUSE]: open and read every file once, in the order that dlfs expects.

A stand-in for a training program: PAUSE seconds (0.002) pass after each file, as if for a step.
"""
import os
import sys
import time


def unescape(line):
    """The lines of .dlfs/order have the escapes of C for control characters and backslash."""
    return line.encode("latin-1").decode("unicode_escape").encode("latin-1")


def order(mountpoint, patience=30):
    """The first epoch's sequence; it is there once the tree is scanned."""
    end = time.monotonic() + patience
    while True:
        for name in ("order", "order.next"):
            with open(os.path.join(mountpoint, ".dlfs", name), encoding="latin-1") as f:
                lines = f.read().split("\n")[:-1]
            if lines:
                return [unescape(line) for line in lines]
        if time.monotonic() > end:
            sys.exit("dlfs knows no order for this folder; see `dlfs stats`")
        time.sleep(0.05)


def main():
    mountpoint = sys.argv[1]
    pause = float(sys.argv[2]) if len(sys.argv) > 2 else 0.002
    # What ImageFolder does first: list everything.
    files = sum(len(names) for at, _, names in os.walk(mountpoint))
    if files == 0:
        sys.exit("there are no files in this folder")
    wanted = order(mountpoint)
    start, waited, size = time.monotonic(), 0.0, 0
    for name in wanted:
        before = time.monotonic()
        with open(os.path.join(os.fsencode(mountpoint), name), "rb") as f:
            size += len(f.read())
        waited += time.monotonic() - before
        time.sleep(pause)
    print(f"{files} files listed; {len(wanted)} read, {size / 1e6:.1f} MB, in "
          f"{time.monotonic() - start:.2f} s, of which {waited:.2f} s in open, read and close")


main()
