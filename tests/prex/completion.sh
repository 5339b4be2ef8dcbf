#!/bin/bash
# completion.sh - what the shells complete is what the programs take, and all.
#
# usage: completion.sh PREX TNFDUMP TNFXTRACT [TNFWATCH]
. "${TNF_SOURCE:-../..}/tests/lib.sh"
for p; do
	PATH=$(dirname "$(realpath "$p")"):$PATH
done
. "$TNF_SOURCE/tools/completion/tnf.bash"

# complete_line WORD...: what could be in place of the last one
complete_line() {
	local how
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	how=$(complete -p "$1" | sed 's/.*-F \([^ ]*\).*/\1/')
	"$how" "$1" 2>/dev/null
	printf '%s\n' "${COMPREPLY[@]}" | sort -u
}

# The long options of each option table in the sources.
table() {
	case $1 in
	prex) sed -n 's/^	{ "\([a-z-]*\)", [a-z_]*argument.*/--\1/p' \
		"$TNF_SOURCE/prex/prex.c" ;;
	tnfdump) sed -n 's/^	{ "\([a-z-]*\)", \(0\|'"'.'"'\), .*/--\1/p' \
		"$TNF_SOURCE/tnfdump/options.c" ;;
	tnfxtract) sed -n 's/^		{ "\([a-z-]*\)", [a-z_]*argument.*/--\1/p' \
		"$TNF_SOURCE/tnfxtract/tnfxtract.c" ;;
	tnfwatch) sed -n 's/^		{ "\([a-z-]*\)", [a-z_]*argument.*/--\1/p' \
		"$TNF_SOURCE/tnfwatch/main.c" ;;
	esac
}

# refuses PROGRAM OPTION: does not know it.  tnfdump needs files to get so far.
refuses() {
	local files=
	[ "$1" != tnfdump ] || files="$TMP/none $TMP/none"
	# shellcheck disable=SC2086
	"$1" "$2" $files 2>&1 < /dev/null |
		grep -qE -e "(unrecognized|invalid) option.*${2#-}" \
			-e "^tnfdump: $2: unknown" -e '^Usage: tnfdump \[-r\]'
}

scratch
bad=0
for program in prex tnfdump tnfxtract ${4:+tnfwatch}; do
	for o in --nonsense -Q; do
		refuses $program $o || fail "$program: takes $o, or says so in other words"
	done
	options=$(complete_line $program -)
	[ "$(echo "$options" | wc -l)" -ge 4 ] || fail "$program: only $options"
	for o in --help --version $(table $program); do
		echo "$options" | grep -qx -e "$o" ||
			{ echo "$program: $o is not completed"; bad=1; }
	done
	for o in $options; do
		refuses $program "$o" &&
			{ echo "$program does not take $o"; bad=1; }
	done
done
[ "$(complete_line prex --follow-f)" = --follow-fork ] || fail "prex --follow-f"
complete_line prex -p "" | grep -qx $$ || fail "prex -p: pids"
complete_line prex -o x ls /et | grep -qx /etc || fail "the target's files"
[ -z "$(complete_line prex ls --vers)" ] || fail "the target's options"
complete_line tnfdump --to js | grep -qx jsonl || fail "tnfdump --to"
complete_line tnfdump --to = js | grep -qx jsonl || fail "tnfdump --to=js"
complete_line tnfdump --to = | grep -qx jsonl || fail "tnfdump --to="
complete_line tnfdump --to=js | grep -qx -e --to=jsonl || fail "tnfdump --to=js, one word"
complete_line tnfdump --columns "" | grep -qx delta-thread || fail "tnfdump --columns"
complete_line tnfdump --columns = pid,ho | grep -qx pid,host-pid || fail "tnfdump --columns=pid,ho"
complete_line tnfdump --columns +co | grep -qx -e +comm || fail "tnfdump --columns +co"
if [ -n "$4" ]; then
	[ "$(complete_line tnfwatch che)" = check ] || fail "tnfwatch che"
	complete_line tnfwatch -c /et | grep -qx /etc || fail "tnfwatch -c"
fi
command -v zsh >/dev/null && { zsh -n "$TNF_SOURCE/tools/completion/_tnf" ||
	fail "_tnf"; }
exit $bad
