#!/bin/sh
# kexec.sh find|boot|back|leave: starts the kernel $UNIXMARK_KERNEL from the running one, by kexec(8), with
# $UNIXMARK_COMMAND_LINE and $UNIXMARK_WORDS. The boot loader and its menu are not touched: whatever goes wrong, the next reset
# boots as usual, and so does the way back.
set -eu
case $1 in
find) command -v kexec >/dev/null && [ -e "/boot/vmlinuz-$(uname -r)" ] ;;
boot)
	set -- "/boot/vmlinuz-$UNIXMARK_KERNEL"
	[ -e "$1" ] || { echo "there is no kernel $1" >&2; exit 1; }
	for initrd in "/boot/initrd.img-$UNIXMARK_KERNEL" "/boot/initramfs-$UNIXMARK_KERNEL.img"; do
		if [ -e "$initrd" ]; then set -- "$@" "--initrd=$initrd"; fi
	done
	kexec -l "$@" "--command-line=$UNIXMARK_COMMAND_LINE $UNIXMARK_WORDS"
	sync
	if [ -d /run/systemd/system ]; then systemctl kexec; else kexec -e; fi
	;;
back)
	sync
	reboot
	;;
leave) kexec -u 2>/dev/null || true ;;
esac
