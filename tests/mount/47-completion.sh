#!/bin/bash
# What bash completes is all that --help tells, and that is all that there is.
. "$(dirname "$0")/common.sh"

root=$(cd "$(dirname "$0")/../.." && pwd)
compopt() { :; }       # works only while a completion is under way
findmnt() { printf '%s\n' "$work/a b" "$work/mnt"; }
. "$root/docs/dlfs.bash-completion"

# completes LINE: what is offered at its end, a line each; = and : begin words, as in bash
completes() {
	local words
	COMP_LINE=$1 COMP_POINT=${#1}
	words=$(sed 's/[=:]/ & /g' <<< "$1x")
	read -ra COMP_WORDS <<< "$words"
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_dlfs "$DLFS" "$(sed 's/x$//' <<< "${COMP_WORDS[COMP_CWORD]}")" "${COMP_WORDS[COMP_CWORD - 1]}"
	[ ${#COMPREPLY[@]} = 0 ] || printf '%s\n' "${COMPREPLY[@]}"
}
# offers LINE WORD…: at least these
offers() {
	local line=$1 word offered; shift
	offered=$(completes "$line")
	[ $# -gt 0 ] || fail "nothing to look for after \"$line\""
	for word; do
		grep -qxF -- "$word" <<< "$offered" || fail "\"$line\" is not completed to $word, but to: $offered"
	done
}

commands=$(sed -n 's/^  *\.name = "\(.*\)",/\1/p;s/^\t\.name = "\(.*\)",/\1/p' "$root"/fs/cli/cmd_*.c)
[ "$(wc -w <<< "$commands")" -ge 10 ] || fail "commands: $commands"
offers "dlfs " $commands help --help --version
sorted() { sort | tr '\n' ' '; }
[ "$(completes "dlfs " | sorted)" = "$(printf '%s\n' $commands help --help --version | sorted)" ] ||
	fail "what is offered first: $(completes "dlfs ")"
offers "dlfs help " $commands
offers "dlfs um" umount

# Each option that getopt knows is told by --help, and offered.
for source in "$root"/fs/cli/cmd_*.c; do
	options=$(sed -n 's/^\t{ "\([a-z-]*\)", \(no\|required\)_argument.*/--\1/p' "$source")
	for command in $(sed -n 's/^\t\.name = "\(.*\)",/\1/p' "$source"); do
		offers "dlfs $command mnt -" --help $options
		help=$("$DLFS" $command --help)
		for option in $options; do
			grep -q -- "^  \(-[a-zA-Z], \)\?$option\( \|$\)" <<< "$help" ||
				fail "dlfs $command --help does not tell $option"
		done
	done
done
offers "dlfs profile . --re" --receive --report

# Each setting, and what it may be; not only the first of a list.
settings=$(sed -n 's/^PARAM([^"]*"\([^"]*\)".*/\1=/p' "$root/config/params.def")
flags=$(sed -n 's/^\t{ "\([a-z_]*\)", offsetof(struct config, [a-z_]*), true },/\1/p' "$root/config/options.c")
[ "$(wc -w <<< "$settings")" -ge 20 ] && [ "$(wc -w <<< "$flags")" -ge 4 ] || fail "$settings $flags"
offers "dlfs mount src mnt -o " $settings $flags
offers "dlfs mount src mnt -o ver" verify= verify_ttl=
offers "dlfs mount src mnt --options nonempty,ver" nonempty,verify=
offers "dlfs mount src mnt -o memory=8GiB,ver" 8GiB,verify=
offers "dlfs mount src mnt -o verify=" mount ttl never
offers "dlfs mount src mnt -o lead=8,memory=a" auto
[ -z "$(completes "dlfs mount src mnt -o a/b=" 2>&1)" ] || fail "it says of what is no setting"
kinds=$(sed -n 's/^\t{ "\([a-z-]*\)", ORDER_.*/\1/p' "$root/prefetch/order/spec.c")
for kind in $kinds; do
	for line in "dlfs mount src mnt -o order=" "dlfs order mnt "; do
		grep -q "^$kind\(:\|$\)" <<< "$(completes "$line")" || fail "$line is not completed to $kind"
	done
done
offers "dlfs order mnt torch:s" seed=
[ "$(wc -w <<< "$kinds")" -ge 7 ] || fail "orders: $kinds"

# Places.
cd "$work"
mkdir folder; touch file
for command in umount stats order refresh warm drop; do offers "dlfs $command $work/" "$work/a b" "$work/mnt"; done
offers "dlfs umount fo" folder
offers "dlfs mount fo" folder
offers "dlfs mount folder folder -c fi" file
offers "dlfs profile folder --report fi" file
offers "dlfs order mnt list:fi" file
offers "dlfs warm mnt f" file folder
[ -z "$(completes "dlfs order mnt --epoch ")" ] || fail "a number is completed"
