#!/bin/bash
# The server is asked to leave while all of its parts are at work: reads, listings, changed files, changed pages,
# commands.  None is let go while another uses it, which a sanitizer sees; a crash all see.  ROUNDS by hand.
. "$(dirname "$0")/common.sh"

src=$work/src mnt=$work/mnt
mkdir -p "$mnt"
for d in 1 2 3 4; do
	mkdir -p "$src/$d"
	for i in $(seq 40); do head -c $((9000 * d + i)) /dev/urandom > "$src/$d/$i"; done
done
head -c 65536 /dev/zero > "$src/scribbled"
options=memory=4MiB,verify=ttl,verify_ttl=1s,store.path=$work/store,store.size=8MiB,store.keep_free=0

# use.py SOURCE MOUNT HOW FILE: without a pause and whatever it says, so that there is always more of it to answer,
# as long as it is mounted
cat > "$work/use.py" << 'END'
import glob, mmap, os, sys
source, mount, how, begun = sys.argv[1:]
names = [f"{d}/{i}" for d in range(1, 5) for i in range(1, 41)]
turn = 0
def read():
    fd = os.open(f"{mount}/{names[turn % len(names)]}", os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.read(fd, 1 << 20)
    os.close(fd)
def ask():
    os.getxattr(mount, ["user.dlfs.belief", "user.dlfs.error", "user.dlfs.warm"][turn % 3])
    open(f"{mount}/.dlfs/{['stats.json', 'order', 'metrics'][turn % 3]}").read()
    os.listdir(f"{mount}/.dlfs/epoch/{turn % 3}")
def order():
    os.setxattr(mount, "user.dlfs.order", [b"sequential", b"torch:seed=1", b"auto"][turn % 3])
def warm():                            # for long enough that fetches of it are under way
    os.setxattr(mount, f"user.dlfs.{'warm' if turn % 200 else ['drop', 'cancel'][turn // 200 % 2]}", b"")
def change():                          # a new name, and in time another file for an old one
    name = f"{1 + turn % 4}/new{turn % 64}"
    with open(f"{source}/new", "w") as f:
        f.write(str(turn))
    os.rename(f"{source}/new", f"{source}/{name}")
    os.setxattr(mount, "user.dlfs.refresh", b"1")
    os.stat(f"{mount}/{name}")
def scribble():                        # what is stored into a shared mapping comes to the server as a write
    fd = os.open(f"{mount}/scribbled", os.O_RDWR)
    with mmap.mmap(fd, 65536) as m:
        os.close(fd)
        for at in range(0, 65536, 4096):
            m[at] = 1
        m.flush()
while True:
    try:
        globals()[how]()
    except OSError:
        if not os.path.ismount(mount): # nobody can ask it any more, and it needs the processor
            break
    turn += 1
    if turn == 1:
        open(begun, "w").close()
END
all_begun() { [ "$(find "$work" -name 'begun.*' | wc -l)" = "${#users[@]}" ]; }
answers() { [ -e "$mnt/1" ] && [ -e "$mnt/.dlfs/stats.json" ]; }

remember "$mnt"
for round in $(seq "${ROUNDS:-6}"); do
	# In every other round fetches are under way for long.
	[ $((round % 2)) = 1 ] && slow= || slow=,source_layers=slow:latency=30ms
	"$DLFS" mount -f "$src" "$mnt" -o "$options$slow" 2> "$work/log.$round" & server=$!
	wait_for 60 answers || fail "round $round: no mount: $(cat "$work"/log.*)"
	users=()
	rm -f "$work"/begun.*
	for how in read read ask order warm change scribble; do
		python3 "$work/use.py" "$src" "$mnt" $how "$work/begun.${#users[@]}" 2> /dev/null & users+=($!)
	done
	wait_for 60 all_begun || fail "round $round: not all are at work"
	sleep "0.$((RANDOM % 600 + 300))"
	# The parent, or the server alone, whose end the parent sees.
	[ $((round % 3)) != 0 ] && asked=$server || asked=$(stat_of pid)
	kill -TERM "$asked"
	wait $server || fail "round $round: it ended with $?: $(cat "$work"/log.*)"
	! grep -q 'Sanitizer\|ended with' "$work/log.$round" || fail "round $round: $(cat "$work"/log.*)"
	kill "${users[@]}" 2> /dev/null || true
	wait "${users[@]}" 2> /dev/null || true
done
