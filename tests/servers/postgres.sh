#!/bin/sh
# PostgreSQL of the distribution under pgbench: the probes that prex lists are those
# that readelf finds; transactions counted by us, by pgbench and by bpftrace are the
# same; queries have their texts; afterwards nobody listens any more.  Not part of
# tools/check: it needs root, postgresql and bpftrace, and takes a minute.
. "${TNF_SOURCE:-$(dirname "$0")/../..}/tests/lib.sh"
need_kernel
need_program readelf bpftrace runuser python3
: "${TNF_PROVIDERS:=$TNF_SOURCE/providers}"
export TNF_PROVIDERS
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
[ -x "$bin/pgbench" ] || skip "postgresql is not installed"
prex=$TNF_BUILD/prex/prex
transactions=${1:-2000}

scratch
chmod 755 "$TMP"
mkdir "$TMP/db"
chown postgres "$TMP/db"
as() { (cd / && runuser -u postgres -- env TMPDIR= "$@"); }

as "$bin/initdb" -D "$TMP/db" >/dev/null || fail "initdb"
echo "autovacuum = off
listen_addresses = ''
unix_socket_directories = '$TMP/db'
logging_collector = off" >> "$TMP/db/postgresql.conf"
as "$bin/pg_ctl" -D "$TMP/db" -w -l "$TMP/db/log" start >/dev/null || fail "pg_ctl"
trap 'as "$bin/pg_ctl" -D "$TMP/db" -m immediate stop >/dev/null; echo "ktrace off
buffer dealloc" | "$prex" -k >/dev/null 2>&1; test_end' EXIT
server=$(head -1 "$TMP/db/postmaster.pid")
as "$bin/pgbench" -h "$TMP/db" -i -q -s 1 postgres >/dev/null 2>&1 || fail "pgbench -i"

# Names.
echo "list name probes keys=postgresql" | "$prex" -p "$server" 2>/dev/null |
    sed -n 's/^name=postgresql\.\([^ ]*\) $/\1/p' | sort > "$TMP/ours"
readelf -n "$bin/postgres" | sed -n 's/^    Name: //p' | sort -u > "$TMP/theirs"
cmp "$TMP/ours" "$TMP/theirs" || fail "names differ from readelf's"
echo "names: $(wc -l < "$TMP/ours"), as readelf has them"

# The semaphores of a process: their sum.
semaphores() {
	readelf -n "$bin/postgres" | sed -n 's/.*Semaphore: //p' | sort -u > "$TMP/at"
	python3 - "$1" "$bin/postgres" "$TMP/at" <<'P'
import struct, sys
pid, path, at = sys.argv[1:]
lines = [l.split() for l in open(f"/proc/{pid}/maps") if l.rstrip().endswith(path)]
base = min(int(l[0].split("-")[0], 16) for l in lines)
with open(f"/proc/{pid}/mem", "rb") as mem:
    total = 0
    for word in open(at):
        mem.seek(base + int(word, 16))
        total += struct.unpack("H", mem.read(2))[0]
print(total)
P
}
[ "$(semaphores "$server")" = 0 ] || fail "somebody else listens to the server"

# Ours, for all processes that run the file: each session is a process of its own.
cat <<P | "$prex" -k >/dev/null || fail "prex -k"
import '$bin/postgres'
buffer alloc 64m
trace name=postgresql.transaction__commit name=postgresql.query__start
enable name=postgresql.transaction__commit name=postgresql.query__start
ktrace on
P
[ "$(semaphores "$server")" = 2 ] || fail "semaphores: $(semaphores "$server"), not 2"

# The judge.  It leaves the semaphores alone, and counts because we have them up.
bpftrace -e "usdt:$bin/postgres:postgresql:transaction__commit { @commits = count(); }
	BEGIN { printf(\"ready\\n\"); }" > "$TMP/judge" 2>&1 &
judge=$!
wait_for 60 grep -q ready "$TMP/judge" || fail "bpftrace: $(cat "$TMP/judge")"
as "$bin/pgbench" -h "$TMP/db" -n -c 2 -t $((transactions / 2)) postgres > "$TMP/bench" 2>&1 ||
	fail "pgbench: $(cat "$TMP/bench")"
sessions_over() { ! pgrep -f "^postgres: .*\[local\]" >/dev/null; }
wait_for 60 sessions_over || fail "pgbench's sessions do not end"
"$TNF_BUILD/tnfxtract/tnfxtract" "$TMP/trace.tnf" || fail "tnfxtract"
kill -INT "$judge"; wait "$judge"

"$TNF_BUILD/tnfdump/tnfdump" "$TMP/trace.tnf" > "$TMP/text" || fail "tnfdump"
bench=$(sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p' "$TMP/bench")
ours=$(grep -c ' postgresql\.transaction__commit ' "$TMP/text")
theirs=$(sed -n 's/^@commits: //p' "$TMP/judge")
ends=$(grep -c ' query: "END;"$' "$TMP/text")
updates=$(grep -c ' query: "UPDATE pgbench_accounts SET abalance = abalance' "$TMP/text")
echo "transactions: pgbench $bench, END $ends, UPDATE of accounts $updates; commits: ours $ours, bpftrace $theirs"
[ "$bench" = "$transactions" ] && [ "$ends" = "$bench" ] && [ "$updates" = "$bench" ] ||
	fail "pgbench's transactions and our queries differ"
[ "$ours" = "$theirs" ] || fail "commits: ours $ours, bpftrace's $theirs"
grep -m 3 query__start "$TMP/text" | cut -c 60-200

echo "disable keys=postgresql" | "$prex" -k >/dev/null || fail "disable"
# The kernel counts them down when it takes the links apart, a moment after they are closed.
counted_down() { [ "$(semaphores "$server")" = 0 ]; }
wait_for 60 counted_down || fail "semaphores: $(semaphores "$server") afterwards"
echo "semaphores: 0 afterwards"
exit 0
