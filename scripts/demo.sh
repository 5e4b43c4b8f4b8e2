#!/usr/bin/env bash
# Indexes examples/handbook and asks it questions whose answers stand deep inside
# long documents. With an argument, each answer must hold the words expected.
set -euo pipefail
cd "$(dirname "$0")/.."

check=${1:-}
store=local:.waymark/demo.db
waymark() {
	local arg
	printf '\n$ waymark'
	for arg; do
		case $arg in
		*' '*) printf " '%s'" "$arg" ;;
		*) printf ' %s' "$arg" ;;
		esac
	done
	echo
	bin/waymark "$@" --store "$store"
}

ask() { # question, words that the answer holds
	local out
	out=$(waymark ask "$1")
	printf '%s\n' "$out"
	if [ -n "$check" ] && ! grep -qF "$2" <<<"$out"; then
		echo "demo: the answer does not hold \"$2\"" >&2
		exit 1
	fi
}

rm -f .waymark/demo.db* # of an older model, perhaps
waymark index examples/handbook
waymark search -k 2 'why does a chunk need to see its neighbours?'
ask 'Which SQLite release fixed the race that could damage a database when the log starts over?' '3.51.3'
ask 'How many minutes did the backup batteries really hold out when they were tested in 2032?' '17 minutes'
ask 'Out of 500 recent visitor queries, how many contained no upper-case letters?' '388'
ask 'When does Northmere expect to have five million chunks?' 'in the autumn of 2035'
ask 'What made the search page slow on the terminals even though the server was quick?' 'loaded a font from another continent'
ask 'Who won the football cup?' 'The documents do not answer this.'
echo
echo 'Ask your own: bin/waymark ask --store local:.waymark/demo.db QUESTION'
