/*
 * stats.js - counts and durations of a stretch of time: the figures of tnfdump --stats and --states.
 */

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
