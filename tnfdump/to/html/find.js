/*
 * find.js - the search: words, or conditions.
 *
 * Words are looked for in names of probes, slices and threads, and in the values of members;
 * what has an operator in it is a condition, of a part of the language of tnfexpr(5): names,
 * numbers with units, texts, == != < <= > >= =~ !~, has, not, and, or, parentheses.
 */
const UNITS = { ns: 1, us: 1e3, ms: 1e6, s: 1e9, m: 6e10, min: 6e10, h: 36e11, d: 864e11,
	K: 1024, M: 1048576, G: 1073741824, T: 1099511627776 };
const TOKEN = /\s*(?:(0x[0-9a-f]+|\d+(?:\.\d+)?)(ns|us|ms|min|s|m|h|d|K|M|G|T)?\b|"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|(\/(?:\\.|[^/\\])+\/i?)|([A-Za-z_$][\w$.]*)|(==|!=|<=|>=|=~|!~|&&|\|\||[<>()!]))/iy;

function queryTokens(text) {
	const list = [];
	TOKEN.lastIndex = 0;
	while (/\S/.test(text.slice(TOKEN.lastIndex))) {
		const at = TOKEN.lastIndex, m = TOKEN.exec(text);
		if (!m)
			throw new Error('not understood: ' + text.slice(at).trim().slice(0, 20));
		const quoted = m[3] !== undefined ? m[3] : m[4];
		if (m[1] !== undefined)
			list.push({ number: Number(m[1]) * (m[2] ? UNITS[m[2]] || 1 : 1) });
		else if (quoted !== undefined)
			list.push({ text: quoted.replace(/\\(.)/g, '$1') });
		else if (m[5] !== undefined)
			list.push({ regex: queryRegex(m[5]) });
		else
			list.push({ word: m[6] || m[7] });
	}
	return list;
}

function queryRegex(text) {
	const end = text.lastIndexOf('/');
	return new RegExp(text.slice(1, end), text.slice(end + 1));
}

/* text -> (data, i) => true, false or null (what is missing is null). */
function queryCompile(text, data) {
	const tokens = queryTokens(text);
	let at = 0;
	const peek = () => at < tokens.length ? tokens[at].word : undefined;
	const take = (...words) => words.includes(peek()) ? tokens[at++].word : undefined;

	function either() {
		let left = both();
		while (take('or', '||')) {
			const a = left, b = both();
			left = (d, i) => a(d, i) === true || b(d, i) === true;
		}
		return left;
	}
	function both() {
		let left = negated();
		while (take('and', '&&')) {
			const a = left, b = negated();
			left = (d, i) => a(d, i) === true && b(d, i) === true;
		}
		return left;
	}
	function negated() {
		if (!take('not', '!'))
			return comparison();
		const a = negated();
		return (d, i) => { const v = a(d, i); return v === null ? null : v !== true; };
	}
	function comparison() {
		if (take('(')) {
			const inner = either();
			if (!take(')'))
				throw new Error(') is missing');
			return inner;
		}
		if (take('has')) {
			const name = operand();
			return (d, i) => name(d, i) !== null;
		}
		const a = operand(), op = take('==', '!=', '<', '<=', '>', '>=', '=~', '!~');
		if (!op)
			return (d, i) => { const v = a(d, i); return v === null ? null : v.value !== 0 && v.value !== ''; };
		return queryCompare(op, a, operand());
	}
	function operand() {
		const t = tokens[at++];
		if (!t)
			throw new Error('something is missing at the end');
		if (t.number !== undefined)
			return () => ({ value: t.number });
		if (t.text !== undefined)
			return () => ({ value: t.text });
		if (t.regex !== undefined)
			return () => ({ value: t.regex });
		if (!/^[A-Za-z_$]/.test(t.word))
			throw new Error('not expected: ' + t.word);
		return queryName(t.word.replace(/^(\$|arg\.)/, ''), t.word, data);
	}
	const result = either();
	if (at < tokens.length)
		throw new Error('not expected: ' + (tokens[at].word || tokens[at].text || tokens[at].number));
	return result;
}

/* The event ends a slice, which took so long; null: it ends none. */
function durationOf(data, i) {
	if (!data.endOf) {
		data.endOf = new Uint32Array(data.n);
		for (let s = 0; s < data.slice.n; s++)
			if (data.slice.end[s] < data.n)
				data.endOf[data.slice.end[s]] = s + 1;
	}
	const s = data.endOf[i];
	return s ? data.slice.duration[s - 1] : null;
}

const FIELDS = {
	probe: (d, i) => d.probes[d.probe[i]].name,
	name: (d, i) => d.probes[d.probe[i]].name,
	keys: (d, i) => d.probes[d.probe[i]].keys,
	key: (d, i) => d.probes[d.probe[i]].keys.split(' '),
	pid: (d, i) => d.threads[d.thread[i]].pid,
	lwpid: (d, i) => d.threads[d.thread[i]].lwpid,
	cpu: (d, i) => d.cpu[i] < 0 ? null : d.cpu[i],
	comm: (d, i) => d.threads[d.thread[i]].comm,
	elapsed: (d, i) => d.time[i],
	duration: durationOf,
};

function queryName(name, written, data) {
	const field = written === name && FIELDS[name];
	if (!field && !data.probes.some((p) => p.members.some((m) => m.name === name)))
		throw new Error('no probe has a member ' + name);
	if (field)
		return (d, i) => { const v = field(d, i); return v === null || v === undefined ? null : { value: v }; };
	const members = [];		/* by probe: found once */
	return (d, i) => {
		const p = d.probe[i];
		if (!(p in members))
			members[p] = d.probes[p].members.find((x) => x.name === name);
		const m = members[p];
		const v = m ? dataValue(d, i, m) : null;
		return v === null ? null : { value: v, text: m.names && m.names[String(v)] };
	};
}

function queryCompare(op, a, b) {
	const test = {
		'==': (x, y) => x == y, '!=': (x, y) => x != y, '<': (x, y) => x < y, '<=': (x, y) => x <= y,
		'>': (x, y) => x > y, '>=': (x, y) => x >= y,
		'=~': (x, y) => queryMatch(x, y), '!~': (x, y) => !queryMatch(x, y),
	}[op];
	return (d, i) => {
		const x = a(d, i), y = b(d, i);
		if (x === null || y === null)
			return null;
		if (Array.isArray(x.value))
			return op === '!=' || op === '!~' ? x.value.every((k) => test(k, y.value)) :
				x.value.some((k) => test(k, y.value));
		/* A number that has a name compares with a text by that name. */
		const text = typeof y.value === 'string' || y.value instanceof RegExp;
		return test(text && x.text !== undefined ? x.text : x.value, y.value);
	};
}

function queryMatch(x, pattern) {
	return (pattern instanceof RegExp ? pattern : new RegExp(pattern)).test(String(x));
}

const CONDITION = /[=<>!~()]|&&|\|\||^\s*(has|not)\s|\s(and|or)\s/, OFFERED = 12;

/* Words -> { hits, says }: events in the order of time. */
function findWords(data, words) {
	const asked = words.trim().toLowerCase(), has = (text) => String(text).toLowerCase().includes(asked);
	const inProbe = data.probes.map((p) => has(p.name) || p.keys.toLowerCase().split(' ').includes(asked));
	const strings = new Set(data.strings.flatMap((text, k) => has(text) ? [k + 1] : []));
	const inMember = data.probes.map((p) => p.members.map((m) => valueTest(m, asked, has, strings)).filter(Boolean));
	const hit = new Uint8Array(data.n), found = { event: 0, slice: 0, thread: 0 };
	for (let i = 0; i < data.n; i++) {
		const p = data.probe[i];
		if (inProbe[p] || inMember[p].some((test) => test(data.row[i])))
			hit[i] = 1;
	}
	for (const h of hit)
		found.event += h;
	const inSpan = data.spans.map(has);
	for (let s = 0; s < data.slice.n; s++)
		if (inSpan[data.slice.name[s]]) {
			found.slice++;
			if (data.slice.begin[s] < data.n)
				hit[data.slice.begin[s]] = 1;
		}
	data.threads.forEach((t, k) => {
		if (!has(threadText(t)) && !has(processText(t)))
			return;
		found.thread++;
		if (data.byThread.of(k).length)
			hit[data.byThread.of(k)[0]] = 1;
	});
	const hits = [];
	for (let i = 0; i < data.n; i++)
		if (hit[i])
			hits.push(i);
	const says = Object.entries(found).filter((f) => f[1]).map(([what, n]) => countText(n, what)).join(', ');
	return { hits, says: says ? 'found: ' + says : 'nothing has \u201c' + words.trim() + '\u201d in its name or values' };
}

/* Whether a row of a member's column has the words; null: no row can have them. */
function valueTest(m, asked, has, strings) {
	if (m.type === 'string')
		return strings.size ? (row) => strings.has(m.values[row]) : null;
	const named = new Set(Object.keys(m.names || {}).filter((v) => has(m.names[v])));
	const number = /^(-?\d+|0x[0-9a-f]+)$/.test(asked) ? asked : null;
	if (number === null && !named.size)
		return null;
	const wanted = number === null ? null : m.values instanceof BigInt64Array || m.values instanceof BigUint64Array ?
		BigInt(number) : Number(number);
	return (row) => m.values[row] === wanted || (named.size > 0 && named.has(String(m.values[row])));
}

function findCondition(data, text) {
	const holds = queryCompile(text, data), hits = [];
	for (let i = 0; i < data.n; i++)
		if (holds(data, i) === true)
			hits.push(i);
	return { hits, says: hits.length.toLocaleString() + ' found' };
}

/* Names that the last word of the text may become. */
function completions(data, text) {
	const word = /[\w$.:-]*$/.exec(text)[0], before = text.slice(0, text.length - word.length), w = word.toLowerCase();
	if (!w)
		return [];
	const names = new Set([...data.probes.map((p) => p.name), ...data.probes.flatMap((p) => p.members.map((m) => m.name)),
		...Object.keys(FIELDS), ...data.spans, ...data.threads.map((t) => t.comm || '')]);
	return [...names].filter((n) => n && n !== word && n.toLowerCase().includes(w))
		.sort((a, b) => b.toLowerCase().startsWith(w) - a.toLowerCase().startsWith(w) || a.localeCompare(b))
		.slice(0, OFFERED).map((n) => before + n);
}

class Find {
	constructor(app) {
		Object.assign(this, { app, at: -1, asked: '', field: byId('find'), found: byId('found') });
		this.field.addEventListener('change', () => this.run());
		this.field.addEventListener('input', () => byId('names').replaceChildren(
			...completions(app.data, this.field.value).map((value) => make('option', null, { value }))));
		this.field.addEventListener('keydown', (e) => {
			if (e.key === 'Enter') {
				e.preventDefault();
				this.run();
				this.step(1);
				app.line.canvas.focus();
			} else if (e.key === 'Escape')
				app.line.canvas.focus();
		});
		byId('next').onclick = () => this.step(1);
		byId('prev').onclick = () => this.step(-1);
	}

	ask(text) {
		this.field.value = text;
		this.run();
		this.step(1);
		this.app.toTimeline();
	}

	run() {
		const { data, line } = this.app, text = this.field.value;
		if (text === this.asked)
			return;
		this.asked = text;
		this.at = -1;
		let result = { hits: [], says: '' };
		this.found.className = '';
		try {
			if (text.trim())
				result = CONDITION.test(text) ? findCondition(data, text) : findWords(data, text);
			this.found.className = text.trim() && !result.hits.length ? 'bad' : '';
		} catch (e) {
			this.found.className = 'bad';
			result.says = e.message;
		}
		this.says = result.says;
		this.found.textContent = result.says;
		line.hits = Uint32Array.from(result.hits);
		line.draw();
	}

	/* To the next match, or the one before; of a duration, to the slice. */
	step(by) {
		const { line } = this.app, { hits } = line;
		if (!hits.length)
			return;
		if (this.at < 0 && line.picked.event >= 0)
			this.at = lower(hits, line.picked.event) - (by > 0 ? 1 : 0);
		this.at = (this.at + by + hits.length) % hits.length;
		this.found.textContent = (this.at + 1).toLocaleString() + ' of ' + hits.length.toLocaleString() +
			(this.says.startsWith('found: ') ? ' (' + this.says.slice(7) + ')' : '');
		const i = hits[this.at], s = /\bduration\b/.test(this.asked) ? this.app.data.endOf[i] : 0;
		this.app.go(s ? { slice: s - 1 } : { event: i }, true);
	}
}
