/*
 * slices.js - what can be said of one slice: what is in it, around it, and how it compares; of the
 * sleeps in it, and who ended them.
 */

/* Slices of a thread around a time, from the outermost to the innermost. */
function slicesAround(data, thread, time) {
	const list = data.slicesBy.of(thread), around = [];
	let k = lowerBy(list.length, (j) => data.slice.async[list[j]] ? Infinity : data.slice.start[list[j]], time + 1) - 1;
	/* Those that began before, at ever smaller depths, may reach to the time. */
	for (let depth = Infinity; k >= 0 && depth > 0; k--) {
		const s = list[k];
		if (data.slice.depth[s] < depth) {
			depth = data.slice.depth[s];
			if (data.slice.start[s] + data.slice.duration[s] >= time)
				around.unshift(s);
		}
	}
	return around;
}

/* Slices that lie in it one level down.  Those of a thread follow each other in the columns. */
function childrenOf(data, s) {
	const { slice } = data, end = slice.start[s] + slice.duration[s], list = [];
	if (slice.async[s])
		return list;
	for (let k = s + 1; k < slice.n && slice.thread[k] === slice.thread[s] && !slice.async[k] &&
		slice.depth[k] > slice.depth[s] && slice.start[k] <= end; k++)
		if (slice.depth[k] === slice.depth[s] + 1)
			list.push(k);
	return list;
}

/* Time in it that is not in any slice within. */
function selfTime(data, s) {
	return childrenOf(data, s).reduce((rest, k) => rest - data.slice.duration[k], data.slice.duration[s]);
}

/* Time of its thread in each state within it, in the order of states: [state, ns]. */
function statesWithin(data, s) {
	const { slice, state } = data, from = slice.start[s], to = from + slice.duration[s];
	const list = data.statesBy.of(slice.thread[s]), sum = new Map();
	if (!list.length)
		return [];
	const spans = new Spans(state, null, list[0], list.length);
	for (let k = spans.after(from); k < spans.n && spans.start(k) < to; k++) {
		const ns = Math.min(to, spans.end(k)) - Math.max(from, spans.start(k)), what = state.state[spans.id(k)];
		sum.set(what, (sum.get(what) || 0) + ns);
	}
	return [...sum].sort((a, b) => a[0] - b[0]);
}

/* All slices of a name in the order of time, and their durations in order of length. */
function sameNames(data, name) {
	if (!data.namesakes)
		data.namesakes = new Map();
	if (!data.namesakes.has(name)) {
		const { slice } = data, list = [];
		for (let s = 0; s < slice.n; s++)
			if (slice.name[s] === name)
				list.push(s);
		list.sort((a, b) => slice.start[a] - slice.start[b]);
		data.namesakes.set(name, { list, sorted: Float64Array.from(list, (s) => slice.duration[s]).sort() });
	}
	return data.namesakes.get(name);
}

/* The slice of the same name before or after it; -1: there is none. */
function sameName(data, s, step) {
	const { list } = sameNames(data, data.slice.name[s]), start = data.slice.start[s];
	let k = lowerBy(list.length, (j) => data.slice.start[list[j]], start);
	while (k < list.length && list[k] !== s)
		k++;
	return k + step >= 0 && k + step < list.length ? list[k + step] : -1;
}

/* How many slices of its name are shorter, of how many, and how many are longer. */
function rankOf(data, s) {
	const { sorted } = sameNames(data, data.slice.name[s]), d = data.slice.duration[s];
	return { n: sorted.length, shorter: lower(sorted, d), longer: sorted.length - lower(sorted, d + .5) };
}

/*
 * Explanations of slices, as tnfdump --why prints them: the slowest of each name have one, and
 * all slices of a trace that is not large.
 */
class Chains {
	constructor(app) {
		const { data } = this.app = app;
		this.first = new Map();
		for (let k = 0, at = 0; k < data.why.n; k++) {
			this.first.set(data.why.slice[k], { first: at, n: data.why.lines[k], verdict: data.why.verdict[k] });
			at += data.why.lines[k];
		}
	}

	/* { slice, lane, rows, depth, first, n, verdict }; null: the slice has no explanation. */
	of(s, lanes) {
		const { data } = this.app, found = this.first.get(s);
		if (!found)
			return null;
		const rows = [];
		for (let l = found.first; l < found.first + found.n; l++)
			(rows[data.line.depth[l]] = rows[data.line.depth[l]] || []).push(l);
		const column = { start: data.line.from, duration: data.line.ns };
		return { slice: s, lane: lanes.byThread.get(data.slice.thread[s]), first: found.first, n: found.n, depth: rows.length,
			rows: Array.from(rows, (list) => new Spans(column, Uint32Array.from(list || []))), verdict: data.texts[found.verdict - 1] };
	}

	/* Goes to the thread whose time a line is. */
	open(l) {
		const { data } = this.app, thread = data.line.thread[l] - 1;
		if (thread < 0)
			return;
		this.app.line.pick({ event: eventBefore(data, thread, data.line.from[l]) }, true);
	}
}

/*
 * Sleeps: why_sleeps() in analysis/why-place.c has found them, from thread_state, thread_block,
 * thread_queue and thread_wakeup: the same knowledge as that of tnfdump --why.
 */
const WOKEN_BY = ['', 'a thread', 'an interrupt', 'a timer', 'a disk', 'the network', 'a signal'];

class Waits {
	constructor(data) {
		this.data = data;
		this.by = groupBy(data.sleep.thread, data.sleep.n, data.threads.length);
		this.n = data.sleep.n;
	}

	/* The sleeps of a thread that end in [from, to], as a range of this.by.index. */
	within(thread, from, to) {
		const list = this.by.of(thread), { woken } = this.data.sleep;
		return list.subarray(lowerBy(list.length, (k) => woken[list[k]], from),
			lowerBy(list.length, (k) => woken[list[k]], to + 1));
	}

	/* The sleep in which the thread is at this time, or that ends or begins then; -1: none. */
	at(thread, time) {
		const [w] = this.within(thread, time, Infinity);
		return w !== undefined && this.data.sleep.from[w] <= time ? w : -1;
	}

	waker(w) { return this.data.sleep.waker[w] - 1; }
	thing(w) { return this.data.texts[this.data.sleep.thing[w] - 1]; }

	wakerText(w) {
		const { data } = this;
		if (this.waker(w) >= 0)
			return threadText(data.threads[this.waker(w)]);
		return WOKEN_BY[data.sleep.by[w]] || '';
	}

	/* The event that tells of the thread's going to sleep, preferably with its stack; -1: none. */
	blockEvent(w) {
		const { data } = this, list = data.byThread.of(data.sleep.thread[w]);
		let best = -1;
		for (let k = lowerBy(list.length, (j) => data.time[list[j]], data.sleep.from[w]);
			k < list.length && data.time[list[k]] === data.sleep.from[w]; k++)
			if (best < 0 || dataMember(data, list[k], 'stack'))
				best = list[k];
		return best;
	}

	/* The event by which the waker is known: the last one that it wrote by then; -1: none. */
	wakeEvent(w) {
		const { data } = this;
		if (this.waker(w) < 0)
			return -1;
		const list = data.byThread.of(this.waker(w));
		const k = lowerBy(list.length, (j) => data.time[list[j]], data.sleep.woken[w] + 1) - 1;
		return k >= 0 ? list[k] : -1;
	}

	stack(w) {
		const i = this.blockEvent(w), m = i >= 0 && dataMember(this.data, i, 'stack');
		const text = m ? dataText(this.data, i, m) : '';
		return text === '[]' || text === 'null' ? '' : text;
	}

	/* The sleeps that begin within [from, to), by stack, or else by what they are for. */
	top(from, to) {
		const { data } = this, groups = new Map();
		for (let w = 0; w < this.n; w++) {
			if (data.sleep.from[w] < from || data.sleep.from[w] >= to)
				continue;
			const stack = this.stack(w), key = stack || this.thing(w);
			const took = data.sleep.woken[w] - data.sleep.from[w];
			let g = groups.get(key);
			if (!g)
				groups.set(key, g = { thing: this.thing(w), stack, n: 0, sum: 0, longest: w, most: -1 });
			g.n++;
			g.sum += took;
			if (took > g.most) {
				g.most = took;
				g.longest = w;
			}
		}
		return [...groups.values()].sort((a, b) => b.sum - a.sum);
	}
}

/* Marks of people and programs, and what a trigger of tnfwatch was fired by. */
function marksOf(data) {
	const texts = data.probes.map((p) => {
		const member = (name) => p.members.find((m) => m.name === name && m.type === 'string');
		if (p.name === 'mark' && member('text'))
			return [member('text')];
		if (p.name === 'fired' && member('trigger') && member('reason'))
			return [member('trigger'), member('reason')];
		return null;
	});
	const number = (i, name) => {
		const m = dataMember(data, i, name);
		return m ? Number(dataText(data, i, m)) : NaN;
	};
	const marks = [];
	if (texts.every((t) => t === null))
		return marks;
	for (let i = 0; i < data.n; i++) {
		const t = texts[data.probe[i]];
		if (t)
			marks.push({ event: i, time: data.time[i], fired: t.length > 1,
				text: t.map((m) => dataText(data, i, m)).join(': '),
				ago: number(i, 'ago'), lasted: number(i, 'lasted'), lwpid: number(i, 'thread') });
	}
	return marks;
}
