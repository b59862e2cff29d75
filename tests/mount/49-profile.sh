#!/bin/bash
# `dlfs profile`: what it prints and writes, and what it says when it cannot.
. "$(dirname "$0")/common.sh"

here=$(cd "$(dirname "$0")" && pwd)
need_pil
python3 "$here/../lib/make_dataset.py" "$work/png" 3 32
python3 "$here/../lib/make_dataset.py" "$work/src" 3 32
"$python" - "$work/src/class01" << 'P'
import random, sys
from PIL import Image, ImageFilter
rng = random.Random(1)
for i in range(8):
    picture = Image.frombytes("RGB", (200, 150), rng.randbytes(90000)).filter(ImageFilter.GaussianBlur(1.5))
    picture.save(f"{sys.argv[1]}/photo{i}.jpg", quality=95)
P
printf 'no image' > "$work/src/class00/<odd>&.txt"

"$DLFS" profile "$work/src" --step-rate 1000 --workers 2 --cache 1MiB --prepare 1ms \
	--ratios 1,0.95 --report "$work/r.html" > "$work/out" 2> "$work/err" ||
	fail "profile ended with $?: $(cat "$work/err")"
[ ! -s "$work/err" ] || fail "progress, but not on a terminal: $(cat "$work/err")"
grep -q '41 files' "$work/out" || fail "not all files: $(cat "$work/out")"
grep -q '40 of them images' "$work/out" || fail "not all images: $(cat "$work/out")"
for word in 'at once' 'SSIM' \
	'Predicted, with 2 workers, a cache of 1.00 MiB' 'ratio 0.95' 'twice the cache' 'cores and workers'; do
	grep -q "$word" "$work/out" || fail "no word of $word: $(cat "$work/out")"
done

# One page, complete, that loads nothing and takes no foreign text for its own.
tail -c 8 "$work/r.html" | grep -q '</html>' || fail "the report is cut"
! grep -Eq '(src|href)="?(http|//)|url\(|@import|<script' "$work/r.html" || fail "the report loads something"
! grep -q '<odd>' "$work/r.html" || fail "a file name became markup"
grep -q "<p>$work/src, on $(hostname), 20" "$work/r.html" || fail "the report does not say of what it is"
grep -q 'data:image/png;base64,iVBOR' "$work/r.html" || fail "no crop in the report"
[ ! -e "$work/r.html.part" ] || fail "a part is left"

# What scaling brings is seen beside the files as they are.
"$DLFS" profile "$work/src/class01" --short-side 60 --ratios 0.9 --report "$work/s.html" > "$work/out" ||
	fail "profile of scaling ended with $?"
[ "$(grep -c '^as it is  *[0-9]' "$work/out")" = 2 ] || fail "nothing to compare with: $(cat "$work/out")"
grep -q '^as it is  *100\.0%.* 19$' "$work/out" || fail "the files as they are were changed: $(cat "$work/out")"
grep -q 'of the files as they are\.$' "$work/out" || fail "more cores of what: $(cat "$work/out")"
grep -q '>as it is<' "$work/s.html" || fail "no bar of the files as they are"

# Without images only the source counts, and no figure is made of nothing.
mkdir "$work/text"
for i in 1 2 3; do echo "$i" > "$work/text/$i.txt"; done
for step in '' '--step-rate 100'; do
	# shellcheck disable=SC2086
	"$DLFS" profile "$work/text" $step --report "$work/t.html" > "$work/out" 2> "$work/err" ||
		fail "profile of texts ended with $?: $(cat "$work/err")"
	grep -q '^No images that can be decoded: only the source was' "$work/out" ||
		fail "no images: $(cat "$work/out")"
	! grep -Eq 'inf|nan' "$work/out" "$work/t.html" || fail "a figure of nothing: $(cat "$work/out")"
	steps=$(grep -c 'training step$' "$work/out" || true)
	[ "$steps" = "$([ -z "$step" ] && echo 0 || echo 1)" ] || fail "bound by a step '$step': $(cat "$work/out")"
done

# A sample has as many of the large files, in proportion, as there are.
mkdir "$work/sizes"
for i in {1..100}; do head -c $((i % 10 == 0 ? 5010 : 10)) /dev/zero > "$work/sizes/$i.txt"; done
"$DLFS" profile "$work/sizes" -n 10 > "$work/out" || fail "profile of sizes ended with $?"
grep -q 'sample: 10 files of 510 B' "$work/out" || fail "not one of ten large files: $(cat "$work/out")"

# It is the same one each time, even of files that are all alike, and how far the whole may be from it is told.
mkdir -p "$work/same"/{0,1,2,3,4,5}
for i in {1..24}; do cp "$work/src/class01/photo0.jpg" "$work/same/$((i % 6))/$i.jpg"; done
shown() {
	"$DLFS" profile "$work/same" -n 4 -r 0.9 --report "$work/s.html" > "$work/out" ||
		fail "profile of 4 ended with $?"
	grep -o '[0-5]/[0-9]*[.]jpg' "$work/s.html"
}
once=$(shown)
[ "$(wc -l <<< "$once")" = 4 ] || fail "not 4 images in the report: $once"
[ "$(shown)" = "$once" ] || fail "another sample than $once"
"$DLFS" profile "$work/src" -r 0.9 -n 8 > "$work/out" || fail "profile of 8 ended with $?"
grep -Eq '^Tried with 8 of 41 files .* within [0-9.]+ % \(decoded\), [0-9.]+ % \(recoded\)' "$work/out" ||
	fail "no word of the error: $(cat "$work/out")"

# What cannot be recoded is not shown once for each ratio.
"$DLFS" profile "$work/png" > "$work/out" || fail "profile of PNGs ended with $?"
grep -q '^Nothing of the sample is recoded' "$work/out" || fail "no word of PNGs: $(cat "$work/out")"
! grep -q 'ratio 0.9' "$work/out" || fail "a ratio that changes nothing: $(cat "$work/out")"

# On a terminal there is progress.
script -qec "'$DLFS' profile '$work/src' --sample 8" "$work/typed" > /dev/null || fail "profile failed on a terminal"
grep -q 'source, 64 at once' "$work/typed" || fail "no progress on a terminal"

expect_fail "$DLFS" profile
expect_fail "$DLFS" profile "$work/nothing"
mkdir "$work/empty"
expect_fail "$DLFS" profile "$work/empty"
grep -q 'no file with content' "$work/.out" || fail "an empty folder: $(cat "$work/.out")"
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
	cp "$DLFS" "$work/dlfs"; chmod 755 "$work/dlfs"
	mkdir -p "$work/closed/inner"; echo 1 > "$work/closed/inner/file"
	for closed in "$work/closed/inner" "$work/closed"; do
		chmod 700 "$closed"
		expect_fail setpriv --reuid 65534 --regid 65534 --clear-groups "$work/dlfs" profile "$work/closed"
		grep -q 'may not be read by this user' "$work/.out" || fail "$closed is closed: $(cat "$work/.out")"
	done
fi
expect_fail "$DLFS" profile "$work/src" --ratios 1,1.5
grep -q -- '--ratios takes .* up to 1,.*, not "1,1.5"' "$work/.out" || fail "a ratio over 1: $(cat "$work/.out")"
expect_fail "$DLFS" profile "$work/src" -w 0
grep -q -- '--workers takes a whole number from 1 to .*, not "0"' "$work/.out" || fail "no workers: $(cat "$work/.out")"
expect_fail "$DLFS" profile "$work/src" -n 0
grep -q -- '--sample takes a whole number from 1 to 4096' "$work/.out" || fail "no sample: $(cat "$work/.out")"
expect_fail "$DLFS" profile "$work/src" --cache many
expect_fail "$DLFS" profile "$work/src" --report "$work/no/such/r.html"
grep -q 'r.html cannot be written' "$work/.out" || fail "a report nowhere: $(cat "$work/.out")"
mkdir "$work/folder"
expect_fail "$DLFS" profile "$work/src" -n 1 -r 1 --report "$work/folder"
grep -q 'folder is a folder; give a file' "$work/.out" || fail "a report on a folder: $(cat "$work/.out")"
[ ! -e "$work/folder.part" ] || fail "a part is left of a report that could not be written"

# Ctrl-C while it still lists the files, of which each size takes a while.
mkdir "$work/slow"
python3 "$here/../lib/make_dataset.py" "$work/many" 40 40
mount_dlfs "$work/many" "$work/slow" png=fast,order=none,source_layers='slow:latency=200ms\,parallel=1'
fetched() { jq .fetches "$work/slow/.dlfs/stats.json"; }
"$DLFS" profile "$work/slow" > "$work/.out" 2>&1 & profile=$!
begun() { [ "$(fetched)" -gt 0 ]; }
wait_for 60 begun || fail "nothing was asked for"
kill -INT $profile
! wait $profile || fail "it went on: $(cat "$work/.out")"
grep -q interrupted "$work/.out" || fail "not interrupted, but: $(cat "$work/.out")"
[ "$(fetched)" -lt 40 ] || fail "it listed all files first"
umount_dlfs "$work/slow"
