# shellcheck shell=sh
# Functions that the tests of tnfwatch share; tests/lib.sh comes first.

# tnfwatch, shop and tnfdump, as the build has them.
watch_programs() {
	need_program jq
	scratch
	watch_set "$@"
	# Started processes are ended, however the test ends.
	trap 'watch_end' EXIT
}

# The same behind tests/kernel/kernel.sh.  tnfwatch leaves the kernel's buffer for who comes
# next, and that would be another test.
watch_kernel_programs() {
	need_program jq
	watch_set "$@"
	at_exit kernel_off
	at_exit watch_kill
}

watch_set() {
	W=$(realpath "$1") DUMP=$(realpath "$3")
	# A program of our own: other tests watch theirs.
	SHOP=$TMP/shop
	cp "$2" "$SHOP" || fail "no shop"
	LD_LIBRARY_PATH=$TNF_BUILD/libtnfprobe:$LD_LIBRARY_PATH
	export LD_LIBRARY_PATH
	D=$TMP/kept CONF=$TMP/watch.conf STARTED=
}

# own_dump: tnfwatch runs the script on standard input as its tnfdump.
own_dump() {
	mkdir "$TMP/bin"
	cp "$W" "$TMP/bin/tnfwatch"
	W=$TMP/bin/tnfwatch
	LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$TNF_BUILD/libtnf:$TNF_BUILD/libtnfctl
	cat >"$TMP/bin/tnfdump"
	chmod +x "$TMP/bin/tnfdump"
}

watch_kill() {
	for _p in $STARTED; do kill -9 "$_p" 2>/dev/null; done
	wait 2>/dev/null
}

watch_end() {
	watch_kill
	[ -z "$WATCH_KEEP" ] || cp -r "$TMP" "$WATCH_KEEP"
	test_end
}

# conf: the configuration is what comes on standard input, behind [watch].
conf() {
	printf '[watch]\ndirectory = %s\nrun = %s/run\n' "$D" "$D" >"$CONF"
	cat >>"$CONF"
}

# conf_shop KEEP SIZE [AFTER]: a ring of the shop; with AFTER a trigger by hand, too.
conf_shop() {
	conf <<T
keep = $1
[process shop]
program = $SHOP
enable = order
size = $2
T
	[ -z "$3" ] || printf '[trigger hand]\nafter = %s\n' "$3" >>"$CONF"
}

w() { "$W" -c "$CONF" "$@"; }

# watch: a tnfwatch of this configuration runs; PID is its.
watch() {
	"$W" -c "$CONF" >>"$TMP/log" 2>&1 &
	PID=$!
	STARTED="$STARTED $PID"
	wait_for 120 answers_or_gone
	answers || fail "tnfwatch does not answer: $(cat "$TMP/log")"
}
answers_or_gone() { answers || ! kill -0 "$PID" 2>/dev/null; }
answers() { w status >"$TMP/status" 2>/dev/null; }

# shop ARGUMENT...: SHOPPID is its; what it prints is in shop.log.
shop() {
	"$SHOP" "$@" >>"$TMP/shop.log" 2>&1 &
	SHOPPID=$!
	STARTED="$STARTED $SHOPPID"
}

# shop_watched WHEN: the shop that was started last has been found.
shop_watched() {
	wait_for 120 watched "$SHOPPID" || fail "not watched $1: $(cat "$TMP/log" "$TMP/status")"
}

# fire TRIGGER: its incident is written; I is its directory.
fire() {
	w fire "$1" >"$TMP/out" || fail "fire: $(cat "$TMP/log")"
	I=$D/incidents/$(cat "$TMP/out")
	wait_for 120 test -e "$I/incident.json" || fail "not written: $(cat "$TMP/log" "$TMP/status")"
}

# told PATTERN: tnfwatch has said so.
told() { grep -q -- "$1" "$TMP/log"; }
kernel_watched() { answers && grep -q '^kernel .*[1-9]' "$TMP/status"; }
watched() { answers && grep -q "^shop-$1 .*[1-9]" "$TMP/status"; }
# An incident whose name ends so.
kept() { w list 2>/dev/null | grep -q -- "$1 "; }
n_kept() { [ "$(w list | grep -c .)" -ge "$1" ]; }
incident() { echo "$D/incidents/$(w list | awk 'END { print $1 }')"; }

stop_watch() {
	kill "$PID"
	wait "$PID" || fail "tnfwatch ended with $?: $(cat "$TMP/log")"
}

# lists_all INCIDENT: its description names each trace file; they are in "files".
lists_all() {
	jq -e .id "$1/incident.json" >/dev/null || fail "$1: no description"
	jq -r '.sources[].files[]' "$1/incident.json" >"$TMP/files"
	find "$1" -maxdepth 1 -name '*.tnf*' | sed 's,.*/,,' | sort >"$TMP/there"
	sort "$TMP/files" | comm -23 "$TMP/there" - >"$TMP/unlisted"
	[ ! -s "$TMP/unlisted" ] || fail "$1: not in the description: $(head -3 "$TMP/unlisted")"
}

# whole INCIDENT: it has what its description names, and tnfdump reads all of it.
whole() {
	lists_all "$1"
	while read -r _f; do
		"$DUMP" --info "$1/$_f" >/dev/null 2>"$TMP/err" ||
			fail "$1/$_f: $(cat "$TMP/err")"
	done <"$TMP/files"
}

# runs PID: it lives, and nobody keeps it stopped.
runs() {
	case $(awk '/^State:/ { print $2 }' "/proc/$1/status") in
	T | t) return 1 ;;
	esac
	grep -q '^TracerPid:[[:space:]]*0$' "/proc/$1/status"
}
