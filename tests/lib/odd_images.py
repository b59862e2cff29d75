"""odd_images.py FOLDER: images over which other programs stumbled, made by cjpeg and PIL; whatever a dataset may hold.
Seeded, so they are the same each time."""
import io
import os
import random
import struct
import subprocess
import sys

from PIL import Image

os.chdir(sys.argv[1])
rng = random.Random(1)


def put(name, data):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with open(name, "wb") as f:
        f.write(data)


def noise(w, h):
    """Brightness that rises, with noise."""
    return Image.frombytes("RGB", (w, h), bytes((x * 5 + y * 3 + rng.randrange(30)) % 256
                                                for y in range(h) for x in range(w) for c in range(3)))


def ppm(im):
    f = io.BytesIO()
    im.save(f, "PPM")
    return f.getvalue()


def cjpeg(im, *how):
    return subprocess.run(["cjpeg", *how], input=ppm(im), capture_output=True, check=True).stdout


def pil(im, kind="JPEG", **how):
    f = io.BytesIO()
    im.save(f, kind, **how)
    return f.getvalue()


def sides(jpeg, h, w):
    at = jpeg.index(b"\xff\xc0")
    return jpeg[:at + 5] + struct.pack(">HH", h, w) + jpeg[at + 9:]


def after_soi(jpeg, segments):
    return jpeg[:2] + segments + jpeg[2:]


def segment(marker, body):
    return bytes([0xff, marker]) + struct.pack(">H", len(body) + 2) + body


with open("one_by_one.scan", "w") as f:
    f.write("0;\n1;\n2;\n")
scans = ["-scans", "one_by_one.scan"]
FACTORS = {
    "s440": ["-sample", "1x2"], "s411": ["-sample", "4x1"], "s422odd": ["-sample", "2x2,1x2,1x2"],
    "ni420": scans, "ni422": ["-sample", "2x1", *scans], "rst": ["-restart", "1B"], "prog": ["-progressive"],
}
a = noise(37, 29)
base = cjpeg(a, "-quality", "90")
rst = cjpeg(a, "-quality", "90", "-restart", "1B")


# Quantisation tables of 16 bits
put("odd/dqt16.jpg", cjpeg(a, "-quality", "10"))

# Colour that only a marker tells
put("odd/cmyk.jpg", pil(a.convert("CMYK"), quality=90))
put("odd/rgb.jpg", cjpeg(a, "-rgb"))
put("odd/gray.jpg", cjpeg(a, "-grayscale", "-quality", "90"))

# No JPEG inside, whatever the name says
put("odd/png.JPEG", pil(a, "PNG"))
put("odd/jpeg.png", base)
put("odd/gif.jpg", pil(a, "GIF"))
put("odd/text.jpg", b"this is no image\n")
put("odd/zero.jpg", b"")
put("odd/soi.jpg", base[:2])

# Cut off
put("odd/trunc.jpg", base[:len(base) * 2 // 3])
put("odd/noeoi.jpg", base[:-2])

# A warning, and an error after some rows
at = rst.index(b"\xff\xd1")
put("odd/extra.jpg", rst[:at] + b"\x55" * 40 + rst[at:])
at = base.index(b"\xff\xda")
at += 2 + struct.unpack(">H", base[at + 2:at + 4])[0] + 40
put("odd/badmark.jpg", base[:at] + b"\xff\x05\x11\x22" + base[at:])

# Orientation
exif = Image.Exif()
exif[0x0112] = 6
put("odd/exif6.jpg", pil(a, exif=exif, quality=90))

# A profile in two segments, a damaged EXIF, empty and many segments
put("odd/icc.jpg", pil(a, icc_profile=rng.randbytes(100000), quality=90))
put("odd/badexif.jpg", after_soi(base, segment(0xe1, b"Exif\0\0II*\0\x08\0\0\0\xff\xff\x12\x01\x03\0")))
put("odd/empty-app.jpg", after_soi(base, segment(0xe5, b"") + segment(0xe1, b"")))
put("odd/comments.jpg", after_soi(base, b"".join(segment(0xfe, b"%d" % i) for i in range(300))))

# Two pictures
put("odd/mpo.jpg", pil(a, "MPO", save_all=True, append_images=[a]))

# A few bytes that claim to be huge, or nothing
put("odd/bomb.jpg", sides(base, 65500, 65500))
put("odd/d65535.jpg", sides(base, 65535, 65535))
put("odd/flat.jpg", sides(base, 0, 37))

# A flood of scans
flood = cjpeg(Image.new("L", (3000, 3000), 128), "-progressive")
last = flood[flood.rindex(b"\xff\xda"):-2]
put("odd/flood300.jpg", flood[:-2] + last * 300 + flood[-2:])
put("odd/flood20000.jpg", flood[:-2] + last * 20000 + flood[-2:])

# Arithmetic coding
put("odd/arith.jpg", cjpeg(a, "-arithmetic"))

# Sides that are no multiple of a block
for subsampling in range(3):
    for w in range(1, 34):
        for h in range(w % 8 + 1, 34, 8):
            put(f"sides/{subsampling}-{w}x{h}.jpg", pil(noise(w, h), quality=95, subsampling=subsampling))

# Sampling factors, restarts, and scans of one component
for w in range(1, 41, 2):
    im = noise(w, 29)
    for name, how in FACTORS.items():
        put(f"factors/{name}-{w}.jpg", cjpeg(im, "-quality", "95", *how))

# What was coded coarsely already
for q in (10, 30, 50, 75, 85, 95):
    put(f"worn/q{q}.jpg", pil(noise(120, 90), quality=q))

# Large enough to be scaled down
big = noise(400, 300)
put("large/exif6.jpg", pil(big, exif=exif, icc_profile=rng.randbytes(100000), quality=90))
put("large/sides.jpg", pil(noise(311, 401), quality=90))
put("large/prog.jpg", cjpeg(big, "-progressive", "-quality", "90"))
put("large/boxes.png", pil(big, "PNG"))
put("masks/0.jpg", pil(big.convert("L"), quality=90))
put("masks/0.png", pil(big.quantize(16), "PNG"))

# One byte is another, of which nothing warns: a step of a table, and the place of the bits of all means
at = base.index(b"\xff\xdb") + 5
put("odd/step.jpg", base[:at] + b"\xc8" + base[at + 1:])
with open("one_by_one.scan", "w") as f:
    f.write("0,1,2: 0-0, 0, 0;\n" + "".join(f"{i}: 1-63, 0, 0;\n" for i in range(3)))
means = cjpeg(noise(120, 90), "-quality", "90", *scans)
at = means.index(b"\xff\xda") + 13
put("odd/means.jpg", means[:at] + b"\x05" + means[at + 1:])
os.unlink("one_by_one.scan")
