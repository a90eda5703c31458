#!/bin/sh
# packages.sh TOOL GRAPHICS: makes every package of the static tool (dist/pack), has lintian and rpmlint look at them, installs each in an empty
# root by the system's own installer, and compares two commands there. Ends with 77 where such a root cannot be made.
set -eu
cd "$(dirname "$0")/.."
repository=$PWD
tool=$(realpath "$1") graphics=$(realpath "$2")
architecture=$(uname -m)

[ "$(id -u)" -eq 0 ] || { echo "it needs root"; exit 77; }
unshare --mount --pid --fork true 2>/dev/null || { echo "it needs namespaces"; exit 77; }
for needed in dpkg lintian rpm rpmbuild rpmlint python3; do
	command -v $needed >/dev/null || { echo "it needs $needed"; exit 77; }
done

work=$(mktemp -d /tmp/unixmark-packages-XXXXXX)
trap 'rm -rf --one-file-system "$work"' EXIT
export CARGO_TARGET_DIR="$work" HOMEPAGE=https://project.example/unixmark
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
out=$work/dist
mkdir -p "$out" "$work/tools/bin" "$work/dist-$architecture"
cp "$tool" "$graphics" "$work/dist-$architecture/"
strip "$work/dist-$architecture/"*
# The list of components needs no tool built here.
printf '#!/bin/sh\necho {} >unixmark-components.json\n' >"$work/tools/bin/cargo-cyclonedx"
chmod +x "$work/tools/bin/cargo-cyclonedx"
dist/pack "$architecture" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
dist/sums >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cd "$out"

# Its warning about root is about whoever reads strangers' packages.
lintian --allow-root --fail-on error,warning -- *.deb
rpmlint -c "$repository/dist/rpm/rpmlint.toml" -- *.rpm >"$work/log" || true
grep -q ' 0 errors, 0 warnings' "$work/log" || { cat "$work/log"; exit 1; }

# root NAME: an empty root directory.
root() {
	mkdir -p "$work/$1/tmp" "$work/$1/dev" "$work/$1/proc"
	echo "$work/$1"
}
# try ROOT PROGRAM: two commands are compared in a root, and the answer names them.
try() {
	# shellcheck disable=SC2016 # for the inner shell
	said=$(unshare --mount --pid --fork sh -eu -c '
		mount -t proc proc "$1/proc"
		mount --rbind /dev "$1/dev"
		exec env -i HOME=/tmp "$(command -v chroot)" "$1" "$2" ab -q -N --runs 3 "$2 --version" "$2  --version"
	' sh "$1" "$2" </dev/null 2>&1) || { echo "$1: $said"; exit 1; }
	case $said in *--version*) echo "${1##*/}: runs" ;; *) echo "$1: $said"; exit 1 ;; esac
}

at=$(root tarball)
tar -C "$at" -xzf "unixmark-"*"-$architecture.tar.gz" --strip-components=1
try "$at" /bin/unixmark

at=$(root installer)
UNIXMARK_FROM=$out PREFIX=$at/usr sh install.sh --unsigned >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
try "$at" /usr/bin/unixmark

at=$(root deb)
mkdir -p "$at/var/lib/dpkg/info" "$at/var/lib/dpkg/updates"
touch "$at/var/lib/dpkg/status"
dpkg --root="$at" --log=/dev/null -i ./*.deb >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
try "$at" /usr/bin/unixmark

at=$(root rpm)
# Debian's rpm wants to be told that the root is none of Debian's.
rpm --force-debian --root "$at" -i ./*.rpm >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
try "$at" /usr/bin/unixmark

at=$(root wheel)
python3 -m venv "$work/python" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/python/bin/pip" install --quiet --no-index --no-deps --root "$at" --prefix /usr ./*.whl >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
try "$at" /usr/bin/unixmark

# The archive is its layers, named by their sums; podman reads it where it is installed.
at=$(root image)
mkdir "$work/layout"
tar -C "$work/layout" -xf ./*.oci.tar
(cd "$work/layout/blobs/sha256" && for blob in *; do echo "$blob  $blob"; done | sha256sum --check --quiet)
layer=$(sed -n 's/.*"layers":\[{[^}]*"digest":"sha256:\([0-9a-f]*\)".*/\1/p' "$work/layout/blobs/sha256/"*)
tar -C "$at" -xzf "$work/layout/blobs/sha256/$layer"
try "$at" /bin/unixmark
if command -v podman >/dev/null; then
	podman() { command podman --root "$work/storage" --runroot "$work/run" --storage-driver vfs "$@"; }
	podman load --quiet -i ./*.oci.tar >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
	podman images --format '{{.Repository}}:{{.Tag}}' | grep -q unixmark || { podman images; exit 1; }
	podman rmi --all --force >"$work/log" 2>&1
fi
