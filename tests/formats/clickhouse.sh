#!/bin/sh
# clickhouse.sh - Debian's clickhouse-server: the import is one command, and each of the ten
# queries answers as that of SQLite does, which "queries" compares with tnfdump's reports.
# Not among the checks, as the server is large: apt-get install clickhouse-server clickhouse-client.
# usage: clickhouse.sh TNFDUMP STORY
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_program clickhouse-server clickhouse-client sqlite3
need_golden
# Its own network: ports and people of this machine do not matter.
if [ -z "$CLICKHOUSE_INSIDE" ]; then
	unshare -rn true 2>/dev/null || skip "no network of its own"
	CLICKHOUSE_INSIDE=yes exec unshare -rn sh "$0" "$@"
fi
ip link set lo up || skip "no loopback"
PATH=$(dirname "$(realpath "$1")"):$PATH story=$(realpath "$2")
export PATH
scratch
cd "$TMP" || exit 1
bad=0
trap 'kill -9 $server 2>/dev/null; wait 2>/dev/null; test_end' EXIT
cat > config.xml <<X
<yandex><logger><level>error</level><console>1</console></logger><http_port>18123</http_port>
<tcp_port>19000</tcp_port><listen_host>127.0.0.1</listen_host><path>$TMP/ch/</path>
<tmp_path>$TMP/ch/tmp/</tmp_path><users_config>users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>1000000</mark_cache_size></yandex>
X
cat > users.xml <<'X'
<yandex><profiles><default/></profiles><users><default><password></password>
<networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota></default></users>
<quotas><default><interval><duration>3600</duration><queries>0</queries><errors>0</errors>
<result_rows>0</result_rows><read_rows>0</read_rows><execution_time>0</execution_time></interval>
</default></quotas></yandex>
X
# The libraries of the build are not the server's.
env -u LD_LIBRARY_PATH clickhouse-server --config-file=config.xml > server.log 2>&1 &
server=$!
CLICKHOUSE="env -u LD_LIBRARY_PATH clickhouse-client --port 19000"
export CLICKHOUSE
wait_for 120 sh -c "$CLICKHOUSE -q 'SELECT 1' > /dev/null 2>&1" || fail "no server: $(tail -5 server.log)"

awk 'BEGIN {
	print "process 300"; print "lost 1 7"; print "lost 3 2"
	print "probe order_start order id:tnf_int32"; print "probe order_end order id:tnf_int32"
	t = 1000000000
	for (i = 0; i < 60; i++) {
		who = (300 + i % 2) " " (300 + i % 3) " " (300 + i % 3) " 0"
		d = 1000 + i * i * 977 % 400000
		print t, who, "order_start", i; print t + d, who, "order_end", i
		t += d + i % 7 * 60000 + i
	}
}' | "$story" shop.tnf || fail "story"
# Floating point is said in other ways.
plain() { awk -F '\t' -v OFS='\t' '{ for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+\.[0-9e+-]+$/) { $i = sprintf("%.6f", $i); sub(/\.?0+$/, "", $i) }
	else if ($i == "\\N") $i = ""; print }' | sort; }
asked=0 queries="counts durations gaps inside losses processes rate slowest states waiting"
for trace in shop.tnf "$TNF_GOLDEN"/kern_events.lp64.tnf "$TNF_GOLDEN"/kern_live.lp64.tnf "$TNF_GOLDEN"/threads.lp64.tnf; do
	for t in events pairs states threads processes losses; do echo "DROP TABLE IF EXISTS $t;"; done | $CLICKHOUSE --multiquery
	"$TNF_SOURCE/examples/clickhouse/import" "$trace" 2> import.err || fail "$trace: $(cat import.err)"
	rm -f x.db
	tnfdump --to sqlite -o x.db "$trace" 2>/dev/null
	for q in $queries; do printf "SELECT 'query', '%s';\n%s;\n" $q "$(cat "$TNF_SOURCE/examples/clickhouse/$q.sql")"; done |
		$CLICKHOUSE --multiquery > answers 2>&1
	for q in $queries; do
		sqlite3 -readonly -separator '	' x.db < "$TNF_SOURCE/examples/sql/$q.sql" | plain > want
		awk -F '\t' -v q=$q '$1 == "query" { on = $2 == q; next } on' answers | plain > got
		asked=$((asked + 1))
		cmp -s got want && continue
		echo "FAIL: $trace: $q" >&2
		diff got want | head -5 >&2
		bad=1
	done
done
[ $asked -eq 40 ] || fail "$asked answers, not 40"
# Several machines: each event has the name of its own.
i=0
for h in web db; do
	mkdir $h
	printf 'process 100\nboot %d\nprobe work net id:tnf_int32\n1000000 100 101 1 0 work 1\n@host %s\n@clock 1000000 1700000000001000000\n@sync synchronised 0 5000 5000\n' \
		$((i += 1)) $h | "$story" $h/a.tnf || fail story
done
$CLICKHOUSE -q 'DROP TABLE events'
"$TNF_SOURCE/examples/clickhouse/import" --hosts web db || fail "--hosts"
[ "$($CLICKHOUSE -q 'SELECT host, count() FROM events GROUP BY host ORDER BY host' | tr '\t\n' ' ,')" = "db 1,web 1," ] ||
	{ echo "FAIL: --hosts: $($CLICKHOUSE -q 'SELECT * FROM events')" >&2; bad=1; }
exit $bad
