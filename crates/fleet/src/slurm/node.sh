#!/bin/sh
# A job of a fleet run, as fleet.sh submits it: `node.sh DIR RUN VERB WORD …` measures on a node, and `node.sh DIR RUN collect`
# merges what all nodes have written. DIR is the folder `slurm` of the fleet run's directory.
place=$1 run=$2 verb=$3
shift 3
if [ "$verb" = collect ]; then
	exec "$place/unixmark" collect "$place/journals" --into "${place%/slurm}" --run="$run"
fi
export UNIXMARK_FLEET="$run" UNIXMARK_NODE="$SLURMD_NODENAME" UNIXMARK_TASK=0 UNIXMARK_ATTEMPT="${SLURM_RESTART_COUNT:-0}"
child='' here=''
trap '[ -z "$child" ] || kill "$child"' TERM INT
trap '[ -z "$here" ] || rm -rf "$here"' EXIT
# The tool, its programs and its results are on the node: measuring does not run over a file system that nodes share.
for base in "${TMPDIR:-/tmp}" /var/tmp; do
	here=$(mktemp -d "$base/unixmark-XXXXXX") || continue
	cp "$place/unixmark" "$here/unixmark" && "$here/unixmark" --version >/dev/null && break
	rm -rf "$here"
	here=
done
if [ -z "$here" ]; then
	echo "no directory on this node can hold the tool: make room in /tmp and allow executables there" >&2
	exit 3
fi
export XDG_CACHE_HOME="$here/cache" UNIXMARK_RESULTS="$here/results"
"$here/unixmark" "$verb" --emit "$@" >"$place/journals/$UNIXMARK_NODE.$UNIXMARK_ATTEMPT.jsonl" &
child=$!
# A signal ends the waiting, and is handed on to the tool, which ends a moment later.
while
	wait "$child"
	status=$?
	[ "$status" -gt 128 ] && kill -0 "$child" 2>/dev/null
do :; done
exit "$status"
