#!/bin/sh
# emulate.sh ARCHITECTURE COMMAND …: runs a command of another architecture (as `uname -m` names it) and whatever it starts, by qemu's
# emulation of user programs. The kernel's rule that says so (binfmt_misc) is this command's alone: it lives in a namespace.
# Ends with 77, and a line that says why, where this cannot be done.
set -eu
architecture=$1
shift
cannot() { echo "$*"; exit 77; }
# The emulator, and what e_ident, e_type and e_machine of an ELF file are there.
little='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00'
case $architecture in
aarch64) emulator=qemu-aarch64-static magic="$little"'\xb7\x00' ;;
riscv64) emulator=qemu-riscv64-static magic="$little"'\xf3\x00' ;;
ppc64le) emulator=qemu-ppc64le-static magic="$little"'\x15\x00' ;;
s390x) emulator=qemu-s390x-static magic='\x7fELF\x02\x02\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x16' ;;
armv7l) emulator=qemu-arm-static magic='\x7fELF\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x28\x00' ;;
*) cannot "nobody said how $architecture is emulated" ;;
esac
# An executable, or one that is placed anywhere (static-pie); any operating system's.
case $architecture in
s390x) mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff' ;;
*) mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff' ;;
esac
emulator=$(command -v "$emulator") || cannot "$emulator is not installed (Debian's qemu-user-static)"
rule=":unixmark-$architecture:M::$magic:$mask:$emulator:FP"
# shellcheck disable=SC2016 # for the inner shell
inside='mount -t binfmt_misc none /proc/sys/fs/binfmt_misc && printf %s "$1" >/proc/sys/fs/binfmt_misc/register'
why=$(unshare --user --map-root-user --mount sh -c "$inside" sh "$rule" 2>&1) ||
	cannot "no rule for $architecture can be made: it takes Linux 6.7 and namespaces for users ($why)"
exec unshare --user --map-root-user --mount sh -ec "$inside; shift; exec \"\$@\"" sh "$rule" "$@"
