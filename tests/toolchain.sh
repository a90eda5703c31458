#!/bin/sh
# toolchain.sh [SUBCOMMAND:COMPONENT …]: sees that there is a Rust toolchain as new as Cargo.toml asks for, with these components.
# One that is missing or too old is installed for this user by rustup: Debian's, or rust-lang.org's once its checksum was right.
set -eu
here=$(dirname "$0")
cargo_home=${CARGO_HOME:-$HOME/.cargo}
PATH=$cargo_home/bin:$PATH
wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$here/../Cargo.toml")

has() {
	command -v "$1" >/dev/null 2>&1
}

# The version of the compiler that cargo would call, if there is one.
version() {
	if has cargo; then rustc --version 2>/dev/null | sed -n 's/^rustc \([0-9.]*\).*/\1/p'; fi
}

is_new_enough() {
	found=$(version)
	[ -n "$found" ] && [ "$(printf '%s\n' "$wanted" "$found" | sort -V | head -n 1)" = "$wanted" ]
}

give_up() {
	echo "$1; install Rust $wanted or later (https://rustup.rs), then run make again" >&2
	exit 1
}

fetch() {
	if has curl; then
		curl --proto =https --tlsv1.2 -fsSL -o "$2" "$1"
	else
		wget -q -O "$2" "$1"
	fi
}

# rust-lang.org's rustup with a first toolchain.
download() {
	case $(uname -m) in
	x86_64 | aarch64) ;;
	*) give_up "$why, and there is no rustup for $(uname -m) that this script knows" ;;
	esac
	has curl || has wget || sh "$here/tools.sh" "curl:curl ca-certificates" || 
		give_up "$why, and there is no curl or wget to fetch rustup with"
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	url=https://static.rust-lang.org/rustup/dist/$(uname -m)-unknown-linux-gnu/rustup-init
	{ fetch "$url" "$work/rustup-init" && fetch "$url.sha256" "$work/sum"; } ||
		give_up "$why, and static.rust-lang.org cannot be reached"
	[ "$(sha256sum <"$work/rustup-init" | cut -d ' ' -f 1)" = "$(cut -d ' ' -f 1 "$work/sum")" ] ||
		give_up "$why, and the rustup that was downloaded does not have the checksum that is published"
	chmod +x "$work/rustup-init"
	RUSTUP_INIT_SKIP_PATH_CHECK=yes "$work/rustup-init" -y -q --no-modify-path --profile minimal --default-toolchain stable >/dev/null ||
		give_up "$why, and rustup could not install it"
}

if ! is_new_enough; then
	if [ -n "$found" ]; then why="rustc $found is too old"; else why="Rust is missing"; fi
	echo "$why: installing it with rustup in $cargo_home and ${RUSTUP_HOME:-$HOME/.rustup}" >&2
	if ! has rustup && [ -n "$(apt-cache search --names-only '^rustup$' 2>/dev/null)" ]; then
		sh "$here/tools.sh" "rustup:rustup ca-certificates" || true
	fi
	if has rustup; then
		rustup toolchain install stable --profile minimal >&2 || give_up "$why, and rustup could not install it"
		# Whoever chose another one keeps it.
		rustup default >/dev/null 2>&1 || rustup default stable >&2
	else
		download
	fi
	is_new_enough || give_up "rustc is still ${found:-missing}; \`rustup default stable\` changes that"
fi

missing=
for pair; do
	cargo "${pair%%:*}" --version >/dev/null 2>&1 || missing="$missing ${pair#*:}"
done
[ -n "$missing" ] || exit 0
has rustup || give_up "this toolchain lacks$missing"
# shellcheck disable=SC2086 # several words
rustup component add $missing >&2 || give_up "rustup could not install$missing"
