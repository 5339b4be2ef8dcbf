/*
 * charts.js - durations of one name: how they are distributed, and how they go over time.
 */
const CHART_H = 130, CHART_LEFT = 8, INTERVALS = 24, DOTS_MAX = 20000;

function chart(width, title) {
	const c = make('canvas', null, { className: 'chart', tabIndex: -1 }), ratio = window.devicePixelRatio || 1;
	c.width = width * ratio;
	c.height = CHART_H * ratio;
	c.style.width = width + 'px';
	c.style.height = CHART_H + 'px';
	c.setAttribute('role', 'img');
	c.setAttribute('aria-label', title);
	const g = c.getContext('2d'), style = getComputedStyle(document.documentElement);
	g.setTransform(ratio, 0, 0, ratio, 0, 0);
	g.font = '11px system-ui, sans-serif';
	g.textBaseline = 'middle';
	return { c, g, width, ink: (name) => style.getPropertyValue('--' + name) };
}

/* Durations on a scale of factors, so that short and long ones both have room. */
function scaleOf(sorted, room) {
	const least = Math.log(Math.max(1, sorted[0])), most = Math.log(Math.max(2, sorted[sorted.length - 1]));
	return (d) => most > least ? (Math.log(Math.max(1, d)) - least) / (most - least) * room : room / 2;
}

/* Bars of how many took how long; a line marks the picked one. */
function histogramChart(sorted, marked, width) {
	const { c, g, ink } = chart(width, 'histogram of durations'), room = width - 2 * CHART_LEFT;
	const at = scaleOf(sorted, room), bins = new Uint32Array(Math.floor(room / 7) + 1), floor = CHART_H - 18;
	for (const d of sorted)
		bins[Math.min(bins.length - 1, Math.floor(at(d) / 7))]++;
	const most = Math.max(...bins);
	g.fillStyle = ink('pick');
	bins.forEach((n, k) => {
		const h = n ? Math.max(2, n / most * (floor - 16)) : 0;
		g.fillRect(CHART_LEFT + k * 7, floor - h, 6, h);
	});
	g.fillStyle = ink('soft');
	g.fillText(timeText(sorted[0]), CHART_LEFT, CHART_H - 8);
	g.textAlign = 'right';
	g.fillText(timeText(sorted[sorted.length - 1]), width - CHART_LEFT, CHART_H - 8);
	g.textAlign = 'left';
	g.fillText(most.toLocaleString() + ' at most', CHART_LEFT, 8);
	if (marked !== null) {
		const x = CHART_LEFT + at(marked);
		g.fillStyle = ink('mark');
		g.fillRect(x - 1, 14, 2.5, floor - 14);
		g.textAlign = x > width / 2 ? 'right' : 'left';
		g.fillText('picked: ' + timeText(marked), x + (x > width / 2 ? -5 : 5), 20);
		c.dataset.marked = marked;
	}
	return c;
}

/* A dot for each, and lines of p50, p90 and p99 of each interval; a click goes to the nearest. */
function overTimeChart(app, stats, width) {
	const { data } = app, { slice } = data, { c, g, ink } = chart(width, 'durations over time');
	const from = slice.start[stats.list.reduce((a, b) => slice.start[a] <= slice.start[b] ? a : b)];
	const to = slice.start[stats.list.reduce((a, b) => slice.start[a] >= slice.start[b] ? a : b)];
	const room = width - 2 * CHART_LEFT, floor = CHART_H - 18, up = scaleOf(stats.sorted, floor - 14);
	const x = (t) => CHART_LEFT + (to > from ? (t - from) / (to - from) * room : room / 2), y = (d) => floor - up(d);
	const every = Math.ceil(stats.n / DOTS_MAX);
	g.fillStyle = ink('pick');
	g.globalAlpha = stats.n > 2000 ? .4 : .8;
	for (let k = 0; k < stats.n; k += every)
		g.fillRect(x(slice.start[stats.list[k]]) - 1.2, y(slice.duration[stats.list[k]]) - 1.2, 2.4, 2.4);
	g.globalAlpha = 1;
	if (stats.n >= 2 * INTERVALS)
		drawPercentiles(stats, slice, from, to, { g, x, y, ink });
	g.fillStyle = ink('soft');
	g.fillText(timeText(stats.max), CHART_LEFT, 8);
	g.fillText(timeText(stats.min), CHART_LEFT, floor + 4);
	g.textAlign = 'right';
	g.fillText((every > 1 ? 'one dot in ' + every + '; ' : '') + (stats.n >= 2 * INTERVALS ? 'lines: p50, p90, p99' : ''), width - CHART_LEFT, 8);
	g.fillText(timeText(to), width - CHART_LEFT, CHART_H - 6);
	c.onclick = (e) => {
		const far = (s) => Math.hypot(x(slice.start[s]) - e.offsetX, y(slice.duration[s]) - e.offsetY);
		app.go({ slice: stats.list.reduce((a, b) => far(a) <= far(b) ? a : b) });
	};
	return c;
}

function drawPercentiles(stats, slice, from, to, { g, x, y, ink }) {
	const parts = Array.from({ length: INTERVALS }, () => []);
	for (const s of stats.list)
		parts[Math.min(INTERVALS - 1, Math.floor((slice.start[s] - from) / (to - from || 1) * INTERVALS))].push(slice.duration[s]);
	const sorted = parts.map((list) => Float64Array.from(list).sort());
	[[50, 'fore', []], [90, 'fore', [4, 3]], [99, 'mark', []]].forEach(([p, name, dash]) => {
		g.strokeStyle = ink(name);
		g.setLineDash(dash);
		g.beginPath();
		sorted.forEach((list, k) => {
			if (list.length)
				g.lineTo(x(from + (k + .5) / INTERVALS * (to - from)), y(percentile(list, p)));
		});
		g.stroke();
	});
	g.setLineDash([]);
}
