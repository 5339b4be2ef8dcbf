#!/bin/sh
# malloc and free of a program of the distribution: a pair for each call, as many as
# bpftrace counts, lasting as long as it measures.  Both see the same calls: of one
# process, in which both are attached before it begins.  Not part of tools/check: it
# compares times, and needs root and bpftrace.
. "${TNF_SOURCE:-$(dirname "$0")/../..}/tests/lib.sh"
need_kernel
need_program bpftrace sort
prex=$TNF_BUILD/prex/prex
scratch
export HOME="$TMP"
trap '"$prex" -k -c "ktrace off; buffer dealloc" >/dev/null 2>&1; test_end' EXIT
libc=$(readlink -f "$(ldd "$(command -v sort)" | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')")
[ -f "$libc" ] || skip "sort has no libc.so.6"

# The program begins when it may: both know its process by then.
mkfifo "$TMP/go"
seq 4000 | shuf >"$TMP/data"
sh -c 'read -r x <"$0"; exec "$@"' "$TMP/go" sort -n "$TMP/data" >/dev/null 9>&- &
pid=$!
"$prex" -k >"$TMP/said" 2>&1 <<P || fail "prex: $(cat "$TMP/said")"
import '$libc'
buffer alloc 64m
list name probes function=malloc function=free
trace name=malloc_entry name=malloc_return name=free_entry name=free_return
enable name=malloc_entry name=malloc_return name=free_entry name=free_return
pfilter add $pid
pfilter on
ktrace on
P
bpftrace -e "BEGIN { printf(\"ready\\n\"); }
	uprobe:$libc:malloc /pid == $pid/ { @calls[\"malloc\"] = count(); @m[tid] = nsecs; }
	uretprobe:$libc:malloc /pid == $pid && @m[tid]/ { @took[\"malloc\"] = stats(nsecs - @m[tid]);
		@h = hist(nsecs - @m[tid]); delete(@m[tid]); }
	uprobe:$libc:free /pid == $pid/ { @calls[\"free\"] = count(); @f[tid] = nsecs; }
	uretprobe:$libc:free /pid == $pid && @f[tid]/ { @took[\"free\"] = stats(nsecs - @f[tid]); delete(@f[tid]); }
	END { clear(@m); clear(@f); }" >"$TMP/judge" 2>&1 9>&- &
judge=$!
wait_for 60 grep -q ready "$TMP/judge" || fail "bpftrace: $(cat "$TMP/judge")"
echo >"$TMP/go"
wait "$pid" || fail "sort"
kill -INT "$judge"
wait "$judge"
"$TNF_BUILD/tnfxtract/tnfxtract" "$TMP/trace" || fail "tnfxtract"
"$prex" -k -c 'ktrace off' >/dev/null
"$TNF_BUILD/tnfdump/tnfdump" "$TMP/trace" | grep -v '^probe' >"$TMP/text" || fail "tnfdump"
"$TNF_BUILD/tnfdump/tnfdump" --stats "$TMP/trace" >"$TMP/stats" || fail "tnfdump --stats"
for f in malloc free; do
	entries=$(grep -c " ${f}_entry " "$TMP/text") returns=$(grep -c " ${f}_return " "$TMP/text")
	calls=$(sed -n "s/^@calls\[$f\]: //p" "$TMP/judge")
	echo "$f: entries $entries, returns $returns; bpftrace $calls"
	[ "$entries" = "$returns" ] && [ "$entries" = "$calls" ] || fail "$f: they differ"
	echo "   ours:     $(grep " $f\$" "$TMP/stats")"
	echo "   bpftrace: $(sed -n "s/^@took\[$f\]: //p" "$TMP/judge")"
done
sed -n 1,3p "$TMP/stats"
exit 0
