#!/bin/sh
# Fleets by Slurm, by Slurm's own commands: one exclusive job for each node, and a collector when all have ended. Queue, time
# limits and requeueing are Slurm's. `unixmark fleet slurm` runs
#
#	fleet.sh submit NODE_SCRIPT TOOL PARTITION NODES RUN DIR SECONDS GIVE_UP DETACH VERB WORD …
#
# (a word is empty where the user left it out), and what shows a fleet run asks `fleet.sh explain DIR` about its jobs.
#
# DIR/slurm has the tool, the script of the jobs, their messages (log) and journals, and `jobs`, to which is only appended. Its
# fields have tabs between them:
#
#	jobs NAME UNTIL     the name of all jobs of the submission, and of no others; when the last must have ended (Unix time)
#	node NODE           a node that should get a job
#	job NODE ID         its job was submitted; the collector's has no node
#	ended NODE STATE    its job was seen to have ended, in Slurm's word, which Slurm forgets
#
# Lists of nodes, partitions and jobs are words, in which Slurm has no blanks; `echo` puts them on one line.
# shellcheck disable=SC2046,SC2086,SC2116
set -u
# The jobs execute what lies in DIR/slurm, so others must not write there.
umask "$(printf '%04o' $((0$(umask) | 02)))"

# States in which a job has ended for good.
ended='^(COMPLETED|FAILED|TIMEOUT|NODE_FAIL|CANCELLED|DEADLINE|OUT_OF_MEMORY|BOOT_FAIL|PREEMPTED|REVOKED)$'
# Seconds beyond a job's own in which Slurm ends it, and tells; the most that collecting may take.
grace=120 collecting=600
# Seconds that a requeued job stays held: Slurm may still be ending the previous attempt on the node, and would end this too.
hold=20
tab=$(printf '\t')

# What a user likes to see of queues and nodes is not what is asked for here.
unset SLURM_TIME_FORMAT $(env | grep -oE '^(SQUEUE|SINFO)_[A-Z0-9_]+')

# Prints a message. Words of Slurm's in it move no cursor.
say() {
	case $1 in
	*[[:cntrl:]]*) printf '%s\n' "$1" | tr '\001-\010\013-\037\177' '?' >&2 ;;
	*) printf '%s\n' "$1" >&2 ;;
	esac
}

fail() {
	say "unixmark: $1"
	exit 3
}

refuse() {
	say "unixmark: $1"
	exit 2
}

# Runs one of Slurm's commands.
ask() {
	command -v "$1" >/dev/null || {
		echo "$1 is not here: start this where Slurm's commands are, such as on a login node" >&2
		return 1
	}
	"$@" </dev/null
}

# Prints the jobs of the submission that Slurm still knows, ID NODE STATE START REASON, and writes down how any have ended.
queue() {
	jobs=$(ask squeue -h -t all --name="$job" -o "%i$tab%n$tab%T$tab%S$tab%r") || return
	# A directory that may only be read is as good, for as long as Slurm remembers.
	new=$(printf '%s\n' "$jobs" | awk -F '\t' -v OFS='\t' -v ended="$ended" '$2 != "" && $3 ~ ended { print "ended", $2, $3 }' |
		grep -vxFf "$place/jobs")
	[ -z "$new" ] || printf '%s\n' "$new" 2>/dev/null >>"$place/jobs"
	printf '%s\n' "$jobs"
}

# Refuses what nodes cannot measure for a fleet.
check() {
	case $1 in
	run | latency | scale | cost) ;;
	*) refuse "'$1' does not measure for a fleet; after -- use run, latency, scale or cost" ;;
	esac
	for word; do
		case $word in
		--) break ;;
		--emit | --emit=* | --fleet | --fleet=* | --node | --node=*)
			refuse "${word%%=*} is set by \`fleet slurm\` itself; leave it out"
			;;
		esac
	done
	verb=$1
	shift
	# A slip is found before a thousand jobs fail.
	said=$("$tool" "$verb" --emit --fleet rehearsal --dry-run "$@" 2>&1 >/dev/null </dev/null)
	if [ $? -eq 2 ]; then
		said=${said#unixmark: }
		refuse "${said#error: }"
	fi
}

# Sets `partition`, where it is empty to Slurm's default one.
find_partition() {
	known=$(ask sinfo -h -o %P) || fail 'Slurm does not answer; start this where its commands work, such as on a login node'
	names=$(printf '%s\n' "$known" | tr -d '*')
	if [ -z "$partition" ]; then
		partition=$(printf '%s\n' "$known" | sed -n 's/\*$//p')
		[ -n "$partition" ] || fail "Slurm has no default partition; choose one with --partition: $(echo $names)"
	fi
	printf '%s\n' "$names" | grep -qxF -e "$partition" || fail "Slurm has no partition '$partition'; it has $(echo $names)"
}

# Sets `nodes`: those listed, or else those of the partition that accept a job now.
find_nodes() {
	states=$(ask sinfo -h -N -p "$partition" -o '%N|%T|%E') || fail 'Slurm does not list its nodes'
	listed=
	if [ -n "$list" ]; then
		listed=$(ask scontrol show hostnames "$list") || fail "'$list' is not a list of nodes; write it as in n[1-3],n7"
	fi
	nodes=
	while IFS='|' read -r node state reason; do
		case " $(echo $listed) " in '  ' | *" $node "*) ;; *) continue ;; esac
		# Slurm adds a mark to some states: `down*` does not answer.
		case ${state%%[!a-z]*} in
		down | drained | draining | fail | failing | error | unknown | future)
			[ "$reason" = none ] || state="$state, $reason"
			if [ -z "$listed" ]; then
				say "$node is left out: it accepts no jobs now ($state)"
				continue
			fi
			say "$node accepts no jobs now ($state): waiting for it"
			;;
		esac
		nodes="$nodes $node"
	done <<-END
		$states
	END
	for node in $listed; do
		case "$nodes " in
		*" $node "*) ;;
		*) fail "the partition $partition has no node '$node'; \`sinfo -N -p $partition\` shows them" ;;
		esac
	done
	[ -n "$nodes" ] || fail "no node of partition $partition accepts jobs now; \`sinfo -N -p $partition\` shows them"
}

# Writes everything that jobs need: the tool, their script, and which nodes should deliver.
furnish() {
	{ mkdir -p "$place/journals" "$place/log" && cp "$tool" "$place/unixmark" && chmod 755 "$place/unixmark" &&
		printf '%s' "$node_script" >"$place/node.sh" && printf 'jobs\t%s\t%s\n' "$job" "$until" >"$place/jobs" &&
		printf 'node\t%s\n' $nodes >>"$place/jobs"; } || fail "$place cannot be written; make room or try --into DIR"
	expected=$(echo $nodes | tr ' ' ,)
	said=$("$tool" collect "$place/journals" --into "$into" --run="$run" --expect "$expected" 2>&1)
	[ $? -ne 2 ] || refuse "${said#unixmark: }"
}

# Submits a job and writes down its number: order NODE SECONDS DEADLINE LOG OPTION … SCRIPT WORD …
order() {
	node=$1 minutes=$((($2 + 59) / 60))
	# The deadline is for the time limit as Slurm rounds it.
	deadline=$(($3 + minutes * 60 - $2))
	# A `%` would begin a field in sbatch's pattern.
	log=$(printf '%s\n' "$place/log/$4" | sed 's/%/%%/g')
	shift 4
	id=$(ask sbatch --parsable --job-name="$job" --partition="$partition" --nodes=1 --time="$minutes" \
		--deadline="now+${deadline}seconds" --open-mode=append --output="$log" "$@") || return
	id=${id%%;*}
	printf 'job\t%s\t%s\n' "$node" "$id" >>"$place/jobs"
}

# Submits a job for every node, and the collector after them. What is submitted is written down at once, so that a crash leaves
# a true record.
order_all() {
	submitted=0
	for node in $nodes; do
		# All of the node's memory too, whatever a job gets by default.
		order "$node" "$time" $((give_up + time)) "$node.txt" --exclusive --mem=0 --requeue --nodelist="$node" \
			"$place/node.sh" "$place" "$run" "$@" || return
		submitted=$((submitted + 1))
	done
	# It waits for the others to end, and then for a node. `singleton` is of one length for any number of jobs.
	order '' "$collecting" $((give_up * 2 + time + grace + collecting)) collector.txt --dependency=singleton \
		"$place/node.sh" "$place" "$run" collect
}

# Says how to continue without this command.
next_steps() {
	say "progress:         unixmark fleet status $into"
	say "collect results:  unixmark collect $into/slurm/journals --into $into"
	say "cancel the jobs:  scancel --name=$job"
}

stop() {
	say ''
	say 'the jobs keep running'
	next_steps
	exit $((128 + $1))
}

# Frees the jobs that have been held for long enough.
free() {
	now=$(date +%s)
	for waiting in $(printf '%s\n' "$1" | awk -F '\t' '$3 == "PENDING" && $5 == "BeginTime" { print $1 }'); do
		case $held in
		*" $waiting:"*) ;;
		*) held="$held $waiting:$now" ;;
		esac
		since=${held##*" $waiting:"}
		# A job that cannot be freed starts on its own later.
		[ $((now - ${since%% *})) -lt "$hold" ] || ask scontrol update jobid="$waiting" starttime=now >/dev/null 2>&1
	done
}

# Prints how many jobs of nodes are waiting, running and ended; nothing if none is left.
progress() {
	printf '%s\n' "$1" | awk -F '\t' -v ended="$ended" -v all="$submitted" '
		$2 == "" || $3 ~ ended { next }
		{ active++ }
		$3 == "PENDING" && ++waiting && $5 != "BeginTime" && $5 != "None" { why = why ? why : " (for " $5 ")" }
		function counted(count, state) { if (count > 0) { text = text (text ? ", " : "") count " " state } }
		END {
			if (!active) { exit }
			counted(waiting, "waiting")
			counted(active - waiting, "running")
			counted(all - active, "ended")
			print text why
		}'
}

# Waits until no job of a node is left: frees those that are held, and prints changes.
watch() {
	held='' last='' interval=1
	while :; do
		if answer=$(queue 2>&1); then
			free "$answer"
			now=$(progress "$answer")
			[ -n "$now" ] || return 0
		else
			now="Slurm does not answer; asking again: $(printf '%s\n' "$answer" | tail -n 1)"
		fi
		[ "$now" = "$last" ] || say "$now"
		last=$now
		if [ "$(date +%s)" -gt "$until" ]; then
			next_steps
			fail "Slurm still runs jobs that should have ended; \`squeue --name=$job\` shows them"
		fi
		# A signal ends the waiting at once.
		sleep "$interval" &
		wait $!
		[ "$interval" -ge 8 ] || interval=$((interval * 2))
	done
}

submit() {
	node_script=$1 tool=$2 partition=$3 list=$4 run=$5 into=$6 time=$7 give_up=$8 detach=$9
	shift 9
	check "$@"
	find_partition
	find_nodes
	[ -n "$run" ] || run=$(date +fleet-%Y-%m-%d-%H%M%S)
	[ -n "$into" ] || into=$(printf '%s\n' "$run" | tr / -)
	case $into in /*) ;; *) into=$PWD/$into ;; esac
	place=$into/slurm
	! grep -q "^job$tab" "$place/jobs" 2>/dev/null || refuse "$into has a submission already; try another directory"
	job=unixmark-$(printf %s "$run" | LC_ALL=C tr -c 'A-Za-z0-9' - | cut -c -40)-$(od -A n -N 4 -t x4 /dev/urandom | tr -d ' ')
	until=$(($(date +%s) + give_up + time + grace))
	furnish
	trap 'stop 1' HUP
	trap 'stop 2' INT
	trap 'stop 15' TERM
	count=$(echo $nodes | wc -w)
	order_all "$@" || {
		next_steps
		fail "submitting failed after $submitted of $((count)) nodes"
	}
	say "fleet run $run: $submitted jobs named $job in partition $partition"
	if [ -n "$detach" ]; then
		next_steps
		exit 0
	fi
	watch
	"$tool" collect "$place/journals" --into "$into" --run="$run" || exit
	# Nothing is left for the collector. It may have ended by itself.
	scancel "$id" 2>/dev/null
	exit 0
}

# Prints NODE, `late` or `ended`, `written` if there is a journal, and what became of its job, for every node of a submission.
explain() {
	into=$1 place=$1/slurm
	IFS=$tab read -r word job until <"$place/jobs"
	[ "${word:-}" = jobs ] || fail "$place/jobs is damaged"
	answer=$(queue 2>&1) && why='' || why=$(printf '%s\n' "$answer" | tail -n 1)
	[ -z "$why" ] || answer=
	{
		cat "$place/jobs"
		printf '%s\n' "$answer" | sed "s/^/queue$tab/"
		for journal in "$place"/journals/*.jsonl; do
			# Of one that was cut in its first line nothing can be collected.
			node=${journal##*/} node=${node%.jsonl}
			! read -r _ 2>/dev/null <"$journal" || echo "written$tab${node%.*}"
		done
	} | awk -F '\t' -v OFS='\t' -v ended="$ended" -v why="$why" -v late="$(($(date +%s) < until))" '
		$1 == "node" { nodes[++count] = $2 }
		$1 == "job" { ids[$2] = $3 }
		$1 == "ended" { states[$2] = $3 }
		$1 == "written" { written[$2] = "written" }
		# A job that was submitted as the submission was cut short is in no record, but in the queue.
		$1 == "queue" && $3 != "" {
			ids[$3] = $2; states[$3] = $4; starts[$3] = $5; reasons[$3] = $6
		}
		function told(node, state, reason) {
			if (state ~ ended) { return "ended as " state }
			if (state == "PENDING" && reason == "BeginTime") { return "was requeued and is held until " starts[node] }
			if (state == "PENDING") { return "waits: " reason }
			if (state == "RUNNING") { return "has been running since " starts[node] }
			return "is " state
		}
		END {
			for (i = 1; i <= count; i++) {
				node = nodes[i]; state = states[node]; is_late = 0
				if (!(node in ids)) { text = "no job was submitted for it" }
				else if (state != "") { is_late = state !~ ended; text = "its job " ids[node] " " told(node, state, reasons[node]) }
				else if (why == "") { text = "its job " ids[node] " has ended, and Slurm has forgotten how" }
				else { is_late = late; text = "the state of its job " ids[node] " is unknown: " why }
				print node, is_late ? "late" : "ended", written[node], text
			}
		}'
}

"$@"
