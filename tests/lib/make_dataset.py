"""make_dataset.py FOLDER [CLASSES [FILES]]: small valid PNG images in class folders.

Needs nothing but Python.  The same arguments give the same bytes.
"""
import os
import random
import struct
import sys
import zlib


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width, height, rng):
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = b"".join(b"\0" + rng.randbytes(3 * width) for _ in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 1)) +
            chunk(b"IEND", b""))


def main():
    folder = sys.argv[1]
    classes = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    files = int(sys.argv[3]) if len(sys.argv) > 3 else 500
    rng = random.Random(1)
    for i in range(files):
        into = os.path.join(folder, f"class{i % classes:02d}")
        os.makedirs(into, exist_ok=True)
        with open(os.path.join(into, f"{i:05d}.png"), "wb") as f:
            f.write(png(96 + rng.randrange(64), 96 + rng.randrange(64), rng))


main()
