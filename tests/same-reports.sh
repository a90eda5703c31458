#!/bin/sh
# same-reports.sh NAME NATIVE COMMAND…: the tool that COMMAND runs, called NAME, makes the same reports of recorded runs as the tool
# NATIVE of this machine, byte by byte.
set -eu
name=$1 native=$2
shift 2
cd "$(dirname "$0")/.."
work=$(mktemp -d /var/tmp/unixmark-reports-XXXXXX)
trap 'rm -rf "$work"' EXIT
same=0
for run in tests/runs/*/; do
	for format in text html json csv markdown; do
		# Both fail alike where a directory holds no run.
		"$native" report "$run" --format "$format" >"$work/here" 2>/dev/null || true
		"$@" report "$run" --format "$format" >"$work/there" 2>/dev/null || true
		cmp "$work/here" "$work/there" || { echo "$name: the report of $run as $format differs" >&2; exit 1; }
		[ ! -s "$work/here" ] || same=$((same + 1))
	done
done
[ "$same" -gt 50 ] || { echo "$name: only $same reports could be compared" >&2; exit 1; }
echo "$name: $same reports of recorded runs: the same bytes as here"
