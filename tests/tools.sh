#!/bin/sh
# tools.sh COMMAND:PACKAGE …: installs the packages of the commands, or files, that are missing, or names them.
missing='' packages=''
for pair; do
	{ command -v "${pair%%:*}" || [ -e "${pair%%:*}" ]; } >/dev/null 2>&1 && continue
	missing="$missing ${pair%%:*}"
	packages="$packages ${pair#*:}"
done
[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null 2>&1; then
	echo "missing:$missing; install them (Debian's packages are called$packages), then run make again" >&2
	exit 1
fi
if [ "$(id -u)" -eq 0 ]; then
	sudo=
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
	sudo="sudo -n"
else
	echo "missing:$missing; as root: apt-get install$packages" >&2
	exit 1
fi
echo "installing Debian's packages:$packages" >&2
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # several words
get() {
	$sudo apt-get install -y --no-install-recommends --no-remove $packages
}
get >/dev/null 2>&1 || { $sudo apt-get update && get; } || { echo "apt-get could not install$packages; missing:$missing" >&2; exit 1; }
