#!/bin/sh
# auto.sh - TNF_ENABLE, TNF_FILE, TNF_SIZE: a program is traced from its start, with
# its children and what it loads; it runs on whatever is wrong, and nobody else's file
# is written.
# Usage: auto.sh TNFDUMP AUTO AUTO-NOLIB LOADER PLUGIN LIBTNFPROBE [AUTO-STATIC]
. "${TNF_SOURCE:-.}/tests/lib.sh"

tnfdump=$(realpath "$1") auto=$(realpath "$2") nolib=$(realpath "$3") loader=$(realpath "$4")
plugin=$(realpath "$5") lib=$(realpath "$6") static=${7:+$(realpath "$7")}
scratch
chmod 755 "$TMP"
cd "$TMP" || exit 1
unset TNF_ENABLE TNF_FILE TNF_SIZE

# counts FILE NAME...: "3 work, 1 early" and so on.
counts() {
	file=$1
	shift
	got=
	for name; do
		n=$("$tnfdump" --no-header "$file" | grep -cw "$name")
		got="$got$n "
	done
	echo "${got% }"
}
# run SELECTORS PROGRAM...: its file is t.tnf, its messages are in err.
run() {
	enable=$1
	shift
	rm -f t.tnf
	TNF_ENABLE=$enable TNF_FILE=t.tnf TNF_SIZE=${size-1m} "$@" >out 2>err
}
expect() { [ "$1" = "$2" ] || fail "$3: $1, not $2: $(cat err)"; }

# Selectors are prex's.
while read -r want enable; do
	run "$enable" "$auto" 7 || fail "$enable: exit status $?"
	expect "$(cat out)" "done" "$enable"
	[ -s err ] && fail "$enable: says $(cat err)"
	expect "$(counts t.tnf work other early | tr ' ' ,)" "$want" "$enable"
done <<'M'
7,0,0 order
7,7,1 $all
7,7,0 io other
7,0,0 name=work
0,7,1 name=/^o/ keys=start
7,7,1 /name/=/./
0,0,1 'name'='early'
7,7,1 object=/auto/
7,0,0 slots=i
0,7,1 slots=''
M
[ "$(stat -c '%a %s' t.tnf)" = "600 1048576" ] || fail "the file: $(stat -c '%a %s' t.tnf)"
size=300 run order "$auto" 1
expect "$(stat -c %s t.tnf)" 307200 "TNF_SIZE=300"
size=2M run order "$auto" 1
expect "$(stat -c %s t.tnf)" 2097152 "TNF_SIZE=2M"

# Without it, or with nothing in it, nothing happens.
TNF_FILE=t2.tnf "$auto" 1 >out 2>err
TNF_ENABLE='  ' TNF_FILE=t2.tnf "$auto" 1 >out 2>>err
[ ! -e t2.tnf ] && [ ! -s err ] || fail "traced without being asked: $(cat err)"
# %p, and the name by default.
TNF_ENABLE=order TNF_FILE=$TMP/p-%p.tnf TNF_SIZE=1m "$auto" 3 >out
expect "$(counts "$(echo p-[0-9]*.tnf)" work)" 3 "%p"
TMPDIR=$TMP TNF_ENABLE=order "$auto" 3 >out
expect "$(counts "$(echo trace-[0-9]*)" work)" 3 "default name"

# Preloaded into a program that knows nothing of the library.
if [ -z "$SANITIZE" ]; then
	run '$all' env LD_PRELOAD="$lib" "$nolib" 5
	expect "$(counts t.tnf work other early)" "5 5 1" preloaded
fi
# Children, by fork and by exec, are in the same file, however often; also what the
# program itself becomes.
run order "$auto" 5 fork
expect "$(counts t.tnf work)" 10 fork
run order "$auto" 5 exec "$auto" 6 fork
expect "$(counts t.tnf work)" 17 exec
run order "$auto" 5 become "$auto" 6 become "$auto" 8 fork
expect "$(counts t.tnf work)" 27 become
# Each event has the program that ran then, also in a part of the trace, and where a process
# is named by its number alone.
cp "$auto" other
run order "$auto" 2 become ./other 3 become "$auto" 4
"$tnfdump" --to tnf t.tnf >part.tnf || fail "--to tnf"
for file in t.tnf part.tnf; do
	[ "$("$tnfdump" --columns program "$file" | grep ^/ | uniq -c | awk '{ print $1, $2 }')" = "2 $auto
3 $TMP/other
4 $auto" ] || fail "programs of $file: $("$tnfdump" --columns program "$file")"
	expect "$("$tnfdump" --no-header --where "program(pid) == '$TMP/other'" "$file" | wc -l)" 3 \
		"$file, program(pid)"
done
# The next run begins a new file.
TNF_ENABLE=order TNF_FILE=t.tnf "$auto" 4 >out
expect "$(counts t.tnf work)" 4 "second run"
# A library that is loaded later is enabled before its own constructors run.
printf '1\n2\n3\n' | run 'plugin load' "$loader" "$plugin"
expect "$(counts t.tnf loader plugin_start plugin_work)" "1 2 2" dlopen
if [ -n "$static" ]; then
	run '$all' "$static" 5 fork
	expect "$(counts t.tnf work other early)" "10 10 1" static
fi

# Started by the dynamic linker, whose file /proc/self/exe is.
linker=$(readelf -l "$auto" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
run order "$linker" "$auto" 6 || fail "by the dynamic linker: $?"
expect "$(counts t.tnf work)" 6 "by the dynamic linker"
# The file with its probes is no longer there when it starts: that is said.
cp "$auto" gone
run '$all' sh -c 'exec 3<gone && rm gone && exec "$0" /proc/self/fd/3 2' "$linker" || fail "a file that is gone: $?"
expect "$(sed 's/process [0-9]*/process N/' err)" "tnf: TNF_ENABLE: /proc/self/fd/3: a file of process N cannot be read, or is not what was loaded: no probes are found" "a file that is gone"

# Mistakes are said once, and the program runs on.
while IFS='|' read -r enable file size want; do
	TNF_ENABLE=$enable TNF_FILE=$file TNF_SIZE=$size "$auto" 2 >out 2>err ||
		fail "$enable: exit status $?"
	expect "$(cat out)" "done" "$enable"
	expect "$(sed "s/process [0-9][0-9]*/process N/; s| $auto | AUTO |" err)" "$want" "$enable"
done <<'M'
ordr|x.tnf|1m|tnf: TNF_ENABLE=ordr: selects none of the 3 probes of process N
function=/^wo.k$/|x.tnf|1m|tnf: TNF_ENABLE: function=/^wo.k$/: only prex switches functions on: prex -c 'enable function=/^wo.k$/; continue' AUTO ...
ordr return=work|x.tnf|1m|tnf: TNF_ENABLE: return=work: only prex switches functions on: prex -c 'enable return=work; continue' AUTO ...
order io+|x.tnf|1m|tnf: TNF_ENABLE: +: not allowed in an unquoted word: quote the word: 'a-b': nothing is traced
/order|x.tnf|1m|tnf: TNF_ENABLE: /: not closed before the end of the line: nothing is traced
/or[/|x.tnf|1m|tnf: TNF_ENABLE: /or[/: Invalid regular expression: nothing is traced
$some|x.tnf|1m|tnf: TNF_ENABLE: no set named "$some": there are $all, $always and $why: nothing is traced
order|x.tnf|7x|tnf: TNF_SIZE=7x: is no size: write 16m, 512k, or kbytes
order|x.tnf|9g|tnf: TNF_SIZE=9g: too large: at most 1g
order|/nowhere/x|1m|tnf: TNF_FILE=/nowhere/x: 1048576 bytes: No such file or directory: this process is not traced
order|/dev/null|1m|tnf: TNF_FILE=/dev/null: 1048576 bytes: File exists: this process is not traced
order|/tmp/|1m|tnf: TNF_FILE=/tmp/: 1048576 bytes: Is a directory: this process is not traced
M
[ ! -e x.tnf ] || fail "a mistake has left a file"
(ulimit -f 100 && TNF_ENABLE=order TNF_FILE=x.tnf TNF_SIZE=1m "$auto" 2 >out 2>err) || fail "ulimit -f"
grep -q 'File too large' err || fail "ulimit -f says $(cat err)"
[ -z "$(find . -name '.trace-*')" ] || fail "it leaves $(find . -name '.trace-*')"

# A file that has the name is replaced: a link is not followed, a second name not written.
echo precious >precious
ln -s precious t3.tnf
ln precious t4.tnf
for f in t3.tnf t4.tnf; do
	TNF_ENABLE=order TNF_FILE=$f TNF_SIZE=1m "$auto" 3 >out 2>err
	expect "$(counts $f work)" 3 "$f"
	expect "$(cat precious)" precious "$f"
done
umask 0777
TNF_ENABLE=order TNF_FILE=t5.tnf TNF_SIZE=1m "$auto" 3 >/dev/null 2>&1
umask 022
expect "$(stat -c %a t5.tnf)" 600 "umask 0777"

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && [ -z "$SANITIZE" ]; then
	as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
	# The dynamic linker finds no library in a build tree for such a program.
	cp "${static:-/bin/true}" set-id && chown 1:1 set-id && chmod 6755 set-id
	mkdir shared && chmod 1777 shared
	if as_nobody sh -c 'exit 0' && [ -x "$auto" ] && as_nobody test -x "$auto"; then
		# In a set-id program it is not there.
		TNF_ENABLE='$all' TNF_FILE=$TMP/shared/s.tnf as_nobody ./set-id 2 >out 2>err
		[ ! -e shared/s.tnf ] && [ ! -s err ] || fail "a set-id program is traced: $(cat err)"
		if [ -n "$static" ]; then
			cp "$static" no-set-id && chmod 755 no-set-id
			TNF_ENABLE='$all' TNF_FILE=$TMP/shared/s.tnf as_nobody ./no-set-id 2 >out 2>err
			[ -e shared/s.tnf ] || fail "the same without set-id is not traced: $(cat err)"
		fi
		# In a shared directory nobody's file is taken or replaced.
		echo mine >shared/t.tnf && chmod 666 shared/t.tnf
		TNF_ENABLE='$all' TNF_FILE=$TMP/shared/t.tnf as_nobody "$auto" 2 >out 2>err
		expect "$(cat shared/t.tnf)" mine "a file in a shared directory"
		grep -q 'not permitted' err || fail "a shared directory: $(cat err)"
	fi
fi
exit 0
