#!/bin/sh
# probes-man.sh TSV PAGE [--write] - is the table of probes by kernel in the page the one
# that these lines of probes.sh make?
tsv=$1 page=$2
begin='^\.\\" begin kernels$' end='^\.\\" end kernels$'

# Rows of one name that are alike are one; a reason is a number, explained below.
table() {
	awk -F '\t' '
	/^#/ || NF != 5 { next }
	{
		column = $1 "\t" $2; row = $3 "\t" $4
		if (!(column in columns)) { columns[column]; order[++n_columns] = column }
		if (!(row in rows)) { rows[row]; list[++n_rows] = row }
		cell[row, column] = $5
	}
	function shown(row,   c, why, text) {
		text = ""
		for (c = 1; c <= n_columns; c++) {
			why = cell[row, order[c]]
			if (why == "")
				why = "not tried"
			if (why != "yes") {
				if (!(why in number)) { number[why] = ++reasons; reason[reasons] = why }
				why = "no (" number[why] ")"
			}
			text = text " Ta " why
		}
		return text
	}
	END {
		line = ".Bl -column \"pageout_scan_start\""
		for (c = 1; c <= n_columns; c++)
			line = line " \"aarch64\""
		print line
		line = ".It Em probe"; under = ".It"
		for (c = 1; c <= n_columns; c++) {
			split(order[c], part, "\t")
			line = line " Ta Em " part[1]; under = under " Ta " part[2]
		}
		print line; print under
		for (r = 1; r <= n_rows; r++) {
			split(list[r], part, "\t")
			first = part[2]; last = first; text = shown(list[r])
			while (r < n_rows) {
				split(list[r + 1], next_part, "\t")
				if (next_part[1] != part[1] || shown(list[r + 1]) != text)
					break
				last = next_part[2]; r++
			}
			whole = !((part[1] "\t" last + 1) in rows) && first == 1
			which = whole ? "" : first == last ? " " first : " " first " to " last
			print ".It Li " part[1] which text
		}
		print ".El"
		for (i = 1; i <= reasons; i++)
			printf ".Pp\n(%d) %s\n", i, reason[i]
	}' "$tsv"
}

if [ "${3-}" = --write ]; then
	new=$(mktemp) || exit 1
	{ sed "/$begin/q" "$page"; table; sed -n "/$end/,\$p" "$page"; } >"$new" && cat "$new" >"$page"
	rm -f "$new"
	exit
fi
new=$(mktemp) || exit 1
trap 'rm -f "$new"' EXIT
table >"$new"
sed -n "/$begin/,/$end/p" "$page" | sed '1d;$d' | diff - "$new" || {
	echo "$page is not the table: tests/kernel/probes-man.sh $tsv $page --write" >&2
	exit 1
}
