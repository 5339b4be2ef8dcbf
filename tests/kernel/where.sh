#!/bin/sh
# where.sh - conditions on members: the kernel records what meets them, and nothing
# else; numbers by sign and width, texts whole and by their beginning.
. "$(dirname "$0")/kernel.sh"

at_exit kernel_off
"$kpctl" tracepoints >"$TMP/all" 2>"$TMP/err" || skip "no tracepoints: $(cat "$TMP/err")"
for p in sched.sched_process_exec signal.signal_generate syscalls.sys_exit_chdir; do
	grep -q " name $p;" "$TMP/all" || skip "no tracepoint $p"
done
cp /bin/true "$TMP/one" && cp /bin/true "$TMP/two" || fail "cp"
# By names that are short wherever the directory is: 31 characters are compared.
cat >"$TMP/load" <<'L'
cd "$1"
for i in 1 2 3 4 5; do ./one; done
for i in 1 2 3 4 5 6 7; do ./two; done
kill -CONT $$; kill -CONT $$; kill -CONT $$
kill -WINCH $$; kill -WINCH $$; kill -WINCH $$; kill -WINCH $$
for i in 1 2 3 4 5 6; do cd /nowhere 2>/dev/null || :; done
cd /; cd /tmp
L

# recorded PROBE CONDITIONS N: @ is the process
recorded() {
	"$kpctl" alloc 1000000 >/dev/null 2>"$TMP/err" || skip "no buffer: $(cat "$TMP/err")"
	"$kpctl" enable "$1" || fail "enable $1"
	held sh "$TMP/load" "$TMP"
	"$kpctl" where "$1" "$(echo "$2" | sed "s/@/$held/g")" || fail "where $2"
	"$kpctl" filter follow "$held" && "$kpctl" filter on && "$kpctl" on || fail "on"
	released
	wait "$held" || fail "load: $(cat "$TMP/err")"
	"$kpctl" off || fail "off"
	dump
	"$kpctl" dealloc
	equal "$1 where $2" "$(count - "$1")" "$3"
}
exec=sched.sched_process_exec signal=signal.signal_generate chdir=syscalls.sys_exit_chdir
recorded $exec 'filename = "./one"' 5
recorded $exec 'filename = "./*"' 12
recorded $exec 'filename != "./one" and filename = "./*"' 7
recorded $exec 'filename = "./o"' 0
recorded $signal "pid = @ and sig = 18 or pid = @ and sig >= 28" 7
recorded $signal "sig > 18 and sig <= 28 and code == 0 and pid = @" 4
recorded $signal "sig != 17 and sig & 2 and pid = @" 3
recorded $signal "sig = 0x12 and pid == @" 3
recorded $chdir "ret < 0" 6
recorded $chdir "ret >= 0" 3
recorded $chdir "ret = -2" 6

# A text that is not understood is refused, with a reason, and changes nothing.
refused() {
	"$kpctl" where "$1" "$2" 2>"$TMP/err" && fail "taken: $2"
	grep -q "$3" "$TMP/err" || fail "$2: $(cat "$TMP/err")"
	echo "ok: refused: $2"
}
refused $exec "file = 1" "no such member: it has filename pid old_pid"
refused $exec "duration > 1ms" "no such member: it has .*: see duration(probe) of tnfwatch"
refused $exec "filename > \"x\"" "texts are = or !="
refused $exec "pid = \"x\"" "a number was expected"
refused $exec "pid = 1 and" "a member was expected"
refused $exec "pid = 1 2" "\"and\" or \"or\" was expected"
refused $exec "filename = \"0123456789012345678901234567890123456789\"" "at most 31"
refused syscall_start "sysnum = 1" "only imported probes"
refused syscall_end "errno = 1" "no such member: it has duration"
refused syscall_end "duration < 1ms" "duration > 50ms"
refused syscall_end "duration > 1h" "a number was expected"
