#!/bin/sh
# Sorts, dumps and searches a small text: eight short-lived processes in pipes, which is what a script costs.
set -e
sort <"$1" >sort.$$
od sort.$$ | sort -n -k 1 >od.$$
grep the sort.$$ | tee grep.$$ | wc >wc.$$
rm sort.$$ grep.$$ od.$$ wc.$$
