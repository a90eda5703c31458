#!/bin/busybox sh
# shellcheck shell=dash
# guest.sh: the first process of the machine that tests/kernel.sh starts. What a step prints stands on the console between two marks, the
# second with its status. Switches the machine off at the end.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /tmp
export PATH=/bin HOME=/tmp UNIXMARK_RESULTS=/tmp/results NO_COLOR=1

# step NAME COMMAND …
step() {
	name=$1
	shift
	echo "#### begin $name"
	"$@" </dev/null >/tmp/output 2>&1
	status=$?
	cat /tmp/output
	echo "#### end $name $status"
}
step doctor unixmark doctor
step run unixmark run syscall dhry2reg -c 1,4 --quick
step facts unixmark report latest --format json --samples
step condition unixmark run syscall --condition sysctl:vm.swappiness=10+thp=never -c 1 --quick
step after cat /proc/sys/vm/swappiness /sys/kernel/mm/transparent_hugepage/enabled
step latency unixmark latency cyclic -w none,burn -t 1 -i 1
step burnin unixmark burnin memory --size 48m
step cost unixmark cost aslr=0 spawn --quick
step aslr cat /proc/sys/kernel/randomize_va_space
step audit unixmark cost audit=all syscall --sink count --quick
poweroff -f
