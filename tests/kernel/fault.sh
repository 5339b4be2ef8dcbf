#!/bin/sh
# fault.sh - page faults: each page that is touched is an event, no other.
. "$(dirname "$0")/kernel.sh"

n=64
dir=${TNF_TEST_DIR:-$TNF_BUILD}		# a file system with a block device
file=$dir/fault.$$
at_exit "rm -f $file"
trace_begin 16000000 address_fault anon_zero anon_private major_fault page_unmap \
	thread_state#4 thread_state#5

# in NAME WORD: events of that name in the range that was said
in_range() { events "$pid" "$1" | between "$(said "$2" 1)" "$(said "$2" 2)" address; }

traced "$work" zero $n
pid=$(said pid)
equal "first writes fault" "$(in_range address_fault written | grep -c 'fault_type: 0 access: 2')" $n
equal "first writes zero a page" "$(in_range anon_zero written | wc -l)" $n
equal "reads fault" "$(in_range address_fault readfirst | grep -c 'fault_type: 0 access: 1')" $n
equal "writes after reads fault" "$(in_range address_fault readfirst | grep -c 'fault_type: 1 access: 2')" $n
equal "reads make no page, writes do" "$(in_range anon_zero readfirst | wc -l)" $n
equal "no copies" "$(in_range anon_private written | wc -l)" 0

# A kernel with huge pages: the huge page of zeroes has no copy, either.
thp=/sys/kernel/mm/transparent_hugepage
if grep -q '\[never\]' $thp/enabled 2>/dev/null || [ "$(cat $thp/use_zero_page 2>/dev/null)" != 1 ]; then
	echo "no huge page of zeroes here: not tried"
else
	traced "$work" huge 4
	pid=$(said pid)
	equal "huge pages of zeroes that are written" "$(in_range anon_zero huge | wc -l)" 4
	equal "no copies of them" "$(in_range anon_private huge | wc -l)" 0
fi

traced "$work" cow $n "$file"
pid=$(said child)
equal "copies of the child" "$(in_range anon_private shared | wc -l)" $n
pid=$(said pid)
equal "copies of absent pages of a file" "$(in_range anon_private absent | wc -l)" $n
equal "copies of present pages of a file" "$(in_range anon_private present | wc -l)" $n

traced "$work" protect $n
pid=$(said pid)
# Old kernels take a second fault when the page has become writable.
within "protection faults" "$(in_range address_fault protected | grep -c 'fault_type: 1 access: 2')" $n $((2 * n))
# Before 5.19 a page that still waits for its place among the others is copied.
old=$(uname -r | awk -F . '{ print ($1 < 5 || ($1 == 5 && $2 < 19)) ? 32 : 0 }')
within "nothing copied" "$(in_range anon_private protected | wc -l)" 0 "$old"

traced "$work" mlock $n
pid=$(said pid)
equal "locked pages do not fault" "$(in_range address_fault locked | wc -l)" 0

traced "$work" evict $n "$file"
pid=$(said pid)
equal "major faults, by getrusage" "$(said major)" $n
equal "major faults" "$(count "$pid" major_fault)" $n
equal "offsets" "$(events "$pid" major_fault | sum offset)" $((n * (n - 1) / 2 * $(getconf PAGESIZE)))
equal "one vnode" "$(events "$pid" major_fault | sed 's/.*vnode: \([^ ]*\) .*/\1/' | sort -u | wc -l)" 1
# The file was written from memory that had the same addresses before.
equal "reading faults on the cold file, by getrusage" \
	"$(in_range address_fault cold | grep -c 'access: 1$')" "$(said faults)"
# Each user fault begins and ends; only a fault in a signal or at the end perhaps does not.
begins=$(events "$pid" thread_state | grep -c 'state: [34]$')
ends=$(events "$pid" thread_state | grep -c 'state: 0$')
within "returns to user mode" "$ends" $((begins - 2)) "$begins"

traced "$work" text $n "$file"
pid=$(said pid)
# The kernel maps several pages of code at once: getrusage knows.
equal "instruction faults, by getrusage" \
	"$(in_range address_fault text | grep -c 'fault_type: 0 access: 3')" "$(said faults)"
within "text faults as states" "$(events "$pid" thread_state | grep -c 'state: 3$')" \
	"$(said faults)" $(($(said faults) + 100))

rm -f "$file"
traced "$work" cache $n "$file"
pid=$(said pid)
# Twice: once cold, once after reading.
equal "pages leave the cache" "$(count "$pid" page_unmap)" $((2 * n))

# The memory of a thread has a slot by the thread's number.  One that is not the
# leader has the leader's number when it has become another program; it must leave its
# slot before.  Others on this machine may have taken some of the slots since.
if ! command -v bpftool >/dev/null; then
	echo "no bpftool: slots of threads that became other programs: not looked at"
else
	traced "$work" execs 40
	maps=$(bpftool -j prog show pinned /sys/fs/bpf/tnf/prog/user_fault |
		sed 's/.*"map_ids":\[\([0-9,]*\)\].*/\1/' | tr , ' ')
	slots=
	for id in $maps; do
		case $(bpftool map show id "$id") in *" name tnf_slots "*) slots=$id ;; esac
	done
	[ -n "$slots" ] || fail "no map of slots among: $maps"
	equal "threads that became other programs" "$(grep -c '^thread' "$TMP/said")" 40
	taken=0
	for tid in $(sed -n 's/^thread //p' "$TMP/said"); do
		at=$((tid % 2048))
		bpftool map lookup id "$slots" key $((at % 256)) $((at / 256)) 0 0 >"$TMP/slot" ||
			fail "slot $at: $(cat "$TMP/slot")"
		grep -q '"task": 0,' "$TMP/slot" || taken=$((taken + 1))
	done
	within "slots that they have left taken" $taken 0 20
fi
