/*
 * 2-model.js - lanes: what the timeline shows, sorted so that any stretch of it
 * is found by binary search.
 */
const DEPTH_MAX = 10;

/* Groups 0..n-1 by a column: { start, index }, each group in order. */
function groupBy(column, n, groups) {
	const start = new Uint32Array(groups + 1), index = new Uint32Array(n);
	for (let i = 0; i < n; i++)
		start[column[i] + 1]++;
	for (let g = 0; g < groups; g++)
		start[g + 1] += start[g];
	const at = start.slice(0, groups);
	for (let i = 0; i < n; i++)
		index[at[column[i]]++] = i;
	return { start, index };
}

/* A row of intervals that do not overlap, in order of time. */
class Spans {
	constructor(start, end, what) {
		Object.assign(this, { start: Float64Array.from(start), end: Float64Array.from(end), what });
	}
	get n() { return this.start.length; }
}

/* Slices of a thread in rows: what lies in something else is one row lower. */
function nestedRows(slice, list) {
	list.sort((a, b) => slice.start[a] - slice.start[b] || slice.duration[b] - slice.duration[a]);
	const rows = [], open = [];
	for (const s of list) {
		const start = slice.start[s], end = start + slice.duration[s];
		while (open.length && open[open.length - 1] <= start && open[open.length - 1] < end)
			open.pop();
		const depth = Math.min(open.length, DEPTH_MAX - 1);
		open.push(end);
		(rows[depth] = rows[depth] || { start: [], end: [], what: [] });
		rows[depth].start.push(start);
		rows[depth].end.push(end);
		rows[depth].what.push(s);
	}
	return rows.map((r) => new Spans(r.start, r.end, r.what));
}

/* Requests that may overlap: each in the first row that is free. */
function packedRows(slice, list) {
	list.sort((a, b) => slice.start[a] - slice.start[b]);
	const rows = [];
	for (const s of list) {
		const start = slice.start[s];
		let r = rows.find((row) => row.end[row.end.length - 1] <= start);
		if (!r && rows.length < DEPTH_MAX)
			rows.push(r = { start: [], end: [], what: [] });
		r = r || rows[DEPTH_MAX - 1];
		r.start.push(start);
		r.end.push(start + slice.duration[s]);
		r.what.push(s);
	}
	return rows.map((r) => new Spans(r.start, r.end, r.what));
}

/* Who ran on a processor: from its events, each of which a thread wrote there. */
function cpuRow(data, list) {
	const start = [], end = [], what = [];
	for (let k = 0; k < list.length; k++) {
		const i = list[k], last = what.length - 1;
		if (last >= 0 && what[last] === data.thread[i])
			end[last] = data.time[i];
		else {
			if (last >= 0)
				end[last] = data.time[i];
			start.push(data.time[i]);
			end.push(data.time[i]);
			what.push(data.thread[i]);
		}
	}
	return new Spans(start, end, what);
}

function modelLanes(data) {
	const threads = data.threads.length;
	const events = groupBy(data.thread, data.n, threads);
	const states = groupBy(data.state.thread, data.state.n, threads);
	const slices = groupBy(data.slice.thread, data.slice.n, threads);
	const lanes = [];

	data.byThread = events;
	modelCpus(data, lanes);
	modelDevices(data, lanes);
	for (const group of modelProcesses(data, events)) {
		const alone = group.threads.length === 1;
		if (!alone)
			lanes.push({ kind: 'title', title: group.title });
		for (const t of group.threads) {
			const own = Array.from(slices.index.subarray(slices.start[t], slices.start[t + 1]))
				.filter((s) => !data.slice.async[s]);
			const s = states.index.subarray(states.start[t], states.start[t + 1]);
			const state = s.length ? new Spans(Array.from(s, (k) => data.state.start[k]),
				Array.from(s, (k) => data.state.start[k] + data.state.duration[k]), s) : null;
			lanes.push({ kind: 'thread', thread: t, title: alone ? group.title : threadText(data.threads[t]),
				alone, state, rows: nestedRows(data.slice, own),
				events: events.index.subarray(events.start[t], events.start[t + 1]) });
		}
	}
	return lanes;
}

function modelCpus(data, lanes) {
	/* Each machine has processors of its own. */
	const lists = new Map();
	for (let i = 0; i < data.n; i++) {
		if (data.cpu[i] < 0)
			continue;
		const t = data.threads[data.thread[i]], key = (t.nth || 0) * 65536 + data.cpu[i];
		if (!lists.has(key))
			lists.set(key, { title: hostText(t) + 'CPU ' + data.cpu[i], list: [] });
		lists.get(key).list.push(i);
	}
	if (lists.size === 0)
		return;
	lanes.push({ kind: 'title', title: 'Processors' });
	for (const [, c] of [...lists].sort((a, b) => a[0] - b[0]))
		lanes.push({ kind: 'cpu', title: c.title, rows: [cpuRow(data, c.list)], events: [] });
}

function modelDevices(data, lanes) {
	const byName = new Map();
	for (let s = 0; s < data.slice.n; s++)
		if (data.slice.async[s]) {
			const name = data.meta.spans[data.slice.name[s]];
			if (!byName.has(name))
				byName.set(name, []);
			byName.get(name).push(s);
		}
	if (byName.size === 0)
		return;
	lanes.push({ kind: 'title', title: 'Requests' });
	for (const [name, list] of byName)
		lanes.push({ kind: 'device', title: name, rows: packedRows(data.slice, list), events: [] });
}

/* By machine; processes with probes of their own come first, then by the number of events. */
function modelProcesses(data, events) {
	const groups = new Map();
	data.threads.forEach((t, i) => {
		const key = (t.nth || 0) + ' ' + t.pid;
		if (!groups.has(key))
			groups.set(key, { nth: t.nth || 0, title: hostText(t) + (t.process || t.comm || 'process') + ' ' + t.pid, threads: [], own: false, n: 0 });
		const g = groups.get(key), from = events.start[i], to = events.start[i + 1];
		g.threads.push(i);
		g.n += to - from;
		for (let k = from; k < to && !g.own; k++)
			g.own = data.cpu[events.index[k]] < 0;
	});
	return [...groups.values()].sort((a, b) => a.nth - b.nth || b.own - a.own || b.n - a.n);
}

/* Counts, and durations of what begins within [from, to). */
function modelStats(data, from, to) {
	const a = lower(data.time, from), b = lower(data.time, to);
	const count = new Float64Array(data.probes.length), spans = new Map();
	for (let i = a; i < b; i++)
		count[data.probe[i]]++;
	for (let s = 0; s < data.slice.n; s++) {
		if (data.slice.start[s] < from || data.slice.start[s] >= to)
			continue;
		const name = data.slice.name[s];
		if (!spans.has(name))
			spans.set(name, []);
		spans.get(name).push(s);
	}
	const events = new Map();
	data.probes.forEach((p, i) => events.set(p.name, (events.get(p.name) || 0) + count[i]));
	return {
		total: b - a,
		events: [...events].filter((e) => e[1] > 0).sort((x, y) => y[1] - x[1]),
		spans: [...spans].map(([name, list]) => spanStats(data, name, list)).sort((x, y) => y.sum - x.sum),
	};
}

function spanStats(data, name, list) {
	const d = Float64Array.from(list, (s) => data.slice.duration[s]).sort();
	let sum = 0;
	for (const x of d)
		sum += x;
	const rank = (p) => d[Math.max(0, Math.ceil(d.length * p / 100) - 1)];
	const slowest = list.sort((x, y) => data.slice.duration[y] - data.slice.duration[x]).slice(0, 10);
	return { name: data.meta.spans[name], n: d.length, sum, min: d[0], mean: Math.round(sum / d.length),
		p50: rank(50), p90: rank(90), p99: rank(99), max: d[d.length - 1], slowest, sorted: d };
}

function modelStates(data, from, to) {
	const byThread = new Map();
	for (let k = 0; k < data.state.n; k++) {
		const start = Math.max(from, data.state.start[k]);
		const end = Math.min(to, data.state.start[k] + data.state.duration[k]);
		if (end <= start)
			continue;
		const t = data.state.thread[k];
		if (!byThread.has(t))
			byThread.set(t, new Float64Array(data.meta.states.length));
		byThread.get(t)[data.state.state[k]] += end - start;
	}
	return byThread;
}

/* The event that began slice s: of its thread, at its time. */
function sliceEvent(data, s) {
	const t = data.slice.thread[s], g = data.byThread;
	const list = g.index.subarray(g.start[t], g.start[t + 1]);
	let a = 0, b = list.length;
	while (a < b) {
		const mid = (a + b) >>> 1;
		if (data.time[list[mid]] < data.slice.start[s]) a = mid + 1; else b = mid;
	}
	return a < list.length ? list[a] : -1;
}

/* The writer is not on its way to sleep: thread_state tells that, too, and, with a tid,
   who runs instead. */
function runsAt(data, i) {
	const p = data.probes[data.probe[i]], m = p.members.find((x) => x.name === 'state');
	if (p.name === 'thread_state' && p.members.some((x) => x.name === 'tid'))
		return false;
	return p.name !== 'thread_state' || !m || ['USER', 'SYSTEM', 'TRAP'].includes(dataText(data, i, m));
}

/*
 * Waits: from thread_block to the thread_queue that names the thread, whose writer woke
 * it; or, without such, to the thread's next event.  'waitOf' leads from both events.
 */
function modelWaits(data) {
	const tasks = data.meta.tasks, owner = new Map(), open = new Map(), waits = [];
	const kind = data.probes.map((p) => p.name === 'thread_block' ? 1 : p.name === 'thread_queue' ? 2 : 0);
	const member = (p, name) => p.members.find((m) => m.name === name);
	data.waits = waits;
	data.waitOf = new Map();
	if (!kind.includes(1))
		return;
	const end = (w, i) => {
		w.end = data.time[i];
		open.delete(w.thread);
		waits.push(w);
	};
	for (let i = 0, k = 0; i < data.n; i++) {
		const t = data.thread[i], what = kind[data.probe[i]];
		for (; k < tasks.length && tasks[k][2] <= i; k++)
			owner.set(tasks[k][0], tasks[k][1]);
		if (open.has(t) && runsAt(data, i))
			end(open.get(t), i);
		if (what === 1) {
			const w = { block: i, thread: t, start: data.time[i], end: 0, waker: -1 };
			open.set(t, w);
			data.waitOf.set(i, w);
		} else if (what === 2) {
			const m = member(data.probes[data.probe[i]], 'tid'), v = m ? dataValue(data, i, m) : null;
			const nth = data.threads[t].nth;
			const w = v === null ? undefined :
				open.get(owner.get('0x' + v.toString(16) + (nth ? '@' + nth : '')));
			if (w) {
				w.waker = i;
				data.waitOf.set(i, w);
				end(w, i);
			}
		}
	}
	const text = (w, name) => {
		const m = member(data.probes[data.probe[w.block]], name);
		return m ? dataText(data, w.block, m) : '';
	};
	for (const w of waits)
		Object.defineProperties(w, { object: { get: () => text(w, 'reason') }, stack: { get: () => text(w, 'stack') } });
}

/* Marks of people and programs, and what a trigger of tnfwatch was fired by. */
function modelMarks(data) {
	const texts = data.probes.map((p) => {
		const member = (name) => p.members.find((m) => m.name === name && m.type === 'string');
		if (p.name === 'mark' && member('text'))
			return [member('text')];
		if (p.name === 'fired' && member('trigger') && member('reason'))
			return [member('trigger'), member('reason')];
		return null;
	});
	const number = (i, name) => {
		const m = data.probes[data.probe[i]].members.find((m) => m.name === name);
		return m ? Number(dataText(data, i, m)) : NaN;
	};
	data.marks = [];
	if (texts.every((t) => t === null))
		return;
	for (let i = 0; i < data.n; i++) {
		const t = texts[data.probe[i]];
		if (t)
			data.marks.push({ event: i, time: data.time[i], fired: t.length > 1,
				text: t.map((m) => dataText(data, i, m)).join(': '),
				ago: number(i, 'ago'), lasted: number(i, 'lasted'), lwpid: number(i, 'thread') });
	}
}

/* Those that begin within [from, to), by stack, or else by object: most time first. */
function modelTopWaits(data, from, to) {
	const groups = new Map();
	for (const w of data.waits) {
		if (w.start < from || w.start >= to)
			continue;
		const key = w.stack && w.stack !== '[]' ? w.stack : w.object;
		let g = groups.get(key);
		if (!g)
			groups.set(key, g = { object: w.object, stack: w.stack, n: 0, sum: 0, longest: w });
		g.n++;
		g.sum += w.end - w.start;
		if (w.end - w.start > g.longest.end - g.longest.start)
			g.longest = w;
	}
	return [...groups.values()].sort((a, b) => b.sum - a.sum);
}
