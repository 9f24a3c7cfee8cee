#!/bin/bash
# Runs every fuzz test, or those whose names contain $1, each for FUZZTIME and at least FUZZLEAST executions: in ten seconds
# of a busy machine a slow one would come to a handful, and say nothing.
#
#   FUZZTIME=10s FUZZLEAST=100 testdata/tools/fuzz.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
time=${FUZZTIME:-10s} least=${FUZZLEAST:-100} only=${1:-}
said=$(mktemp)
trap 'rm -f "$said"' EXIT

# run DIR NAME HOW_LONG fuzzes, and leaves in $execs how many executions there were.
run() {
	if ! go test "$1" -run '^$' -fuzz "^$2\$" -fuzztime "$3" >"$said" 2>&1; then
		cat "$said"
		exit 1
	fi
	execs=$(sed -nE 's/^fuzz: elapsed: .*, execs: ([0-9]+) .*/\1/p' "$said" | tail -1)
	execs=${execs:-0}
}

tests=0
while read -r dir name; do
	run "$dir" "$name" "$time"
	if ((execs < least)); then
		run "$dir" "$name" "${least}x"
	fi
	if ((execs < least)); then
		echo "$dir $name: $execs executions, which is fewer than $least"
		exit 1
	fi
	echo "$dir $name: $execs executions"
	tests=$((tests + 1))
done < <(grep -rE '^func Fuzz[A-Za-z0-9_]+' --include='*_test.go' . |
	sed -E 's|/[^/]*:func (Fuzz[A-Za-z0-9_]+).*| \1|' | sort -u | grep -F -- "$only")
if ((tests == 0)); then
	echo "no fuzz test is called $only"
	exit 1
fi
