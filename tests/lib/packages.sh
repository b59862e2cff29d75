# What ./run and ./test need from the distribution; sourced from the root of the project.

BUILD_PACKAGES=(gcc meson ninja-build pkg-config fuse3 libfuse3-dev liburing-dev libyaml-dev
	libxxhash-dev libjson-c-dev liblmdb-dev libzstd-dev libjpeg62-turbo-dev libturbojpeg0-dev
	libpng-dev zlib1g-dev python3)
TEST_PACKAGES=(clang libcriterion-dev python3-torch python3-torchvision python3-pil python3-numpy python3-skimage
	python3-lmdb libjpeg-turbo-progs squashfs-tools squashfuse bindfs attr bsdutils jq strace util-linux procps
	diffutils)

is_installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2> /dev/null)" = installed ]
}

# need_packages NAME…: install those that are missing
need_packages() {
	local name missing=() as_root=()
	if ! command -v apt-get > /dev/null; then
		echo "no apt-get here, so nothing is installed; needed are: $*" >&2
		return 0
	fi
	for name in "$@"; do
		is_installed "$name" || missing+=("$name")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	if [ "$(id -u)" != 0 ]; then
		command -v sudo > /dev/null || {
			echo "not root and no sudo; as root: apt-get install ${missing[*]}" >&2
			return 1
		}
		as_root=(sudo)
	fi
	echo "== installing ${missing[*]}"
	"${as_root[@]}" apt-get update -qq
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -qq --no-install-recommends "${missing[@]}"
}
