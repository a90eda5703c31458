#!/bin/sh
# python.sh PACKAGE==VERSION …: installs Python packages below target/python, or what UNIXMARK_PYTHON names, and prints that directory.
# What is there already is left alone, so that asking again costs nothing and needs no network.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
place=${UNIXMARK_PYTHON:-$root/target/python}
mkdir -p "$place"
# Tests run side by side: one of them installs, the others wait.
exec 9>"$place/.lock"
flock 9 2>/dev/null || true
# Debian's venv brings no pip of its own without a further package, so that pip works from outside.
# The interpreter itself: a version manager's shim in its place (pyenv) would wait for a lock of its own after each installation.
python=$(python3 -c 'import sys; print(sys.executable)')
[ -x "$place/bin/python" ] || "$python" -m venv --without-pip "$place" 9>&- >&2
missing=
for package; do
	[ -e "$place/.has-$package" ] || missing="$missing $package"
done
if [ -n "$missing" ]; then
	# shellcheck disable=SC2086 # several words
	"$python" -m pip --python "$place/bin/python" install --quiet --disable-pip-version-check --no-input --retries 1 --timeout 30 $missing 9>&- >&2 || {
		echo "pip could not install$missing; is the network there?" >&2
		exit 1
	}
	for package in $missing; do
		rm -f "$place/.has-${package%%==*}=="*
		: >"$place/.has-$package"
	done
fi
echo "$place"
