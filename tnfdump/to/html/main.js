/*
 * main.js - the parts together: address, buttons, keys of the whole page.
 */
const HELP = [['wheel, w s, + \u2212, pinch', 'zoom'], ['drag, a d', 'move'], ['f', 'fit: the whole trace'],
	['click', 'pick an event, a slice, a state, or who ran on a CPU; a slice shows below it why it took so long'],
	['double click', 'zoom to a slice'], ['\u2190 \u2192', 'event before, after, in its thread; of a slice, the one of its name'],
	['e', 'the slice around what is picked'], ['Shift and drag, Select, [ ]', 'select a stretch of time'], ['z', 'zoom to the selection'],
	['click on a name', 'pin the lane on top; of a process: open or fold it'], ['drag a name', 'move the lane or the process'],
	['p, o, < >', 'pin, fold, move the lane of what is picked'],
	['/', 'find'], ['n N', 'next, previous match'], ['Esc', 'nothing picked, nothing selected'],
	['find', 'words, looked for in probes, slices, threads and values; or a condition as in tnfexpr(5): ' +
	'probe == "x" and size > 4K, duration > 500us, comm =~ /^redis/, has path; ' +
	'arithmetic, bits, in and elements of records are left out here']];
const LARGE = 5000000;	/* events */

/* #t=from,to&s=from,to&e=event&x=slice&q=search restores view, selection, pick and search. */
function fragment(line) {
	const pair = (a, b) => a.toFixed(0) + ',' + b.toFixed(0), parts = ['t=' + pair(line.from, line.to)];
	if (line.range)
		parts.push('s=' + pair(line.range[0], line.range[1]));
	if (line.picked.slice >= 0)
		parts.push('x=' + line.picked.slice);
	else if (line.picked.event >= 0)
		parts.push('e=' + line.picked.event);
	if (byId('find').value)
		parts.push('q=' + encodeURIComponent(byId('find').value));
	return '#' + parts.join('&');
}

function restore(app) {
	const word = Object.fromEntries(location.hash.slice(1).split('&').map((p) => p.split('=')));
	const pair = (s) => (s || '').split(',').filter(Boolean).map(Number).filter(Number.isFinite);
	const { line, data } = app, s = pair(word.s), t = pair(word.t), e = pair(word.e), x = pair(word.x);
	app.restoring = true;
	byId('find').value = word.q ? decodeURIComponent(word.q) : '';
	app.find.run();
	line.select(s.length === 2 ? s : null);
	if (t.length === 2)
		line.view(t[0], t[1]);
	if (x.length === 1 && x[0] >= 0 && x[0] < data.slice.n)
		line.pick({ slice: x[0] }, t.length !== 2);
	else
		line.pick(e.length === 1 && e[0] >= 0 && e[0] < data.n ? { event: e[0] } : {}, t.length !== 2);
	app.restoring = false;
}

/* The page of an incident opens where its first trigger fired, with the thread on top. */
function openFired(app) {
	const { data, line } = app, m = data.marks.find((x) => x.fired);
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
	const lane = best >= 0 && app.lanes.byThread.get(data.thread[best]);
	if (lane) {
		app.lanes.pin(lane, true);
		line.arrange();
	}
	line.view(at - room * 1.3, at + room * .3);
	if (best >= 0)
		line.pick({ event: best }, false);
}

function startButtons(app) {
	const { line } = app, dark = matchMedia('(prefers-color-scheme: dark)');
	const theme = (on) => { document.documentElement.classList.toggle('dark', on); line.draw(); };
	theme(dark.matches);
	dark.addEventListener('change', () => theme(dark.matches));
	byId('theme').onclick = () => { theme(!document.documentElement.classList.contains('dark')); showName(app); };
	byId('fit').onclick = () => { line.fit(); app.tell('went'); };
	byId('in').onclick = () => line.zoom(.5);
	byId('out').onclick = () => line.zoom(2);
	byId('select').onclick = () => { line.selecting = true; byId('found').textContent = 'drag over a stretch of time'; };
	byId('wakes').hidden = !app.waits.n;
	byId('wakes').onclick = () => {
		line.arrows = !line.arrows;
		byId('wakes').ariaPressed = String(line.arrows);
		line.draw();
	};
	byId('lanes').addEventListener('input', () => {
		app.lanes.filter = byId('lanes').value;
		line.arrange();
	});
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
	byId('bar').addEventListener('submit', (e) => e.preventDefault());
}

/* The printed page is what is on the screen, drawn for white paper. */
function startPrinting(app) {
	const { line } = app, { classList } = document.documentElement;
	let dark = false;
	const draw = (paper) => {
		classList.toggle('paper', paper);
		classList.toggle('dark', dark && !paper);
		line.paper = paper;
		line.paint();
		app.flame.draw();
		showName(app);
	};
	addEventListener('beforeprint', () => { dark = classList.contains('dark'); draw(true); });
	addEventListener('afterprint', () => draw(false));
}

function startKeys(app) {
	document.addEventListener('keydown', (e) => {
		if (e.target.tagName === 'INPUT' || e.ctrlKey || e.metaKey || e.altKey)
			return;
		if (e.key === 'n') app.find.step(1);
		else if (e.key === 'N') app.find.step(-1);
		else if (e.key === '?') byId('keys').click();
		else if (e.key === '/') { e.preventDefault(); app.find.field.focus(); app.find.field.select(); }
	});
	addEventListener('popstate', () => restore(app));
}

/* The state that the parts share.  'tell' is called after each change, with the thing that changed. */
class App {
	constructor(data) {
		Object.assign(this, { data, restoring: false });
		this.lanes = new Lanes(data);
		this.waits = new Waits(data);
		this.chains = new Chains(this);
		this.line = new Timeline(byId('line'), this);
		this.find = new Find(this);
		this.flame = new Flame(this);
	}

	tell(what) {
		if (what === 'pick') {
			showDetail(this);
			if (this.line.picked.slice >= 0) {
				this.name = this.data.slice.name[this.line.picked.slice];
				showName(this);
			}
		}
		if (what === 'range') {
			showTables(this);
			this.flame.show();
		}
		if (!this.restoring)
			this.remember(what === 'view');
	}

	/* The browser's Back leads to what was picked or selected before; moving is no step. */
	remember(moved) {
		clearTimeout(this.later);
		const here = fragment(this.line);
		if (!moved && here !== location.hash)
			history.pushState(null, '', here);
		else if (moved)
			this.later = setTimeout(() => history.replaceState(null, '', fragment(this.line)), 300);
	}

	/* To an event, or to a slice, which then fills the view. */
	go(what, keepZoom) {
		const { line, data } = this, s = what.slice;
		if (s >= 0 && !(keepZoom && data.slice.duration[s] < line.to - line.from && data.slice.duration[s] > (line.to - line.from) / 100)) {
			const d = Math.max(data.slice.duration[s], 1000);
			this.restoring = true;
			line.view(data.slice.start[s] - d * .3, data.slice.start[s] + d * 1.3);
			this.restoring = false;
		}
		line.pick(what, true);
		this.toTimeline();
	}

	/* To a sleep: its event if there is one, else the state. */
	goWait(w) {
		const { sleep } = this.data, i = this.waits.blockEvent(w);
		this.go({ event: i >= 0 ? i : eventBefore(this.data, sleep.thread[w], sleep.from[w]) });
	}

	toTimeline() {
		this.line.canvas.focus({ preventScroll: true });
		this.line.canvas.scrollIntoView({ block: 'nearest' });
	}

	addCounter(probe, member) {
		const c = memberCounter(this.data, probe, member), { lanes, line } = this;
		if (!lanes.all.some((l) => l.title === c.title)) {
			let group = lanes.groups.find((g) => g.kind === 'counters');
			if (!group)
				lanes.groups.unshift(group = lanes.group('Counters', 'counters', []));
			const lane = { kind: 'counter', title: c.title, counter: c, events: [], make: () => [], group };
			group.lanes.push(lane);
			lanes.all.push(lane);
			lanes.pin(lane, true);
		}
		line.arrange();
	}
}

async function start() {
	const data = await dataRead();
	performance.mark('read');
	showHead(data);
	if (data.n === 0)
		return;
	if (data.n > LARGE)
		byId('facts').append(' \u00b7 a large trace: --from, --until or --last of tnfdump make a smaller page');
	data.marks = marksOf(data);
	const app = window.trace = new App(data);	/* for those who ask in the console */
	performance.mark('lanes');
	listen(app.line);
	showLegend(app);
	showFired(app);
	startButtons(app);
	startPrinting(app);
	startKeys(app);
	app.restoring = true;
	app.tell('range');
	performance.mark('tables');
	app.tell('pick');
	openFired(app);
	if (location.hash)
		restore(app);
	app.restoring = false;
	app.toTimeline();
	document.body.dataset.ready = '1';
}

start().catch((e) => {
	byId('title').textContent = 'This trace cannot be shown';
	byId('losses').textContent = typeof DecompressionStream === 'undefined' ?
		'This browser is too old: it has no DecompressionStream.' : String(e && e.message || e);
	document.body.dataset.ready = 'failed';
	throw e;
}).finally(() => { document.body.dataset.ready = document.body.dataset.ready || '1'; });
