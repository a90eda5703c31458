#!/bin/sh
# boots.sh TOOL: boots Debian's kernel by GRUB from a disk on a machine that qemu emulates, and has the static TOOL carry out an experiment over
# boots there: what mitigations cost. The tool is killed once while it measures, and the power fails once. Its figures mean nothing.
# $KERNELS names packages of kernels, $EXPERIMENT the words after `unixmark cost`. Packages are downloaded once, and kept in target/boots.
set -eu
tool=$(realpath "$1")
cd "$(dirname "$0")/.."
kept=$(realpath -m "${CARGO_TARGET_DIR:-target}/boots")
KERNELS=${KERNELS:-linux-image-cloud-amd64}
usual='boot:mitigations=off,auto --boots 6 syscall --quick -i 8'
EXPERIMENT=${EXPERIMENT:-$usual}
work=$(mktemp -d /var/tmp/unixmark-boots-XXXXXX)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# root/: the packages' files; boot/: what is on the disk.
mkdir -p "$kept" "$work/disk/boot/grub/i386-pc" "$work/initramfs"
for name in busybox-static $KERNELS; do
	[ -e "$kept/$name.deb" ] && continue
	package=$(apt-cache depends "$name" | sed -n 's/^ *Depends: \(linux-image-.*\)/\1/p' | head -n 1)
	(cd "$work" && apt-get download -qq "${package:-$name}" && mv ./*.deb "$kept/$name.deb")
done
for name in busybox-static $KERNELS; do
	dpkg-deb -x "$kept/$name.deb" "$work/root"
done
cp "$work"/root/boot/vmlinuz-* "$work/disk/boot/"

# What mounts the disk, the tool, and what GRUB's way needs.
initramfs=$work/initramfs
mkdir -p "$initramfs/bin" "$initramfs/proc" "$initramfs/sys" "$initramfs/dev" "$initramfs/tmp" "$initramfs/boot" "$initramfs/disk"
cp "$work/root/bin/busybox" "$initramfs/bin/"
cp "$tool" "$initramfs/bin/unixmark"
echo "$EXPERIMENT" >"$initramfs/experiment"
for file in "$(command -v grub-editenv)" $(ldd "$(command -v grub-editenv)" | grep -o '/[^ ]*'); do
	mkdir -p "$initramfs${file%/*}"
	cp -L "$file" "$initramfs$file"
done
for modules in "$work"/root/lib/modules/*; do
	for module in $(cd "$modules" && find . -name virtio_blk.ko -o -name 'virtio_pci*.ko' -o -name 'virtio.ko' -o -name 'virtio_ring.ko' \
		-o -name ext4.ko -o -name jbd2.ko -o -name mbcache.ko -o -name crc16.ko -o -name crc32c_generic.ko -o -name libcrc32c.ko); do
		mkdir -p "$initramfs/lib/modules/${modules##*/}"
		cp "$modules/$module" "$initramfs/lib/modules/${modules##*/}/"
	done
done
cp tests/boots-guest.sh "$initramfs/init"
chmod +x "$initramfs/init"
(cd "$initramfs" && find . | cpio --quiet -o -H newc -R 0:0) | gzip -1 >"$work/disk/boot/initrd.img"

# A menu in the form that grub-mkconfig gives it.
{
	cat <<'CFG'
if [ -s $prefix/grubenv ]; then
  set have_grubenv=true
  load_env
fi
if [ "${next_entry}" ] ; then
   set default="${next_entry}"
   set next_entry=
   save_env next_entry
   set boot_once=true
else
   set default="0"
fi
function savedefault {
  if [ -z "${boot_once}" ]; then
    saved_entry="${chosen}"
    save_env saved_entry
  fi
}
set timeout=0
CFG
	for kernel in "$work"/disk/boot/vmlinuz-*; do
		printf "menuentry 'Debian' --class debian \$menuentry_id_option 'gnulinux-%s' {\n\tsavedefault\n" "${kernel##*/vmlinuz-}"
		printf '\tlinux\t/boot/%s root=/dev/vda1 console=ttyS0 panic=1 quiet\n\tinitrd\t/boot/initrd.img\n}\n' "${kernel##*/}"
	done
	cat <<'CFG'
if [ -f  ${config_directory}/custom.cfg ]; then
  source ${config_directory}/custom.cfg
elif [ -z "${config_directory}" -a -f  $prefix/custom.cfg ]; then
  source $prefix/custom.cfg
fi
CFG
} >"$work/disk/boot/grub/grub.cfg"
echo '# of the administrator' >"$work/disk/boot/grub/custom.cfg"
grub-editenv "$work/disk/boot/grub/grubenv" create
cp /usr/lib/grub/i386-pc/*.mod /usr/lib/grub/i386-pc/*.lst "$work/disk/boot/grub/i386-pc/"

# Boot sector and GRUB's core before a partition of ext4.
grub-mkimage -O i386-pc -p '(hd0,msdos1)/boot/grub' -o "$work/core.img" biosdisk part_msdos ext2
cat /usr/lib/grub/i386-pc/boot.img "$work/core.img" >"$work/image"
truncate -s 513M "$work/image"
# An active partition of type Linux, 1048576 sectors from sector 2048, and three that are none.
{ printf '\200\0\2\0\203\0\0\0\0\010\0\0\0\0\020\0'; head -c 48 /dev/zero; } | dd of="$work/image" bs=1 seek=446 conv=notrunc status=none
truncate -s 512M "$work/partition"
mke2fs -q -t ext4 -d "$work/disk" "$work/partition"
dd if="$work/partition" of="$work/image" bs=1M seek=1 conv=notrunc,sparse status=none

console=$kept/console
timeout --kill-after=5 "${PATIENCE:-900}" qemu-system-x86_64 -accel tcg -cpu max -smp 2 -m 512 -nodefaults -vga none -display none \
	-serial stdio -drive "file=$work/image,format=raw,if=virtio,cache=unsafe" </dev/null >"$work/console" 2>&1 ||
	{ cat "$work/console"; echo "the machine did not switch itself off in time" >&2; exit 1; }
tr -d '\r' <"$work/console" >"$console"

# expect COUNT TEXT: so many lines of the console have the text.
expect() {
	[ "$(grep -cF -- "$2" "$console")" -eq "$1" ] || { echo "not $1 times '$2': see $console" >&2; exit 1; }
}
[ "$EXPERIMENT" = "$usual" ] || { cat "$console"; exit; }
expect 1 'apparmor: 1 profiles'
expect 1 '  - events: '
expect 8 '#### up:'
expect 1 '#### killed: 137'
expect 1 '#### the power fails'
for words in off auto; do
	grep -q "^#### up: .* quiet mitigations=$words\$" "$console" || { echo "no boot had mitigations=$words: see $console" >&2; exit 1; }
done
expect 1 ': the machine was restarted while it was measured'
expect 1 'unixmark: boot 2 (mitigations='
expect 1 'Boots with mitigations=auto (B), compared with mitigations=off (A)'
expect 1 'Mitigations: mitigations=off; vulnerable:'
expect 6 '#### ended with 0'
expect 1 '#### ended with 1'
# The menu is as it was, and nothing is chosen.
expect 1 '# of the administrator'
expect 0 'menuentry'
expect 0 'next_entry'
echo 'boots: as they should'
