# What the mount tests share; sourced first.  $work is a folder of the test's own that goes away
# with everything that is mounted in it.  A test ends with 0, fails with a reason, or skips.
set -eu -o pipefail
: "${DLFS:?set DLFS to the built dlfs}"

work=$(mktemp -d "${TMPDIR:-/tmp}/dlfs-test.XXXXXX")
chmod 755 "$work"
export XDG_STATE_HOME=$work/state
export LSAN_OPTIONS=suppressions=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/lsan.supp:print_suppressions=0
mounts=()
cleanups=()

fail() { echo "FAIL: $*" >&2; exit 1; }
skip() { echo "SKIPPED: $*" >&2; exit 77; }
expect_fail() { if "$@" > "$work/.out" 2>&1; then fail "succeeded, but should not: $*"; fi; }
on_exit() { cleanups+=("$(printf '%q ' "$@")"); }
remember() { mounts+=("$1"); }

# wait_for SECONDS COMMAND…: until it succeeds
wait_for() {
	local end=$((SECONDS + $1)); shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

# own_processes [NAME]: pids of what this test has started, whoever is its parent now; of that name only
own_processes() {
	local at
	for at in $(grep -slzxF "XDG_STATE_HOME=$XDG_STATE_HOME" /proc/[0-9]*/environ); do
		at=${at%/environ}
		[ $# = 0 ] || [ "$(cat "$at/comm" 2> /dev/null)" = "$1" ] || continue
		echo "${at#/proc/}"
	done
}

# mount_dlfs SOURCE MOUNTPOINT [OPTIONS]
mount_dlfs() {
	"$DLFS" mount "$1" "$2" ${3:+-o "$3"} || fail "dlfs mount $* ended with $?"
	remember "$2"
}
umount_dlfs() { "$DLFS" umount "$1"; }

# stat_of KEY: what the mount at $mnt says of itself
stat_of() { jq ".$1" "$mnt/.dlfs/stats.json"; }

# other_server PID: the mount at $mnt has another server than that, which answers
other_server() { local now; now=$(timeout 60 jq .pid "$mnt/.dlfs/stats.json" 2> /dev/null) && [ "$now" != "$1" ]; }

# same_past_cache SOURCE MOUNTED: each file of a folder has the same bytes, read past the page cache
same_past_cache() { python3 "$(dirname "${BASH_SOURCE[0]}")/../lib/same_past_cache.py" "$1" "$2"; }

# need_pil: $python, with PIL; or skip
need_pil() {
	python=${PYTHON:-/usr/bin/python3}
	"$python" -c 'import PIL' 2> /dev/null || skip "$python has no PIL"
}

# make_cgroup LIMIT: a memory cgroup, $group, of whichever version is here; or skip
make_cgroup() {
	if [ -f /sys/fs/cgroup/cgroup.controllers ] && grep -q memory /sys/fs/cgroup/cgroup.controllers; then
		group=/sys/fs/cgroup/dlfs-test-$$
		mkdir "$group" || skip "by design: no cgroup can be made here"
		echo "$1" > "$group/memory.max" || skip "by design: the memory controller is not there"
	elif [ -d /sys/fs/cgroup/memory ]; then
		group=/sys/fs/cgroup/memory/dlfs-test-$$
		mkdir "$group" || skip "by design: no cgroup can be made here"
		echo "$1" > "$group/memory.limit_in_bytes"
	else
		skip "by design: no memory cgroup on this machine"
	fi
	on_exit rmdir_cgroup "$group"
}
rmdir_cgroup() { wait_for 10 rmdir "$1" 2> /dev/null || true; }

clean_up() {
	local code=$? at i
	trap - EXIT
	jobs -p | xargs -r kill 2> /dev/null || true
	for at in "${mounts[@]}"; do
		! grep -qF " $at " /proc/self/mounts ||
			timeout 20 "$DLFS" umount -l "$at" > /dev/null 2>&1 || umount -l "$at" 2> /dev/null || true
	done
	for ((i = ${#cleanups[@]} - 1; i >= 0; i--)); do eval "${cleanups[i]}" || true; done
	if [ $code = 0 ] && ! wait_for 60 no_process_left; then
		echo "FAIL: processes are left:" $(own_processes dlfs) >&2
		code=1
	fi
	kill -9 $(own_processes) 2> /dev/null || true
	rm -rf --one-file-system "$work" 2> /dev/null || true
	exit $code
}
no_process_left() { [ -z "$(own_processes dlfs)" ]; }
trap clean_up EXIT
trap 'exit 130' INT TERM
