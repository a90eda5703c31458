# Functions for commands of conditions that add swap.

# swaps DIRECTORY: prints the device and inode of each file and device that is swapped to, and `below` after those in the directory, be
# it that they were removed since. The kernel writes a blank as \040.
swaps() {
	tail -n +2 /proc/swaps | while read -r swap rest; do
		swap=$(printf '%b.' "$(printf '%s' "$swap" | sed 's/\\/\\0/g')")
		swap=${swap%.}
		below=
		case $swap in "$1"/*) below=below ;; esac
		echo "$(stat -L -c %d:%i "$swap" 2>/dev/null) $below"
	done
}
# is_swap FILE: succeeds if this very file or device is swapped to, whatever it is called.
is_swap() {
	[ -e "$1" ] && swaps "$1" | grep -q "^$(stat -L -c %d:%i "$1") "
}
# is_swap_below DIRECTORY: succeeds if a file in it is swapped to.
is_swap_below() {
	swaps "$1" | grep -q 'below$'
}
# identity DEVICE: prints what no later block device of this name has.
identity() {
	[ -e "/sys/block/$1" ] && echo "$(stat -L -c %i "/sys/block/$1") $(cat /proc/sys/kernel/random/boot_id)"
}
