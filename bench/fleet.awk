# fleet.awk - the table of fleet.sh as two drawings side by side: seconds, and MiB, against
# the number of hosts, both axes by powers of ten.  SVG, for a page or a README.
#
# usage: awk -f fleet.awk ROWS > FILE.svg; other lines than those of numbers are passed over

function log10(v) { return log(v) / log(10) }
function floor(v,  i) { i = int(v); return i > v ? i - 1 : i }
function ceil(v) { return -floor(-v) }
function px(v) { return left + (log10(v) - x0) / (x1 - x0) * 250 }
function py(v) { return 260 - (log10(v) - y0) / (y1 - y0) * 210 }
function text(x, y, anchor, colour, s) {
	printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">%s</text>\n", x, y, anchor, colour, s
}
function line(xa, ya, xb, yb, colour) {
	printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", xa, ya, xb, yb, colour
}

# A series is "NAME:COLUMN:DIVISOR:COLOUR".
function panel(at, title, list,  n, s, i, k, v, part, least, most) {
	left = at
	n = split(list, s, ";")
	least = most = 0
	for (k = 1; k <= n; k++) {
		split(s[k], part, ":")
		for (i = 1; i <= rows; i++) {
			v = cell[i, part[2]] / part[3]
			if (least == 0 || v < least) least = v
			if (v > most) most = v
		}
	}
	y0 = floor(log10(least)); y1 = ceil(log10(most)) + 1
	text(left, 24, "start", "#222", title)
	for (k = y0; k <= y1; k++) {
		line(left, py(10 ^ k), left + 250, py(10 ^ k), "#ddd")
		text(left - 6, py(10 ^ k) + 4, "end", "#555", sprintf("%g", 10 ^ k))
	}
	for (i = 1; i <= rows; i++) {
		line(px(cell[i, 1]), 260, px(cell[i, 1]), 265, "#555")
		text(px(cell[i, 1]), 280, "middle", "#555", cell[i, 1])
	}
	text(left + 250, 300, "end", "#555", "hosts")
	for (k = 1; k <= n; k++) {
		split(s[k], part, ":")
		printf "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"%s\" points=\"", part[4]
		for (i = 1; i <= rows; i++)
			printf "%.1f,%.1f ", px(cell[i, 1]), py(cell[i, part[2]] / part[3])
		print "\"/>"
		for (i = 1; i <= rows; i++)
			printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", px(cell[i, 1]), py(cell[i, part[2]] / part[3]), part[4]
		text(left + 8, 44 + 15 * k, "start", part[4], part[1])
	}
}

$1 ~ /^[0-9]+$/ && NF > 8 { rows++; for (i = 1; i <= NF; i++) cell[rows, i] = $i }
END {
	if (rows == 0)
		exit 1
	x0 = log10(cell[1, 1]); x1 = log10(cell[rows, 1])
	if (x1 <= x0)
		x1 = x0 + 1
	print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 680 310\" font-family=\"sans-serif\" font-size=\"12\">"
	print "<rect width=\"680\" height=\"310\" fill=\"#fff\"/>"
	panel(60, "seconds after the question", "all have pinned:3:1:#1b6ca8;all is fetched:4:1:#c1440e")
	panel(400, "MiB", "fetched:5:1048576:#c1440e;on the wire:6:1048576:#b8860b;memory of who asks:7:1024:#1b6ca8;memory of the server:8:1024:#2e7d32;memory of one agent:9:1024:#777")
	print "</svg>"
}
