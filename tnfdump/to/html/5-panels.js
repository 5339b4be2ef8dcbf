/*
 * 5-panels.js - head, detail and tables.  Text goes in as text alone.
 */
function make(tag, text, attributes) {
	const e = document.createElement(tag);
	if (text !== undefined && text !== null)
		e.textContent = text;
	return Object.assign(e, attributes || {});
}

const byId = (id) => document.getElementById(id);

function showHead(data) {
	const m = data.meta, names = fileNames(m.files);
	document.title = names + ' \u2013 TNF trace';
	byId('title').textContent = names;
	const facts = [data.n.toLocaleString() + ' events in ' + timeText(m.duration),
		m.wall === null ? null : (new Date(m.wall).getTimezoneOffset() === 0 ? '' :
			wallText(data, 0, false) + ', ') + wallText(data, 0, true),
		...new Set(m.files.map((f) => [f.host, f.release, f.machine].filter(Boolean).join(' ')))];
	byId('facts').textContent = facts.filter(Boolean).join(' \u00b7 ');
	byId('losses').textContent = losses(m).join(' \u00b7 ');
}

/* Segments of one ring have its name, and numbers. */
function stem(path) {
	return path.split('/').pop().replace(/\.\d{4,}(\.tnf)(\.\w+)?$/, '$1');
}

function fileNames(files) {
	const count = new Map();
	for (const f of files)
		count.set(stem(f.path), (count.get(stem(f.path)) || 0) + 1);
	const names = [...count].map(([name, n]) => n > 1 ? name + ' in ' + n + ' parts' : name);
	return names.length <= 6 ? names.join(', ') : names.slice(0, 5).join(', ') + ' and ' + (names.length - 5) + ' more';
}

/* Each segment tells what its ring had lost by then: the largest number counts. */
function losses(meta) {
	const most = new Map();
	for (const l of meta.losses) {
		const n = l.events === undefined ? l.values : l.events, one = n === 1 ? '' : 's';
		const what = l.events === undefined ? ' value' + one + ' not whole (no room in the event)' :
			' event' + one + ' lost (' + l.reason + ')';
		const key = stem(l.file) + what.replace(/s? /, ' ');
		if (!most.has(key) || most.get(key).n < n)
			most.set(key, { n, text: stem(l.file) + ': ' + n.toLocaleString() + what });
	}
	return [...most.values()].map((x) => x.text);
}

/* What triggers fired for, in the head; the rest is on the timeline. */
function showFired(data, pick) {
	const list = data.marks.filter((m) => m.fired);
	for (const m of list.slice(0, 5))
		byId('fired').append(make('button', m.text, { type: 'button', onclick: () => pick(m.event) }), ' ');
	if (list.length > 5)
		byId('fired').append('and ' + (list.length - 5) + ' more');
}

function showMarks(data, from, to, box, pick) {
	const list = data.marks.filter((m) => m.time >= from && m.time < to);
	if (list.length)
		section(box, 'Marks', table([{ title: 'at' }, { title: 'text', text: true }],
			list.slice(0, 100).map((m) => ({ cells: [timeText(m.time), m.text], go: () => pick(m.event) }))));
}

function showLegend(data) {
	const legend = byId('legend'), used = new Set();
	for (let k = 0; k < data.state.n; k++)
		used.add(data.state.state[k]);
	for (const s of [...used].sort((a, b) => a - b)) {
		const item = make('span'), box = make('i');
		box.style.background = STATE_COLORS[data.meta.states[s]] || '#888';
		item.append(box, data.meta.states[s]);
		legend.append(item);
	}
}

const PRINTED = 40;	/* rows on paper: style.css */

function table(columns, rows) {
	const t = make('table'), head = make('tr'), body = make('tbody');
	for (const c of columns)
		head.append(make('th', c.title, { className: c.text ? 'text' : '', scope: 'col' }));
	for (const row of rows) {
		const tr = make('tr');
		row.cells.forEach((cell, k) => {
			const td = make('td', null, { className: columns[k].text ? 'text' : '' });
			td.append(cell);
			tr.append(td);
		});
		if (row.go) {
			tr.tabIndex = 0;
			tr.addEventListener('click', row.go);
			tr.addEventListener('keydown', (e) => e.key === 'Enter' && row.go());
		}
		body.append(tr);
	}
	const top = make('thead');
	top.append(head);
	t.append(top, body);
	const box = make('div', null, { className: 'wide' });
	box.append(t);
	if (rows.length > PRINTED)
		box.append(make('p', 'The first ' + PRINTED + ' of ' + rows.length.toLocaleString() + ' rows.', { className: 'more' }));
	return box;
}

/* A heading and what it is of stay together. */
function section(box, title, ...what) {
	const s = make('section');
	s.append(make('h2', title), ...what);
	box.append(s);
	return s;
}

/* All of an event: who, when, its members, and the slices that it is in. */
function showDetail(data, i, pick) {
	const box = byId('detail');
	box.replaceChildren();
	if (i < 0) {
		box.append(make('h2', 'Nothing is picked'), make('p', 'Click an event or a slice, or press the right arrow key. ' +
			'Drag with Shift, or along the top, to select a stretch of time.'));
		return;
	}
	const p = data.probes[data.probe[i]], t = data.threads[data.thread[i]];
	box.append(make('h2', p.name));
	const rows = [['time', timeText(data.time[i])], ['wall clock', wallText(data, data.time[i], true)],
		['host', t.host || ''],
		['order', data.unordered.has(i) ? 'within the error of the clocks: one before it, of another host, may have come later' : ''],
		['process', (t.process || t.comm || '') + ' ' + t.pid], ['thread', threadText(t)],
		['CPU', data.cpu[i] < 0 ? '' : String(data.cpu[i])], ['keys', p.keys]];
	for (const m of p.members)
		rows.push([m.name, dataText(data, i, m)]);
	box.append(table([{ title: 'what', text: true }, { title: 'value', text: true }],
		rows.filter((r) => r[1] !== '').map((r) => ({ cells: r }))));
	showWaits(data, i, box, pick);
	for (const s of slicesAround(data, i))
		box.append(make('p', data.meta.spans[data.slice.name[s]] + ': ' + timeText(data.slice.duration[s])));
	const same = (step) => {
		let k = i + step;
		while (k >= 0 && k < data.n && data.probe[k] !== data.probe[i])
			k += step;
		if (k >= 0 && k < data.n)
			pick(k);
	};
	const prev = make('button', '\u25c0 same kind', { type: 'button', onclick: () => same(-1) });
	const next = make('button', 'same kind \u25b6', { type: 'button', onclick: () => same(1) });
	box.append(prev, ' ', next);
}

/* The wait that the event begins or ends; else those within the innermost slice. */
function showWaits(data, i, box, pick) {
	const own = data.waitOf.get(i), slices = slicesAround(data, i);
	let list = own ? [own] : [];
	if (!own && slices.length) {
		const s = slices.reduce((a, b) => data.slice.duration[a] <= data.slice.duration[b] ? a : b);
		const from = data.slice.start[s], to = from + data.slice.duration[s];
		list = data.waits.filter((w) => w.thread === data.thread[i] && w.start >= from && w.start < to);
		list = list.sort((a, b) => (b.end - b.start) - (a.end - a.start)).slice(0, 5);
	}
	for (const w of list) {
		const p = make('p', (own ? 'waited ' : 'waits in it: ') + timeText(w.end - w.start) + ' on ' + w.object + ' ',
			{ className: 'wait' });
		if (w.block !== i)
			p.append(make('button', 'go to it', { type: 'button', onclick: () => pick(w.block) }), ' ');
		p.append(w.waker < 0 ? 'who woke it is not in the trace ' : 'woken by ' + wakerText(data, w) + ' ');
		if (w.waker >= 0 && w.waker !== i)
			p.append(make('button', 'go to who woke it', { type: 'button', onclick: () => pick(w.waker) }));
		box.append(p);
		if (w.block !== i && w.stack && w.stack !== '[]')
			box.append(make('p', w.stack, { className: 'stack' }));
	}
}

function wakerText(data, w) {
	const t = data.threads[data.thread[w.waker]];
	return t.lwpid || t.pid ? threadText(t) : 'the kernel, CPU ' + data.cpu[w.waker];
}

function slicesAround(data, i) {
	const list = [];
	for (let s = 0; s < data.slice.n && list.length < 8; s++)
		if (data.slice.thread[s] === data.thread[i] && data.slice.start[s] <= data.time[i] &&
		    data.slice.start[s] + data.slice.duration[s] >= data.time[i])
			list.push(s);
	return list;
}

/* Durations by powers of two. */
function histogram(sorted) {
	const bins = new Map();
	for (const d of sorted) {
		const b = d < 1 ? 0 : Math.floor(Math.log2(d));
		bins.set(b, (bins.get(b) || 0) + 1);
	}
	const most = Math.max(...bins.values());
	return table([{ title: 'from' }, { title: 'count' }, { title: '', text: true }],
		[...bins].sort((a, b) => a[0] - b[0]).map(([b, n]) => {
			const bar = make('span', '', { className: 'bar' });
			bar.style.width = Math.max(1, n / most * 200) + 'px';
			return { cells: [timeText(Math.pow(2, b)), n.toLocaleString(), bar] };
		}));
}

function showTopWaits(data, from, to, box, pick) {
	const groups = modelTopWaits(data, from, to);
	if (groups.length === 0)
		return;
	section(box, 'Waits', table([{ title: 'count' }, { title: 'total' }, { title: 'longest' },
		{ title: 'thread', text: true }, { title: 'woken by', text: true }, { title: 'object', text: true },
		{ title: 'stack', text: true }],
	groups.slice(0, 20).map((g) => ({ cells: [g.n.toLocaleString(), timeText(g.sum),
		timeText(g.longest.end - g.longest.start), threadText(data.threads[g.longest.thread]),
		g.longest.waker < 0 ? '' : wakerText(data, g.longest), g.object,
		make('span', g.stack === '[]' ? '' : g.stack, { className: 'stack' })], go: () => pick(g.longest.block) })))).className = 'broad';
}

function showTables(data, range, go, pick) {
	const box = byId('tables'), from = range ? range[0] : 0, to = range ? range[1] : Infinity;
	const stats = modelStats(data, from, to), states = modelStates(data, from, to);
	box.replaceChildren(make('h2', range ? 'Selected: ' + timeText(range[1] - range[0]) + ', ' +
		stats.total.toLocaleString() + ' events' : 'The whole trace', { className: 'broad' }));
	showMarks(data, from, to, box, pick);
	if (stats.spans.length) {
		section(box, 'What begins and ends', table([{ title: 'count' }, { title: 'total' }, { title: 'min' }, { title: 'mean' }, { title: 'p50' },
			{ title: 'p90' }, { title: 'p99' }, { title: 'max' }, { title: 'what', text: true }],
		stats.spans.map((s) => ({ cells: [s.n.toLocaleString(), timeText(s.sum), timeText(s.min), timeText(s.mean),
			timeText(s.p50), timeText(s.p90), timeText(s.p99), timeText(s.max), s.name],
			go: () => { showSlowest(data, s, go); } }))));
		box.append(make('section', null, { id: 'slowest' }));
	}
	section(box, 'Events', table([{ title: 'count' }, { title: 'event', text: true }],
		stats.events.map(([name, n]) => ({ cells: [n.toLocaleString(), name] }))));
	showTopWaits(data, from, to, box, pick);
	if (states.size)
		section(box, 'Time in each state', tableStates(data, states)).className = 'broad';
	if (stats.spans.length)
		showSlowest(data, stats.spans[0], go);
	box.dataset.sums = JSON.stringify({ events: Object.fromEntries(stats.events),
		spans: Object.fromEntries(stats.spans.map((s) => [s.name, [s.n, s.sum]])) });
}

function tableStates(data, states) {
	const used = data.meta.states.map((_, k) => k).filter((k) => [...states.values()].some((v) => v[k] > 0));
	return table([{ title: 'thread', text: true }, ...used.map((k) => ({ title: data.meta.states[k] }))],
		[...states].map(([t, v]) => ({ cells: [threadText(data.threads[t]), ...used.map((k) => v[k] ? timeText(v[k]) : '')] })));
}

function showSlowest(data, s, go) {
	byId('slowest').replaceChildren(make('h2', 'Slowest: ' + s.name),
		table([{ title: 'duration' }, { title: 'at' }, { title: 'thread', text: true }],
			s.slowest.map((k) => ({ cells: [timeText(data.slice.duration[k]), timeText(data.slice.start[k]),
				threadText(data.threads[data.slice.thread[k]])], go: () => go(k) }))),
		make('h2', 'Durations: ' + s.name), histogram(s.sorted));
}
