#!/bin/sh
# Runs $1 copies of tst.sh at the same time and waits for them.
# A copy is one sh and seven tools; nothing here may start a process more.
programs=${0%/*}
left=$1
copies=
while [ "$left" -gt 0 ]; do
    /bin/sh "$programs/tst.sh" "$programs/sort.txt" &
    copies="$copies $!"
    left=$((left - 1))
done
for copy in $copies; do
    wait "$copy" || exit 1
done
