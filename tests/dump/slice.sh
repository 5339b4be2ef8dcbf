#!/bin/sh
# slice.sh - what --to tnf writes says what the filtered source said.
# Usage: slice.sh TNFDUMP
. "${TNF_SOURCE:-.}/tests/lib.sh"

tnfdump=$(realpath "$1")
need_golden
scratch
cd "$TNF_GOLDEN" || fail "cannot enter $TNF_GOLDEN"

# All that a line can say but elapsed, which counts from the first event.
columns=mono,delta,pid,lwpid,tid,cpu,probe,keys,src,args
lines() { "$tnfdump" --no-header --columns $columns "$@"; }

# same [FILTER...] -- FILE...: slice and source agree, values included.
same() {
	filters=
	while [ "$1" != -- ]; do
		filters="$filters $1"
		shift
	done
	shift
	# shellcheck disable=SC2086
	lines $filters "$@" > "$TMP/want" || fail "tnfdump $filters $*"
	# shellcheck disable=SC2086
	"$tnfdump" --to tnf $filters "$@" > "$TMP/slice" ||
		fail "--to tnf $filters $*"
	if [ -s "$TMP/want" ]; then
		lines "$TMP/slice" > "$TMP/got" || fail "reading the slice"
	else
		"$tnfdump" "$TMP/slice" > "$TMP/got" ||
			fail "reading the empty slice"
	fi
	cmp "$TMP/want" "$TMP/got" || fail "differs: $filters $*"
	"$tnfdump" -r "$TMP/slice" > "$TMP/raw" || fail "-r of the slice"
	events=$("$tnfdump" --no-header --columns pid "$TMP/slice" | wc -l)
	[ "$(grep -c '^ *tnf_tag_arg 0x' "$TMP/raw")" = "$events" ] ||
		fail "-r: $filters $*"
	count=$((count + 1))
}

count=0
for f in *.tnf; do
	case $f in empty*) continue ;; esac
	same -- "$f"
	same --where elapsed%3==0 -- "$f"
	same --from 1us --until 20us -- "$f"
	same --where pid%2==1 -- "$f"
done
# Without texts: the same events, equal texts are equal still, and no text of more than a letter.
texts=0
for f in *.tnf; do
	case $f in empty*) continue ;; esac
	"$tnfdump" --to tnf --redact "$f" > "$TMP/slice" || fail "--redact $f"
	"$tnfdump" --no-header --columns mono,pid,lwpid,tid,cpu,probe,keys "$f" > "$TMP/want"
	"$tnfdump" --no-header --columns mono,pid,lwpid,tid,cpu,probe,keys "$TMP/slice" | cmp - "$TMP/want" || fail "--redact $f"
	"$tnfdump" --to jsonl "$f" | grep -o '"[^"]*"[,}\]]' | tr -d '",]}' | awk 'length > 4' | sort -u > "$TMP/before"
	"$tnfdump" --to jsonl "$TMP/slice" | grep -o '"text-[0-9]*"' | sort -u > "$TMP/tokens"
	texts=$((texts + $(wc -l < "$TMP/tokens")))
	"$tnfdump" --to jsonl "$TMP/slice" | grep -o '"[^"]*"[,}\]]' | tr -d '",]}' | awk 'length > 4' | sort -u |
		comm -12 - "$TMP/before" | grep -v '^0x\|^[0-9TZ:.-]*$\|^tnf_' > "$TMP/left"
	"$tnfdump" --no-header --columns probe "$f" | sort -u | comm -23 "$TMP/left" - | grep . && fail "--redact $f leaves texts"
done
[ "$texts" -gt 3 ] || fail "--redact: $texts texts"
# In a pipe nobody can write the beginning last: a named one is refused, standard output is not.
mkfifo "$TMP/pipe"
"$tnfdump" --to tnf -o "$TMP/pipe" records.s390x.tnf 2> "$TMP/out" && fail "--to tnf into a named pipe"
grep -q 'is no regular file.*write to standard output' "$TMP/out" || fail "a named pipe: $(cat "$TMP/out")"
"$tnfdump" --redact records.s390x.tnf > "$TMP/out" 2>&1 && fail "--redact without --to tnf"
# shellcheck disable=SC2046
same -- $(find . -maxdepth 1 -name '*.tnf' ! -name '*empty*' | sort)
same --key vm,io -- kern_live.lp64.tnf kern_events.ppc32.tnf
same --where false -- scalars.lp64.tnf

# A slice of a slice; into a file, a pipe, an appended file.
"$tnfdump" --to tnf records.s390x.tnf > "$TMP/one"
"$tnfdump" --to tnf "$TMP/one" > "$TMP/two"
cmp "$TMP/one" "$TMP/two" || fail "a slice of a slice"
"$tnfdump" --to tnf --output "$TMP/three" records.s390x.tnf || fail "--output"
cmp "$TMP/one" "$TMP/three" || fail "--output differs"
# shellcheck disable=SC2002
"$tnfdump" --to tnf records.s390x.tnf | cat > "$TMP/four"
cmp "$TMP/one" "$TMP/four" || fail "through a pipe"
: > "$TMP/five"
"$tnfdump" --to tnf records.s390x.tnf >> "$TMP/five"
cmp "$TMP/one" "$TMP/five" || fail "appended"
[ "$(stat -c %a "$TMP/three")" = 600 ] || fail "mode of a written file"
echo "$count slices compared"
