#!/bin/sh
# lies.sh - processes of another user lie in each field that they tell about themselves, and
# root looks at them with prex, tnfdump --follow, tnfwatch and tnfxtract -d.
#
# Guards: a byte of a file that the liar cannot write; a program that is killed, does not
# end or uses more than its bound of CPU; an incident that a lie makes larger than its share,
# or that costs an honest process its own; controls on the terminal.
#
# usage: lies.sh PREX TNFDUMP TNFWATCH TNFXTRACT VICTIM-LIAR SHOP [LIE...]
. "${TNF_SOURCE:-../..}/tests/security/as.sh"
. "$TNF_SOURCE/tests/watch/lib.sh"
need_program jq
need_program prlimit
prex=$(realpath "$1") xtract=$(realpath "$4") liar=$(realpath "$5")
scratch_shared "$liar"
watch_set "$3" "$6" "$2"
trap 'watch_end' EXIT
dump=$DUMP
shift 6

CPU=$((20 * ${TNF_SLOW:-1}))	# seconds that a program may compute for one liar
LIMIT=64			# MiB, of all that is kept
SHARE=$((LIMIT / 4))		# and of one source in an incident

# Files of root: none of them may change.
mkdir -m 700 "$TMP/secret"
"$prex" -s 128 -o "$TMP/secret/trace" -c 'enable $all; continue' "$SHOP" 1000 5 > "$TMP/out" 2>&1 ||
	fail "a trace of root: $(cat "$TMP/out")"
truncate -s 1M "$TMP/secret/zeros"
cp "$TMP/secret/trace" "$TMP/secret/of-user"
chown "$other" "$TMP/secret/of-user"
roots() { find "$TMP/secret" -type f -exec cksum {} + -exec stat -c '%n %s %a %u' {} + | sort; }
roots > "$TMP/before"

# A lie, and what tells of it where somebody has to: prex's mark, the incident of tnfwatch.
# "-": whatever it is, a good answer is all that is asked for.
table() {
	for l in $("$liar" rings); do
		case $l in
		ring-block-count-sparse | ring-sparse | ring-large) echo "$l - has[[:space:]][0-9]*[[:space:]]bytes" ;;
		ext-lost) echo "$l - lost.more.events" ;;
		*) echo "$l - -" ;;
		esac
	done
	for f in trace zeros of-user; do
		echo "running:$f is.not.the.file not.its.own"
		echo "ready:$f is.not.the.file not.its.own"
	done
	for l in process chain-used chain-endless state version attrs-endless; do echo "$l - -"; done
}
table > "$TMP/table"
[ $# -eq 0 ] || { for l; do grep "^$l " "$TMP/table"; done > "$TMP/some"; mv "$TMP/some" "$TMP/table"; }

# begin LIE: its number is in $TMP/LIE.pid.
begin() {
	: > "$TMP/$1.ready"
	case $1 in
	running:* | ready:*)
		state=0
		[ "${1%%:*}" = running ] || state=2
		set -- "$1" file LIE_FILE="$TMP/secret/${1#*:}" LIE_STATE=$state LIE_SIZE=1048576 ;;
	*)	set -- "$1" "$1" TNF_FILE="$STICKY/$1.tnf" TNF_ENABLE='$all' TNF_SIZE=256k ;;
	esac
	_name=$1 _kind=$2
	shift 2
	as env "$@" sh -c 'echo $$; exec "$1" "$2"' sh "$STICKY/liar" "$_kind" \
		< "$TMP/hold" > "$TMP/$_name.ready" 2> "$TMP/$_name.err" &
	STARTED="$STARTED $!"
	wait_for 60 grep -q ready "$TMP/$_name.ready" ||
		{ wrong "$_name: does not start: $(cat "$TMP/$_name.err")"; return; }
	head -n 1 "$TMP/$_name.ready" > "$TMP/$_name.pid"
}
# bounded WHO COMMAND...: an answer, and no more time than its bound.
bounded() {
	_who=$1
	shift
	timeout 300 prlimit --cpu=$CPU "$@" > "$TMP/$_who" 2>&1 < /dev/null
	_got=$?
	{ [ $_got -lt 124 ] || [ $_got -eq 130 ]; } && ! reported "$TMP/$_who" || wrong "$_who: status $_got: $(tail -n 5 "$TMP/$_who")"
	! grep -q "$(printf '\033')" "$TMP/$_who" || wrong "$_who: controls"
}
# said FILE: in a line.
said() { grep -v -e '^Target process' -e '^Type "continue"' "$1" | tail -n 1 | sed "s,$TMP/,,g" | cut -c 1-110; }

cp "$liar" "$STICKY/liar"
mkfifo "$TMP/hold"
sleep 3600 > "$TMP/hold" &
STARTED="$STARTED $!"
while read -r l mark why; do
	begin "$l"
done < "$TMP/table"
"$SHOP" 1000 > /dev/null &
HONEST=$!
STARTED="$STARTED $!"

conf <<T
keep = 60s
limit = ${LIMIT}m
[process shop]
program = $SHOP
enable = order
size = 512k
[process liar]
program = $STICKY/liar
enable = \$all
size = 256k
[trigger hand]
after = 0ms
T
watch
SHOPPID=$HONEST
wait_for 120 watched "$HONEST" || fail "the honest one is not watched: $(cat "$TMP/log" "$TMP/status")"
# Each has been taken, or refused; those that cannot be read have been given up.
seen() { answers && [ "$(grep -c '^liar-' "$TMP/status")" -ge "$(grep -c . "$TMP/table")" ] || [ $((tries += 1)) -gt 60 ]; }
tries=0
wait_for 60 seen
fire hand

FOLLOW=
while read -r l mark why; do
	read -r pid < "$TMP/$l.pid"
	bounded "$l.prex" "$prex" -p "$pid" -c 'list tracefile; list probes $all; mark planted; quit'
	bounded "$l.follow" timeout --preserve-status -s INT 2 "$dump" --follow "$pid" &
	FOLLOW="$FOLLOW $!"
	# Its pages, as they lie in a machine's memory.
	if [ -e "$STICKY/$l.tnf" ]; then
		head -c 1048576 "$STICKY/$l.tnf" > "$TMP/image"
		rm -rf "$TMP/files"
		bounded "$l.xtract" "$xtract" -d "$TMP/image" --files "$TMP/files"
		[ "$(du -skc "$TMP/files" 2>/dev/null | tail -n 1 | cut -f 1)" -le 1100 ] ||
			wrong "$l: tnfxtract: $(du -sk "$TMP/files")"
		rm -rf "$TMP/files" "$TMP/image"
	fi
	[ "$mark" = - ] || grep -q "$mark" "$TMP/$l.prex" || wrong "$l: prex: $(cat "$TMP/$l.prex")"
done < "$TMP/table"
for p in $FOLLOW; do wait "$p"; done

# tnfwatch: what it keeps of each, once more after all of that, and what it has cost.
fire hand
while read -r l mark why; do
	read -r pid < "$TMP/$l.pid"
	jq -r --argjson p "$pid" '.sources[] | select(.pid == $p) | .why // "kept"' "$I/incident.json" > "$TMP/$l.watch"
	[ "$why" = - ] || grep -q "$why" "$TMP/$l.watch" || wrong "$l: tnfwatch: $(cat "$TMP/$l.watch")"
	size=$(du -skc "$I"/liar-"$pid".* 2>/dev/null | tail -n 1 | cut -f 1)
	[ "$size" -le $((SHARE * 1024)) ] || wrong "$l: $size KiB in an incident"
	printf '%-24s prex: %s\n%-24s follow: %s\n%-24s tnfwatch: %s\n%-24s tnfxtract: %s\n' "$l" \
		"$(said "$TMP/$l.prex")" "" "$(said "$TMP/$l.follow")" "" "$(said "$TMP/$l.watch")" \
		"" "$([ ! -e "$TMP/$l.xtract" ] || said "$TMP/$l.xtract")"
done < "$TMP/table"
"$DUMP" "$I/shop-$HONEST.tnf" | grep -q order_end || wrong "nothing of the honest one"
ticks=$(cut -d ' ' -f 14-17 "/proc/$PID/stat" | tr ' ' + )
[ $((($ticks) / $(getconf CLK_TCK))) -le $((CPU * 3)) ] || wrong "tnfwatch: $ticks ticks"
answers || wrong "tnfwatch does not answer"
kill "$PID"
watch_ended() { ! kill -0 "$PID" 2>/dev/null; }
wait_for 60 watch_ended || fail "tnfwatch does not end"
roots | cmp -s - "$TMP/before" || wrong "files of root: $(roots | diff "$TMP/before" -)"
while read -r l mark why; do
	read -r pid < "$TMP/$l.pid"
	runs "$pid" || wrong "$l: the target is not as it was left"
done < "$TMP/table"

# A name that means another file where the liar is.
has_mount_spaces || exit $bad
mkdir "$TMP/elsewhere"
cp "$TMP/secret/trace" "$TMP/elsewhere/x.tnf"
: > "$TMP/elsewhere.ready"
LIE_FILE=$TMP/elsewhere/x.tnf LIE_MAP=1 unshare -m sh -c 'mount -t tmpfs -o mode=0777 tmpfs "$1" &&
	head -c 8192 /dev/zero > "$1/x.tnf" && chmod 666 "$1/x.tnf" && echo $$ &&
	exec setpriv --reuid '$other' --regid '$other' --clear-groups "$2" file' sh "$TMP/elsewhere" "$STICKY/liar" \
	< "$TMP/hold" > "$TMP/elsewhere.ready" 2>&1 &
STARTED="$STARTED $!"
wait_for 60 grep -q ready "$TMP/elsewhere.ready" || fail "elsewhere: $(cat "$TMP/elsewhere.ready")"
read -r pid < "$TMP/elsewhere.ready"
bounded elsewhere.follow timeout --preserve-status -s INT 1 "$dump" --follow "$pid"
grep -q order "$TMP/elsewhere.follow" && wrong "elsewhere: follow: $(tail -n 3 "$TMP/elsewhere.follow")"
bounded elsewhere.prex "$prex" -p "$pid" -c 'mark planted; quit'
grep -q 'is not the file' "$TMP/elsewhere.prex" || wrong "elsewhere: prex: $(cat "$TMP/elsewhere.prex")"
cmp -s "$TMP/secret/trace" "$TMP/elsewhere/x.tnf" || wrong "elsewhere: it was written"
exit $bad
