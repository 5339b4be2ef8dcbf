/*
 * counters.js - numbers over time: threads that wait for a processor, requests of a device, and
 * any member of an event that somebody wants to see so.
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
