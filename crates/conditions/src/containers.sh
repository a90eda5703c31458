# Functions for commands of conditions that start containers.

# start_oci_container RUNTIME: starts a container of this machine's files with RUNTIME, which has runc's command line.
start_oci_container() {
	mkdir -m 700 "/var/lib/$UNIXMARK_ID" && cd "/var/lib/$UNIXMARK_ID" && mkdir upper work rootfs || exit
	mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work rootfs && "$1" spec || exit
	sed -i 's/"terminal": true/"terminal": false/; s/"readonly": true/"readonly": false/; s/"sh"/"sleep", "infinity"/' config.json
	"$1" run -d "$UNIXMARK_ID" </dev/null >log 2>&1 || { cat log >&2; exit 1; }
}
# remove_oci_container RUNTIME: removes the container and its files.
remove_oci_container() {
	cd "/var/lib/$UNIXMARK_ID" 2>/dev/null || return 0
	"$1" delete -f "$UNIXMARK_ID" 2>/dev/null
	remove_container_groups "$UNIXMARK_ID"
	! mountpoint -q rootfs || umount rootfs && rm -r "/var/lib/$UNIXMARK_ID"
}
# end_container_start ID: ends what a killed podman left of a start. conmon and the runtime have sessions of their own, so they go on,
# and the runtime may start the container after Podman has removed it.
end_container_start() {
	tries=100
	# By stdin: as an argument, the ID would be found in grep's own cmdline.
	until pids=$(echo "$1" | grep -slF -f - /proc/[0-9]*/cmdline | cut -d / -f 3) && [ -z "$pids" ] || [ $((tries -= 1)) = 0 ]; do
		echo "$pids" | xargs kill -9 2>/dev/null
		sleep 0.02
	done
	for entry in /run/*/"$1"; do
		runtime=$(basename "${entry%/*}")
		! command -v "$runtime" >/dev/null || "$runtime" delete -f "$1" 2>/dev/null
	done
	remove_container_groups "$1"
}
# remove_container_groups ID: kills what is in the container's control groups and removes them. A runtime that was killed during a start
# has no record of them.
remove_container_groups() {
	container_groups "$1" | while read -r group; do
		tries=100
		until rmdir "$group" 2>/dev/null || [ $((tries -= 1)) = 0 ]; do
			xargs -r kill -9 <"$group/cgroup.procs" 2>/dev/null
			sleep 0.02
		done
	done
}
# container_groups ID: prints the container's control groups, the inner ones first.
container_groups() {
	[ -z "$1" ] || find /sys/fs/cgroup -depth -type d -path "*$1*"
}
# check_absent_container ID: fails if the container's files or control groups are left.
check_absent_container() {
	for left in "/var/lib/$1" $(container_groups "$1"); do
		[ ! -e "$left" ] || { echo "$left is still there" >&2; exit 1; }
	done
}
