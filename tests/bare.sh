#!/bin/sh
# bare.sh TOOL [REPOSITORY]: runs the tool in a root directory where nothing else is: no C library, no shell, no compiler. The libraries of a tool that
# is not static are put beside it, and this is said; so are the tables that a tool for development reads from the repository. Ends with 77 where such a root cannot be made.
set -eu
tool=$(realpath "$1")
root=$(mktemp -d /tmp/unixmark-bare-XXXXXX)
trap 'rm -rf --one-file-system "$root"' EXIT
mkdir "$root/bin" "$root/proc" "$root/dev" "$root/sys" "$root/tmp"
touch "$root/bin/unixmark"
libraries=$(ldd "$tool" 2>/dev/null | grep -o '/[^ ]*' || true)
for library in $libraries; do
	mkdir -p "$root/${library%/*}"
	cp "$library" "$root/$library"
done
# shellcheck disable=SC2086 # one line
[ -z "$libraries" ] || echo "beside the tool, which is not static:" $libraries

user=
[ "$(id -u)" -eq 0 ] || user=--map-root-user
space="unshare $user --mount --pid --fork --kill-child"
$space true 2>/dev/null || { echo "it needs root, or namespaces for users"; exit 77; }

# What follows sees the mounts, and they go with it.
exec 3>&1
$space sh -eu -s "$tool" "$root" "${2:-}" <<'INSIDE'
mount --bind "$1" "$2/bin/unixmark"
mount -t proc proc "$2/proc"
mount --rbind /dev "$2/dev"
mount --rbind /sys "$2/sys"
mount -t tmpfs tmpfs "$2/tmp"
if [ -n "$3" ]; then
	mkdir -p "$2/$3/crates/catalogue"
	cp -r "$3/catalogue" "$2/$3/"
fi
root=$2 said=$2/tmp/said chroot=$(command -v chroot)

# is STATUS WORDS …: the tool ends with STATUS, or with one of several: 0|1.
is() {
	wanted=$1 status=0
	shift
	env -i ${home-HOME=/tmp} "$chroot" "$root" /bin/unixmark "$@" </dev/null >"$said" 2>&1 || status=$?
	case "|$wanted|" in *"|$status|"*) ;; *) echo "unixmark $* ended with $status, not $wanted:" >&2; cat "$said" >&2; exit 1 ;; esac
}
# says TEXT …: and said so.
says() {
	for text; do
		grep -qF -- "$text" "$said" || { echo "'$text' was not said, but:" >&2; cat "$said" >&2; exit 1; }
	done
}

# 1 while the machine is busy.
is '0|1' doctor
says 'This machine'
is 0 run syscall pipe dhry2reg execl shell1 C ubgears -c 1 -i 2 --procedure quick --quiet
is 0 report
says 'Programs:      portable build' 'System Call Overhead' 'Pipe Throughput' 'Dhrystone 2' 'Execl Throughput' 'so the portable programs ran'
is 0 report --format json
says '"errors": []' 'it needs `sort`, which is not' 'it needs `gcc`, which is not' 'unixmark-graphics is missing'
is 0 report --format html
says '</html>'
is 0 latency audio -w none -t 1 -i 1 --quiet
is 3 run syscall --build native --quiet
# The shell tests need a shell.
is '0|1' card --quick
says 'System index' 'Mixed' 'Wake-ups:' 'This machine is'
is 0 list runs
home=
is 0 run syscall -c 1 --quick --quiet
says 'there is no home directory, so results are kept in /tmp/'
umount "$root/proc"
is 0 ab -q -N --runs 3 '/bin/unixmark --version' '/bin/unixmark  --version'
INSIDE
echo "it works in an empty root"
