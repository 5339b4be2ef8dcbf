#!/bin/sh
# leaks.sh - a target gets no descriptor and no environment from prex.
#
# usage: leaks.sh PREX VICTIM-SLEEPER
. "${TNF_SOURCE:-../..}/tests/lib.sh"
need_ptrace
scratch
prex=$(realpath "$1") victim=$(realpath "$2")
bad=0

cat > "$TMP/show" <<'S'
#!/bin/sh
for f in /proc/$$/fd/*; do
	n=${f##*/}
	[ "$n" -ge 10 ] || echo "fd $n $(readlink "$f" | tr -d 0-9)"
done
env | grep -v '^_=' | sort
S
chmod +x "$TMP/show"
# As a child, beside what documentation promises: the library is preloaded.
"$TMP/show" > "$TMP/without" < /dev/null
"$prex" -s 128 -o "$TMP/trace" -c continue /bin/sh "$TMP/show" \
	> "$TMP/all" 2> "$TMP/err" < /dev/null
grep -v -e '^Target process' -e '^Type "' -e '^LD_PRELOAD=' \
	-e '^fd .*/show$' -e '^fd 1 ' "$TMP/all" > "$TMP/with"
grep -v -e '^LD_PRELOAD=' -e '^fd .*/show$' -e '^fd 1 ' -e '^fd 2 ' \
	"$TMP/without" > "$TMP/expected"
grep -v '^fd 2 ' "$TMP/with" > "$TMP/with2"
diff "$TMP/expected" "$TMP/with2" || { echo "a child got more"; bad=1; }

# Attached: descriptors, environment and children as before.
look() {
	ls -l "/proc/$pid/fd" | sed 's/.* \([0-9]* -> \)/\1/' | grep -v '^total'
	tr '\0' '\n' < "/proc/$pid/environ"
	cat "/proc/$pid/task/$pid/children"
}
"$victim" nanosleep 30000 > "$TMP/ready" < /dev/null &
pid=$!
wait_for 60 grep -q ready "$TMP/ready" || fail "the victim does not start"
look > "$TMP/before"
for i in 1 2 3; do
	"$prex" -s 128 -o "$TMP/trace" -p $pid \
		-c 'enable $all; quit resume' > "$TMP/out" 2>&1 < /dev/null ||
		{ cat "$TMP/out"; bad=1; }
done
look > "$TMP/after"
diff "$TMP/before" "$TMP/after" || { echo "an attached process has more"; bad=1; }
kill $pid
exit $bad
