# Functions that the commands of conditions may call for an agent that no service manager starts. /run/unixmark-NAME has what it prints
# (output, errors), its process (pid) and when that began (begun), by which a later process of the same number is told apart; and the
# condition that started it (owner), which alone may stop it.

# Others could choose which process is killed, where the caller's umask lets them write here.
umask "$(printf '%04o' $((0$(umask) | 022)))"

# start_agent NAME COMMAND …: starts it in the background, in that directory.
start_agent() {
	mkdir "/run/unixmark-$1" && cd "/run/unixmark-$1" && echo "$UNIXMARK_ID" >owner || exit
	shift
	"$@" >output 2>errors </dev/null &
	# Without these nobody could end it; where it has ended already, what it printed says why.
	echo $! >pid && began $! >begun && [ -s begun ] || { kill -9 $! 2>/dev/null; cat output errors >&2; exit 1; }
}
# await_agent NAME TEST …: waits until the test succeeds in that directory, for at most half a minute.
await_agent() {
	name=$1 try=0
	shift
	cd "/run/unixmark-$name" || exit
	while ! "$@"; do
		verify_agent "$name"
		[ $((try += 1)) -lt 300 ] || { echo "$name is not ready after half a minute" >&2; cat output errors >&2; exit 1; }
		sleep 0.1
	done
}
# verify_agent NAME: ends the command unless it runs, with what it printed.
verify_agent() {
	agent_runs "$1" || { echo "$1 has ended" >&2; cat "/run/unixmark-$1/output" "/run/unixmark-$1/errors" >&2; exit 1; }
}
# stop_agent NAME: ends its process, by force after five seconds.
stop_agent() {
	# The directory may have been made, and nothing more; another's stays.
	is_own_agent "$1" || { rmdir "/run/unixmark-$1" 2>/dev/null; return 0; }
	try=0
	while agent_runs "$1"; do
		[ $try -ne 0 ] || kill "$pid"
		[ $try -ne 100 ] || kill -9 "$pid"
		[ $try -lt 200 ] || { echo "$1 does not end" >&2; exit 1; }
		try=$((try + 1))
		sleep 0.05
	done
	rm -rf "/run/unixmark-$1"
}
# absent_agent NAME: ends the command if it is still there.
absent_agent() {
	! is_own_agent "$1" || { echo "$1 (process $(cat "/run/unixmark-$1/pid")) is still there; end it, and remove /run/unixmark-$1" >&2; exit 1; }
}
is_own_agent() {
	[ "$(cat "/run/unixmark-$1/owner" 2>/dev/null)" = "$UNIXMARK_ID" ]
}
agent_runs() {
	pid=$(cat "/run/unixmark-$1/pid") && grep -q '^State:.[^Z]' "/proc/$pid/status" &&
		[ "$(began "$pid")" = "$(cat "/run/unixmark-$1/begun")" ]
} 2>/dev/null
# began PID: when a process began, in ticks since boot.
began() {
	sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20
}
