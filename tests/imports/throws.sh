#!/bin/sh
# A return that is traced ends a program whose exceptions pass it, as the kernel exchanges the
# address to return to: of functions of a C++ program there is the call alone, unless the
# return is asked for.  A Go program, which moves its stacks, has no returns at all.
# A function can be named by its probe, without a list of it before.
. "${TNF_SOURCE:-$(dirname "$0")/../..}/tests/imports/lib.sh"
need_program "${CXX:-g++}" "${CC:-gcc}"

# midway has nothing to clean up: what passes it is in no table of its own.
cat > "$TMP/throws.cc" <<'X'
#include <cstdio>
extern "C" __attribute__((noinline)) int midway(int (*fn)(int), int n) { return fn(n) + 1; }
static int odd(int n) { if (n % 2) throw n; return n; }
int main()
{
	int caught = 0;
	char line[16];

	do {
		for (int n = 0; n < 10; n++)
			try { midway(odd, n); } catch (int) { caught++; }
		printf("%d\n", caught);
		fflush(stdout);
	} while (fgets(line, sizeof line, stdin) != NULL);
}
X
# A file of Go has these: a section of that name, and names with a dot.
cat > "$TMP/gopher.c" <<'X'
#include <stdio.h>
__asm__(".pushsection .gopclntab,\"a\"\n.quad 0\n.popsection");
int work(int) __asm__("main.Work");
__attribute__((noinline)) int work(int n) { __asm__ volatile (""); return n; }
int main(void)
{
	char line[16];

	do {
		for (int n = 0; n < 10; n++)
			work(n);
		puts("done");
		fflush(stdout);
	} while (fgets(line, sizeof line, stdin) != NULL);
	return 0;
}
X
"${CXX:-g++}" -O1 -o "$TMP/throws" "$TMP/throws.cc" && "${CC:-gcc}" -O1 -o "$TMP/gopher" "$TMP/gopher.c" ||
	fail "the compiler"
told() { grep -q "$1" "$TMP/said" || fail "not \"$1\": $(cat "$TMP/said")"; }
untold() { ! grep -q "$1" "$TMP/said" || fail "\"$1\": $(cat "$TMP/said")"; }

# A process that has nothing else is taken for its functions.
victim_start "$TMP/throws"
control --no-fast -p "$pid" -c 'trace function=midway; enable function=midway; list probes function=midway return=midway'
told "process $pid has no probes of TNF, but "
told 'midway: .*/throws may have exceptions: calls are traced, returns not, as .*: return=midway traces'
told '^name=midway_entry enable=on .*returns=with return=midway, but an exception that passes then ends the program'
told '^name=midway_return enable=off'
round
[ "$(tail -n 1 "$TMP/out")" = 10 ] || fail "exceptions: $(cat "$TMP/out")"
extract
[ "$(events midway_entry)" = 10 ] || fail "midway_entry: $(cat "$TMP/text")"
[ "$(events midway_return)" = 0 ] || fail "the return is traced, which nobody has asked for"
control --no-fast -p "$pid" -c 'list name probes function=/mid/'
untold midway_return
victim_end
buffer_end

# The same for a file, and the return where no exception passes.
sed 's/n % 2/n < 0/' "$TMP/throws.cc" > "$TMP/calm.cc"
"${CXX:-g++}" -O1 -o "$TMP/calm" "$TMP/calm.cc" || fail "the compiler"
victim_start "$TMP/calm"
control -k -c "import '$TMP/calm'; buffer alloc 1m; trace function=midway; enable function=midway; ktrace on"
told 'midway: .*/calm may have exceptions: calls are traced, returns not'
control -k -c "import '$TMP/calm'; list name probes keys=function"
untold midway_return
control -k -c "import '$TMP/calm'; trace return=midway; enable return=midway; list probes keys=function"
told 'one that passes a function whose return is traced ends the program'
told '^name=midway_return enable=on'
round
extract
[ "$(events midway_entry)" = 10 ] && [ "$(events midway_return)" = 10 ] ||
	fail "entry and return: $(cat "$TMP/text")"
victim_end
buffer_end

# By the name of the probe.
victim_start "$TMP/gopher"
control --no-fast -p "$pid" -c "trace name='main.Work_entry'; enable name='main.Work_entry'"
told "process $pid has no probes of TNF, but "
untold warning
round
extract
[ "$(events 'main\.Work_entry')" = 10 ] || fail "main.Work_entry: $(cat "$TMP/text")"
control --no-fast -p "$pid" -c "enable function='main.Work'; list probes function='main.Work'"
told 'main.Work: .*/gopher is a Go program, which moves its stacks: calls are traced, returns cannot be'
told '^name=main.Work_entry enable=on .*returns=not those of a Go program'
untold '^name=main.Work_return'
"$prex" --no-fast -p "$pid" -c "enable return='main.Work'" > "$TMP/said" 2>&1 && fail "a return of a Go program"
told 'a Go program moves its stacks'
victim_end
buffer_end

# Linked statically, it has functions, too.
if "${CC:-gcc}" -static -O1 -o "$TMP/static" "$TMP/gopher.c" 2>/dev/null; then
	victim_start "$TMP/static"
	control --no-fast -p "$pid" -c "trace function='main.Work'; enable function='main.Work'"
	round
	extract
	[ "$(events 'main\.Work_entry')" = 10 ] || fail "static: $(cat "$TMP/text")"
	victim_end
	buffer_end
fi
