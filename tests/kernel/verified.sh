#!/bin/sh
# verified.sh - a program has become too much for the verifier: it follows a million
# instructions at most, another kernel follows more of them, and each costs time at the
# start of a trace.
. "$(dirname "$0")/kernel.sh"

most=50000
at_exit kernel_off
"$kpctl" alloc 400000 >/dev/null 2>"$TMP/err" || skip "no buffer: $(cat "$TMP/err")"
# Each row of a name, of which this kernel may lack some.
"$kpctl" list | awk -F ';' '{ sub(/^[0-9]+ name /, ""); n[$1]++ }
	!/ unavailable$/ { print $1 "#" n[$1] }' >"$TMP/probes"
# shellcheck disable=SC2046  # words are meant
"$kpctl" enable $(cat "$TMP/probes") || fail "enable"
# One imported probe brings the programs of all kinds of them.
"$kpctl" enable sched.sched_waking && "$kpctl" on || fail "imported"
"$kpctl" verified | sort -rn >"$TMP/verified"
cat "$TMP/verified"
for program in syscall_start thread_create bio_queue cache_delete 'context_switch3*' \
	'import_tracepoint(_read)*' 'uprobe_(hit|plain|quick)'; do
	grep -qE "^[0-9]+ $program\$" "$TMP/verified" || fail "$program: not loaded"
done
[ "$(head -n 1 "$TMP/verified" | cut -d ' ' -f 1)" -gt 0 ] ||
	skip "before 5.16 the kernel does not say how many instructions it has verified"
# One event that has stacks brings the code for them into all programs.
"$kpctl" stacks syscall_start 8 8 && "$kpctl" verified | sort -rn >"$TMP/stacks" || fail "stacks"
equal "programs that can take stacks" "$(wc -l <"$TMP/stacks")" "$(wc -l <"$TMP/verified")"
awk -v most=$most '$1 > most { print $2 ": " $1 " instructions verified, " most " at most"; bad = 1 }
	END { exit bad }' "$TMP/verified" "$TMP/stacks" || fail "too much for a verifier"
echo "ok: $(wc -l <"$TMP/verified") programs, none above $most instructions verified;" \
	"with stacks all together $(awk '{ n += $1 } END { print n }' "$TMP/stacks"), most $(head -n 1 "$TMP/stacks")"
