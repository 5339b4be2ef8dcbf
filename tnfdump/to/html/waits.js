/*
 * waits.js - sleeps, and who ended them; marks.
 *
 * why_sleeps() in analysis/why-place.c has found them, from thread_state, thread_block, thread_queue
 * and thread_wakeup:
 * the same knowledge as that of tnfdump --why.
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
