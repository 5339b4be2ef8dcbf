/*
 * detail.js - the panel beside the timeline: all of an event, or all of a slice.
 */
function showDetail(app) {
	const box = byId('detail'), { event, slice, state } = app.line.picked;
	box.replaceChildren();
	if (slice >= 0)
		showSlice(app, slice, box);
	else if (event >= 0)
		showEvent(app, event, state, box);
	else
		box.append(make('h2', 'Nothing is picked', { className: 'hint' }), make('p', 'Click an event, a slice or a state, or press the right arrow key. ' +
			'Drag with Shift, or along the top, to select a stretch of time.'));
}

/* Who, when, its members, and the slices that it is in. */
function showEvent(app, i, state, box) {
	const { data } = app, p = data.probes[data.probe[i]], t = data.threads[data.thread[i]];
	if (state >= 0)
		box.append(make('h2', data.meta.states[data.state.state[state]]), make('p', timeText(data.state.duration[state]) + ' from ' +
			timeText(data.state.start[state]) + '; the last event by then:'));
	box.append(make('h2', p.name), facts([['time', timeText(data.time[i])], ['wall clock', wallText(data, data.time[i], true)],
		['host', t.host || ''],
		['order', data.unordered.has(i) ? 'within the error of the clocks: one before it, of another host, may have come later' : ''],
		['process', (t.process || t.comm || '') + ' ' + t.pid], ['thread', threadText(t)],
		['CPU', data.cpu[i] < 0 ? '' : String(data.cpu[i])], ['keys', p.keys],
		...p.members.map((m) => [m.name, memberCell(app, i, m)])]));
	showWait(app, i, state, box);
	for (const s of slicesAround(data, data.thread[i], data.time[i]).reverse())
		box.append(sliceButton(app, s), ' ');
	const same = (step) => {
		let k = i + step;
		while (k >= 0 && k < data.n && data.probe[k] !== data.probe[i])
			k += step;
		if (k >= 0 && k < data.n)
			app.go({ event: k });
	};
	box.append(make('p', ''), button('\u25c0 same kind', () => same(-1)), ' ', button('same kind \u25b6', () => same(1)));
}

/* The value; of a number, with a button that draws all of its kind as a lane. */
function memberCell(app, i, m) {
	const text = dataText(app.data, i, m);
	if (m.type === 'string' || m.opaque || m.names)
		return text;
	const cell = make('span', text + ' ');
	cell.append(button('\u223f', () => app.addCounter(app.data.probes[app.data.probe[i]].name, m.name), 'draw ' + m.name + ' as a lane'));
	return cell;
}

function sliceButton(app, s) {
	return button(app.data.spans[app.data.slice.name[s]] + ': ' + timeText(app.data.slice.duration[s]), () => app.go({ slice: s }), 'the slice around it');
}

/* The sleep that is picked, or that the event is in or ends or begins. */
function showWait(app, i, state, box) {
	const { data, waits } = app, t = state >= 0 ? data.state.start[state] : data.time[i];
	let w = waits.at(data.thread[i], t);
	if (w < 0)	/* the event may tell of another thread's waking */
		w = wokenBy(app, i);
	if (w >= 0)
		box.append(waitText(app, w, i));
}

/* The sleep of another thread that ended when this event was written, by its writer. */
function wokenBy(app, i) {
	const { data, waits } = app;
	for (const t of data.threads.keys())
		for (const w of waits.within(t, data.time[i], data.time[i]))
			if (waits.waker(w) === data.thread[i])
				return w;
	return -1;
}

function waitText(app, w, i) {
	const { data, waits } = app, { sleep } = data, box = make('div', null, { className: 'wait' });
	const p = make('p', (i >= 0 && data.thread[i] !== sleep.thread[w] ? threadText(data.threads[sleep.thread[w]]) + ' waited ' : 'waited ') +
		timeText(sleep.woken[w] - sleep.from[w]) + ' for ' + waits.thing(w) + ', ');
	const waker = waits.wakerText(w);
	p.append(waker ? 'woken by ' + waker : 'who woke it is not in the trace');
	if (sleep.runs[w] > sleep.woken[w])
		p.append('; then ' + timeText(sleep.runs[w] - sleep.woken[w]) + ' for a CPU');
	box.append(p);
	const block = waits.blockEvent(w), wake = waits.wakeEvent(w);
	if (block >= 0 && block !== i)
		box.append(button('go to it', () => app.go({ event: block })), ' ');
	if (wake >= 0 && wake !== i)
		box.append(button('go to who woke it', () => app.go({ event: wake })));
	if (waits.stack(w))
		box.append(make('p', waits.stack(w), { className: 'stack' }));
	return box;
}

function showSlice(app, s, box) {
	const { data } = app, { slice } = data, rank = rankOf(data, s), from = slice.start[s], took = slice.duration[s];
	box.append(make('h2', data.spans[slice.name[s]]), facts([['took', timeText(took)], ['of which self', timeText(selfTime(data, s))],
		['from', timeText(from)], ['wall clock', wallText(data, from, true)],
		['thread', threadText(data.threads[slice.thread[s]])], ['process', processText(data.threads[slice.thread[s]])],
		['rank', rank.n === 1 ? 'the only one of its name' : 'slower than ' + (100 * rank.shorter / rank.n).toFixed(1) + ' % of ' +
			rank.n.toLocaleString() + '; number ' + (rank.longer + 1).toLocaleString() + ' from the slowest']]));
	const step = (by, text) => {
		const to = sameName(data, s, by), b = button(text, () => app.go({ slice: to }));
		b.disabled = to < 0;
		return b;
	};
	box.append(step(-1, '\u25c0 ' + data.spans[slice.name[s]]), ' ', step(1, data.spans[slice.name[s]] + ' \u25b6'), ' ',
		button('select its time', () => app.line.select([from, from + took])));
	showWhy(app, s, box);
	showEnd(app, 'Its beginning', slice.begin[s], box);
	showEnd(app, 'Its end', slice.end[s], box);
	showWithin(app, s, box);
}

function showEnd(app, title, i, box) {
	const { data } = app;
	if (i >= data.n) {
		section(box, title, make('p', 'The event is not in the page: a filter has left it out.'));
		return;
	}
	const p = data.probes[data.probe[i]], other = data.threads[data.thread[i]];
	section(box, title, facts([['event', eventCell(app, i)], ['thread', threadText(other)],
		...p.members.map((m) => [m.name, dataText(data, i, m)])]));
}

function eventCell(app, i) {
	return button(app.data.probes[app.data.probe[i]].name, () => app.go({ event: i }), 'go to the event');
}

/* Time by state, and by what is in it. */
function showWithin(app, s, box) {
	const { data } = app, took = data.slice.duration[s], share = (ns) => took ? (100 * ns / took).toFixed(1) + ' %' : '';
	const states = statesWithin(data, s), sums = new Map();
	if (states.length)
		section(box, 'Time by state', table([{ title: 'state', text: true }, { title: 'time' }, { title: 'share' }],
			states.map(([k, ns]) => ({ cells: [data.meta.states[k], timeText(ns), share(ns)], keys: [k, ns, ns] }))));
	for (const c of childrenOf(data, s)) {
		const sum = sums.get(data.slice.name[c]) || { n: 0, ns: 0, first: c };
		sum.n++;
		sum.ns += data.slice.duration[c];
		sums.set(data.slice.name[c], sum);
	}
	if (sums.size)
		section(box, 'Time by what is in it', table([{ title: 'what', text: true }, { title: 'count' }, { title: 'time' }, { title: 'share' }],
			[...sums].sort((a, b) => b[1].ns - a[1].ns).map(([name, c]) => ({ cells: [data.spans[name], c.n.toLocaleString(), timeText(c.ns), share(c.ns)],
				keys: [data.spans[name], c.n, c.ns, c.ns], go: () => app.go({ slice: c.first }) }))));
}

/* The verdict, and the lines of the explanation, with the words of tnfdump --why. */
function showWhy(app, s, box) {
	const { data } = app, chain = app.line.chain;
	if (chain && chain.slice === s) {
		const rows = [];
		for (let l = chain.first; l < chain.first + chain.n; l++) {
			const words = make('span', data.texts[data.line.text[l] - 1]);
			words.style.paddingLeft = data.line.depth[l] * .8 + 'em';
			const at = data.line.from[l] - data.slice.start[s];
			rows.push({ cells: [(at / 1e6).toFixed(3), (data.line.ns[l] / 1e6).toFixed(3), words],
				keys: [at, data.line.ns[l], words.textContent], go: () => app.chains.open(l) });
		}
		section(box, 'Why', make('p', chain.verdict, { className: 'verdict' }),
			table([{ title: 'at ms' }, { title: 'ms' }, { title: 'what', text: true }], rows)).id = 'why';
	} else
		section(box, 'Why', make('p', !data.meta.kernel ? 'Not in the trace: what the threads waited for. Record the kernel meanwhile ' +
			'(prex -k, set $why), and give tnfdump its file, too.' : 'The page explains the slowest of each name. This one: tnfdump --why=' +
			data.spans[data.slice.name[s]] + ' --id VALUE.', { className: 'verdict' })).id = 'why';
}
