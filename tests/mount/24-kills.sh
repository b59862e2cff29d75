#!/bin/bash
# All of dlfs is killed at random moments under load, again and again (KILLS times; 10): the next mount
# has the store, no reader ever sees a wrong byte, and in the end all is kept as if nothing had been.  In one of
# COMMANDS (3) rounds `dlfs warm` and `dlfs drop` go on meanwhile, and end with it.
. "$(dirname "$0")/common.sh"

kills=${KILLS:-10} seed=${SEED:-$$}
src=$work/src mnt=$work/mnt store=$work/store
files=150
mkdir -p "$src/a" "$mnt"
for i in $(seq $files); do head -c $((9000 + i * 131)) /dev/urandom > "$src/a/$i"; done
sleep 2.1              # a file that has just changed is not kept yet
options=memory=8MiB,store.path=$store,store.size=16MiB,store.keep_free=0,store.zstd=1
at_least() { [ "$(stat_of "$1")" -ge "$2" ]; }

# read.py SOURCE MOUNT COUNT SEED: so many files in random order, past the page cache, until an error ends it.
# A file that is being changed may be of either version, or ESTALE, or gone.
cat > "$work/read.py" << 'END'
import errno, os, random, sys
source, mount, count, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
random.seed(seed)
names = sorted(os.listdir(source))
for name in random.choices(names, k=count) if count else names:
    before = open(f"{source}/{name}", "rb").read()
    try:
        fd = os.open(f"{mount}/{name}", os.O_RDONLY)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        got = open(fd, "rb").read()
    except OSError as e:
        if e.errno in (errno.ESTALE, errno.ENOENT) and count:
            continue
        sys.exit(0 if count and e.errno in (errno.ENOTCONN, errno.ECONNABORTED, errno.EIO) else f"{name}: {e}")
    if got not in (before, open(f"{source}/{name}", "rb").read()):
        sys.exit(f"{name}: wrong bytes")
END
commands() { while "$DLFS" warm "$mnt" && "$DLFS" drop "$mnt"; do :; done > "$work/commands" 2>&1; }
wrong() { fail "seed $seed, kill $round: $1"; }

RANDOM=$seed
records=0
for round in $(seq "$kills"); do
	[ $((RANDOM % 8)) != 0 ] || rm -rf "$store/index"
	mount_dlfs "$src" "$mnt" "$options"
	server=$(stat_of pid)
	readers=()
	for i in 1 2 3; do
		python3 "$work/read.py" "$src/a" "$mnt/a" 100000 "$seed.$round.$i" 2> "$work/reader.$i" &
		readers+=($!)
	done
	# In some rounds once it was read in, and it has what it had.
	if [ $((RANDOM % 3)) = 0 ]; then
		wait_for 60 at_least store_limit 1 || wrong "the store does not open"
		# One segment has up to 27 of them; one file was changed.
		wait_for 30 at_least store_records $((records - 28)) ||
			wrong "of $records records $(stat_of store_records) are left"
	fi
	commander=
	[ $((RANDOM % ${COMMANDS:-3})) != 0 ] || { commands & commander=$!; }
	sleep "0.$((RANDOM % 500 + 100))"
	records=$(stat_of store_records)
	[ -z "$commander" ] || records=0
	kill -9 "$(ps -o ppid= -p "$server" | tr -d ' ')" "$server"
	umount -l "$mnt"
	commander_gone() { ! kill -0 "$commander" 2> /dev/null; }
	gone() { ! kill -0 "$server" 2> /dev/null; }
	wait_for 30 gone || wrong "the killed server is still there"
	[ -z "$commander" ] || wait_for 30 commander_gone || wrong "warm or drop hangs: $(cat "$work/commands")"
	for i in 0 1 2; do
		wait "${readers[i]}" || wrong "$(cat "$work/reader.$((i + 1))")"
	done
	head -c $((9000 + RANDOM)) /dev/urandom > "$work/new" && cat "$work/new" > "$src/a/$((RANDOM % files + 1))"
done

round=after
sleep 2.1
mount_dlfs "$src" "$mnt" "$options,order=none"
"$DLFS" refresh "$mnt"
all_kept() {
	python3 "$work/read.py" "$src/a" "$mnt/a" 0 0 || wrong "the mount after all"
	at_least store_records $files
}
wait_for 60 all_kept || wrong "$(stat_of store_records) of $files are kept"
fetched=$(stat_of bytes_fetched)
all_kept || wrong "$(stat_of store_records) of $files are kept"
[ "$(stat_of bytes_fetched)" = "$fetched" ] || wrong "the source was read for what is kept"
echo "$kills kills: no wrong byte; $(stat_of store_records) of $files kept, $(stat_of store_bad) records were damaged"
umount_dlfs "$mnt"
"$DLFS" verify "$store" | grep -q ' 0 damaged' || wrong "$("$DLFS" verify "$store")"
