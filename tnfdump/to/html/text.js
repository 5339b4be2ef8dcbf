/*
 * text.js - times, threads and files as people read them.
 */
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
