#!/bin/sh
# Guards: a trigger on what the kernel tells that fires too often or not often enough: a
# system call that fails, a thread that is in a state for too long, a call that hangs.
# states.sh TNFWATCH DESK TNFDUMP TRIGGER-RUN
. "${TNF_SOURCE:?}/tests/kernel/kernel.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
watch_kernel_programs "$1" "$2" "$3"
run=$(realpath "$4")
alone=desk$$
mv "$SHOP" "$TMP/$alone"
mkfifo "$TMP/in" || fail "mkfifo"
"$TMP/$alone" <"$TMP/in" >"$TMP/said" &
desk=$!
STARTED=$desk
exec 3>"$TMP/in"
tell() {
	echo "$*" >&3
	wait_for 300 grep -qx "$*" "$TMP/said" || fail "not done: $*"
}

# comm is not known to who reads a recording: there is one name alone in it.
cat >"$TMP/whens" <<T
refused probe == "syscall_end" and errno == 5
asleep state(SLEEP) > 300ms and pid == $desk
waits state(WAIT_CPU) > 5ms
hangs open(syscall) > 300ms
T
conf <<T
keep = 600s
[kernel]
buffer = 4m
enable = thread syscall
pfilter = name=$alone
$(while read -r name when; do printf '[trigger %s]\nwhen = %s\nafter = 600s\n' "$name" "$when"; done <"$TMP/whens")
[trigger named]
when = state(SLEEP) > 300ms and comm == "$alone"
[trigger other]
when = state(SLEEP) > 1ms and comm != "$alone"
[trigger over]
when = probe == "thread_exit" and lwpid == $desk
T
w check >"$TMP/out" 2>&1 || fail "check: $(cat "$TMP/out")"
tell orders 1 0
watch
wait_for 120 kernel_watched || fail "no kernel: $(cat "$TMP/log" "$TMP/status")"
tell refused 7
tell orders 3 400
tell orders 20 1
echo 'exit 0' >&3
wait "$desk"

# Its last event has been read.
count() { awk -v t="$1" '$1 == t { print $2 }' "$TMP/status"; }
over() { answers && [ "$(count over)" -eq 1 ]; }
wait_for 120 over || fail "its end is not told: $(cat "$TMP/status" "$TMP/log")"
[ "$(count refused)" -eq 7 ] || fail "refused: $(count refused) times, not 7"
# They fired as often as they do on the recording, which the incident has.
stop_watch
I=$(incident)
whole "$I"
set --
while read -r name when; do set -- "$@" "$when"; done <"$TMP/whens"
"$run" "$I/kernel.tnf" "$@" >"$TMP/recorded" || fail "trigger-run"
firings() {
	jq -r --arg t "$1" '.firings[] | select(.trigger == $t and .event != null) | .time' "$I/incident.json"
}
n=0
while read -r name when; do
	firings "$name" >"$TMP/$name"
	awk -v n="$n" '$1 == n { print $2 }' "$TMP/recorded" | diff "$TMP/$name" - >"$TMP/diff" ||
		fail "$name: live and recorded differ: $(cat "$TMP/diff")"
	echo "$name: $(wc -l <"$TMP/$name")"
	n=$((n + 1))
done <"$TMP/whens"
[ "$(wc -l <"$TMP/asleep")" -ge 3 ] || fail "asleep: $(wc -l <"$TMP/asleep") times"
[ "$(wc -l <"$TMP/hangs")" -ge 3 ] || fail "hangs: $(wc -l <"$TMP/hangs") times"
# Only of the last one, which ended, the name may have been asked for too late.
firings named >"$TMP/named"
sed '$d' "$TMP/asleep" | comm -23 - "$TMP/named" >"$TMP/missing"
comm -13 "$TMP/asleep" "$TMP/named" >>"$TMP/missing"
[ ! -s "$TMP/missing" ] || fail "by name: $(cat "$TMP/missing")"
[ -z "$(firings other)" ] || fail "another name: $(firings other)"
