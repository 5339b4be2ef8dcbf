/*
 * tables.js - what stands below the timeline: statistics of the selection, or of the whole trace, the
 * figures of tnfdump --stats and --states; and charts of one name's durations: how they are
 * distributed, and how they go over time.
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

/* The smallest value that p percent of the sorted values do not exceed. */
function percentile(sorted, p) {
	return sorted[Math.max(0, Math.ceil(sorted.length * p / 100) - 1)];
}

/* Counts, and durations of what begins within [from, to). */
function statsOf(data, from, to) {
	const a = lower(data.time, from), b = lower(data.time, to), { slice } = data;
	const count = new Float64Array(data.probes.length), n = new Uint32Array(data.spans.length);
	for (let i = a; i < b; i++)
		count[data.probe[i]]++;
	for (let s = 0; s < slice.n; s++)
		if (slice.start[s] >= from && slice.start[s] < to)
			n[slice.name[s]]++;
	const lists = Array.from(n, (k) => new Uint32Array(k)), at = new Uint32Array(n.length);
	for (let s = 0; s < slice.n; s++)
		if (slice.start[s] >= from && slice.start[s] < to)
			lists[slice.name[s]][at[slice.name[s]]++] = s;
	const events = new Map();
	data.probes.forEach((p, i) => events.set(p.name, (events.get(p.name) || 0) + count[i]));
	return {
		total: b - a,
		events: [...events].filter((e) => e[1] > 0).sort((x, y) => y[1] - x[1]),
		spans: lists.map((list, name) => list.length ? spanStats(data, name, list) : null).filter(Boolean).sort((x, y) => y.sum - x.sum),
	};
}

function spanStats(data, name, list) {
	const sorted = Float64Array.from(list, (s) => data.slice.duration[s]).sort();
	let sum = 0;
	for (const x of sorted)
		sum += x;
	return { id: name, name: data.spans[name], list, sorted, n: sorted.length, sum, min: sorted[0], mean: Math.round(sum / sorted.length),
		p50: percentile(sorted, 50), p90: percentile(sorted, 90), p99: percentile(sorted, 99), max: sorted[sorted.length - 1] };
}

/* Time of each thread in each state within [from, to): thread -> ns by state. */
function statesOf(data, from, to) {
	const byThread = new Map(), { state } = data;
	for (let k = 0; k < state.n; k++) {
		const start = Math.max(from, state.start[k]), end = Math.min(to, state.start[k] + state.duration[k]);
		if (end <= start)
			continue;
		const t = state.thread[k];
		if (!byThread.has(t))
			byThread.set(t, new Float64Array(data.meta.states.length));
		byThread.get(t)[state.state[k]] += end - start;
	}
	return byThread;
}

const SLOWEST = 50;

function showTables(app) {
	const { data } = app, { range } = app.line, from = range ? range[0] : 0, to = range ? range[1] : Infinity;
	const box = byId('tables'), stats = statsOf(data, from, to), states = statesOf(data, from, to);
	box.replaceChildren(make('h2', range ? 'Selected: ' + timeText(range[1] - range[0]) + ', ' +
		countText(stats.total, 'event') : 'The whole trace', { className: 'broad' }));
	showMarks(app, from, to, box);
	if (stats.spans.length) {
		section(box, 'What begins and ends', spansTable(app, stats.spans)).id = 'spans';
		box.append(make('section', null, { id: 'slowest' }));
	}
	section(box, 'Events', table([{ title: 'count' }, { title: 'event', text: true }],
		stats.events.map(([name, n]) => ({ cells: [n.toLocaleString(), name], keys: [n, name],
			go: () => app.find.ask('probe == "' + name + '"') })))).id = 'events';
	showTopWaits(app, from, to, box);
	if (states.size)
		section(box, 'Time in each state', statesTable(data, states)).className = 'broad';
	app.shownStats = stats;
	showName(app);
	box.dataset.sums = JSON.stringify({ events: Object.fromEntries(stats.events),
		spans: Object.fromEntries(stats.spans.map((s) => [s.name, [s.n, s.sum, s.min, s.mean, s.p50, s.p90, s.p99, s.max]])) });
}

function spansTable(app, spans) {
	const numbers = ['sum', 'min', 'mean', 'p50', 'p90', 'p99', 'max'];
	return table([{ title: 'count' }, ...['total', ...numbers.slice(1)].map((title) => ({ title })), { title: 'what', text: true }],
		spans.map((s) => ({ cells: [s.n.toLocaleString(), ...numbers.map((k) => timeText(s[k])), s.name],
			keys: [s.n, ...numbers.map((k) => s[k]), s.name], go: () => { app.name = s.id; showName(app); } })));
}

/* One name: its slowest, histogram and course.  That of the picked slice comes first. */
function showName(app) {
	const box = byId('slowest'), { data } = app, picked = app.line.picked.slice;
	if (!box)
		return;
	const { spans } = app.shownStats, s = spans.find((x) => x.id === app.name) || spans[0];
	const marked = picked >= 0 && data.slice.name[picked] === s.id ? data.slice.duration[picked] : null;
	const width = Math.max(240, Math.min(560, box.clientWidth || 480));
	const slowest = Array.from(s.list).sort((a, b) => data.slice.duration[b] - data.slice.duration[a]).slice(0, SLOWEST);
	box.replaceChildren(make('h2', 'Durations: ' + s.name), histogramChart(s.sorted, marked, width),
		make('h2', 'Over time: ' + s.name), overTimeChart(app, s, width), make('h2', 'Slowest: ' + s.name),
		table([{ title: 'duration' }, { title: 'at' }, { title: 'thread', text: true }],
			slowest.map((k) => ({ cells: [timeText(data.slice.duration[k]), timeText(data.slice.start[k]),
				threadText(data.threads[data.slice.thread[k]])], keys: [data.slice.duration[k], data.slice.start[k],
				threadText(data.threads[data.slice.thread[k]])], go: () => app.go({ slice: k }) }))));
}

function showMarks(app, from, to, box) {
	const list = app.data.marks.filter((m) => m.time >= from && m.time < to);
	if (list.length)
		section(box, 'Marks', table([{ title: 'at' }, { title: 'text', text: true }],
			list.map((m) => ({ cells: [timeText(m.time), m.text], keys: [m.time, m.text], go: () => app.go({ event: m.event }) }))));
}

function showTopWaits(app, from, to, box) {
	const { data, waits } = app, groups = waits.top(from, to);
	if (groups.length === 0)
		return;
	section(box, 'Waits', table([{ title: 'count' }, { title: 'total' }, { title: 'longest' },
		{ title: 'thread', text: true }, { title: 'woken by', text: true }, { title: 'for', text: true },
		{ title: 'stack', text: true }],
	groups.map((g) => {
		const thread = threadText(data.threads[data.sleep.thread[g.longest]]), waker = waits.wakerText(g.longest);
		return { cells: [g.n.toLocaleString(), timeText(g.sum), timeText(g.most), thread, waker, g.thing,
			make('span', g.stack, { className: 'stack' })], keys: [g.n, g.sum, g.most, thread, waker, g.thing, g.stack],
		go: () => app.goWait(g.longest) };
	}))).className = 'broad';
}

function statesTable(data, states) {
	const used = data.meta.states.map((_, k) => k).filter((k) => [...states.values()].some((v) => v[k] > 0));
	return table([{ title: 'thread', text: true }, ...used.map((k) => ({ title: data.meta.states[k] }))],
		[...states].map(([t, v]) => ({ cells: [threadText(data.threads[t]), ...used.map((k) => v[k] ? timeText(v[k]) : '')],
			keys: [threadText(data.threads[t]), ...used.map((k) => v[k])] })));
}
