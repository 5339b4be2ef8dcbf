#!/bin/sh
# sqlite.sh - what tnfdump --to sqlite writes, asked by the sqlite3 shell: the
# example queries have the answers of tnfdump's own reports.
# usage: sqlite.sh TNFDUMP ODD
. "${TNF_SOURCE:-../..}/tests/lib.sh"
tnfdump=$(realpath "$1") odd=$(realpath "$2")
need_program sqlite3 jq
need_golden
scratch
cd "$TMP" || exit 1
bad=0
wrong() { echo "FAIL: $*" >&2; bad=1; }
ask() { sqlite3 -readonly -separator ' ' "$@"; }
query() { ask "$1" < "$TNF_SOURCE/examples/sql/$2.sql"; }

# The same rows by two ways: NAME, and two files.
same() { cmp -s "$2" "$3" || { wrong "$1"; diff "$2" "$3" | head -5 >&2; }; }

for f in "$TNF_GOLDEN"/*.tnf; do
	name=$(basename "$f")
	"$tnfdump" --to jsonl "$f" > all.jsonl 2>/dev/null
	[ "$(wc -l < all.jsonl)" -gt 1 ] || continue
	rm -f x.db
	"$tnfdump" --to sqlite -o x.db "$f" 2> err || { wrong "$name: $(cat err)"; continue; }
	[ "$(ask x.db 'PRAGMA integrity_check')" = ok ] || wrong "$name: integrity"
	# Every event, in order, with its time, thread and probe ...
	tail -n +2 all.jsonl | jq -r '"\(.time) \(.pid) \(.lwpid) \(.probe)"' > want
	ask x.db 'SELECT e.time, e.pid, e.lwpid, p.name FROM events e
	    JOIN probes p ON p.id = e.probe ORDER BY e.id' > got
	same "$name: events" want got
	# ... and each member of each, as jsonl has it.
	ask x.db "SELECT DISTINCT members FROM probes WHERE columns <> ''" |
	while read -r n; do
		ask x.db "SELECT count(*) FROM \"members $n\""
	done | awk '{ s += $1 } END { print s + 0 }' > got
	tail -n +2 all.jsonl | jq -s '[.[] | select(.args != {})] | length' > want
	same "$name: rows of members" want got
	query x.db counts | sort > got
	tail -n +2 all.jsonl | jq -r .probe | sort | uniq -c | awk '{ print $2, $1 }' | sort > want
	same "$name: counts" want got
	for q in "$TNF_SOURCE"/examples/sql/*.sql; do
		query x.db "$(basename "$q" .sql)" > got 2> err || wrong "$name: $q: $(cat err)"
	done
done

# Durations and states are the reports' own.
kernel=$TNF_GOLDEN/kern_events.lp64.tnf
"$tnfdump" --to sqlite -o x.db "$kernel" || wrong "$kernel"
"$tnfdump" --to chrome "$kernel" | jq -r '.traceEvents[] | select(.ph == "X" and .cat != "state") |
    "\(.name) \(.dur * 1000 | round)"' | sort > want
ask x.db "SELECT span, duration FROM pairs WHERE span NOT IN ('io')" | sort > got
same "pairs" want got
[ "$(ask x.db 'SELECT count(*) FROM pairs WHERE start_event IS NULL OR end_event IS NULL')" = 0 ] ||
	wrong "pairs without their events"
[ "$(ask x.db 'SELECT count(*) FROM pairs p JOIN events s ON s.id = start_event
    JOIN events e ON e.id = end_event JOIN probes b ON b.id = s.probe
    WHERE s.time = start AND e.time = "end" AND s.pid = p.pid AND s.lwpid = p.lwpid
    AND (b.name LIKE "%_start" OR b.name = "strategy")')" = \
    "$(ask x.db 'SELECT count(*) FROM pairs')" ] || wrong "pairs with events of others"
ask x.db 'SELECT pid, lwpid, min(time), max(time), count(*) FROM events GROUP BY pid, lwpid' > want
ask x.db 'SELECT pid, lwpid, first, last, events FROM threads' > got
same "threads" want got
"$tnfdump" --to chrome "$kernel" | jq -r '.traceEvents[] | select(.ph == "X" and .cat == "state") |
    "\(.name) \(.dur * 1000 | round)"' | sort > want
ask x.db 'SELECT state, duration FROM states' | sort > got
same "states" want got

# A member can be asked for by name, and has its type.
ask x.db "SELECT typeof(sysnum), typeof(tid) FROM syscall_start LIMIT 1" > got
echo "integer text" > want
same "types" want got

# Names and strings of every kind of evil are data: nothing else comes to be.
for kind in line names strings circle list array; do
	"$odd" $kind $kind || fail "odd $kind"
	rm -f x.db
	timeout 60 "$tnfdump" --to sqlite -o x.db $kind 2> err
	[ $? -le 1 ] && [ -e x.db ] || { wrong "$kind: $(cat err)"; continue; }
	[ "$(ask x.db 'PRAGMA integrity_check')" = ok ] || wrong "$kind: integrity"
	# Each way prints a circle, with its message.
	[ "$(ask x.db 'SELECT count(*) FROM events')" -eq \
	    "$("$tnfdump" --to jsonl $kind 2>/dev/null | tail -n +2 | wc -l)" ] || wrong "$kind: events"
	ask x.db "SELECT name FROM sqlite_master WHERE type = 'view'" | while read -r view; do
		ask x.db "SELECT * FROM \"$(printf %s "$view" | sed 's/"/""/g')\"" > /dev/null 2> err ||
			echo "$view: $(cat err)"
	done > broken
	[ ! -s broken ] || wrong "$kind: views: $(head -3 broken)"
done

# A database appears whole, or not at all, and without its name for the time.
"$tnfdump" --to sqlite "$kernel" 2> err
[ $? -eq 2 ] || wrong "without --output: not status 2"
grep -q 'give --output FILE' err || wrong "without --output: $(cat err)"
mkdir full
"$tnfdump" --to sqlite -o full/no/x.db "$kernel" 2> err && wrong "no directory: status 0"
grep -q 'full/no/x.db: No such file or directory' err || wrong "no directory: $(cat err)"
(ulimit -f 16; trap '' XFSZ; "$tnfdump" --to sqlite -o full/x.db "$kernel") 2> err &&
	wrong "full disk: status 0"
grep -q 'full/x.db: ' err || wrong "full disk: $(cat err)"
[ -z "$(ls -A full)" ] || wrong "left behind: $(ls full)"
exit $bad
