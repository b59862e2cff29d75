#!/bin/bash
# Images over which other programs stumbled (tests/lib/odd_images.py): coded anew they are the same picture, with all
# that belongs to it; or they are served byte for byte, with the reason.
. "$(dirname "$0")/common.sh"

python=${PYTHON:-/usr/bin/python3}
"$python" -c 'import PIL, numpy, skimage' 2> /dev/null || skip "$python has no PIL, numpy and skimage"
[ -n "$(type -P cjpeg)" ] && [ -n "$(type -P djpeg)" ] || skip "no cjpeg and djpeg (libjpeg-turbo-progs)"
src=$work/src mnt=$work/mnt
mkdir "$src" "$mnt"
"$python" "$(dirname "$0")/../lib/odd_images.py" "$src"

cat > "$work/check.py" << 'P'
"""check.py SOURCE MOUNT [SHORT]: all JPEGs that are not served as they are show the same; SHORT: scaled to that."""
import io, os, subprocess, sys, warnings
import numpy
from PIL import Image
from skimage.metrics import structural_similarity

src, mnt = sys.argv[1:3]
short = int(sys.argv[3]) if len(sys.argv) > 3 else None
warnings.simplefilter("ignore")            # a damaged EXIF; djpeg says what is wrong with the picture
try:
    from torchvision.io import decode_image, read_file
except ImportError:
    decode_image = None
    print("no torchvision here")


def segments(jpeg):
    """All APPn and COM before the first scan, and the marker of the frame."""
    at, found, frame = 2, [], 0
    while jpeg[at + 1] != 0xda:
        marker, end = jpeg[at + 1], at + 2 + int.from_bytes(jpeg[at + 2:at + 4], "big")
        if marker >= 0xe0 and jpeg[at + 4:at + 8] != b"JFIF":
            found.append(jpeg[at:end])
        elif 0xc0 <= marker <= 0xcf and marker not in (0xc4, 0xc8, 0xcc):
            frame = marker
        at = end
    return found, frame


def wanted_size(w, h):
    if short is None or min(w, h) <= short:
        return w, h
    return (short, (h * short + w // 2) // w) if w < h else ((w * short + h // 2) // h, short)


def by_djpeg(path):
    run = subprocess.run(["djpeg", path], capture_output=True, check=True)
    assert not run.stderr, f"{path}: {run.stderr}"
    with Image.open(io.BytesIO(run.stdout)) as picture:
        return picture.size, picture.mode


def luma_error(old, new, path):
    """Squares; the floor of SSIM is checked by another program than ours."""
    a, b = (numpy.asarray(i.convert("L")) for i in (old, new))
    ssim = structural_similarity(a, b, gaussian_weights=True, sigma=1.5, use_sample_covariance=False, data_range=255)
    assert ssim >= 0.948, f"{path}: SSIM {ssim:.4f}"
    return (a.astype(float) - b) ** 2


def check(path, tally):
    with open(f"{src}/{path}", "rb") as f:
        source = f.read()
    with open(f"{mnt}/{path}", "rb") as f:
        got = f.read()
    assert len(got) == os.stat(f"{mnt}/{path}").st_size, f"{path}: size"
    if got == source:
        return
    with Image.open(io.BytesIO(source)) as old, Image.open(io.BytesIO(got)) as new:
        old.load(), new.load()
        assert new.size == wanted_size(*old.size) and new.mode == old.mode, f"{path}: {new.size} {new.mode}"
        assert new.info.get("icc_profile") == old.info.get("icc_profile"), f"{path}: profile"
        assert segments(got)[0] == segments(source)[0], f"{path}: segments"
        assert segments(got)[1] in (0xc0, 0xc1), f"{path}: frame {segments(got)[1]:x}"
        assert by_djpeg(f"{mnt}/{path}") == (new.size, new.mode), f"{path}: djpeg"
        if decode_image:
            assert decode_image(read_file(f"{mnt}/{path}")).shape[1:] == new.size[::-1], f"{path}: torchvision"
        tally["coded"] += 1
        if new.size != old.size:
            like = numpy.corrcoef(*(numpy.ravel(i.convert("L").resize(new.size, Image.BICUBIC)) for i in (old, new)))
            assert like[0, 1] > 0.85, f"{path}: another picture ({like[0, 1]:.3f})"
            return
        assert [c[1:3] for c in new.layer] == [c[1:3] for c in old.layer], f"{path}: factors"
        for a, b in zip(old.layer, new.layer):
            finer = [k for k in range(64) if new.quantization[b[3]][k] < old.quantization[a[3]][k]]
            assert not finer, f"{path}: finer steps {finer}"
        assert len(got) <= 0.95 * len(source), f"{path}: {len(got)} of {len(source)} bytes"
        error = luma_error(old, new, path)
        tally["edge"] += [error[-1].mean(), error[:, -1].mean()]
        tally["inside"].append(error[:-1, :-1].mean())


tally = {"coded": 0, "edge": [], "inside": []}
for folder, _, names in os.walk(src):
    for name in names:
        if name.endswith(".jpg"):
            check(os.path.relpath(f"{folder}/{name}", src), tally)
assert tally["coded"] > 0, "nothing was coded anew"
if tally["edge"]:
    edge, inside = numpy.mean(tally["edge"]), numpy.mean(tally["inside"])
    assert edge < 1.1 * inside, f"the last rows and columns: {edge:.1f} instead of {inside:.1f}"
P
check() { "$python" "$work/check.py" "$@" || fail "see above"; }
reason() { getfattr --absolute-names --only-values -n user.dlfs.recode "$mnt/$1"; }
count() { "$DLFS" stats --json "$mnt" | jq ".$1"; }

cat > "$work/as_they_are" << 'END'
RGB or CMYK	odd/cmyk.jpg odd/rgb.jpg
not an image	odd/gif.jpg odd/text.jpg odd/soi.jpg
not asked for	odd/zero.jpg
damaged	odd/trunc.jpg odd/noeoi.jpg odd/extra.jpg odd/badmark.jpg odd/step.jpg odd/means.jpg
several pictures	odd/mpo.jpg
too large	odd/bomb.jpg odd/d65535.jpg odd/flat.jpg odd/flood300.jpg odd/flood20000.jpg
arithmetic coding	odd/arith.jpg
END
coded="odd/dqt16.jpg odd/gray.jpg odd/exif6.jpg odd/badexif.jpg odd/empty-app.jpg odd/comments.jpg large/exif6.jpg
	large/sides.jpg large/prog.jpg masks/0.jpg factors/s422odd-39.jpg factors/ni422-37.jpg sides/2-33x26.jpg"
as_they_are() {
	local why files f
	while IFS=$'\t' read -r why files; do
		for f in $files; do
			[ -e "$src/$f" ] || continue
			cmp "$src/$f" "$mnt/$f" || fail "$f is not served as it is"
			[ "$(reason "$f")" = "$why" ] || fail "$f: \"$(reason "$f")\" instead of \"$why\""
		done
	done < "$work/as_they_are"
	jq -e ".as_is_damaged == $1 and .as_is_limits == 5 and .as_is_kind == 7" "$mnt/.dlfs/stats.json" > /dev/null ||
		fail "$(count .)"
}

mount_dlfs "$src" "$mnt" quality_ratio=0.95,png=fast,order=none

# What claims to be huge takes neither memory nor time.
pid=$(count pid)
resident() { awk "/^$1/ { print \$2 }" "/proc/$pid/status"; }
ticks() { sed 's/.*) //' "/proc/$pid/stat" | awk '{ print $12 + $13 }'; }
cat "$mnt/odd/arith.jpg" > "$work/got"         # all threads have run
echo 5 > "/proc/$pid/clear_refs" 2> /dev/null || true
before=$(resident VmRSS) used=$(ticks)
for f in bomb d65535 flat flood300 flood20000; do
	cmp "$src/odd/$f.jpg" "$mnt/odd/$f.jpg" || fail "$f is not served as it is"
done
[ $(($(ticks) - used)) -lt "$(getconf CLK_TCK)" ] || fail "$(($(ticks) - used)) ticks for what is too large"
[ $(($(resident VmHWM) - before)) -lt 10240 ] || fail "$before KiB became $(resident VmHWM)"

as_they_are 6
for f in $coded odd/jpeg.png large/boxes.png; do
	[ "$(reason "$f")" = recoded ] || fail "$f: $(reason "$f")"
done
"$python" - "$src" "$mnt" << 'P'
import sys
from PIL import Image
for path in ("odd/png.JPEG", "odd/jpeg.png", "large/boxes.png", "masks/0.png", "odd/mpo.jpg"):
    with Image.open(f"{sys.argv[1]}/{path}") as old, Image.open(f"{sys.argv[2]}/{path}") as new:
        assert (new.size, new.mode, new.format) == (old.size, old.mode, old.format), path
        assert getattr(new, "n_frames", 1) == getattr(old, "n_frames", 1), path
        assert old.format == "JPEG" or new.tobytes() == old.tobytes(), path
P
check "$src" "$mnt"
[ "$(count pid)" = "$pid" ] || fail "the server did not live through it"

# Coded once more: not worse each time, but the same bytes.
mkdir "$work/second"
cp -r "$mnt"/* "$work/second"
umount_dlfs "$mnt"
mount_dlfs "$work/second" "$mnt" quality_ratio=0.95,order=none
[ "$(find "$mnt" -name '*.jpg' -exec stat -c %s {} + | wc -l)" -gt 500 ] && [ "$(count recoded)" = 0 ] ||
	fail "of what had been coded $(count recoded) were coded anew"
for f in "$work"/second/*; do diff -r "$f" "$mnt/${f##*/}"; done
umount_dlfs "$mnt"

# Scaled down: all that was said above, at other sizes; and only what was asked for.  Values
# that no picture has are not looked for there.
rm "$src"/odd/{step,means}.jpg
mount_dlfs "$src" "$mnt" quality_ratio=0.95,max_short_side=24,order=none
as_they_are 4
check "$src" "$mnt" 24
umount_dlfs "$mnt"
mount_dlfs "$src" "$mnt" max_short_side=200,recode_match=large,order=none
[ "$(reason large/exif6.jpg)" = recoded ] || fail "large/exif6.jpg: $(reason large/exif6.jpg)"
check "$src/large" "$mnt/large" 200
for f in masks odd; do diff -r "$src/$f" "$mnt/$f" || fail "$f was not asked for"; done
umount_dlfs "$mnt"

# Many who come at once, of whom nobody has listed anything: one size, at every moment.
rm -r "$work/state"
mount_dlfs "$src" "$mnt" quality_ratio=0.95,order=none
"$python" - "$src/factors" "$mnt/factors" << 'P'
import os, random, sys
src, mnt = sys.argv[1:]
names, children = sorted(os.listdir(src)), []

def opened(name):
    with open(f"{mnt}/{name}", "rb") as f:
        size, data = os.fstat(f.fileno()).st_size, f.read()
    assert data.endswith(b"\xff\xd9"), f"{name}: cut off"
    return {size, len(data)}

def asked(name):
    return {os.stat(f"{mnt}/{name}").st_size}

def listed(name):
    return {entry.stat().st_size for entry in os.scandir(mnt) if entry.name == name}

def ask_all(number):
    rng = random.Random(number)
    for name in rng.sample(names, len(names)):
        ways = [opened, asked] + [listed] * (rng.random() < 0.02)
        sizes = set().union(*(way(name) for way in rng.sample(ways, len(ways))))
        assert len(sizes) == 1, f"{name}: sizes {sizes}"

for number in range(32):
    children.append(os.fork())
    if children[-1] == 0:
        try:
            ask_all(number)
            os._exit(0)
        except BaseException as e:
            print(repr(e), file=sys.stderr)
            os._exit(1)
assert not any([os.waitpid(child, 0)[1] for child in children]), "one of many: see above"
P
umount_dlfs "$mnt"
