#!/bin/sh
# fast-servers.sh TNFDUMP PREX - redis, nginx, PostgreSQL and a Java machine as they come: with probes in all their functions that
# take one they answer what they answer without, under load, when the probes come, while they stay, and when they have
# gone; and requests are recorded as often as they are made, and as a uprobe of somebody else counts them.  With
# TNF_STRESS=long every function and return, else a part of them.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
dump=$(realpath "$1") prex=$(realpath "$2")
need_ptrace
scratch
fast_user "$prex"
PATH=/usr/bin:/bin:$PATH
cd "$TMP" || exit 1
pids=
trap 'kill -9 $pids 2>/dev/null; test_end' EXIT
some='/^[a-nP_].*[a-z]$/'
[ "${TNF_STRESS:-}" != long ] || some='/[a-zA-Z_]/'

# server COMMAND...: in the background, as $pid
server()
{
	# shellcheck disable=SC2086
	$as "$@" >server 2>&1 </dev/null &
	pid=$! pids="$pids $!"
}
here() { command -v "$1" >/dev/null || { echo "not tested: $1 is not here"; return 1; }; }

# run ARG...: prex
run()
{
	# shellcheck disable=SC2086
	timeout 280 $as "$prex" "$@" >prex 2>err </dev/null
}

# on NAME FUNCTION PID...: each process into a file of its own
on()
{
	_name=$1 _what=$2
	shift 2
	for _p; do
		run --set fast_returns=on -p "$_p" -s 16384 -o "$_name-$_p.tnf" -c "enable function=$_what; list probes keys=function" ||
			fail "$_name: on: $(tail -n 3 err)"
		grep -q 'cannot decode instructions' prex && skip "built without Zydis"
	done
}
off()
{
	for _p; do
		run -p "$_p" -c 'disable keys=function; list probes keys=function' || fail "off: $(tail -n 3 err)"
		grep -q 'enable=on' prex && fail "process $_p: not off: $(grep -m 3 enable=on prex)"
	done
}
is_asked() { "$1_says" >said 2>&1; cmp -s plain said || fail "$1, $2: $(diff plain said | head -n 5)"; }

# whole NAME PID...: NAME_says prints the same each time, NAME_load is work that must succeed
whole()
{
	name=$1
	shift
	"${name}_says" >plain 2>&1
	"${name}_load" >load 2>&1 & load=$!
	on "$name" "$some" "$@"
	wait $load || fail "$name, while probes come: $(tail -n 3 load)"
	n=$(grep -ac 'fast=yes' prex)
	is_asked "$name" "with probes"
	"${name}_load" >load 2>&1 & load=$!
	off "$@"
	wait $load || fail "$name, while probes go: $(tail -n 3 load)"
	is_asked "$name" "after the probes"
	events=0
	for p; do
		events=$((events + $("$dump" --info "$name-$p.tnf" 2>/dev/null | sed -n 's/^ *events: *//p')))
	done
	[ "$events" -ge 1000 ] || fail "$name: $events events"
	echo "$name: $n entries and returns in each of $# processes, $events events"
}

# counted NAME OBJECT FUNCTION NUMBER PID...: NAME_load makes so many calls, or any number (-); the uprobe is one of every process
# that runs the object, of which those count that we have
counted()
{
	name=$1 object=$2 function=$3 number=$4 trace='' by=-
	shift 4
	if [ -n "$as" ] && command -v bpftrace >/dev/null; then
		bpftrace -e "uprobe:$object:$function { @n[pid] = count(); }" >uprobe 2>&1 &
		trace=$! pids="$pids $!"
		wait_for 60 grep -q Attaching uprobe || fail "bpftrace: $(cat uprobe)"
		sleep 2
	fi
	on "counted-$name" "$function" "$@"
	"${name}_load" >load 2>&1 || fail "$name: $(tail -n 3 load)"
	off "$@"
	for p; do
		"$dump" --to jsonl "counted-$name-$p.tnf"
	done >dump 2>/dev/null
	fast=$(grep -c "\"probe\":\"${function}_entry\"" dump) returned=$(grep -c "\"probe\":\"${function}_return\"" dump)
	if [ -n "$trace" ]; then
		kill -INT "$trace"
		wait "$trace"
		by=0
		for p in $(sed -n 's/.*"pid":\([0-9]*\).*/\1/p' dump | sort -u); do
			by=$((by + $(sed -n "s/^@n\[$p\]: //p" uprobe)))
		done
	fi
	echo "$name: $number calls of $function; recorded $fast, returned $returned, uprobe $by"
	[ "$number" = - ] || [ "$fast" -eq "$number" ] || fail "$name: not all calls"
	[ "$by" = - ] || [ "$fast" -eq "$by" ] || fail "$name: the uprobe has counted others: $(cat uprobe)"
	[ "$returned" -eq 0 ] || [ "$returned" -eq "$fast" ] || fail "$name: not all returns"
}

if here redis-server && here redis-benchmark; then
	ask() { redis-cli -s redis.sock "$@"; }
	redis_says()
	{
		ask eval 'local x = 0 for i = 1, 1000 do x = x + i end return x' 0
		ask eval 'return redis.call("nosuch")' 0
		ask set a 'some text' && ask get a && ask lpush a 1
	}
	redis_load() { timeout 250 redis-benchmark -s redis.sock -q -t set,get,lpush,zadd -n 3000; }
	server redis-server --port 0 --unixsocket "$TMP/redis.sock" --save ''
	answers() { [ "$(ask ping 2>/dev/null)" = PONG ]; }
	wait_for 60 answers || fail "redis: $(cat server)"
	whole redis "$pid"
	# redis-benchmark asks twice for the configuration.
	counted redis "$(command -v redis-server)" processCommand 12002 "$pid"
	kill "$pid"
fi

if here nginx && here curl; then
	mkdir www && echo small >www/small && head -c 100000 /dev/zero | tr '\0' x >www/large
	cat >nginx.conf <<-EOF
		daemon off; pid $TMP/nginx.pid; error_log $TMP/nginx.log warn; worker_processes 1;
		events { worker_connections 64; }
		http {
			access_log off; client_body_temp_path $TMP/body; proxy_temp_path $TMP/proxy; fastcgi_temp_path $TMP/fastcgi;
			uwsgi_temp_path $TMP/uwsgi; scgi_temp_path $TMP/scgi; gzip on; gzip_types *;
			server { listen unix:$TMP/nginx.sock; root $TMP/www; }
		}
	EOF
	get() { curl -s --unix-socket nginx.sock "$@"; }
	nginx_says() { get --compressed http://x/small http://x/large http://x/nothing 'http://x/small?[1-5]' -r 2-3; }
	nginx_load() { get -f 'http://x/small?[1-600]' | cksum && get -f 'http://x/large?[1-100]' -o /dev/null; }
	server nginx -c "$TMP/nginx.conf"
	worker() { worker=$(pgrep -P "$pid") && [ -S nginx.sock ] && get -f http://x/small >/dev/null; }
	wait_for 60 worker || fail "nginx: $(cat server nginx.log)"
	whole nginx "$pid" "$worker"
	counted nginx "$(command -v nginx)" ngx_http_create_request 700 "$worker"
	kill "$pid"
fi

# PostgreSQL: the processes of sessions are children of the one that has probes, and go on in its file.
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
if here "$bin/pgbench" && here psql; then
	# shellcheck disable=SC2086
	$as "$bin/initdb" -U tnf -A trust -D "$TMP/db" >server 2>&1 || fail "initdb: $(cat server)"
	printf "listen_addresses = ''\nunix_socket_directories = '%s'\nautovacuum = off\nlog_min_messages = fatal\n" "$TMP" \
		>>"$TMP/db/postgresql.conf"
	sql() { psql -qAtX -h "$TMP" -U tnf -d postgres "$@"; }
	postgres_says()
	{
		sql -c 'select count(*), sum(i), md5(string_agg(i::text, $$,$$ order by i desc)) from generate_series(1, 20000) i'
		sql -c 'select 1 / 0'
		sql -c 'do $$ begin for i in 1..100 loop begin perform 1 / (i % 2); exception when division_by_zero then null; end;
			end loop; raise notice $x$done$x$; end $$'
		sql -c 'select sum(abalance) = (select coalesce(sum(delta), 0) from pgbench_history) from pgbench_accounts'
		sql -c "select regexp_replace('abcabc', '(a|b)+', 'x', 'g'), to_char(date '2020-02-29' + 366, 'Day'), 2::numeric ^ 100"
	}
	postgres_load() { "$bin/pgbench" -n -h "$TMP" -U tnf -c 4 -t 50 postgres; }
	server "$bin/postgres" -D "$TMP/db"
	postgres=$pid
	answers() { sql -c 'select 1' >/dev/null 2>&1; }
	wait_for 60 answers || fail "PostgreSQL: $(cat server)"
	"$bin/pgbench" -i -q -n -h "$TMP" -U tnf postgres >load 2>&1 || fail "pgbench: $(cat load)"
	# Its own children.  PostgreSQL before 16 forks all but these in a signal handler, where they stay: in such a process
	# no function can be called.
	children=
	[ "${TNF_STRESS:-}" != long ] || children=$(pgrep -P "$postgres" -f 'checkpointer|background writer')
	# shellcheck disable=SC2086
	whole postgres "$postgres" $children
	# 200 transactions of seven statements; pgbench asks for the size and the partitions first.
	counted postgres "$bin/postgres" pg_parse_query 1402 "$postgres"
	kill -INT "$postgres"
fi

if here java && here javac; then
	cat >Loop.java <<-'J'
		import java.nio.file.*;
		import java.util.*;
		public class Loop {
			static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
			public static void main(String[] args) throws Exception {
				for (Scanner in = new Scanner(System.in); in.hasNextInt(); ) {
					in.nextInt();
					Map<Integer, String> m = new TreeMap<>();
					for (int i = 0; i < 20000; i++)
						m.merge(i % 977, "x", String::concat);
					int caught = 0;
					for (int i = 0; i < 200; i++) {
						try { Object o = i % 2 == 0 ? null : "a"; o.hashCode(); } catch (NullPointerException e) { caught++; }
						try { Object o = "s"; Integer x = (Integer)o; } catch (ClassCastException e) { caught++; }
						try { int[] v = new int[i % 3]; v[2] = 1; } catch (ArrayIndexOutOfBoundsException e) { caught++; }
					}
					long[] sums = new long[8];
					Thread[] t = new Thread[8];
					for (int k = 0; k < 8; k++) {
						int j = k;
						t[k] = new Thread(() -> sums[j] = fib(22));
						t[k].start();
					}
					for (Thread x : t)
						x.join();
					byte[][] keep = new byte[100][];
					for (int i = 0; i < 20000; i++)
						keep[i % 100] = new byte[10000];
					System.gc();
					Path f = Files.createTempFile("tnf", null);
					Files.write(f, "hello".getBytes());
					System.out.println(m.size() + " " + m.get(5).length() + " " + caught + " " + Arrays.stream(sums).sum() +
					    " " + new String(Files.readAllBytes(f)));
					Files.delete(f);
				}
			}
		}
	J
	javac Loop.java || fail "javac"
	mkfifo in
	# shellcheck disable=SC2086
	$as java -cp "$TMP" Loop <in >out 2>server &
	pid=$! pids="$pids $!"
	exec 6>in
	# told N: it has answered so often
	told() { [ "$(wc -l <out)" -ge "$1" ]; }
	java_load()
	{
		n=$(($(wc -l <out) + 3))
		echo 1 1 1 >&6
		wait_for 120 told "$n" || { cat server; return 1; }
	}
	java_says() { java_load && tail -n 3 out; }
	whole java "$pid"
	jvm=$(sed -n 's,.* \(/.*/libjvm.so\)$,\1,p' "/proc/$pid/maps" | head -n 1)
	counted java "$jvm" JVM_StartThread 24 "$pid"
	exec 6>&-
	wait "$pid" || fail "java has ended: $(cat server)"
fi
