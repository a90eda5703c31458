#!/bin/sh
# Runs $1 copies of tst.sh at the same time and waits for them. With $2, each sorts that many texts in a row.
# A copy is one sh and seven tools; nothing here may start a process more.
programs=${0%/*}
text=$programs/sort.txt
if [ "${2:-1}" -gt 1 ]; then
    text=text.$$
    left=$2
    while [ "$left" -gt 0 ]; do
        cat "$programs/sort.txt"
        left=$((left - 1))
    done >"$text"
fi
left=$1
copies=
while [ "$left" -gt 0 ]; do
    /bin/sh "$programs/tst.sh" "$text" &
    copies="$copies $!"
    left=$((left - 1))
done
for copy in $copies; do
    wait "$copy" || exit 1
done
if [ "$text" = text.$$ ]; then
    rm "$text"
fi
