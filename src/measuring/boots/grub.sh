#!/bin/sh
# grub.sh find|boot|back|leave: reboots by an entry of its own in GRUB's menu, which is chosen once: a copy of the first entry
# that boots the kernel $UNIXMARK_KERNEL, with $UNIXMARK_WORDS. The way back is the usual entry.
set -eu
folder=${GRUB_FOLDER:-/boot/grub}
own=$folder/custom.cfg
begin='# begin unixmark' end='# end unixmark'

# custom.cfg without this script's part; the user's stays.
leave() {
	grub-editenv "$folder/grubenv" unset next_entry
	[ -e "$own" ] || return 0
	sed "/^$begin\$/,/^$end\$/d" "$own" >"$own.new"
	if [ -s "$own.new" ]; then mv "$own.new" "$own"; else rm "$own.new" "$own"; fi
}

# A copy of the first entry that boots the kernel.
entry() {
	awk -v kernel="$UNIXMARK_KERNEL" -v words="$UNIXMARK_WORDS" '
		/^[ \t]*menuentry / && !inside { inside = 1; lines = ""; found = recovery = 0 }
		!inside { next }
		/^[ \t]*menuentry / { $0 = "menuentry \"unixmark\" --id unixmark {" }
		/^[ \t]*linux(16|efi)?[ \t]/ {
			if (index($2 " ", "vmlinuz-" kernel " ")) found = 1
			if (/ (single|recovery)( |$)/) recovery = 1
			$0 = $0 " " words
		}
		# The copy must not become the usual entry.
		!/^[ \t]*savedefault/ { lines = lines $0 "\n" }
		/^[ \t]*}[ \t]*$/ { inside = 0; if (found && !recovery) { printf "%s", lines; exit } }
	' "$folder/grub.cfg"
}

case $1 in
find)
	command -v grub-editenv >/dev/null && grep -q next_entry "$folder/grub.cfg" &&
		grep -q custom.cfg "$folder/grub.cfg" && grep -q '^[[:space:]]*menuentry ' "$folder/grub.cfg"
	;;
boot)
	leave
	copy=$(entry)
	[ -n "$copy" ] || { echo "GRUB's menu has no entry for the kernel $UNIXMARK_KERNEL" >&2; exit 1; }
	printf '%s\n' "$begin" "$copy" "$end" >>"$own"
	# As grub-reboot(8) does.
	grub-editenv "$folder/grubenv" set next_entry=unixmark
	sync
	reboot
	;;
back)
	leave
	sync
	reboot
	;;
leave) leave ;;
esac
