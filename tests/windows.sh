#!/bin/sh
# windows.sh TOOL NATIVE: runs the tool for Windows under Debian's wine, and compares its reports of recorded runs with those of this
# machine's tool, byte by byte.
set -eu
tool=$(realpath "$1") native=$(realpath "$2")
cd "$(dirname "$0")/.."
work=$(mktemp -d /var/tmp/unixmark-windows-XXXXXX)
export WINEPREFIX="$work/wine" WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml=' DISPLAY='' NO_COLOR=1
trap 'wineserver --kill; wineserver --wait; rm -rf "$work"' EXIT
wineboot --init >/dev/null 2>&1
x86_64-w64-mingw32-gcc -shared -o "$work/bcryptprimitives.dll" tests/prng.c -ladvapi32
cp "$tool" "$work/unixmark.exe"
tool=$work/unixmark.exe
# Where wine has this machine's files.
export UNIXMARK_RESULTS="Z:$work/results"
said=$work/said

# is STATUS TEXT WORDS …: the tool ends with STATUS and says TEXT.
is() {
	wanted=$1 text=$2 status=0
	shift 2
	wine "$tool" "$@" </dev/null >"$said" 2>&1 || status=$?
	if [ "$status" -ne "$wanted" ] || ! grep -qF -- "$text" "$said"; then
		echo "windows: unixmark $* ended with $status, not $wanted, or did not say '$text':" >&2
		cat "$said" >&2
		exit 1
	fi
	echo "windows: $*: as it should"
}

is 2 'Measuring needs Linux'
is 3 'needs Linux; report, compare' run index -c 1 --help
is 3 'needs Linux; report, compare' fleet slurm -- run
is 0 'imported-2018-06-25-01' import tests/vectors/unixbench_1copy_report.txt
is 0 'imported' list runs
is 0 'it needs Linux' list tests
is 0 '.TH UNIXMARK' man report
is 0 'exported: 1 run' export --parquet "$work/archive"
is 0 'index.html' site tests/runs/index tests/runs/classic --into "$work/site"
is 0 'n10' collect tests/runs/fleet --into "$work/fleet"
is 0 'the measurement' fleet report "$work/fleet"
is 0 'B against A' compare tests/runs/index tests/runs/classic

sh tests/same-reports.sh windows "$native" wine "$tool"
