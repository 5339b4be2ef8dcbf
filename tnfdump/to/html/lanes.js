/*
 * lanes.js - lanes: what the timeline shows, and in which order.
 *
 * Lanes stand in groups: processors, counters, requests, and one group for each process.  A group
 * is open or folded; pinned lanes stand above all groups.  Rows of a lane are made when the lane
 * is drawn first, so that thousands of threads cost nothing until someone looks at them.
 *
 * Counters are numbers over time: threads that wait for a processor, requests of a device, and any
 * member of an event that somebody wants to see so.
 */
const COUNTER_POINTS = 2000000;

/* Steps from beginnings and ends: how many are open at each time. */
function depthOf(starts, ends) {
	starts.sort();
	ends.sort();
	const time = new Float64Array(starts.length + ends.length), value = new Float64Array(time.length);
	let a = 0, b = 0, n = 0;
	for (let k = 0; k < time.length; k++) {
		const begins = a < starts.length && starts[a] < ends[b];
		time[k] = begins ? starts[a++] : ends[b++];
		n += begins ? 1 : -1;
		value[k] = n;
	}
	return { time, value };
}

function counter(title, steps) {
	let most = 0, least = 0;
	for (const v of steps.value) {
		most = Math.max(most, v);
		least = Math.min(least, v);
	}
	return { title, ...steps, most, least };
}

/* Threads in the state WAIT_CPU: the run queue, as the trace tells it. */
function runQueue(data) {
	const { state } = data, wanted = data.meta.states.indexOf('WAIT_CPU');
	let n = 0;
	for (let k = 0; k < state.n; k++)
		n += state.state[k] === wanted && state.duration[k] > 0;
	if (n === 0 || n > COUNTER_POINTS)
		return [];
	const starts = new Float64Array(n), ends = new Float64Array(n);
	for (let k = 0, i = 0; k < state.n; k++)
		if (state.state[k] === wanted && state.duration[k] > 0) {
			starts[i] = state.start[k];
			ends[i++] = state.start[k] + state.duration[k];
		}
	return [counter('Threads that wait for a CPU', depthOf(starts, ends))];
}

/* How many requests of each name are open. */
function requestDepth(data) {
	const { slice } = data, byName = new Map();
	for (let s = 0; s < slice.n; s++)
		if (slice.async[s] && slice.duration[s] > 0) {
			if (!byName.has(slice.name[s]))
				byName.set(slice.name[s], []);
			byName.get(slice.name[s]).push(s);
		}
	return [...byName].map(([name, list]) => counter('Open: ' + data.spans[name],
		depthOf(Float64Array.from(list, (s) => slice.start[s]), Float64Array.from(list, (s) => slice.start[s] + slice.duration[s]))));
}

function countersOf(data) {
	return [...runQueue(data), ...requestDepth(data)];
}

/* The member of a probe's events, all threads together. */
function memberCounter(data, probe, member) {
	const time = [], value = [];
	for (let i = 0; i < data.n; i++)
		if (data.probes[data.probe[i]].name === probe) {
			const m = dataMember(data, i, member);
			if (!m || m.type === 'string')
				continue;
			time.push(data.time[i]);
			value.push(Number(dataValue(data, i, m)));
		}
	return counter(probe + ': ' + member, { time: Float64Array.from(time), value: Float64Array.from(value) });
}

const OPEN_LANES = 40;		/* that are open at first */
const THREADS_SHOWN = 25;	/* of one process, until "more" is asked for */

/* Intervals in order that do not overlap, as places in columns { start, duration }. */
class Spans {
	constructor(column, index, from = 0, n = index.length) {
		Object.assign(this, { column, index, from, n });
	}
	id(k) { return this.index ? this.index[k] : this.from + k; }
	start(k) { return this.column.start[this.id(k)]; }
	end(k) { const i = this.id(k); return this.column.start[i] + this.column.duration[i]; }
	/* The first one that ends after t. */
	after(t, from = 0) {
		let to = this.n;
		while (from < to) {
			const mid = (from + to) >>> 1;
			if (this.end(mid) <= t)
				from = mid + 1;
			else
				to = mid;
		}
		return from;
	}
}

/* Slices of a thread in rows, by the depth that html-spans.c has found. */
function nestedRows(slice, from, to) {
	const rows = [];
	for (let s = from; s < to; s++)
		(rows[slice.depth[s]] = rows[slice.depth[s]] || []).push(s);
	return rows.map((list) => new Spans(slice, Uint32Array.from(list)));
}

/* Requests that may overlap: each in the first row that is free; the last row takes the rest. */
function packedRows(slice, list) {
	const rows = [], ends = [];
	for (const s of list.sort((a, b) => slice.start[a] - slice.start[b])) {
		let r = ends.findIndex((end) => end <= slice.start[s]);
		if (r < 0)
			r = Math.min(rows.length, 11);
		(rows[r] = rows[r] || []).push(s);
		ends[r] = slice.start[s] + slice.duration[s];
	}
	return rows.map((l) => new Spans(slice, Uint32Array.from(l)));
}

/* The threads that ran on a processor, from its events: the thread that wrote an event ran there. */
function cpuRow(data, list) {
	const start = [], end = [], thread = [], event = [];
	for (const i of list) {
		const last = thread.length - 1;
		if (last >= 0)
			end[last] = data.time[i];
		if (last >= 0 && thread[last] === data.thread[i])
			continue;
		start.push(data.time[i]);
		end.push(data.time[i]);
		thread.push(data.thread[i]);
		event.push(i);
	}
	return new Spans({ start: Float64Array.from(start), duration: Float64Array.from(end, (e, k) => e - start[k]),
		thread: Uint32Array.from(thread), event: Uint32Array.from(event) }, null, 0, start.length);
}

class Lanes {
	constructor(data) {
		const threads = data.threads.length;
		this.data = data;
		this.pinned = [];
		this.filter = '';
		data.byThread = groupBy(data.thread, data.n, threads);
		data.slicesBy = groupBy(data.slice.thread, data.slice.n, threads);
		data.statesBy = groupBy(data.state.thread, data.state.n, threads);
		this.groups = [this.processors(), this.counters(), this.requests(), ...this.processes()].filter((g) => g.lanes.length);
		this.all = this.groups.flatMap((g) => g.lanes);
		this.byThread = new Map(this.all.filter((l) => l.kind === 'thread').map((l) => [l.thread, l]));
		this.openSome();
	}

	group(title, kind, lanes) {
		const g = { title, kind, lanes, open: true, more: false };
		for (const l of lanes)
			l.group = g;
		return g;
	}

	/* Each machine has processors of its own. */
	processors() {
		const { data } = this, lists = new Map();
		for (let i = 0; i < data.n; i++) {
			if (data.cpu[i] < 0)
				continue;
			const key = (data.threads[data.thread[i]].nth || 0) * 65536 + data.cpu[i];
			let l = lists.get(key);
			if (!l)
				lists.set(key, l = { title: hostText(data.threads[data.thread[i]]) + 'CPU ' + data.cpu[i], list: [] });
			l.list.push(i);
		}
		return this.group('Processors', 'cpus', [...lists].sort((a, b) => a[0] - b[0]).map(([, c]) => {
			const rows = [cpuRow(data, c.list)];
			return { kind: 'cpu', title: c.title, events: [], make: () => rows };
		}));
	}

	requests() {
		const { data } = this, byName = new Map();
		for (let s = 0; s < data.slice.n; s++)
			if (data.slice.async[s]) {
				const name = data.spans[data.slice.name[s]];
				if (!byName.has(name))
					byName.set(name, []);
				byName.get(name).push(s);
			}
		return this.group('Requests', 'requests', [...byName].map(([title, list]) =>
			({ kind: 'request', title, events: [], make: () => packedRows(data.slice, list) })));
	}

	counters() {
		return this.group('Counters', 'counters', countersOf(this.data).map((c) =>
			({ kind: 'counter', title: c.title, counter: c, events: [], make: () => [] })));
	}

	/* By machine; processes with probes of their own come first, then by the number of events. */
	processes() {
		const { data } = this, groups = new Map();
		data.threads.forEach((t, i) => {
			const key = (t.nth || 0) + ' ' + t.pid;
			if (!groups.has(key))
				groups.set(key, { nth: t.nth || 0, title: processText(t), own: false, n: 0, lanes: [] });
			const g = groups.get(key), lane = this.threadLane(i);
			g.lanes.push(lane);
			g.n += lane.events.length;
			g.own = g.own || (lane.events.length > 0 && !data.probes[data.probe[lane.events[0]]].kernel) ||
				lane.events.some((k) => !data.probes[data.probe[k]].kernel);
		});
		return [...groups.values()].sort((a, b) => a.nth - b.nth || b.own - a.own || b.n - a.n).map((g) => {
			g.lanes.sort((a, b) => b.events.length - a.events.length);
			return Object.assign(this.group(g.title, 'process', g.lanes), { own: g.own });
		});
	}

	/* Threads are in order of their number in the columns, and each has its slices in one piece. */
	threadLane(t) {
		const { data } = this, slices = data.slicesBy.of(t), states = data.statesBy.of(t);
		let own = 0, depth = 0;
		while (own < slices.length && !data.slice.async[slices[own]])
			depth = Math.max(depth, data.slice.depth[slices[own++]] + 1);
		return { kind: 'thread', thread: t, title: threadText(data.threads[t]), events: data.byThread.of(t), depth,
			state: states.length ? new Spans(data.state, null, states[0], states.length) : null,
			make: () => own ? nestedRows(data.slice, slices[0], slices[0] + own) : [] };
	}

	/* At first the busiest are open, and the rest is folded. */
	openSome() {
		let n = 0;
		for (const g of this.groups) {
			n += Math.min(g.lanes.length, THREADS_SHOWN);
			g.open = g.kind !== 'process' || g.own || n <= OPEN_LANES;
		}
	}

	matches(lane) {
		const f = this.filter.toLowerCase();
		return !f || lane.title.toLowerCase().includes(f) || lane.group.title.toLowerCase().includes(f);
	}

	/* The lanes on the screen, from top to bottom. */
	visible() {
		const list = [], pinned = this.pinned.filter((l) => this.matches(l));
		if (pinned.length)
			list.push({ kind: 'title', title: 'Pinned', open: true, pins: true }, ...pinned);
		for (const g of this.groups) {
			const lanes = g.lanes.filter((l) => !l.pinned && this.matches(l));
			if (!lanes.length)
				continue;
			if (g.kind === 'process' && g.lanes.length === 1 && g.open) {
				list.push(lanes[0]);
				continue;
			}
			/* Those that are asked for by name are shown. */
			const open = g.open || (this.filter !== '' && lanes.length < g.lanes.length);
			list.push(g.row = Object.assign(g.row || {}, { kind: 'title', title: g.title, of: g, open, count: lanes.length, lanes }));
			if (!open)
				continue;
			const shown = g.more || this.filter ? lanes : lanes.slice(0, THREADS_SHOWN);
			list.push(...shown);
			if (shown.length < lanes.length)
				list.push({ kind: 'more', title: (lanes.length - shown.length).toLocaleString() + ' more threads', of: g });
		}
		return list;
	}

	pin(lane, on = !lane.pinned) {
		lane.pinned = on;
		this.pinned = this.pinned.filter((l) => l !== lane);
		if (on)
			this.pinned.push(lane);
	}

	/* Lane 'a' goes to where 'b' is; both are pinned, or of one group. */
	move(a, b) {
		const list = a.pinned && b.pinned ? this.pinned : !a.pinned && !b.pinned && a.group === b.group ? a.group.lanes : null;
		if (!list || a === b)
			return false;
		const to = list.indexOf(b);
		list.splice(list.indexOf(a), 1);
		list.splice(to, 0, a);
		return true;
	}

	/* Group 'a' goes to where 'b' is. */
	moveGroup(a, b) {
		if (a === b || !a || !b)
			return false;
		const to = this.groups.indexOf(b);
		this.groups.splice(this.groups.indexOf(a), 1);
		this.groups.splice(to, 0, a);
		return true;
	}

	/* A lane by another one's side. */
	step(lane, by) {
		const list = lane.pinned ? this.pinned : lane.group.lanes, to = list.indexOf(lane) + by;
		return to >= 0 && to < list.length && this.move(lane, list[to]);
	}

	/* Opens what hides the lane. */
	reveal(lane) {
		if (!this.matches(lane))
			this.filter = '';
		if (!lane.pinned) {
			lane.group.open = true;
			lane.group.more = lane.group.more || lane.group.lanes.indexOf(lane) >= THREADS_SHOWN;
		}
	}
}
