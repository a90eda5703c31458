#!/bin/sh
# node.sh VERB DIR …: the work on a node, with a shell and the usual commands. DIR is the node's directory for one fleet run:
#
#	unixmark   the tool          began/     made by whoever starts the run, so only one does
#	journal    its stdout        messages   its stderr         pid, ended   the run's pid; its exit code
set -eu
umask 077
verb=$1 dir=$2
shift 2

# The state of the run: new, running, ended, or broken (it began, but is neither running nor ended).
state() {
	if [ -e "$dir/ended" ]; then
		echo ended
	elif [ ! -e "$dir/began" ]; then
		echo new
	elif { tr '\0' ' ' <"/proc/$(cat "$dir/pid")/cmdline" | grep -qF "$dir"; } 2>/dev/null; then
		echo running
	else
		echo broken
	fi
}

# In a directory that everybody can write to, a name proves nothing.
is_ours() {
	[ -d "$dir" ] && [ ! -L "$dir" ] && [ -O "$dir" ]
}

case $verb in
ask)
	mkdir "$dir" 2>/dev/null || is_ours || { echo "$dir cannot be made; set unixmark_place" >&2; exit 1; }
	echo "unixmark: $(state) $(cksum 2>/dev/null <"$dir/unixmark" || true)"
	;;
start)
	tool=$1
	shift
	cd "$dir"
	mkdir began 2>/dev/null || exit 0
	date +%s >began/at
	# A session of its own, so a lost connection does not affect it.
	"$(command -v setsid || command -v nohup)" /bin/sh -c '
		echo $$ >pid
		"$@" --emit >journal 2>messages
		echo $? >ended.new
		mv ended.new ended' "$dir" "$tool" "$@" </dev/null >/dev/null 2>&1 &
	tries=0
	until [ -s pid ]; do
		tries=$((tries + 1))
		[ "$tries" -lt 100 ] || { rm -rf began; echo "the run could not be started; is $dir full?" >&2; exit 1; }
		sleep 0.1
	done
	;;
look)
	echo "unixmark: $(state) $(cat "$dir/began/at" 2>/dev/null || echo 0) $(cat "$dir/ended" 2>/dev/null || echo none)"
	tail -n 3 "$dir/messages" 2>/dev/null || true
	;;
fetch)
	# Compressed, so truncation is detected; as text, so any connection can carry it.
	[ ! -s "$dir/journal" ] || gzip -c "$dir/journal" | base64
	;;
clean)
	! is_ours || [ "$(state)" = running ] || rm -rf "$dir"
	;;
esac
