#!/bin/sh
# collect.sh JOB INTO [SELECTOR]: merges what the pods of a Job have logged so far into a fleet run in the directory INTO.
# Run it at any time, also while the Job is running. SELECTOR selects the expected nodes, as in `kubectl get nodes -l SELECTOR`.
# The namespace is the context's, or set KUBECTL="kubectl -n lab". The exit code is collect's:
# 0 all nodes are whole, 1 something is missing, 3 there is nothing.
set -eu
job=$1 into=$2 selector=${3:-'!node-role.kubernetes.io/control-plane'}
kubectl=${KUBECTL:-kubectl} unixmark=${UNIXMARK:-unixmark}

nodes=$($kubectl get nodes -l "$selector" -o jsonpath='{range .items[*]}{.metadata.name}{","}{end}')
[ -n "$nodes" ] || { echo "no node has the labels '$selector'; try \`kubectl get nodes --show-labels\`" >&2; exit 2; }
pods=$($kubectl get pods -l "job-name=$job" -o jsonpath='{range .items[*]}{.metadata.name}{" "}{.status.phase}{"\n"}{end}')
[ -n "$pods" ] || { echo "the job '$job' has no pods; try \`kubectl get jobs\`, and mind the namespace" >&2; exit 2; }

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
trap 'exit 130' INT TERM
while read -r pod phase; do
	# A retried pod has another name, but the journal says which node and attempt it is. A partial journal is taken too.
	if [ "$phase" != Pending ]; then
		$kubectl logs "$pod" </dev/null >"$logs/$pod.jsonl" || echo "$pod: its log did not come whole; try again" >&2
		[ -s "$logs/$pod.jsonl" ] || rm "$logs/$pod.jsonl"
	fi
	[ "$phase" = Succeeded ] && continue
	reason=$($kubectl get pod "$pod" </dev/null -o jsonpath='{.status.conditions[?(@.status=="False")].message}{" "}{.status.message}{" "}{.status.containerStatuses[*].state.*.message}' || true)
	printf '%s: %s: %s\n' "$pod" "$phase" "$(printf %s "$reason" | tr -s '[:cntrl:] ' ' ')" >&2
done <<END
$pods
END
$unixmark collect "$logs" --into "$into" --run "$job" --expect "${nodes%,}"
