#!/bin/sh
# install.sh [--unsigned] [VERSION]: puts unixmark's static tool, its manual and completions below $PREFIX (/usr/local for root, else
# ~/.local). It downloads from $UNIXMARK_FROM, a directory or an address with the files of a release, and installs only what the holder of
# the key below signed (or one of the keys in $UNIXMARK_SIGNERS, a file as `ssh-keygen -Y verify` reads it). --unsigned does without a
# signature: then whoever serves the files decides what is installed.
set -eu
signers='@SIGNERS@'
unsigned=
if [ "${1:-}" = --unsigned ]; then
	unsigned=yes
	shift
fi
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
# Gives up unless SHA256SUMS is signed.
check_signature() {
	if [ -n "${UNIXMARK_SIGNERS:-}" ]; then
		cp "$UNIXMARK_SIGNERS" "$work/signers" || give_up "$UNIXMARK_SIGNERS cannot be read"
	else
		case $signers in
		"release@unixmark "*) printf '%s\n' "$signers" >"$work/signers" ;;
		*) give_up "this install.sh was made without a key; take a release's, or name the key: UNIXMARK_SIGNERS=FILE" ;;
		esac
	fi
	command -v ssh-keygen >/dev/null 2>&1 || give_up "ssh-keygen is missing, which checks signatures; install openssh-client"
	get SHA256SUMS.sig "$work/SHA256SUMS.sig" || give_up "$from has no SHA256SUMS.sig: it is not signed, and nothing was installed"
	ssh-keygen -Y verify -f "$work/signers" -I release@unixmark -n file -s "$work/SHA256SUMS.sig" <"$work/SHA256SUMS" >&2 ||
		give_up "the signature of SHA256SUMS is wrong: it is not the release's, and nothing was installed"
}
# Puts a file of the release in its place, by a rename: who runs the old one goes on with it, and nobody sees half of the new one.
put() {
	folder=$prefix/${1%/*}
	mkdir -p "$folder"
	new=$(mktemp "$folder/.unixmark-XXXXXX")
	if ! { cp -p "$tree/$1" "$new" && mv -fT "$new" "$prefix/$1"; }; then
		rm -f "$new"
		give_up "$prefix/$1 cannot be written"
	fi
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
if [ -z "$unsigned" ]; then
	check_signature
else
	echo "install.sh: WARNING: --unsigned: nobody vouches for what $from serves, and it will be run" >&2
fi
get "$file" "$work/$file" || give_up "$from has no $file"
(cd "$work" && grep -F "  $file" SHA256SUMS | sha256sum --check --status -) || give_up "$file does not have the sum that SHA256SUMS gives"
tar -C "$work" --no-same-owner -xzf "$work/$file"
tree=$work/unixmark-$version-$machine
(cd "$tree" && find share bin -type f) >"$work/files"
while IFS= read -r name; do
	put "$name"
done <"$work/files"
"$prefix/bin/unixmark" --version
echo "installed in $prefix; try \`unixmark doctor\`"
