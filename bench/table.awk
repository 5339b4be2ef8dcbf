# table.awk - rows "number,what,unit,value", sorted, as one table.
#
# -v refs="A;B": what the ratios are against, by unit; -v markdown=1: for README.md.

function flush() {
	if (n == 0)
		return
	med[what] = n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
	lo[what] = v[1]; hi[what] = v[n]
	unit[what] = u; order[++names] = what; n = 0
}

# Three digits that count, or more.
function number(x) {
	return sprintf(x >= 1000 || x == int(x) ? "%.0f" : x >= 100 ? "%.1f" : x >= 1 ? "%.2f" : "%.3f", x)
}

BEGIN { FS = ","; nrefs = split(refs, ref, ";") }
$2 != what { flush(); what = $2; u = $3 }
{ v[++n] = $4 }
END {
	flush()
	for (i = 1; i <= nrefs; i++)
		if (ref[i] in med && med[ref[i]] > 0)
			of[unit[ref[i]]] = ref[i]
	if (markdown)
		print "| | median | | min .. max | ratio |\n|---|---:|---|---|---:|"
	else
		printf "%-36s %10s %-10s %23s %9s\n", "", "median", "", "min .. max", "ratio"
	for (i = 1; i <= names; i++) {
		w = order[i]
		r = unit[w] in of ? sprintf("%.2f", med[w] / med[of[unit[w]]]) : "-"
		if (markdown)
			printf "| %s | %s | %s | %s .. %s | %s |\n", w, number(med[w]),
			    unit[w], number(lo[w]), number(hi[w]), r
		else
			printf "%-36s %10s %-10s %10s .. %9s %9s\n", w, number(med[w]),
			    unit[w], number(lo[w]), number(hi[w]), r
	}
	for (i = 1; i <= nrefs; i++)
		if (ref[i] in med)
			told = told (told == "" ? "" : "; ") ref[i]
	if (told != "")
		print (markdown ? "\nRatio to: " : "(ratio to: ") told (markdown ? "." : ")")
}
