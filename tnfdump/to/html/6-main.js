/*
 * 6-main.js - the parts together: search, the address's fragment, buttons.
 */
const HELP = [['wheel, w s', 'zoom'], ['drag, a d', 'move'], ['f', 'fit: the whole trace'],
	['click', 'pick an event or slice'], ['\u2190 \u2192', 'event before, after, in its thread'],
	['Shift and drag, [ ]', 'select a stretch of time'], ['z', 'zoom to the selection'],
	['/', 'find'], ['n N', 'next, previous match'], ['Esc', 'nothing picked, nothing selected'],
	['find', 'a condition as in tnfexpr(5): probe == "x" and size > 4K, errno != 0, comm =~ /^redis/, has path; ' +
	'arithmetic, bits, in and elements of records are left out here']];

function startFind(data, line) {
	const field = byId('find'), found = byId('found');
	let at = -1, asked = '';
	const step = (by) => {
		if (!line.hits.length)
			return;
		if (at < 0 && line.picked >= 0)
			at = lower(line.hits, line.picked) - (by > 0 ? 1 : 0);
		at = (at + by + line.hits.length) % line.hits.length;
		found.textContent = (at + 1).toLocaleString() + ' of ' + line.hits.length.toLocaleString();
		line.pick(line.hits[at], true);
	};
	const find = () => {
		const list = [];
		if (field.value === asked)
			return;
		asked = field.value;
		at = -1;
		found.className = '';
		found.textContent = '';
		if (field.value.trim()) {
			try {
				const holds = queryCompile(field.value);
				for (let i = 0; i < data.n; i++)
					if (holds(data, i) === true)
						list.push(i);
				found.textContent = list.length.toLocaleString() + ' found';
			} catch (e) {
				found.className = 'bad';
				found.textContent = e.message;
			}
		}
		line.hits = Uint32Array.from(list);
		line.draw();
	};
	field.addEventListener('change', find);
	field.addEventListener('keydown', (e) => {
		if (e.key === 'Enter') {
			e.preventDefault();
			find();
			step(1);
			line.canvas.focus();
		}
	});
	byId('bar').addEventListener('submit', (e) => e.preventDefault());
	byId('next').onclick = () => step(1);
	byId('prev').onclick = () => step(-1);
	document.addEventListener('keydown', (e) => {
		if (e.target === field || e.ctrlKey || e.metaKey || e.altKey)
			return;
		if (e.key === 'n') step(1);
		else if (e.key === 'N') step(-1);
		else if (e.key === '?') byId('keys').click();
		else if (e.key === '/') { e.preventDefault(); field.focus(); field.select(); }
	});
}

/* #t=from,to&s=from,to&e=event&q=condition restores view, selection and pick. */
function fragment(line) {
	const parts = ['t=' + line.from.toFixed(0) + ',' + line.to.toFixed(0)];
	if (line.range)
		parts.push('s=' + line.range[0].toFixed(0) + ',' + line.range[1].toFixed(0));
	if (line.picked >= 0)
		parts.push('e=' + line.picked);
	if (byId('find').value)
		parts.push('q=' + encodeURIComponent(byId('find').value));
	return '#' + parts.join('&');
}

function restore(data, line) {
	const word = Object.fromEntries(location.hash.slice(1).split('&').map((p) => p.split('=')));
	const pair = (s) => (s || '').split(',').map(Number).filter(Number.isFinite);
	const s = pair(word.s), t = pair(word.t), e = Number(word.e);
	if (word.q) {
		byId('find').value = decodeURIComponent(word.q);
		byId('find').dispatchEvent(new Event('change'));
	}
	if (s.length === 2) {
		line.range = s;
		line.tell('range');
	}
	if (t.length === 2)
		line.view(t[0], t[1]);
	if (word.e !== undefined && e >= 0 && e < data.n)
		line.pick(e, t.length !== 2);
}

/* The page of an incident opens where its first trigger fired, with the thread on top. */
function openFired(data, lanes, line) {
	const m = data.marks.find((m) => m.fired);
	if (!m)
		return;
	document.title = m.text;
	byId('title').textContent = m.text;
	if (!(m.ago >= 0))
		return;
	const at = m.time - m.ago, room = Math.max(m.lasted, 1e6);
	let best = -1;
	for (let i = 0; i < data.n; i++)
		if (i !== m.event && data.threads[data.thread[i]].lwpid === m.lwpid &&
			(best < 0 || Math.abs(data.time[i] - at) < Math.abs(data.time[best] - at)))
			best = i;
	const lane = lanes.findIndex((l) => l.kind === 'thread' && best >= 0 && l.thread === data.thread[best]);
	if (lane > 0) {
		lanes.unshift(...lanes.splice(lane, 1));
		line.layout();
	}
	line.view(at - room * 1.3, at + room * .3);
	if (best >= 0)
		line.pick(best, false);
}

function startButtons(line) {
	const dark = matchMedia('(prefers-color-scheme: dark)');
	const theme = (on) => { document.documentElement.classList.toggle('dark', on); line.draw(); };
	theme(dark.matches);
	dark.addEventListener('change', () => theme(dark.matches));
	byId('theme').onclick = () => theme(!document.documentElement.classList.contains('dark'));
	byId('fit').onclick = () => line.fit();
	byId('link').onclick = async () => {
		history.replaceState(null, '', fragment(line));
		try {
			await navigator.clipboard.writeText(location.href);
			byId('found').textContent = 'link copied';
		} catch (e) {
			byId('found').textContent = 'the link is in the address bar';
		}
	};
	byId('keys').onclick = () => { byId('help').hidden = !byId('help').hidden; };
	const list = make('dl');
	for (const [keys, what] of HELP)
		list.append(make('dt', keys), make('dd', what));
	byId('help').append(list);
}

async function start() {
	const data = await dataRead();
	showHead(data);
	if (data.n === 0)
		return;
	modelWaits(data);
	modelMarks(data);
	const lanes = modelLanes(data);
	const go = (s) => {
		const i = sliceEvent(data, s), d = Math.max(data.slice.duration[s], 1000);
		line.view(data.slice.start[s] - d * .3, data.slice.start[s] + d * 1.3);
		line.pick(i, true);
		line.canvas.focus();
		line.canvas.scrollIntoView({ block: 'nearest' });
	};
	const pick = (i) => {
		line.pick(i, true);
		line.canvas.focus();
		line.canvas.scrollIntoView({ block: 'nearest' });
	};
	const line = new Timeline(byId('line'), data, lanes, (what) => {
		if (what === 'pick')
			showDetail(data, line.picked, (i) => line.pick(i, true));
		if (what === 'range')
			showTables(data, line.range, go, pick);
	});
	window.trace = { data, line };		/* for those who ask in the console */
	showLegend(data);
	showDetail(data, -1, null);
	showFired(data, pick);
	showTables(data, null, go, pick);
	startFind(data, line);
	startButtons(line);
	openFired(data, lanes, line);
	restore(data, line);
	addEventListener('hashchange', () => restore(data, line));
	line.canvas.focus({ preventScroll: true });
	document.body.dataset.ready = '1';
}

start().catch((e) => {
	byId('title').textContent = 'This trace cannot be shown';
	byId('losses').textContent = typeof DecompressionStream === 'undefined' ?
		'This browser is too old: it has no DecompressionStream.' : String(e && e.message || e);
	document.body.dataset.ready = 'failed';
});
