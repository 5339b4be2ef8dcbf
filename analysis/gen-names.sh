#!/bin/sh
# gen-names.sh - makes the tables of names of errors and of system calls' arguments.
# Usage: gen-names.sh OUTPUT SETS COMPILER [ARG...]
# SETS is common/call-kinds.h.
set -eu
out=$1 sets=$2
shift 2

headers='asm/ioctls.h asm/termbits.h errno.h fcntl.h linux/close_range.h linux/falloc.h linux/futex.h
linux/perf_event.h linux/serial.h linux/sockios.h netinet/in.h netinet/tcp.h sched.h signal.h sys/epoll.h
sys/eventfd.h sys/inotify.h sys/ipc.h sys/mman.h sys/mount.h sys/msg.h sys/prctl.h sys/ptrace.h
stdio.h sys/random.h sys/resource.h sys/sem.h sys/shm.h sys/signalfd.h sys/socket.h sys/stat.h sys/time.h
sys/timerfd.h sys/uio.h sys/wait.h sys/xattr.h time.h linux/wait.h'

{
	printf '#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n'
	for header in $headers; do echo "#include <$header>"; done
} >"$out"
# Names of macros that are values; ptrace(2) has enumerators alone.
"$@" -E -dM "$out" | LC_ALL=C sort |
	awk '$1 == "#define" && $2 !~ /\(/ && NF > 2 { print $2, $3 }' >"$out.macros"
"$@" -E -P "$out" | grep -oE '\bPTRACE_[A-Z]+ = [0-9x]+' | sed 's/ = .*//; s/$/ 0/' >>"$out.macros"
errors=$(echo '#include <errno.h>' | "$@" -E -dM - | LC_ALL=C sort |
	awk '$1 == "#define" && $2 ~ /^E[A-Z0-9]*$/ && $3 ~ /^[0-9_(]/ {
		printf "\t[%s] = \"%s\",\n", $2, $2 }')
[ -n "$errors" ] || { echo "gen-names.sh: no names of errors by: $*" >&2; exit 1; }
{
	echo '#include "analysis/pretty-names.h"'
	echo 'const char *const pretty_errnos[] = {'
	printf '%s\n' "$errors"
	echo '};'
	echo 'const size_t pretty_errnos_count ='
	echo '    sizeof(pretty_errnos) / sizeof(pretty_errnos[0]);'
	awk -F '"' '
	NR == FNR { split($0, w, " "); name[++n] = w[1]; next }
	/^SET\(/ {
		split($1, head, /[(, \t]+/)
		set[++sets] = head[2]; mask[head[2]] = head[3]
		printf "static const struct call_name names_%s[] = {\n", head[2]
		for (i = 1; i <= n; i++)
			if (name[i] ~ "^(" $2 ")$" && ($4 == "" || name[i] !~ "^(" $4 ")$")) {
				printf "\t{ \"%s\", (uint32_t)(%s) },\n", name[i], name[i]
				found[head[2]]++
			}
		print "};"
		if (!found[head[2]]) {
			print "gen-names.sh: no names for the set " head[2] >"/dev/stderr"
			exit 1
		}
	}
	END {
		print "const struct call_set pretty_call_sets[] = {"
		for (i = 1; i <= sets; i++)
			printf "\t[CALL_%s] = { %s, %d, names_%s },\n", set[i], mask[set[i]],
			    found[set[i]], set[i]
		print "};"
	}' "$out.macros" "$sets"
} >>"$out"
rm "$out.macros"
