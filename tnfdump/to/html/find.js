/*
 * find.js - the search: words, or conditions.
 *
 * Words are looked for in names of probes, slices and threads, and in the values of members;
 * what has an operator in it is a condition (expression.js).
 */
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
