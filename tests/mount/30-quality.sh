#!/bin/bash
# Images with fewer bytes: whoever asks, whenever, by stat, listing or reading, gets one size, and those bytes.
. "$(dirname "$0")/common.sh"

need_pil
src=$work/src mnt=$work/mnt
mkdir -p "$src/train" "$src/val" "$mnt"
"$python" - "$src" << 'P'
import random, sys
from PIL import Image, ImageFilter
rng = random.Random(1)
def picture(w, h):
    return Image.frombytes("RGB", (w, h), rng.randbytes(3 * w * h)).filter(ImageFilter.GaussianBlur(1.5))
for i in range(36):
    at = f"{sys.argv[1]}/{'val' if i % 3 else 'train'}/{i:02d}"
    picture(rng.randrange(40, 300), rng.randrange(40, 300)).save(f"{at}.jpg", quality=95)
    if i % 4 == 0:
        picture(200, 150).save(f"{at}.png")
P
head -c 3000 "$src/val/01.jpg" > "$src/val/cut.jpg"
cp "$src/train/00.png" "$src/val/other.jpg"
printf 'no image\n' > "$src/val/text.jpg"
printf 'some text\n' > "$src/notes.txt"
: > "$src/val/empty.jpg"
files=$(find "$src" -type f | wc -l)

cat > "$work/check.py" << 'P'
"""check.py SOURCE MOUNT HOW: prints "size hash path" of each file, once all that was said of it agrees."""
import hashlib, os, random, sys
from PIL import Image
src, mnt, how = sys.argv[1:]
paths = sorted(os.path.relpath(os.path.join(d, n), src) for d, _, names in os.walk(src) for n in names)
if how == "listed":
    list(os.walk(mnt))
random.Random(how).shuffle(paths)
lines = []
for path in paths:
    at, from_, sizes = f"{mnt}/{path}", f"{src}/{path}", set()
    if how != "cold":
        sizes.add(os.stat(at).st_size)
    with open(at, "rb") as f:
        sizes.add(os.fstat(f.fileno()).st_size)
        got = f.read()
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    sizes |= {len(got), os.stat(at).st_size}
    assert len(sizes) == 1, f"{path}: sizes {sizes}"
    with open(from_, "rb") as f:
        want = f.read()
    try:
        with Image.open(from_) as old:
            old.load()
    except OSError:
        assert got == want, f"{path}: no whole image, and not served as it is"
    else:
        with Image.open(at) as new:
            new.load()
        assert (new.size, new.mode, new.format) == (old.size, old.mode, old.format), path
        if old.format == "JPEG":
            assert len(got) < 0.9 * len(want), f"{path}: {len(got)} of {len(want)} bytes"
        else:
            assert new.tobytes() == old.tobytes() and len(got) <= 1.2 * len(want), path
    lines.append(f"{len(got)} {hashlib.sha256(got).hexdigest()} {path}\n")
sys.stdout.writelines(sorted(lines))
P
check() { "$python" "$work/check.py" "$src" "$mnt" "$1" > "$2" || fail "$1: see above"; }
same() { cmp "$work/sums" "$1" || fail "$2: $(diff "$work/sums" "$1")"; }

# Off, if nothing was said.
mount_dlfs "$src" "$mnt"
diff -r "$src" "$mnt"
umount_dlfs "$mnt"

with=quality_ratio=0.95,png=fast
mount_dlfs "$src" "$mnt" "$with,order=none"
check listed "$work/sums"
# Who waited for a size and then opened the file, waited for it; but not who only asked.
late_ones() { [ "$(stat_of late)" -ge 20 ]; }
[ "$(jq -r .observe "$mnt/.dlfs/stats.json")" = off ] || wait_for 30 late_ones ||
	fail "$(stat_of late) of $(stat_of opens) opens were late"
[ "$(stat_of fetches)" -ge $((files - 1)) ] || fail "$(stat_of fetches) fetches"
for i in 1 2 3; do check "again$i" "$work/again"; same "$work/again" "read again"; done
find "$mnt" -type f -printf '%s %P\n' | sort > "$work/found"
cut -d' ' -f1,3 "$work/sums" | sort | cmp - "$work/found" || fail "the listing has other sizes"

# What is known of a file, and of all.
one=$mnt/val/01.jpg
value() { getfattr --absolute-names --only-values -n "user.dlfs.$1" "$2"; }
value ssim "$one" | "$python" -c 'assert 0.945 <= float(input()) < 1'
[ "$(value quality "$one")" -gt 20 ] && [ "$(value source-size "$one")" = "$(stat -c %s "$src/val/01.jpg")" ]
[ "$(value recode "$one")" = recoded ] && [ "$(value recode "$mnt/val/cut.jpg")" = damaged ]
expect_fail getfattr -n user.dlfs.ssim "$mnt/val/text.jpg"
jq -e '.recoded >= 36 and .as_is_damaged == 1 and .as_is_kind == 1 and
	.recoded_source_decode_seconds > 0' "$mnt/.dlfs/stats.json" > /dev/null ||
	fail "$(jq -c . "$mnt/.dlfs/stats.json")"
"$DLFS" stats "$mnt" | grep -q '^recoded .* decoded in about .* instead of ' || fail "$("$DLFS" stats "$mnt")"
grep -q '^dlfs_recoded_bytes ' "$mnt/.dlfs/metrics" || fail "no metric"

# Another server, which has none of the bytes.
pid=$(stat_of pid)
kill -9 "$pid"
wait_for 60 other_server "$pid" || fail "nobody took over"
check killed "$work/again"; same "$work/again" "after kill -9"
umount_dlfs "$mnt"

# The next mount knows all sizes at once.
mount_dlfs "$src" "$mnt" "$with,order=none"
find "$mnt" -type f -printf '%s %P\n' | sort | cmp - "$work/found" || fail "the saved sizes differ"
[ "$(stat_of fetches)" = 0 ] || fail "a listing fetched $(stat_of fetches) files"
check saved "$work/again"; same "$work/again" "in the next mount"

# A changed file is another file.
cp "$src/val/02.jpg" "$src/val/01.jpg"
"$DLFS" refresh "$mnt"
cmp "$mnt/val/01.jpg" "$mnt/val/02.jpg" || fail "the changed file is not seen"
check changed "$work/sums"
umount_dlfs "$mnt"

# Sizes that were damaged, or are of other settings, are not believed.
for f in $(find "$work/state" -name '*served*'); do
	printf 'garbage' | dd of="$f" bs=1 seek=100 conv=notrunc status=none
done
mount_dlfs "$src" "$mnt" "$with"
check damaged "$work/again"; same "$work/again" "with damaged sizes"
umount_dlfs "$mnt"
mount_dlfs "$src" "$mnt" "quality_ratio=0.8,recode_match=train/*"
for f in "$src"/val/*; do cmp "$f" "$mnt/val/${f##*/}" || fail "val is not to be coded anew"; done
[ "$(stat -c %s "$mnt/train/00.jpg")" -lt "$(stat -c %s "$src/train/00.jpg")" ] || fail "train is not coded"
cmp "$src/train/00.png" "$mnt/train/00.png"
umount_dlfs "$mnt"

# A dataset for detection, with the settings in a file, as docs/quality.md has it: masks stay as they are.
det=$work/detection
mkdir -p "$det"/{train,val}/{images,masks}
for f in train/images/1.jpg train/masks/1.jpg val/images/1.jpg val/masks/1.jpg; do cp "$src/val/02.jpg" "$det/$f"; done
for f in train val; do cp "$src/train/00.png" "$det/$f/masks/1.png"; done
printf '%s\n' 'quality_ratio: 0.95' 'png: fast' 'recode_match: [train/images, val/images]' > "$work/detection.yaml"
"$DLFS" mount -c "$work/detection.yaml" "$det" "$mnt" || fail "the settings of docs/quality.md are not taken"
remember "$mnt"
for f in train val; do
	diff -r "$det/$f/masks" "$mnt/$f/masks" || fail "masks were coded"
	[ "$(stat -c %s "$mnt/$f/images/1.jpg")" -lt "$(stat -c %s "$det/$f/images/1.jpg")" ] ||
		fail "images were not coded"
done
umount_dlfs "$mnt"

# What is no image by its name stays as it is, and stats say so.
mkdir "$work/named"
cp "$src/val/02.jpg" "$work/named/02.img"
mount_dlfs "$work/named" "$mnt" "quality_ratio=0.95"
cmp "$work/named/02.img" "$mnt/02.img" || fail "a file of another name was coded"
"$DLFS" stats "$mnt" | grep -q '^recoded  *none yet; .* called' || fail "stats: $("$DLFS" stats "$mnt")"
umount_dlfs "$mnt"

# Many at once, of whom nobody has listed anything, while what is read ahead is coded as well.
rm -r "$work/state"
mount_dlfs "$src" "$mnt" "$with,order=sequential"
for i in $(seq 12); do
	"$python" "$work/check.py" "$src" "$mnt" "$([ $((i % 2)) = 0 ] && echo cold || echo "$i")" > "$work/many.$i" &
done
for job in $(jobs -p); do wait "$job" || fail "one of many: see above"; done
for i in $(seq 12); do same "$work/many.$i" "one of many"; done
umount_dlfs "$mnt"
