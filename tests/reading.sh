#!/bin/sh
# reading.sh: checks that the tool builds for systems other than Linux, where it reads results and measures nothing (docs/porting.md).
set -eu
cd "$(dirname "$0")/.."
for system in aarch64-apple-darwin x86_64-unknown-freebsd x86_64-pc-windows-gnu; do
	if command -v rustup >/dev/null 2>&1; then
		rustup target add "$system"
	fi
	cargo check --locked --target "$system" -p unixmark
	echo "$system: what reads results builds"
done
