"""png_time.py make PHOTOS FOLDER COUNT: PNGs of photographs, saved by PIL; prints their paths.
png_time.py time FOLDER ROUNDS < PATHS: processor-ms to decode each PNG, and what became of it, which is in
FOLDER under the number of its line; and a third one that is not compressed at all.  The pixels are compared, which is
not timed: torchvision's tensor is a view of rows of pixels, and turning it into planes takes longer than decoding.
Prints a JSON object."""
import io
import json
import os
import random
import struct
import sys
import time
import zlib

import torch
from PIL import Image
from torchvision.io import decode_png


def make(photos, folder, count):
    paths = sorted(os.path.join(d, n) for d, _, names in os.walk(photos) for n in names)
    for i, path in enumerate(random.Random(1).sample(paths, min(count, len(paths)))):
        at = os.path.join(folder, f"{i:04d}.png")
        Image.open(path).convert("RGB").save(at)
        print(at)


def by_pil(data):
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def by_torchvision(data):
    return decode_png(torch.frombuffer(bytearray(data), dtype=torch.uint8))


def pixels(image):
    return image.tobytes() if isinstance(image, Image.Image) else image.numpy().tobytes()


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def stored(data):
    image = by_pil(data)
    rows, row = image.tobytes(), 3 * image.width
    plain = b"".join(b"\0" + rows[at:at + row] for at in range(0, len(rows), row))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", *image.size, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(plain, 0)) + chunk(b"IEND", b""))


def least(decode, data, rounds):
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        decode(data)
        best = min(best, time.process_time() - start)
    return best * 1000


def read(path):
    with open(path, "rb") as f:
        return f.read()


def measure(folder, rounds):
    torch.set_num_threads(1)
    result = {"sizes": [], "PIL": [], "torchvision": []}
    for number, path in enumerate(sys.stdin.read().split()):
        old = read(path)
        fast = os.path.join(folder, f"{number:06d}")
        new = read(fast) if os.path.exists(fast) else old
        kinds = (old, new, stored(old))
        result["sizes"].append([len(data) for data in kinds])
        for name, decode in (("PIL", by_pil), ("torchvision", by_torchvision)):
            assert len({pixels(decode(data)) for data in kinds}) == 1, f"{path}: other pixels"
            result[name].append([least(decode, data, rounds) for data in kinds])
    print(json.dumps(result))


if sys.argv[1] == "make":
    make(sys.argv[2], sys.argv[3], int(sys.argv[4]))
else:
    measure(sys.argv[2], int(sys.argv[3]))
