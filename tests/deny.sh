#!/bin/sh
# deny.sh: holds the crates that the tool is made of to deny.toml: their licences, where they come from, which are there twice; and, where the
# database of advisories (RustSec) can be reached, what is known against them.
set -eu
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
deny=$target/tools/bin/cargo-deny
# Once. Not optimised: that takes a minute instead of three, and it runs for a second.
[ -x "$deny" ] || env -u CARGO_TARGET_DIR CARGO_PROFILE_DEV_DEBUG=false cargo install --locked --quiet --debug --root "$target/tools" cargo-deny@0.20.2
"$deny" --locked check --deny warnings licenses bans sources
if timeout 120 "$deny" fetch db >/dev/null 2>&1; then
	"$deny" --locked check --disable-fetch advisories
else
	echo "skipped: tests/deny.sh: the database of advisories cannot be reached" >&2
fi
