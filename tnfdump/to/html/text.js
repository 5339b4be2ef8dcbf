/*
 * text.js - how the page shows values: times, threads and files as text, states and slices by colours.
 *
 * The hues are those of Okabe and Ito, which people who do not see red or green can tell apart.
 * States that these people could still mix up have a pattern, too: stripes for the faults, dots
 * for locks; and a state that follows another of the same hue differs in lightness.
 */
const STATE_LOOKS = {
	USER: { color: '#009e73' }, SYSTEM: { color: '#0072b2' }, TRAP: { color: '#cc79a7', pattern: '.' },
	TFAULT: { color: '#b5478a', pattern: '/' }, DFAULT: { color: '#e6b3d3', pattern: '\\' },
	KFAULT: { color: '#7d2a63', pattern: '|' },
	USER_LOCK: { color: '#d55e00', pattern: '.' }, SLEEP: { color: '#c3c9d0' },
	WAIT_CPU: { color: '#f0b400' }, STOPPED: { color: '#4d4d4d' },
	INTERRUPT: { color: '#a05a00', pattern: '|' } };
/* A state that this page does not know. */
const STATE_OTHER = [{ color: '#56b4e9', pattern: '/' }, { color: '#f0e442', pattern: '|' },
	{ color: '#8c564b', pattern: '\\' }];
const SLICE_COLORS = ['#56b4e9', '#e69f00', '#8fd3b6', '#f0e442', '#7aa6d8', '#e8a27c', '#d9a6c4', '#bdc9a0'];
/* Kinds of lines of an explanation, by number: why.h. */
const WHY_LOOKS = [{}, { color: '#009e73', name: 'on the CPU' }, { color: '#f0b400', name: 'ready to run' },
	{ color: '#e8a27c', name: 'CPU taken' }, { color: '#c3c9d0', name: 'asleep' },
	{ color: '#cc79a7', name: 'queued' }, { color: '#888888', name: 'unknown', pattern: '/' },
	{ color: '#888888', name: 'not in the trace', pattern: '/' }, { color: '#888888', name: 'not followed', pattern: '\\' }];

function stateLook(data, state) {
	return STATE_LOOKS[data.meta.states[state]] || STATE_OTHER[state % STATE_OTHER.length];
}

function hashColor(n) {
	return SLICE_COLORS[(Math.imul(n, 2654435761) >>> 16) % SLICE_COLORS.length];
}

const patternCache = new Map();

/* The value for fillStyle: the colour or, where there is room to see a pattern, the pattern. */
function fillOf(look, context) {
	if (!look.pattern)
		return look.color || '#888888';
	const key = look.color + look.pattern;
	if (!patternCache.has(key)) {
		const tile = document.createElement('canvas'), g = tile.getContext('2d');
		tile.width = tile.height = 6;
		g.fillStyle = look.color;
		g.fillRect(0, 0, 6, 6);
		g.strokeStyle = g.fillStyle = '#ffffffb0';
		g.lineWidth = 1.4;
		g.beginPath();
		for (const [x0, y0, x1, y1] of { '/': [[-1, 7, 7, -1], [-1, 1, 1, -1], [5, 7, 7, 5]],
			'\\': [[-1, -1, 7, 7], [5, -1, 7, 1], [-1, 5, 1, 7]], '|': [[3, 0, 3, 6]], '.': [] }[look.pattern]) {
			g.moveTo(x0, y0);
			g.lineTo(x1, y1);
		}
		g.stroke();
		if (look.pattern === '.')
			g.fillRect(2, 2, 2, 2);
		patternCache.set(key, context.createPattern(tile, 'repeat'));
	}
	return patternCache.get(key);
}

function timeText(ns) {
	const a = Math.abs(ns);
	if (a < 1e3) return ns.toFixed(0) + ' ns';
	if (a < 1e6) return (ns / 1e3).toFixed(3) + ' us';
	if (a < 1e9) return (ns / 1e6).toFixed(3) + ' ms';
	return (ns / 1e9).toFixed(6) + ' s';
}

/* Without zeros at the end: of round times. */
function roundText(ns) {
	return timeText(ns).replace(/(\.\d*?)0+ /, '$1 ').replace('. ', ' ');
}

function wallText(data, ns, utc) {
	if (data.meta.wall === null)
		return '';
	const date = new Date(data.meta.wall + ns / 1e6);
	return utc ? date.toISOString().replace('T', ' ').replace('Z', ' UTC') :
		date.toLocaleString(undefined, { hour12: false, timeZoneName: 'short' });
}

/* The machine's name, if the trace is from several machines. */
function hostText(t) {
	return t.host ? t.host + ': ' : '';
}

function threadText(t) {
	const name = t.comm || t.process || '';
	return hostText(t) + (name ? name + ' ' : '') + (t.lwpid || t.tid || t.pid);
}

function processText(t) {
	return hostText(t) + (t.process || t.comm || 'process') + ' ' + t.pid;
}

function countText(n, what) {
	return n.toLocaleString() + ' ' + what + (n === 1 ? '' : 's');
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
function lossTexts(meta) {
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
