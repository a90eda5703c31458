#!/bin/sh
# emulated.sh NATIVE ARCHITECTURE TOOL: runs the tool of another architecture under emulation, verb by verb, and compares its reports of
# recorded runs with those of this machine's tool, byte by byte. Prints a cell per check.
set -eu
native=$(realpath "$1") architecture=$2 tool=$(realpath "$3")
cd "$(dirname "$0")/.."
work=$(mktemp -d /var/tmp/unixmark-arch-XXXXXX)
trap 'rm -rf "$work"' EXIT
export UNIXMARK_RESULTS="$work/results" XDG_CACHE_HOME="$work/cache" XDG_CONFIG_HOME="$work/config" NO_COLOR=1
said=$work/said

emulated() {
	sh tests/emulate.sh "$architecture" "$tool" "$@"
}
# is STATUS WORDS …: the tool ends with STATUS, or with one of several: 0|1.
is() {
	wanted=$1 status=0
	shift
	emulated "$@" </dev/null >"$said" 2>&1 || status=$?
	case "|$wanted|" in *"|$status|"*) echo "$architecture: $*: as it should" ;; *)
		echo "$architecture: unixmark $* ended with $status, not $wanted:" >&2
		cat "$said" >&2
		exit 1
		;;
	esac
}
# says TEXT: and said so.
says() {
	grep -qF -- "$1" "$said" || { echo "$architecture: '$1' is not in what it said:" >&2; cat "$said" >&2; exit 1; }
}

is 0 --version
is 0 list tests
says 'dhry2reg'
is '0|1' doctor
says 'an emulator runs this tool'
is '0|1' run --procedure quick syscall --build portable
says 'an emulator ran the tool'
is '0|1' run index --procedure quick -c 1,2 --build portable
says 'System Benchmarks Index Score'
is 0 import tests/vectors/unixbench_1copy_report.txt
is 0 report latest
is 0 compare 'latest~1' 'latest~2'
is 0 list runs

sh tests/same-reports.sh "$architecture" "$native" sh tests/emulate.sh "$architecture" "$tool"
