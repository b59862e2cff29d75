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
options=memory=4MiB,store.path=$work/store,store.size=8MiB,store.keep_free=0,verify=ttl,verify_ttl=1s

# scribble.py FILE: what is stored into a shared mapping comes to the server as a write
cat > "$work/scribble.py" << 'END'
import mmap, os, sys
while True:
    try:
        fd = os.open(sys.argv[1], os.O_RDWR)
        with mmap.mmap(fd, 65536) as m:
            while True:
                for at in range(0, 65536, 4096):
                    m[at] = 1
                try:
                    m.flush()
                except OSError as e:
                    if e.errno != 30:      # EROFS, as it must be
                        raise
    except OSError:
        sys.exit()
END
read_all() { while cat "$mnt"/*/* > /dev/null; do :; done; }
list_all() { while ls -lR "$mnt" > /dev/null && getfattr -n user.dlfs.state "$mnt"/1/*; do :; done; }
change() {
	while "$DLFS" refresh "$mnt"; do
		for i in 1 2 3; do echo $RANDOM > "$src/$i/changed$((RANDOM % 9))"; done
	done
}
tell() {
	while "$DLFS" order "$mnt" torch:seed=$RANDOM && "$DLFS" warm "$mnt" && "$DLFS" stats "$mnt"; do
		"$DLFS" drop "$mnt"
	done
}
answers() { [ -e "$mnt/1" ] && [ -e "$mnt/.dlfs/stats.json" ]; }

remember "$mnt"
for round in $(seq "${ROUNDS:-5}"); do
	"$DLFS" mount -f "$src" "$mnt" -o "$options" 2> "$work/log" & server=$!
	wait_for 60 answers || fail "round $round: no mount: $(cat "$work/log")"
	users=()
	for use in read_all read_all list_all change tell; do
		$use > /dev/null 2>&1 & users+=($!)
	done
	python3 "$work/scribble.py" "$mnt/scribbled" 2> /dev/null & users+=($!)
	sleep "0.$((RANDOM % 600 + 300))"
	# Half of the time the server alone, whose end the parent sees.
	[ $((round % 2)) = 1 ] && asked=$server || asked=$(stat_of pid)
	kill -TERM "$asked"
	wait $server || fail "round $round: it ended with $?: $(cat "$work/log")"
	! grep -q 'Sanitizer\|ended with' "$work/log" || fail "round $round: $(cat "$work/log")"
	for user in "${users[@]}"; do
		kill "$user" 2> /dev/null || true
		wait "$user" 2> /dev/null || true
	done
done
