#!/bin/bash
# Readers under a storm of signals, and stray signals to dlfs: no EINTR, no harm; a killed
# reader is gone at once.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir -p "$src" "$mnt"
for i in $(seq 300); do head -c 3000 /dev/urandom > "$src/$i"; done
mount_dlfs "$src" "$mnt" order=none,source_layers=slow:latency=5ms
pid=$(jq .pid "$mnt/.dlfs/stats.json")
(while :; do kill -PIPE "$pid"; kill -WINCH "$pid"; kill -CHLD "$pid"; sleep 0.01; done) 2> /dev/null &
storm=$!
python3 - "$src" "$mnt" <<'P' || { kill $storm; fail "a reader saw an error"; }
import os, signal, sys
signal.signal(signal.SIGALRM, lambda *_: None)
signal.siginterrupt(signal.SIGALRM, True)
signal.setitimer(signal.ITIMER_REAL, .001, .001)
src, mnt = sys.argv[1:]
for name in os.listdir(src):
    fd = os.open(f"{mnt}/{name}", os.O_RDONLY)
    assert os.read(fd, 5000) == open(f"{src}/{name}", "rb").read(), name
    os.close(fd)
signal.setitimer(signal.ITIMER_REAL, 0)
P
kill $storm
[ "$(jq .pid "$mnt/.dlfs/stats.json")" = "$pid" ] || fail "dlfs was replaced"
