'use strict';
/*
 * 1-data.js - what to-html.c wrote, as columns.
 *
 * The page holds base64 of a zlib stream: the length of a JSON text (32 bits),
 * the text, then the sections that it names, each aligned to 8 bytes.  Numbers
 * are little-endian.  Nothing from the trace ever becomes markup: strings go
 * through textContent and fillText alone.
 */
const KIND = { f64: Float64Array, u32: Uint32Array, i32: Int32Array, u16: Uint16Array,
	i16: Int16Array, u8: Uint8Array, i64: BigInt64Array, u64: BigUint64Array };

async function dataRead() {
	const text = document.getElementById('data').textContent.trim();
	const raw = atob(text), bytes = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++)
		bytes[i] = raw.charCodeAt(i);
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
	const buffer = await new Response(stream).arrayBuffer();
	const size = new DataView(buffer).getUint32(0, true);
	const meta = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, size)));
	const base = 8 + Math.ceil(size / 8) * 8;
	const column = (c) => new KIND[c[0]](buffer, base + c[1], c[2]);
	const data = { meta, probes: meta.probes, threads: meta.threads, strings: meta.strings,
		slice: {}, state: {} };

	dataTimes(data, column(meta.columns.delta), column(meta.columns.late));
	data.thread = column(meta.columns.thread);
	data.probe = column(meta.columns.probe);
	data.cpu = column(meta.columns.cpu);
	data.n = data.thread.length;
	for (const name of ['start', 'duration', 'thread', 'name', 'async'])
		data.slice[name] = column(meta.columns['slice_' + name]);
	data.slice.n = data.slice.start.length;
	for (const name of ['start', 'duration', 'thread', 'state'])
		data.state[name] = column(meta.columns['state_' + name]);
	data.state.n = data.state.start.length;
	data.unordered = new Set(column(meta.columns.unordered));
	for (const p of data.probes)
		for (const m of p.members) {
			m.values = column(m.column);
			for (const v in m.names)
				m.names[v] = meta.names[m.names[v] - 1];
		}
	if (meta.hosts.length)	/* else it is a member's name */
		FIELDS.host = (d, i) => d.threads[d.thread[i]].host;
	dataRows(data);
	return data;
}

/* Nanoseconds since the first event; a gap of four seconds and more is a pair
   of numbers in 'late'. */
function dataTimes(data, delta, late) {
	data.time = new Float64Array(delta.length);
	let at = 0, k = 0;
	for (let i = 0; i < delta.length; i++) {
		if (delta[i] === 0xffffffff)
			at = late[k++];
		else
			at += delta[i];
		data.time[i] = at;
	}
}

/* Row i of a probe's columns is its i-th event. */
function dataRows(data) {
	const seen = new Uint32Array(data.probes.length);
	data.row = new Uint32Array(data.n);
	for (let i = 0; i < data.n; i++)
		data.row[i] = seen[data.probe[i]]++;
	data.count = seen;
}

/* A member of an event: a number, a BigInt, a string or null. */
function dataValue(data, i, m) {
	const v = m.values[data.row[i]];
	if (m.type === 'string')
		return v === 0 ? null : data.strings[v - 1];
	return v;
}

/* As tnfdump --pretty prints it. */
function dataText(data, i, m) {
	const v = dataValue(data, i, m);
	if (v === null)
		return 'null';
	const name = m.names && m.names[String(v)];
	if (name !== undefined)
		return name;
	if (m.opaque && typeof v !== 'string')
		return '0x' + (v < 0 ? BigInt.asUintN(64, BigInt(v)) : v).toString(16);
	return String(v);
}

/* The first index from 'from' on whose number is not below 'x'. */
function lower(a, x, from = 0, to = a.length) {
	while (from < to) {
		const mid = (from + to) >>> 1;
		if (a[mid] < x)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
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

/* Of several machines: whose it is. */
function hostText(t) {
	return t.host ? t.host + ': ' : '';
}

function threadText(t) {
	const name = t.comm || t.process || '';
	return hostText(t) + (name ? name + ' ' : '') + (t.lwpid || t.tid || t.pid);
}
