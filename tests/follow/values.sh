#!/bin/sh
# values.sh - --follow kernel --pretty: values of tracepoints have the names that they
# have in a file of the same events, those of a tracepoint too that is switched on while
# we follow.  Without, a follower sees numbers where a file has words.
. "${TNF_SOURCE:?}/tests/kernel/kernel.sh"
tnfxtract=$TNF_BUILD/tnfxtract/tnfxtract

at_exit kernel_off
"$kpctl" tracepoints >"$TMP/all" 2>"$TMP/err" || skip "no tracepoints: $(cat "$TMP/err")"
"$kpctl" alloc 8000000 >/dev/null 2>"$TMP/err" || skip "no buffer: $(cat "$TMP/err")"
"$kpctl" set import_rate 0 && "$kpctl" enable sched.sched_switch || fail "enable"

# shellcheck disable=SC2016 # its own
echo 'kill -CONT $$; sleep 0.01; echo x >/dev/null; sh -c "exit 3"; kill -WINCH $$' >"$TMP/load"
held sh "$TMP/load"
"$kpctl" filter add "$held" && "$kpctl" filter on && "$kpctl" on || fail "on"
"$tnfdump" --follow kernel --pretty --no-header >"$TMP/seen" 2>"$TMP/err2" 9>&- &
follower=$!
at_exit "kill $follower 2>/dev/null"
begun() { grep -q bpf-map "/proc/$follower/maps"; }
wait_for 60 begun || fail "it does not follow: $(cat "$TMP/err2")"
"$kpctl" enable signal.signal_generate kmem.mm_page_alloc || fail "a second one"
released
wait "$held"
# A thread that ends is a zombie, or dead: in words or numbers.
ended() { grep -Eq 'sched\.sched_switch .* prev_state: (Z|X|16|32) ' "$TMP/seen"; }
wait_for 60 ended || fail "the end of $held is not seen: $(cat "$TMP/seen" "$TMP/err2")"
"$kpctl" off
"$tnfxtract" "$TMP/trace" 2>"$TMP/err" || fail "tnfxtract: $(cat "$TMP/err")"
kill -INT "$follower"
wait "$follower" || fail "--follow: $?: $(cat "$TMP/err2")"
"$tnfdump" --pretty --no-header "$TMP/trace" >"$TMP/file" || fail "tnfdump"
# Names of threads may have come and gone; members are compared.
members() { sed -n "s/.* $1 *//p" "$2"; }
for p in sched.sched_switch signal.signal_generate kmem.mm_page_alloc; do
	members "$p" "$TMP/seen" >"$TMP/a"
	members "$p" "$TMP/file" >"$TMP/b"
	[ -s "$TMP/a" ] || fail "no $p is seen"
	cmp "$TMP/a" "$TMP/b" || fail "$p: $(diff "$TMP/a" "$TMP/b" | head)"
done
grep -q 'sched\.sched_switch .* prev_state: S ' "$TMP/seen" || fail "no S: $(grep sched_switch "$TMP/seen")"
grep -q 'kmem\.mm_page_alloc .* gfp_flags: GFP_' "$TMP/seen" || fail "flags: $(grep mm_page_alloc "$TMP/seen" | head -n 3)"
echo "ok: the names that the file has"
