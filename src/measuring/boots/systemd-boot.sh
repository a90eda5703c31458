#!/bin/sh
# Reboots by an entry of its own for systemd-boot, which is chosen once: a copy of the first entry that boots the kernel
# $UNIXMARK_KERNEL, with $UNIXMARK_WORDS. The way back is the usual entry.
# shellcheck disable=SC2317 # ways.sh calls the functions
set -eu
# Whoever could write the entry would choose what is booted.
umask 022
folder() {
	for root in "$(bootctl --print-boot-path 2>/dev/null)" "$(bootctl --print-esp-path 2>/dev/null)"; do
		for file in "$root"/loader/entries/*.conf; do
			[ -e "$file" ] && { echo "${file%/*}"; return; }
		done
	done
	return 1
}

leave() {
	rm -f "$(folder)/unixmark.conf"
	bootctl set-oneshot ""
}

find_way() { bootctl is-installed >/dev/null 2>&1 && folder >/dev/null; }

enter() {
	entries=$(folder)
	entry=$(awk -v kernel="$UNIXMARK_KERNEL" '
		$1 == "version" && $2 == kernel { print FILENAME; exit }
		$1 == "linux" && (index($2 "/", "/" kernel "/") || index($2 " ", "-" kernel " ")) { print FILENAME; exit }
	' "$entries"/*.conf)
	[ -n "$entry" ] || { echo "systemd-boot has no entry for the kernel $UNIXMARK_KERNEL in $entries" >&2; exit 1; }
	sed "s|^options[[:space:]].*|& $UNIXMARK_WORDS|; s|^title[[:space:]].*|title unixmark|" "$entry" >"$entries/unixmark.conf"
	bootctl set-oneshot unixmark.conf
}

restart() { reboot; }
