/*
 * page.js - pieces of the page: elements, tables that sort, sections.  Text goes in as text alone.
 */
function make(tag, text, attributes) {
	const e = document.createElement(tag);
	if (text !== undefined && text !== null)
		e.textContent = text;
	return Object.assign(e, attributes || {});
}

const byId = (id) => document.getElementById(id);

function button(text, onclick, title) {
	return make('button', text, { type: 'button', onclick, title: title || '' });
}

/* A heading and what it is of stay together. */
function section(box, title, ...what) {
	const s = make('section');
	s.append(make('h2', title), ...what);
	box.append(s);
	return s;
}

const ROWS_MAX = 200;	/* on the screen */
const PRINTED = 40;	/* on paper: style.css */

/*
 * columns: { title, text }; rows: { cells, keys, go }.  A cell is text or an element; by the keys, if
 * there are any, a click on a heading sorts, else by the text.  At most 'max' rows are shown, and
 * the rest is counted.
 */
function table(columns, rows, max = ROWS_MAX) {
	const t = make('table'), head = make('tr'), body = make('tbody'), rest = make('p', null, { className: 'rest' });
	const more = make('p', null, { className: 'more' });
	const fill = (sorted) => {
		body.replaceChildren(...sorted.slice(0, max).map((row) => tableRow(columns, row)));
		rest.textContent = sorted.length > max ? 'and ' + countText(sorted.length - max, 'row') + ' more' : '';
		more.textContent = sorted.length > PRINTED ? 'The first ' + PRINTED + ' of ' + sorted.length.toLocaleString() + ' rows.' : '';
	};
	columns.forEach((c, k) => {
		const th = make('th', null, { className: c.text ? 'text' : '', scope: 'col' });
		const b = button(c.title, () => {
			const down = th.ariaSort !== 'descending' && !(c.text && th.ariaSort !== 'ascending');
			for (const other of head.cells)
				other.ariaSort = null;
			th.ariaSort = down ? 'descending' : 'ascending';
			fill(sortRows(rows, k, down));
		});
		th.append(b);
		head.append(th);
	});
	fill(rows);
	const top = make('thead'), box = make('div', null, { className: 'wide' });
	top.append(head);
	t.append(top, body);
	box.append(t, rest, more);
	return box;
}

function tableRow(columns, row) {
	const tr = make('tr');
	row.cells.forEach((cell, k) => {
		const td = make('td', null, { className: columns[k].text ? 'text' : '' });
		td.append(cell);
		tr.append(td);
	});
	if (row.go) {
		tr.tabIndex = 0;
		tr.addEventListener('click', row.go);
		tr.addEventListener('keydown', (e) => e.key === 'Enter' && row.go());
	}
	return tr;
}

function sortRows(rows, k, down) {
	const keyOf = (r) => {
		const key = r.keys ? r.keys[k] : r.cells[k];
		return key && key.textContent !== undefined ? key.textContent : key;
	};
	const compare = (a, b) => typeof a === 'number' && typeof b === 'number' ? a - b :
		String(a).localeCompare(String(b), undefined, { numeric: true });
	return rows.map((r, i) => [keyOf(r), i, r]).sort((a, b) => (down ? -1 : 1) * compare(a[0], b[0]) || a[1] - b[1]).map((x) => x[2]);
}

/* Two columns without a heading: a name and what it is. */
function facts(rows) {
	const t = make('table'), body = make('tbody'), box = make('div', null, { className: 'wide' });
	for (const cells of rows.filter((r) => r[1] !== ''))
		body.append(tableRow([{ text: true }, { text: true }], { cells }));
	t.append(body);
	box.append(t);
	return box;
}

function showHead(data) {
	const m = data.meta, names = fileNames(m.files);
	document.title = names + ' \u2013 TNF trace';
	byId('title').textContent = names;
	const list = [data.n.toLocaleString() + ' events in ' + timeText(m.duration),
		m.wall === null ? null : (new Date(m.wall).getTimezoneOffset() === 0 ? '' :
			wallText(data, 0, false) + ', ') + wallText(data, 0, true),
		...new Set(m.files.map((f) => [f.host, f.release, f.machine].filter(Boolean).join(' ')))];
	byId('facts').textContent = list.filter(Boolean).join(' \u00b7 ');
	byId('losses').textContent = lossTexts(m).join(' \u00b7 ');
}

/* The head names why triggers fired; the timeline shows the rest. */
function showFired(app) {
	const list = app.data.marks.filter((m) => m.fired);
	for (const m of list.slice(0, 5))
		byId('fired').append(button(m.text, () => app.go({ event: m.event })), ' ');
	if (list.length > 5)
		byId('fired').append('and ' + (list.length - 5) + ' more');
}

function showLegend(app) {
	const { data } = app, used = new Set(data.state.state), legend = byId('legend');
	for (const s of [...used].sort((a, b) => a - b)) {
		const item = make('span'), box = make('canvas', null, { width: 14, height: 14 }), g = box.getContext('2d');
		g.fillStyle = fillOf(stateLook(data, s), g);
		g.fillRect(0, 0, 14, 14);
		item.append(box, data.meta.states[s]);
		legend.append(item);
	}
}
