#!/bin/busybox sh
# shellcheck shell=dash
# boots-guest.sh: the first process of the machine that tests/boots.sh starts, in each of its boots. In the first it tries conditions that
# take this kernel, and begins the experiment of the file /experiment; of the next two, one has the tool killed while it measures, and the other loses its power then.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /tmp
# Modules need each other, in an order that their names do not tell; ext4 may be part of the kernel.
until [ -b /dev/vda1 ] && grep -q ext4 /proc/filesystems; do
	for module in "/lib/modules/$(uname -r)"/*.ko; do insmod "$module" 2>/dev/null; done
done
mount /dev/vda1 /disk
mount --bind /disk/boot /boot
export PATH=/bin:/usr/bin HOME=/tmp UNIXMARK_RESULTS=/disk/results NO_COLOR=1
cd /tmp || exit
# What reboot(8) asks the first process for.
trap 'is_asked=1' TERM
echo "#### up: $(cat /proc/cmdline)"
echo up >>/disk/ups
sync

# Goes on in the background until a trial has been measured.
go_on_until_a_trial() {
	touch /tmp/now
	unixmark boots "$folder" --go-on &
	tool=$!
	until find /disk/results -name run.jsonl -newer /tmp/now -exec grep -l '"type":"trial"' {} + | grep -q .; do
		kill -0 "$tool" || break
	done
}
folder=$(ls -d /disk/results/boots-* 2>/dev/null)
case $(wc -l </disk/ups) in
1)
	unixmark cost bpf-lsm=4,apparmor=unconfined pipe --quick -i 2 --long
	# shellcheck disable=SC2046 # its words
	unixmark cost $(cat /experiment)
	;;
2)
	go_on_until_a_trial
	kill -9 "$tool"
	wait "$tool"
	echo "#### killed: $?"
	unixmark boots "$folder" --go-on
	;;
3)
	go_on_until_a_trial
	# The kernel writes to the console at once; what a program writes is lost with the power.
	echo "<0>#### the power fails" >/dev/kmsg
	echo b >/proc/sysrq-trigger
	;;
*) unixmark boots "$folder" --go-on ;;
esac
echo "#### ended with $?"
# The request may come after the tool's end.
sleep 1
if [ -z "$is_asked" ]; then
	echo "#### GRUB's own:"
	cat /boot/grub/custom.cfg
	tr -d '#' </boot/grub/grubenv
fi
cd /
umount /boot /disk
[ -z "$is_asked" ] || reboot -f
poweroff -f
