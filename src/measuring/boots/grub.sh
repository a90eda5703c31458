#!/bin/sh
# Reboots by an entry of its own in GRUB's menu, which is chosen once: a copy of the first entry that boots the kernel
# $UNIXMARK_KERNEL, with $UNIXMARK_WORDS. The way back is the usual entry.
# shellcheck disable=SC2317 # ways.sh calls the functions
set -eu
folder=${GRUB_FOLDER:-/boot/grub}
own=$(readlink -f "$folder/custom.cfg")
begin='# begin unixmark' end='# end unixmark'

# What becomes custom.cfg. One that a killed call left is made anew.
new=$own.unixmark

# Begins the new custom.cfg with the user's part of the present one. Whatever fails ends the script before custom.cfg is touched: in a
# pipe, sh would not see that.
begin_new() {
	rm -f "$new"
	if [ -e "$own" ]; then
		cp -p "$own" "$new"
		sed "/^$begin\$/,/^$end\$/d" "$own" >"$new"
	else
		: >"$new"
	fi
}

# Puts the new custom.cfg in the place of the present one, at once; if it is empty, there is none.
replace() {
	if [ -s "$new" ]; then
		sync "$new"
		mv -f "$new" "$own"
	else
		rm -f "$new" "$own"
	fi
}

leave() {
	# GRUB leaves it empty.
	! grub-editenv "$folder/grubenv" list | grep -qxE 'next_entry=(unixmark)?' || grub-editenv "$folder/grubenv" unset next_entry
	rm -f "$new"
	if [ -e "$own" ] && grep -qx "$begin" "$own"; then
		begin_new
		replace
	fi
}

# A copy of the first entry that boots the kernel.
entry() {
	awk -v kernel="$UNIXMARK_KERNEL" -v words="$UNIXMARK_WORDS" '
		/^[ \t]*menuentry / && !inside { inside = 1; lines = ""; found = recovery = 0 }
		!inside { next }
		/^[ \t]*menuentry / { $0 = "menuentry \"unixmark\" --id unixmark" (/ --unrestricted/ ? " --unrestricted" : "") " {" }
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

# Where GRUB cannot write its environment, it would choose the entry at every boot.
forgets() {
	command -v grub-probe >/dev/null || return 0
	[ -z "$(grub-probe --target=abstraction "$folder")" ] || return 1
	case $(grub-probe --target=fs "$folder") in ext2 | xfs | fat) ;; *) return 1 ;; esac
}

find_way() {
	command -v grub-editenv >/dev/null && grep -q next_entry "$folder/grub.cfg" && grep -q custom.cfg "$folder/grub.cfg" &&
		grep -q '^[[:space:]]*menuentry ' "$folder/grub.cfg" && forgets
}

enter() {
	copy=$(entry)
	[ -n "$copy" ] || { echo "GRUB's menu has no entry for the kernel $UNIXMARK_KERNEL" >&2; exit 1; }
	begin_new
	# The user's part may not end in a newline.
	[ -z "$(tail -c 1 "$new")" ] || echo >>"$new"
	printf '%s\n' "$begin" "$copy" "$end" >>"$new"
	replace
	# As grub-reboot(8) does.
	grub-editenv "$folder/grubenv" set next_entry=unixmark
}

restart() { reboot; }
