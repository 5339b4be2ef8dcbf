#!/bin/bash
# postgres.sh - PostgreSQL's queries, by its USDT probes: one waits for a row that another session
# has locked whose client sleeps, others for a disk that others write to.  The verdicts name both.
. "${TNF_SOURCE:?}/tests/lib.sh"
tnfdump=$TNF_BUILD/tnfdump/tnfdump prex=$TNF_BUILD/prex/prex tnfxtract=$TNF_BUILD/tnfxtract/tnfxtract
need_program psql runuser readelf
need_kernel
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
[ -n "$bin" ] || skip "no PostgreSQL server is installed"
readelf -n "$bin/postgres" 2>/dev/null | grep -q query__start || skip "$bin/postgres has no USDT probes"
scratch
writers=
undo() {
	# shellcheck disable=SC2086  # words are meant
	[ -z "$writers" ] || kill $writers 2>/dev/null
	runuser -u postgres -- "$bin/pg_ctl" -D "$TMP/db" -m immediate stop >/dev/null 2>&1
	"$prex" -k -c 'ktrace off; buffer dealloc' >/dev/null 2>&1
	test_end
}
trap undo EXIT
chmod 755 "$TMP"
mkdir "$TMP/db" && chown postgres "$TMP/db"
cd "$TMP" || exit 1
runuser -u postgres -- "$bin/initdb" -D "$TMP/db" >/dev/null 2>&1 || skip "initdb fails here"
printf "listen_addresses = ''\nunix_socket_directories = '%s/db'\nautovacuum = off\n" "$TMP" >>"$TMP/db/postgresql.conf"
runuser -u postgres -- "$bin/pg_ctl" -D "$TMP/db" -w -l "$TMP/db/log" start >/dev/null 2>&1 || skip "PostgreSQL does not start here"
sql() { runuser -u postgres -- psql -q -X -h "$TMP/db" "$@" >/dev/null; }
sql -c 'create table t (id int primary key, n int); insert into t select i, 0 from generate_series(1, 100) i'

begin() {
	"$prex" -k >out 2>&1 <<-END || fail "prex -k: $(cat out)"
		import '$bin/postgres'
		buffer alloc 96m
		trace \$why
		enable \$why
		trace name=postgresql.query__start name=postgresql.query__done
		enable name=postgresql.query__start name=postgresql.query__done
		ktrace on
	END
}
end() {
	"$prex" -k -c 'ktrace off' >/dev/null 2>&1
	"$tnfxtract" "$1" 2>lost
	"$prex" -k -c 'buffer dealloc' >/dev/null 2>&1
	"$tnfdump" --why=postgresql.query "$1" >"$1.why" 2>err || fail "--why: $(cat err)"
	head -n 5 "$1.why"
}

begin
for i in $(seq 30); do echo "update t set n = n + 1 where id = $i;"; done >quick
sql -f quick
chmod 777 "$TMP"
printf 'begin;\nupdate t set n = 0 where id = 50;\n\\! touch %s/locked; until test -e %s/go; do sleep 0.1; done\ncommit;\n' "$TMP" "$TMP" >holder
sql -f holder &
holder=$!
wait_for 60 test -e locked || fail "the holder does not come to its lock"
sql -c 'update t set n = n + 1 where id = 50' &
waiter=$!
waits() {
	runuser -u postgres -- psql -qAtX -h "$TMP/db" -c \
		"select 1 from pg_stat_activity where wait_event_type = 'Lock'" | grep -q 1
}
wait_for 60 waits || fail "nothing waits for the lock"
sleep 1		# longer than any other query takes
touch go
wait "$holder" "$waiter"
end row.tnf
sed -n 2p row.tnf.why | grep -qE 'Waited .* for postgres .*(sleep|psql)' || fail "row lock: $(cat row.tnf.why)"
echo "ok: a row lock"

for i in 1 2 3 4; do
	sh -c 'while :; do dd if=/dev/zero of="$0" bs=4M count=16 oflag=direct conv=notrunc 2>/dev/null; done' "$TMP/large$i" &
	writers="$writers $!"
done
begin
sql -f quick
end disk.tnf
# The slowest may be slow because of what else runs here: the waits of all are looked at.
"$tnfdump" --why=postgresql.query --to folded disk.tnf 2>err >folded || fail "folded: $(cat err)"
grep -q ';waits;.*disk_.*behind_requests_of_dd ' folded || fail "disk: $(cat folded)"
echo "ok: a disk"
