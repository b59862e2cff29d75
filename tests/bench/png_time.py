"""png_time.py make PHOTOS FOLDER COUNT: PNGs of photographs, saved by PIL; prints their paths.
png_time.py time FOLDER ROUNDS < PATHS: processor-ms to decode each PNG, and what became of it, which is in
FOLDER under the number of its line; the pixels are compared.  Prints a JSON object."""
import io
import json
import os
import random
import sys
import time

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
    return image.tobytes()


def by_torchvision(data):
    return decode_png(torch.frombuffer(bytearray(data), dtype=torch.uint8)).numpy().tobytes()


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
        result["sizes"].append((len(old), len(new)))
        for name, decode in (("PIL", by_pil), ("torchvision", by_torchvision)):
            assert decode(old) == decode(new), f"{path}: other pixels"
            result[name].append([least(decode, data, rounds) for data in (old, new)])
    print(json.dumps(result))


if sys.argv[1] == "make":
    make(sys.argv[2], sys.argv[3], int(sys.argv[4]))
else:
    measure(sys.argv[2], int(sys.argv[3]))
