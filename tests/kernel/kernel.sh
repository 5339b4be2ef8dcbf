# kernel.sh - what the tests of the kernel's probes share.
#
#	need_buffer			skips where the kernel can have none
#	trace_begin BYTES PROBE...	a buffer, the probes on
#	traced COMMAND...		runs it, tracing on; says goes to $TMP/said
#	said WORD [N]			the N-th number behind WORD of what it said
#	events PID|- NAME		the events, one a line: PID LWPID TID NAME DATA
#	count PID|- NAME		their number
#
# Whatever happens, tracing is off and the buffer gone in the end.
. "${TNF_SOURCE:-../..}/tests/lib.sh"

kpctl=${KPCTL:-$TNF_BUILD/tests/kernel/kpctl}
work=${WORK:-$TNF_BUILD/tests/kernel/work}
tnfdump=$TNF_BUILD/tnfdump/tnfdump

need_kernel
[ -x "$tnfdump" ] || skip "tnfdump is not built"
scratch
undo=
at_exit() { undo="$1; $undo"; }
# No command of the clean-up may inherit the failure of a test.
trap 'trap - EXIT; eval "$undo"; held_end; test_end' EXIT

kernel_off() {
	"$kpctl" off >/dev/null 2>&1
	"$kpctl" dealloc >/dev/null 2>&1
}

# unavailable PROBE: its rows that this kernel cannot have, with the reason
unavailable() {
	"$kpctl" list | awk -F ';' -v name="${1%#*}" -v n="${1#*#}" '
		{ this = $1; sub(/^[0-9]+ name /, "", this) }
		this == name && (n + 0 == 0 || ++seen == n) && / unavailable$/'
}

# need_buffer: a kernel that cannot have one is no fault of what is tested, and says why.
need_buffer() {
	at_exit kernel_off
	"$kpctl" alloc 100000 >/dev/null 2>"$TMP/err" || skip "no buffer: $(cat "$TMP/err")"
	"$kpctl" dealloc
}

trace_begin() {
	_size=$1; shift
	at_exit kernel_off
	"$kpctl" alloc "$_size" >/dev/null 2>"$TMP/err" ||
		skip "no buffer: $(cat "$TMP/err")"
	for _p; do
		_missing=$(unavailable "$_p")
		[ -z "$_missing" ] || skip "$_missing"
	done
	"$kpctl" enable "$@" || fail "enable $*"
}

dump() {
	"$kpctl" copy "$TMP/buf" || fail "copy"
	"$tnfdump" "$TMP/buf" >"$TMP/dump" 2>"$TMP/err" || fail "tnfdump: $(cat "$TMP/err")"
	lines
}
lines() {
	awk '$1 ~ /^[0-9.]+$/ { $1 = $2 = ""; sub(/^ +/, ""); print }' "$TMP/dump" |
		awk '{ c = $4; $4 = ""; sub(/  /, " "); print $0 }' >"$TMP/events"
}

traced() {
	"$kpctl" on || fail "ktrace on"
	"$@" >"$TMP/said" || fail "$*"
	"$kpctl" off || fail "ktrace off"
	lost=$("$kpctl" status | sed 's/.* lost \(.*\) most .*/\1/')
	[ "$lost" = "0 0 0 0 0 0 0 0" ] || echo "lost: $lost"
	dump
	is_whole || echo "the buffer was filled more than once"
}
# Nothing that was copied last had been overwritten: beside others that do much, and are
# in the trace as well, a buffer is full soon.
is_whole() {
	[ "$("$tnfdump" --info=json "$TMP/buf" | grep -o '"laps":[0-9]*' | sed 's/.*://')" -le 1 ]
}

said() { awk -v w="$1" -v n="${2:-1}" '$1 == w { print $(n + 1); exit }' "$TMP/said"; }

events() { awk -v p="$1" -v n="$2" '(p == "-" || $1 == p) && $4 == n' "$TMP/events"; }
count() { events "$1" "$2" | wc -l; }

# between FROM TO MEMBER: of the events on standard input, those in [FROM, TO)
between() {
	awk -v from="$1" -v to="$2" -v m="$3:" '{
		for (i = 5; i < NF; i++)
			if ($i == m && length($(i + 1)) == length(from) &&
			    $(i + 1) "" >= from "" && $(i + 1) "" < to "")
				print
	}'
}

# sum MEMBER: of the events on standard input
sum() {
	awk -v m="$1:" '{ for (i = 5; i < NF; i++) if ($i == m) s += $(i + 1) }
		END { printf "%.0f\n", s }'
}

equal() { [ "$2" -eq "$3" ] || fail "$1: $2, should be $3"; echo "ok: $1: $2"; }
# within WHAT GOT FROM TO
within() {
	[ "$2" -ge "$3" ] && [ "$2" -le "$4" ] || fail "$1: $2, should be $3 to $4"
	echo "ok: $1: $2 ($3 to $4)"
}

# Sum of the high watermarks of zones that have memory.
high_watermarks() {
	awk '$1 == "high" { high = $2 } $1 == "managed" && $2 > 0 { s += high }
		END { print s }' /proc/zoneinfo
}

# tracefs_begin EVENT...: the kernel's own trace of the same, from an instance
# that is ours alone; tracefs_end leaves it in $TMP/tracefs.
tracefs_begin() {
	[ -d /sys/kernel/tracing/instances ] ||
		test_mount tracefs /sys/kernel/tracing ||
		skip "no tracefs"
	ring=/sys/kernel/tracing/instances/tnf-test.$$
	mkdir "$ring" || skip "no instance of tracefs"
	at_exit "[ ! -d $ring ] || rmdir $ring"
	echo 16384 >"$ring/buffer_size_kb"
	for _e; do
		echo 1 >"$ring/events/$_e/enable" || fail "tracefs: $_e"
	done
}

tracefs_end() {
	echo 0 >"$ring/tracing_on"
	cat "$ring/trace" >"$TMP/tracefs"
	[ "$(cat "$ring"/per_cpu/cpu*/stats | sed -n 's/^overrun: //p' | sort -n | tail -n 1)" = 0 ] ||
		fail "tracefs has lost events"
	rmdir "$ring"
}

# held COMMAND...: starts it as process $held, which waits for "released", or for the end
# of the test
held=
held() {
	rm -f "$TMP/go"
	mkfifo "$TMP/go"
	sh -c 'read -r go <"$0"; exec "$@"' "$TMP/go" "$@" >"$TMP/said" 2>"$TMP/err" 9>&- &
	held=$!
	wait_for 60 is_asleep $held || fail "$held does not wait"
}
is_asleep() { [ "$(awk '{ print $3 }' "/proc/$1/stat")" = S ]; }
released() { echo >"$TMP/go"; }
held_end() {
	[ -z "$held" ] || ! cat "/proc/$held/cmdline" 2>/dev/null | tr '\0' ' ' | grep -qF " $TMP/go " ||
		kill -9 "$held"
}
