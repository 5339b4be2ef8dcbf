#!/bin/sh
# containers.sh - processes in containers: each has number 1 there, and the
# machine's in the traces of the kernel; a context tells both.
# Usage: containers.sh TNFDUMP STORY
. "${TNF_SOURCE:-.}/tests/lib.sh"

tnfdump=$(realpath "$1") story=$(realpath "$2")
scratch
cd "$TMP" || exit 1

# container FILE HOST NAME TIME: threads 1 and 7 are HOST and HOST + 6
container() {
	"$story" "$1" <<M || fail "story"
process 1
boot 1
probe work_start io n:tnf_int32
probe work_end io n:tnf_int32
$4 1 1 1 0 work_start $2
$(($4 + 100)) 1 7 7 0 work_start $2
$(($4 + 300)) 1 1 1 0 work_end $2
$(($4 + 400)) 1 7 7 0 work_end $2
@task $2 $2 1 $3
@task $(($2 + 6)) $2 1 $3-worker
@inner $2 $2 1 1
@inner $(($2 + 6)) $2 7 1
@program $2 /usr/bin/$3
@cgroup $2 /machine/$3.scope
M
}
container a.tnf 500 web 1000
container b.tnf 700 db 1050
"$story" k.tnf <<'M' || fail "story"
kernel
kernel-part
boot 1
type tnf_sysnum tnf_int16
probe syscall_start syscall sysnum:tnf_sysnum
1150 1 1 0x100 0 syscall_start 1
1150 500 506 0x200 1 syscall_start 1
@task 1 1 0 init
@task 500 500 1 web
@task 506 500 1 web-worker
M

# line NAME TEXT...: what is printed of the first event of that process
same() { [ "$2" = "$3" ] || fail "$1: $2, not $3"; }
cols() { "$tnfdump" --no-header --columns="$1" "$2" | tr -s ' ' | sed 's/^ //' | head -2 | tr '\n' '|'; }
same columns "$(cols pid,lwpid,host-pid,host-lwpid,comm a.tnf)" "1 1 500 500 web|1 7 500 506 web-worker|"
same columns "$(cols pid,host-pid,host-lwpid,comm k.tnf)" "1 1 1 init|500 500 506 web-worker|"

# Program and control group are those of the machine's process, in whichever file.
same groups "$(cols pid,cgroup,program a.tnf)" "1 /machine/web.scope /usr/bin/web|1 /machine/web.scope /usr/bin/web|"
same "of another file" "$("$tnfdump" --no-header --columns=host-pid,cgroup a.tnf k.tnf | sort -u | tr -s ' ' | tr '\n' '|')" \
    " 1 -| 500 /machine/web.scope|"
same "--where cgroup" "$("$tnfdump" --no-header --where 'cgroup == "/machine/db.scope" and program =~ "/db$"' a.tnf b.tnf | wc -l)" 4
"$tnfdump" --to jsonl a.tnf | grep -q '"comm":"web","cgroup":"/machine/web.scope","probe"' || fail "jsonl: no cgroup"
"$tnfdump" --to csv a.tnf | grep -q ',/machine/web.scope.$' || fail "csv: no cgroup"
command -v sqlite3 > /dev/null && "$tnfdump" --to sqlite --output a.db a.tnf &&
	same sqlite "$(sqlite3 a.db 'select distinct program, cgroup from processes')" "/usr/bin/web|/machine/web.scope"

# By name, and by either number.
number() { "$tnfdump" --no-header "$@" a.tnf b.tnf k.tnf 2> err | wc -l; }
same "-p web" "$(number -p web)" 5
same "-p 500" "$(number -p 500)" 5
same "-p db" "$(number -p db)" 4
same "-p init" "$(number -p init)" 1
same "-p 1" "$(number -p 1)" 9
same "--tid 506" "$(number --tid 506)" 3

# Two processes of number 1 do not end each other's work.
"$tnfdump" --stats a.tnf b.tnf > out
grep -q '^ *4 .* 0\.300 .* work$' out || fail "stats: $(cat out)"
[ "$("$tnfdump" --tree a.tnf b.tnf | grep -c '0.300 usec')" -eq 4 ] || fail "tree"

# A viewer has one process for what both the kernel and the process tell.
"$tnfdump" --to chrome a.tnf b.tnf k.tnf > out
same chrome "$(grep '"work_\|"name":"work"\|"write"' out | grep -o '"pid":[0-9]*,"tid":[0-9]*' | sort | uniq -c | tr -s ' ' | tr '\n' '|')" \
    ' 1 "pid":1,"tid":1| 1 "pid":500,"tid":500| 2 "pid":500,"tid":506| 1 "pid":700,"tid":700| 1 "pid":700,"tid":706|'
grep '"process_name"' out | grep -q '"pid":700.*"db"' || fail "chrome: $(cat out)"
"$tnfdump" --to jsonl a.tnf | sed -n 3p | grep -q '"pid":1,"lwpid":7,"tid":7,"host_pid":500,"host_lwpid":506,"comm":"web-worker"' ||
	fail "jsonl: $("$tnfdump" --to jsonl a.tnf)"

# Put together they have the machine's numbers; alone, the names at least.
"$tnfdump" --to tnf a.tnf b.tnf k.tnf > all.tnf && "$tnfdump" --to tnf a.tnf > one.tnf || fail "--to tnf"
same merged "$("$tnfdump" --no-header --columns=pid,comm all.tnf | tr -s ' ' | sort | uniq -c | tr -s ' ' | tr '\n' '|')" \
    ' 1 1 init| 2 500 web| 3 500 web-worker| 2 700 db| 2 700 db-worker|'
same one "$(cols pid,lwpid,host-pid,comm one.tnf)" "1 1 500 web|1 7 500 web-worker|"
echo "containers and the machine are one"
