#!/bin/sh
# members.sh - members that a tracepoint's arguments lead to: those of known threads, to four levels;
# what cannot be read is not told, or a name that is wrong is taken.
. "$(dirname "$0")/kernel.sh"
prex=$TNF_BUILD/prex/prex
need_program jq
[ "$(printf '6.12\n%s\n' "$(uname -r)" | sort -V | head -n 1)" = 6.12 ] || skip "members of tracepoints need Linux 6.12"
at_exit kernel_off
"$kpctl" tracepoints >"$TMP/all" 2>"$TMP/err" || skip "no tracepoints: $(cat "$TMP/err")"
exec=sched.sched_process_exec
cp /bin/true "$TMP/one" && cp /bin/true "$TMP/two" || fail "cp"
cat >"$TMP/load" <<'L'
cd "$1"
for i in 1 2 3 4 5; do ./one; done
for i in 1 2 3 4 5 6 7; do ./two; done
L

# begin TRACE...: what prex says of such a command; the buffer is new
begin() {
	"$prex" -k >"$TMP/prex" 2>&1 <<X || fail "prex: $(cat "$TMP/prex")"
buffer alloc 2m
enable ${1%% *}
trace $*
X
}
# run: the load, all that it did in $TMP/json
run() {
	held sh "$TMP/load" "$TMP"
	"$kpctl" filter follow "$held" && "$kpctl" filter on && "$kpctl" on || fail "on"
	released
	wait "$held" || fail "load: $(cat "$TMP/err")"
	"$kpctl" off && dump || fail "off"
	"$tnfdump" --to jsonl "$TMP/buf" | jq -c 'select(.probe) | .args' >"$TMP/json" || fail "jsonl"
	"$kpctl" dealloc
}
# having WHAT FILTER N: so many events for which this holds
having() { equal "$1" "$(jq -c "select($2)" "$TMP/json" | wc -l)" "$3"; }

parents="p->real_parent->pid p->real_parent->real_parent->pid p->real_parent->real_parent->real_parent->pid"
begin "$exec args 'p->comm:string, p->pid, bprm->filename:string, $parents, old_pid'"
run
having "programs" ".p_comm == \"one\" and .bprm_filename == \"./one\"" 5
having "children of the load, whose parent is this shell, and its parent" "(.p_comm == \"one\" or .p_comm == \"two\") and
	.p_real_parent_pid == $held and .p_real_parent_real_parent_pid == $$ and
	.p_real_parent_real_parent_real_parent_pid == $PPID and .old_pid == .p_pid and .unread == 0" 12
having "processes" ".p_pid != $held" 12

# Conditions on them, and a stack.
begin "$exec stack=4 args 'p->comm:string' where 'p_comm = \"two\"'"
run
having "programs that meet a condition" '.p_comm == "two" and (.stack | length) > 0' 7
having "all" true 7

# More numbers than a row of the probe takes, and all of them from registers.
begin "sched.sched_switch args 'prev:address prev_state preempt arg2 next->pid'"
run
having "switches of the load's threads" '.prev != .arg2 and .preempt <= 1' "$(wc -l <"$TMP/json")"
within "switches" "$(wc -l <"$TMP/json")" 12 100000

# A kernel's thread (PF_KTHREAD) has no address space: the record says that it cannot be read.
begin "sched.sched_switch args 'prev->flags, prev->mm->pgd, prev->comm'"
"$kpctl" on && sleep 2 && "$kpctl" off && dump || fail "on"
"$tnfdump" --to jsonl "$TMP/buf" | jq -c 'select(.probe) | .args' >"$TMP/json" || fail "jsonl"
"$kpctl" dealloc
null='(.prev_mm_pgd | test("^0x0*$"))' kthread='(.prev_flags / 2097152 | floor) % 2 == 1'
kthreads=$(jq -c "select($kthread)" "$TMP/json" | wc -l)
within "switches from the kernel's threads" "$kthreads" 5 10000000
having "... all unread" "($kthread) and .unread == 2 and $null and (.prev_comm | length) > 0" "$kthreads"
having "read, and yet nothing" ".unread == 0 and $null" 0
within "read" "$(jq -c "select(.unread == 0 and ($null | not))" "$TMP/json" | wc -l)" 2 10000000

# Names that are wrong.
# wrong TRACEPOINT ARGS MESSAGE
wrong() {
	"$prex" -k -c "trace $1 args '$2'" >"$TMP/prex" 2>&1 && fail "$1 $2: taken"
	grep -qF -e "$3" "$TMP/prex" || fail "$1 $2: $(cat "$TMP/prex")"
}
wrong $exec 'q->pid' 'args: q->pid: the tracepoint has no such argument: it has p, old_pid, bprm'
wrong $exec 'p->nobody' 'struct task_struct has no such member, or it is a bit field: nobody'
wrong $exec 'old_pid->x' 'there is no pointer before ->x'
wrong $exec 'p->pid.x' 'there is no structure before x'
wrong $exec 'p->se' 'it is no integer, pointer or text'
wrong $exec 'p->pid:string' 'it is no pointer to text and no array of characters'
wrong $exec 'p->pid:chars' 'its type is none of string, address'
wrong $exec 'p->pid p->pid' 'p->pid: twice'
wrong $exec 'p->mm->owner->mm->owner->pid' 'more than four levels'
wrong syscalls.sys_enter_openat 'dfd' "the kernel's types tell of no arguments of sys_enter_openat"

# The buffer has it with other members.
begin "$exec args 'p->pid'"
"$kpctl" on && "$kpctl" off || fail "on"
wrong $exec 'p->tgid' 'the buffer has it with other arguments already'
"$prex" -k -c "trace $exec args 'p->pid'" >"$TMP/prex" 2>&1 || fail "the same: $(cat "$TMP/prex")"
[ -z "$(ls /sys/fs/bpf/tnf/import)" ] || fail "links are left"
echo "ok: members, conditions, refusals"
