#!/bin/sh
# install.sh [VERSION]: puts unixmark's static tool, its manual and completions below $PREFIX (/usr/local for root, else ~/.local).
# Downloads from $UNIXMARK_FROM, a directory or an address with the files of a release, and runs nothing before its sum was right.
set -eu
version=${1:-@VERSION@}
from=${UNIXMARK_FROM:?where a release is: UNIXMARK_FROM=ADDRESS-OR-DIRECTORY}
if [ "$(id -u)" -eq 0 ]; then prefix=${PREFIX:-/usr/local}; else prefix=${PREFIX:-$HOME/.local}; fi

give_up() {
	echo "install.sh: $*" >&2
	exit 1
}
get() {
	case $from in
	https://*)
		if command -v curl >/dev/null 2>&1; then
			curl --proto =https --tlsv1.2 -fsSL -o "$2" "$from/$1"
		else
			wget -q --https-only -O "$2" "$from/$1"
		fi
		;;
	/* | .*) cp "$from/$1" "$2" ;;
	*) give_up "$from is neither a directory nor an https address" ;;
	esac
}

case $(uname -m) in
x86_64 | aarch64 | riscv64 | ppc64le | s390x | armv7l) machine=$(uname -m) ;;
armv8l) machine=armv7l ;;
*) give_up "there is no build for $(uname -m); \`cargo install --locked unixmark\` makes one" ;;
esac
file=unixmark-$version-$machine.tar.gz
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
get SHA256SUMS "$work/SHA256SUMS" || give_up "$from has no SHA256SUMS"
get "$file" "$work/$file" || give_up "$from has no $file"
if [ -n "${UNIXMARK_SIGNERS:-}" ]; then
	get SHA256SUMS.sig "$work/SHA256SUMS.sig" || give_up "$from has no SHA256SUMS.sig"
	ssh-keygen -Y verify -f "$UNIXMARK_SIGNERS" -I release@unixmark -n file -s "$work/SHA256SUMS.sig" <"$work/SHA256SUMS" >&2 ||
		give_up "the signature of SHA256SUMS is wrong"
fi
(cd "$work" && grep -F "  $file" SHA256SUMS | sha256sum --check --status -) || give_up "$file does not have the sum that SHA256SUMS gives"
tar -C "$work" -xzf "$work/$file"
mkdir -p "$prefix"
cp -R "$work/unixmark-$version-$machine/bin" "$work/unixmark-$version-$machine/share" "$prefix/"
"$prefix/bin/unixmark" --version
echo "installed in $prefix; try \`unixmark doctor\`"
