#!/bin/sh
# others.sh - what other people's viewers and databases make of a trace: speedscope,
# DuckDB and ClickHouse have the numbers that tnfdump has.  Run by hand: they come from
# npm and from packages that nobody else here needs.
#
# usage: others.sh BUILD DIR
#
# DIR is where they are, or are not:
#   (cd DIR && npm install speedscope @duckdb/node-api)
#   (cd DIR && apt-get download clickhouse-common clickhouse-client clickhouse-server and
#    what they depend on, then dpkg -x each of them into DIR/clickhouse)
set -u
here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 2 ] || { sed -n '6,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }
build=$(realpath "$1") dir=$(realpath "$2") sql=$here/../../examples/sql
tnfdump=$build/tnfdump/tnfdump bad=0
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
LD_LIBRARY_PATH=$build/libtnfprobe${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
cd "$out" || exit 1

# shellcheck disable=SC2016  # prex's word
"$build/prex/prex" -o trace.tnf -c 'enable $all; continue' "$build/examples/bakery" -n 200 \
	</dev/null >/dev/null || exit 1
for format in csv jsonl folded chrome sqlite; do
	"$tnfdump" --to $format -o trace.$format trace.tnf || exit 1
done

# The counts by tnfdump itself.
sqlite3 -readonly -separator , trace.sqlite <"$sql/counts.sql" >counts.want
sqlite3 -readonly -separator , trace.sqlite "SELECT span, count(*) AS n, sum(duration) AS ns,
    min(duration), max(duration) FROM pairs GROUP BY span ORDER BY ns DESC" >durations.want
sqlite3 -readonly -separator , trace.sqlite "SELECT cake, count(*) AS n FROM order_start
    GROUP BY cake ORDER BY n DESC, cake" >members.want

# same WHAT NAME: the rows are those that tnfdump has
same()
{
	if cmp -s "$2.want" got && [ -s got ]; then
		echo "$1: $2: the same $(wc -l <got) rows"
	else
		echo "FAIL: $1: $2"
		diff "$2.want" got | head -5
		bad=1
	fi
}

# duckdb VIEW QUERY
duckdb()
{
	NODE_PATH=$dir/node_modules node -e '
const { DuckDBInstance } = require("@duckdb/node-api"), fs = require("fs");
(async () => {
	const db = await (await DuckDBInstance.create(":memory:")).connect();
	await db.run(fs.readFileSync(process.argv[1], "utf8"));
	const answer = await db.runAndReadAll(fs.readFileSync(process.argv[2], "utf8"));
	for (const row of answer.getRowsJson())
		console.log(row.join(","));
})().catch((e) => { console.error(e.message); process.exit(1); });' "$sql/duckdb/$1.sql" "$sql/duckdb/$2.sql"
}

if [ -d "$dir/node_modules/@duckdb" ]; then
	for view in csv jsonl; do
		for query in counts durations members; do
			duckdb $view $query >got
			same "DuckDB, $view" $query
		done
	done
else
	echo "not judged: no @duckdb/node-api in $dir"
fi

# ClickHouse's server, in a network of its own; only the orders have an example there.
clickhouse()
{
	root=$dir/clickhouse
	LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu:$root/usr/lib
	cat >config.xml <<X
<yandex><logger><level>error</level><console>1</console></logger><http_port>18123</http_port>
<tcp_port>19000</tcp_port><listen_host>127.0.0.1</listen_host><path>$out/ch/</path>
<tmp_path>$out/ch/tmp/</tmp_path><users_config>users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>1000000</mark_cache_size></yandex>
X
	cat >users.xml <<'X'
<yandex><profiles><default/></profiles><users><default><password></password>
<networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota></default></users>
<quotas><default><interval><duration>3600</duration><queries>0</queries><errors>0</errors>
<result_rows>0</result_rows><read_rows>0</read_rows><execution_time>0</execution_time></interval>
</default></quotas></yandex>
X
	cat >ask.sh <<'X'
ip link set lo up
"$1/usr/sbin/clickhouse-server" --config-file=config.xml >server.log 2>&1 &
server=$!
ask() { "$root/usr/bin/clickhouse-client" --port 19000 --format CSV "$@" | tr -d '"'; }
root=$1 i=0
until ask -q 'SELECT 1' >/dev/null 2>&1 || [ $((i += 1)) -gt 60 ]; do sleep 0.5; done
ask -q "$(cat "$2/table.sql")"
ask -q 'INSERT INTO events FORMAT CSVWithNames' <trace.csv
for query in counts durations members; do
	ask -q "$(cat "$2/$query.sql")" >clickhouse.$query
done
kill $server
wait $server
X
	unshare -rn sh ask.sh "$root" "$sql/clickhouse"
}

if [ -x "$dir/clickhouse/usr/sbin/clickhouse-server" ]; then
	(clickhouse)
	for query in counts members durations; do
		cp clickhouse.$query got
		[ $query != durations ] || sed -i -n '/^order,/p' durations.want
		same ClickHouse $query
	done
else
	echo "not judged: no clickhouse-server in $dir/clickhouse"
fi

if [ -d "$dir/node_modules/speedscope" ]; then
	mkdir home
	HOME=$out/home unshare -rn sh -c 'ip link set lo up && exec python3 "$@"' sh "$here/speedscope.py" \
		"$dir/node_modules/speedscope/dist/release/index.html" trace.folded trace.chrome trace.sqlite || bad=1
else
	echo "not judged: no speedscope in $dir"
fi
exit $bad
