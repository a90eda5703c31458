#!/bin/sh
# kernel.sh TOOL: starts Debian's arm64 kernel on a machine that qemu emulates, with the static TOOL for aarch64 in its memory, and checks
# what it does there: facts, topology, conditions, latency, a burn-in and what a setting costs. Its figures mean nothing. $KERNEL is the package
# of the kernel; it and a shell for the guest are downloaded once, and kept in target/kernel.
set -eu
tool=$(realpath "$1")
cd "$(dirname "$0")/.."
kept=$(realpath -m "${CARGO_TARGET_DIR:-target}/kernel")
KERNEL=${KERNEL:-linux-image-cloud-arm64}
work=$(mktemp -d /var/tmp/unixmark-kernel-XXXXXX)
trap 'rm -rf "$work"' EXIT

# apt with this architecture and places of its own: the system's have no part in it.
mkdir -p "$kept/lists/partial" "$kept/archives/partial"
: >"$kept/status"
cat >"$kept/apt.conf" <<CONF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "root";
Acquire::Languages "none";
Dir::State::Lists "$kept/lists";
Dir::State::Status "$kept/status";
Dir::Cache "$kept";
CONF
export APT_CONFIG="$kept/apt.conf"
if ! [ -e "$kept/$KERNEL" ]; then
	apt-get update -qq
	image=$(apt-cache depends "$KERNEL" | sed -n 's/^ *Depends: \(linux-image-.*\)/\1/p' | head -n 1)
	(cd "$kept" && apt-get download -qq "${image:-$KERNEL}" busybox-static)
	mkdir -p "$kept/busybox"
	dpkg-deb --fsys-tarfile "$kept"/busybox-static_*.deb | tar -x -C "$kept/busybox" ./bin
	dpkg-deb --fsys-tarfile "$kept/${image:-$KERNEL}"_*.deb | tar -x -C "$work" ./boot
	rm "$kept"/*.deb
	cp "$work"/boot/vmlinuz-* "$kept/$KERNEL"
fi

root=$work/root
mkdir -p "$root/bin" "$root/proc" "$root/sys" "$root/dev" "$root/tmp" "$root/var/tmp"
cp "$kept/busybox/bin/busybox" "$root/bin/"
cp "$tool" "$root/bin/unixmark"
cp tests/guest.sh "$root/init"
chmod +x "$root/init"
(cd "$root" && find . | cpio --quiet -o -H newc -R 0:0) >"$work/initramfs"

# Two clusters of two cores; those of the second have half the capacity.
set -- -cpu cortex-a72 -smp 4,sockets=1,clusters=2,cores=2,threads=1 -m 1G -nodefaults -nographic -serial stdio -no-reboot
qemu-system-aarch64 -machine virt,dumpdtb="$work/tree" "$@" </dev/null >/dev/null 2>&1
for cpu in 0:1024 1:1024 2:512 3:512; do
	fdtput -t u "$work/tree" "/cpus/cpu@${cpu%:*}" capacity-dmips-mhz "${cpu#*:}"
done
console=$kept/console
timeout --kill-after=5 "${PATIENCE:-300}" qemu-system-aarch64 -machine virt "$@" -dtb "$work/tree" -kernel "$kept/$KERNEL" \
	-initrd "$work/initramfs" -append 'console=ttyAMA0 panic=-1 quiet' </dev/null >"$work/console" 2>&1 ||
	{ cat "$work/console"; echo "the machine did not switch itself off in time" >&2; exit 1; }
tr -d '\r' <"$work/console" >"$console"

# step NAME STATUS TEXT …: what a step ended with (0, or one of several: [01]), and said.
step() {
	name=$1 status=$2
	shift 2
	grep -qx "#### end $name $status" "$console" || { echo "$name did not end with $status: see $console" >&2; exit 1; }
	sed -n "/^#### begin $name\$/,/^#### end $name /p" "$console" >"$work/said"
	for text; do
		grep -qF -- "$text" "$work/said" || { echo "$name did not say '$text': see $console" >&2; exit 1; }
	done
	echo "kernel: $name: as it should"
}
step doctor 1 'QEMU/KVM' 'storage.free'
step run 0 'System Call Overhead' 'Dhrystone 2'
step facts 0 '"cpu.model": "Arm Cortex-A72"' '"cpu.revision": "r0p3"' '"cpu.topology": "1 socket, 4 cores, 4 threads"' \
	'"cpu.clusters": "2 clusters: CPUs 0-1; 2-3"' '"cpu.capacity": "1024 ×2, 512 ×2"' '"2 kinds of cores"' \
	'"system.virtualisation": "QEMU/KVM"' '"kernel.clock_source": "arch_sys_counter"' '"errors": []'
step condition 0 'vm.swappiness=10'
step after 0 60 '[always]'
step latency 0 'Timer wake-up: wake-up latency' burn
step burnin 0 'No fault in 1 pass.'
step cost 0 'Cost of aslr=0' '/proc/sys/kernel/randomize_va_space = 0'
step aslr 0 2
# A window may pass without one call: the machine that is emulated is slow, and here may be busy.
step audit '[01]' 'Cost of audit=all' 'Trail of audit=all' 'rules: 1'
