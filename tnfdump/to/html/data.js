'use strict';
/*
 * data.js - what html.c wrote, as columns.
 *
 * The page holds base64 of a zlib stream: the length of a JSON text (32 bits in 8 bytes), the
 * text, then the columns that it names, each aligned to 8 bytes.  Numbers are little-endian.
 * The stream is read piece by piece, so that no second copy of it is ever in memory.
 *
 * Nothing from the trace becomes markup: strings go through textContent and fillText alone.
 */
const KIND = { f64: Float64Array, u32: Uint32Array, i32: Int32Array, u16: Uint16Array,
	i16: Int16Array, u8: Uint8Array, i8: Int8Array, i64: BigInt64Array, u64: BigUint64Array };
const NONE = 0xffffffff;	/* no such event or slice */
const PIECE = 1 << 20;		/* characters of base64: a multiple of four */

/* Browsers since 2025 do it themselves. */
function bytesOfBase64(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const raw = atob(text), bytes = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++)
		bytes[i] = raw.charCodeAt(i);
	return bytes;
}

function dataStream() {
	const node = document.getElementById('data');
	let text = node.textContent.trim(), at = 0;
	node.remove();
	return new ReadableStream({
		pull(controller) {
			if (at >= text.length) {
				text = '';
				controller.close();
				return;
			}
			controller.enqueue(bytesOfBase64(text.slice(at, at + PIECE)));
			at += PIECE;
		},
	}).pipeThrough(new DecompressionStream('deflate')).getReader();
}

/* Bytes in order, from a stream that hands out pieces of any size. */
class Bytes {
	constructor(reader) {
		Object.assign(this, { reader, piece: new Uint8Array(0), at: 0, done: 0 });
	}
	async fill(bytes) {
		for (let n = 0; n < bytes.length;) {
			if (this.at === this.piece.length) {
				const next = await this.reader.read();
				if (next.done)
					throw new Error('the page is cut: its data end early');
				this.piece = next.value;
				this.at = 0;
			}
			const part = this.piece.subarray(this.at, this.at + bytes.length - n);
			bytes.set(part, n);
			n += part.length;
			this.at += part.length;
		}
		this.done += bytes.length;
		return bytes;
	}
	async skip(n) {
		await this.fill(new Uint8Array(n));
	}
}

/* Every ["kind",offset,count] in the text, in the order of the stream. */
function dataPlaces(meta) {
	const places = [];
	const look = (object) => {
		for (const name in object)
			places.push({ object, name, place: object[name] });
	};
	look(meta.columns);
	look(meta.slices);
	look(meta.why);
	for (const probe of meta.probes)
		for (const member of probe.members)
			places.push({ object: member, name: 'values', place: member.column });
	return places.sort((a, b) => a.place[1] - b.place[1]);
}

async function dataRead() {
	const stream = new Bytes(dataStream());
	const head = await stream.fill(new Uint8Array(8));
	const size = new DataView(head.buffer).getUint32(0, true);
	const meta = JSON.parse(new TextDecoder().decode(await stream.fill(new Uint8Array(size))));
	await stream.skip(-size & 7);
	const base = stream.done;
	for (const { object, name, place } of dataPlaces(meta)) {
		await stream.skip(base + place[1] - stream.done);
		const column = new KIND[place[0]](place[2]);
		await stream.fill(new Uint8Array(column.buffer));
		object[name] = column;
	}
	return dataModel(meta);
}

/* The columns of one kind of thing, without the prefix of their names. */
function dataPart(columns, prefix, names) {
	const part = {};
	for (const name of names)
		part[name] = columns[prefix + name];
	part.n = part[names[0]].length;
	return part;
}

/* Times from distances; where one does not fit 32 bits, 'late' has the time itself.  A distance
   is from the time before or, with lengths, from its end; without 'before' it is the number. */
function dataTimes(distance, late, before, length) {
	const time = new Float64Array(distance.length), wide = distance.BYTES_PER_ELEMENT === 4;
	let at = 0, k = 0;
	for (let i = 0; i < distance.length; i++) {
		const t = wide && distance[i] === NONE ? late[k++] : at + distance[i];
		time[i] = t;
		if (before)
			at = length ? t + length[i] : t;
	}
	return time;
}

function dataModel(meta) {
	const data = { meta, probes: meta.probes, threads: meta.threads, strings: meta.strings,
		spans: meta.spans, texts: meta.texts };
	const { columns, slices, why } = meta;

	data.time = dataTimes(columns.time, columns.time_late, true);
	data.n = data.time.length;
	data.thread = columns.thread;
	data.probe = columns.probe;
	data.cpu = columns.cpu;
	data.unordered = new Set(columns.unordered);
	data.slice = dataPart(slices, '', ['thread', 'name', 'begin', 'end', 'async', 'depth']);
	data.slice.duration = dataTimes(slices.duration, slices.duration_late, false);
	data.slice.start = dataTimes(slices.start, slices.start_late, true);
	data.slice.end = Uint32Array.from(slices.end, (d, s) => slices.begin[s] + d);
	data.state = dataPart(slices, 'state_', ['thread', 'state']);
	data.state.duration = dataTimes(slices.state_duration, slices.state_duration_late, false);
	data.state.start = dataTimes(slices.state_start, slices.state_start_late, true, data.state.duration);
	data.sleep = dataPart(why, 'sleep_', ['thread', 'from', 'woken', 'runs', 'by', 'waker', 'owner', 'thing']);
	data.why = dataPart(why, 'why_', ['slice', 'lines', 'verdict']);
	data.line = dataPart(why, 'line_', ['from', 'ns', 'depth', 'kind', 'thread', 'text']);
	delete meta.columns;
	delete meta.slices;
	for (const p of data.probes)
		for (const m of p.members)
			for (const v in m.names)
				m.names[v] = meta.names[m.names[v] - 1];
	if (meta.hosts.length)	/* else it is a member's name */
		FIELDS.host = (d, i) => d.threads[d.thread[i]].host;
	dataRows(data);
	return data;
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

function dataMember(data, i, name) {
	return data.probes[data.probe[i]].members.find((m) => m.name === name);
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

/* The first k of n for which the number number(k), which grows with k, is not below 'x'. */
function lowerBy(n, number, x) {
	let from = 0, to = n;
	while (from < to) {
		const mid = (from + to) >>> 1;
		if (number(mid) < x)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/* Groups 0..groups-1 by a column: { start, index }, each group in order. */
function groupBy(column, n, groups) {
	const start = new Uint32Array(groups + 1), index = new Uint32Array(n);
	for (let i = 0; i < n; i++)
		start[column[i] + 1]++;
	for (let g = 0; g < groups; g++)
		start[g + 1] += start[g];
	const at = start.slice(0, groups);
	for (let i = 0; i < n; i++)
		index[at[column[i]]++] = i;
	return { start, index, of: (g) => index.subarray(start[g], start[g + 1]) };
}
