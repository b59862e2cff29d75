"""make_photos.py FOLDER COUNT: JPEGs like photos, of about 110 kB; prints their paths."""
import os
import sys

import numpy
from PIL import Image


def main():
    folder, count = sys.argv[1], int(sys.argv[2])
    rng = numpy.random.default_rng(1)
    for i in range(count):
        # Noise of all sizes on each other has about the spectrum of a photo.
        picture = numpy.zeros((375, 500, 3))
        for side in (4, 8, 16, 32, 64, 128, 256):
            coarse = rng.normal(0, 60 / side ** 0.5, (side, side, 3))
            planes = [Image.fromarray(coarse[:, :, c].astype("f4"), "F").resize(
                (500, 375), Image.BICUBIC) for c in range(3)]
            picture += numpy.dstack([numpy.asarray(p) for p in planes])
        path = os.path.join(folder, f"{i:03d}.jpg")
        Image.fromarray(numpy.clip(picture + 128, 0, 255).astype("u1")).save(path, quality=95)
        print(path)


main()
