#!/bin/sh
# Programs like those that made the golden files make the same files: text the
# same up to times and ids, records the same up to their places.
#	like.sh WRITER-LIKE TNFDUMP
. "$TNF_SOURCE/tests/lib.sh"
like=$1 tnfdump=$2
need_golden
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
# The texts of our own directory are packed.
texts=$TNF_GOLDEN
if [ -f "$texts/texts.tar.xz" ]; then
	mkdir "$tmp/texts" && tar -xJf "$texts/texts.tar.xz" -C "$tmp/texts" || fail "not unpacked"
	texts=$tmp/texts
fi

# Lines without elapsed, delta, pid, lwpid, tid and CPU, which the originals do not tell, nor
# that a string was cut.
events() {
	sed -E 's/^ *[0-9.]+ +[0-9.]+ +[0-9]+ +[0-9]+ +[0-9]+ +([0-9]+|-) +//
		/^str_long /s/"[.]{3}$/"/' "$1"
}

# Records without places, times and ids, one a line; each kind once.
records() {
	awk '
	/^0x/ { rec = ""; next }
	/^\t}/ { if (rec !~ /tnf_block_header|blocks_valid/) print rec; next }
	{
		sub(/0x[0-9a-f]+ */, "")
		if ($1 ~ /^(time_delta|time_base|tid|lwpid|pid)$/) $2 = "-"
		gsub(/ +/, " ")
		rec = rec " " $0
	}' "$1" | sort -u
}

# Without what the originals' records do not have: the CPU, and the mark of a cut string.
as_original() {
	sed -E '/tnf_string  tnf_self_size 268  chars "[^"]{255}"/s/268/264/
		/"(tnf_)?cpuid"( |$)/{ / tnf_tag tnf_slot_names/!d }
		s/ +cpuid -?[0-9]+//
		/ 5 ("cpuid"|tnf_cpuid)/{ s/self_size 32/self_size 28/; s/ +5 ("cpuid"|tnf_cpuid)// }
		/tnf_name "tnf_sched_rec"/s/type_size 32/type_size 24/' | sort -u
}

for what in scalars records fork threads; do
	"$like" $what "$tmp/f" || fail "$what: not written"
	"$tnfdump" "$tmp/f" >"$tmp/cooked" || fail "$what: tnfdump"
	"$tnfdump" -r "$tmp/f" >"$tmp/raw" || fail "$what: tnfdump -r"
	events "$tmp/cooked" >"$tmp/a"
	events "$texts/$what.lp64.cooked.txt" >"$tmp/b"
	if [ $what = threads ]; then	# in the order of chance
		sort -o "$tmp/a" "$tmp/a"
		sort -o "$tmp/b" "$tmp/b"
	fi
	diff "$tmp/b" "$tmp/a" || fail "$what: text"
	records "$tmp/raw" | as_original >"$tmp/a"
	records "$texts/$what.lp64.raw.txt" >"$tmp/b"
	diff "$tmp/b" "$tmp/a" || fail "$what: records"
	echo "$what: $(wc -l <"$tmp/a") kinds of records"
done
