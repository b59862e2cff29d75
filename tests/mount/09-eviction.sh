#!/bin/bash
# Parallel readers over much more than memory holds, orders changing: no byte is wrong and the
# bound holds all the time.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir -p "$src/a" "$mnt"
python3 - "$src/a" <<'P'
import random, sys
r = random.Random(1)
for i in range(400):
    with open(f"{sys.argv[1]}/{i:04d}.jpg", "wb") as f:
        f.write(r.randbytes(r.randrange(1, 300000)))
with open(f"{sys.argv[1]}/big.bin", "wb") as f:
    f.write(r.randbytes(30000001))
P
mount_dlfs "$src" "$mnt" memory=12MiB,order=torch:seed=3
(cd "$src" && find . -type f -print0 | xargs -0 sha256sum) > "$work/sums"
for round in 1 2 3; do
	for reader in 1 2 3 4; do
		(shuf --random-source=<(yes $reader$round) "$work/sums" > "$work/sums.$reader"
			cd "$mnt" && sha256sum --quiet -c "$work/sums.$reader") &
		pids[$reader]=$!
	done
	while kill -0 "${pids[@]}" 2> /dev/null; do
		held=$(jq .memory_bytes "$mnt/.dlfs/stats.json")
		[ "$held" -le $((12 << 20)) ] || fail "$held bytes are held, 12 MiB are allowed"
		sleep 0.1
	done
	for reader in 1 2 3 4; do wait "${pids[$reader]}" || fail "reader $reader saw wrong bytes"; done
	setfattr -n user.dlfs.order -v "torch:seed=$round" "$mnt"
done
