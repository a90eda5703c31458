#!/bin/sh
# node.sh VERB DIR …: what is done on a node, by a shell and the usual commands. DIR is the node's directory for one fleet run:
#
#	unixmark   the tool          began/     made by the one that starts the run, so that there is only one
#	journal    what it emits     messages   what it says       pid, ended   of the run; its exit code
set -eu
umask 077
verb=$1 dir=$2
shift 2

# What the run comes to: new, running, ended, or broken (it began, and is neither).
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

# Where everybody may write, a name proves nothing.
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
	# A session of its own: nothing that becomes of the connection reaches it.
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
	# Compressed, so that what is cut on the way is noticed; in letters, so that any connection carries it.
	[ ! -s "$dir/journal" ] || gzip -c "$dir/journal" | base64
	;;
clean)
	! is_ours || [ "$(state)" = running ] || rm -rf "$dir"
	;;
esac
