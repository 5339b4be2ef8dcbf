/*
 * draw.js - how the timeline's rows look.
 *
 * A row is drawn pixel by pixel: at a pixel, a search tells what is there and where the next
 * thing begins, so that the work depends on the width of the window and not on the number of
 * events.  Neighbours of one colour are one rectangle.
 */
const FONT = '11px system-ui, sans-serif', ARROWS_MAX = 150;

function drawRow(t, row, y) {
	const g = t.g;
	if (row.kind === 'title' || row.kind === 'more') {
		drawTitle(t, row, y);
		return;
	}
	g.fillStyle = t.inks.line;
	g.fillRect(0, y + row.height - .5, t.width, .5);
	drawLabel(t, row, y);
	g.save();
	g.beginPath();
	g.rect(t.label, y, t.width - t.label, row.height);
	g.clip();
	if (row.kind === 'counter')
		drawCounter(t, row.counter, y + 2, row.height - 4);
	else
		drawLane(t, row, y);
	g.restore();
}

function drawTitle(t, row, y) {
	const g = t.g, title = row.kind === 'title';
	g.fillStyle = title ? t.inks.panel : t.inks.back;
	g.fillRect(0, y, t.width, row.height);
	const sign = row.pins ? '\u2605 ' : !title ? '\u22ef ' : row.open ? '\u25be ' : '\u25b8 ';
	const count = title && !row.open && row.count > 1 ? ' (' + countText(row.count, 'thread') + ')' : '';
	const room = title && !row.open ? t.label - 12 : t.width - 16;
	drawText(t, sign + row.title + count, 8, y + row.height / 2, room, (title ? '600 ' : '') + '12px system-ui, sans-serif',
		title ? t.inks.fore : t.inks.pick);
	/* A folded group shows the strokes of its busiest threads. */
	if (title && !row.open && row.lanes)
		for (const lane of row.lanes.slice(0, 8))
			if (lane.events.length)
				drawTicks(t, lane, y + 6);
}

function drawLabel(t, lane, y) {
	const alone = !lane.pinned && lane.group.lanes.length === 1 && lane.kind === 'thread', x = alone ? 8 : 14;
	const title = alone ? lane.group.title : lane.title;
	drawText(t, (lane.pinned ? '\u2605 ' : '') + title, x, y + (lane.height - t.chainHeight(lane)) / 2, t.label - x - 6,
		(alone ? '600 ' : '') + '12px system-ui, sans-serif', alone ? t.inks.fore : t.inks.soft);
}

function drawText(t, text, x, y, room, font, ink) {
	const g = t.g;
	g.font = font;
	g.fillStyle = ink;
	if (g.measureText(text).width > room) {
		let n = Math.max(1, Math.floor(text.length * room / g.measureText(text).width) - 1);
		while (n > 1 && g.measureText(text.slice(0, n) + '\u2026').width > room)
			n--;
		text = text.slice(0, n) + '\u2026';
	}
	g.fillText(text, x, y);
}

function drawLane(t, lane, y) {
	const { data } = t, place = t.placesOf(lane);
	if (lane.kind === 'cpu') {
		drawSpans(t, t.rowsOf(lane)[0], y + GAP / 2, ROW - 2,
			(k, row) => hashColor(data.threads[row.column.thread[k]].pid),
			(k, row) => threadText(data.threads[row.column.thread[k]]));
		return;
	}
	if (lane.state)
		drawSpans(t, lane.state, y + place.state, STATE - 1, (k) => stateLook(data, data.state.state[k]), null);
	t.rowsOf(lane).forEach((row, depth) => drawSpans(t, row, y + place.slices + depth * ROW, ROW - 2,
		(s) => hashColor(data.slice.name[s]), (s) => data.spans[data.slice.name[s]]));
	if (lane.events.length)
		drawTicks(t, lane, y + place.ticks);
	if (t.chainHeight(lane))
		drawChain(t, y + place.chain);
	drawPicked(t, lane, y + place.slices);
}

/* 'look' gives a colour, or { color, pattern }; 'name' the text, where it has room. */
function drawSpans(t, row, y, height, look, name) {
	const g = t.g, perPixel = (t.to - t.from) / (t.width - t.label);
	let k = row.after(t.from), runFrom = 0, runTo = -1, runLook = null;
	const flush = () => {
		if (runTo <= runFrom)
			return;
		g.fillStyle = typeof runLook === 'string' ? runLook : runTo - runFrom >= 4 ? fillOf(runLook, g) : runLook.color;
		g.fillRect(runFrom, y, runTo - runFrom, height);
	};
	while (k < row.n && row.start(k) < t.to) {
		const x0 = Math.max(t.x(row.start(k)), t.label), x1 = Math.min(t.x(row.end(k)), t.width), w = x1 - x0;
		const id = row.id(k), what = look(id, row), wide = w > 2;
		if (what !== runLook || x0 > runTo + .5 || (wide && name)) {
			flush();
			runFrom = x0;
			runLook = what;
		}
		runTo = Math.max(x0 + .75, wide && name ? x1 - .5 : x1);
		if (name && w > 28) {
			flush();
			runTo = -1;
			g.font = FONT;
			g.fillStyle = '#111';
			const text = name(id, row), room = Math.floor((w - 6) / 6);
			g.fillText(text.length > room ? text.slice(0, room) : text, x0 + 3, y + height / 2 + .5);
		}
		k = w < 1 ? skip(row, k, row.start(k) + perPixel) : k + 1;
	}
	flush();
}

/* The next span that ends after t: it is near, so the steps grow until they are past it. */
function skip(row, k, time) {
	let step = 1;
	while (k + step < row.n && row.end(k + step) <= time)
		step *= 2;
	let from = k + (step >> 1) + (step === 1 ? 1 : 0), to = Math.min(row.n, k + step);
	while (from < to) {
		const mid = (from + to) >>> 1;
		if (row.end(mid) <= time)
			from = mid + 1;
		else
			to = mid;
	}
	return Math.max(from, k + 1);
}

/* Events as strokes; those that the search found stand out. */
function drawTicks(t, lane, y) {
	t.g.fillStyle = t.inks.soft;
	drawStrokes(t, lane.events, y, TICK - 3, 1);
	if (!t.hits.length)
		return;
	t.g.fillStyle = t.inks.mark;
	drawStrokes(t, t.hitsOf(lane), y - 2, TICK, 3);
}

function drawStrokes(t, list, y, height, width) {
	const { time } = t.data, perPixel = (t.to - t.from) / (t.width - t.label);
	let k = t.first(list, t.from), from = 0, to = -1;
	while (k < list.length && time[list[k]] <= t.to) {
		const x = t.x(time[list[k]]) - (width - 1) / 2;
		if (x > to + .5) {
			if (to > from)
				t.g.fillRect(from, y, to - from, height);
			from = x;
		}
		to = x + width;
		k = nextStroke(time, list, k, time[list[k]] + perPixel);
	}
	if (to > from)
		t.g.fillRect(from, y, to - from, height);
}

function nextStroke(time, list, k, t) {
	let step = 1;
	while (k + step < list.length && time[list[k + step]] < t)
		step *= 2;
	let from = k + (step >> 1) + (step === 1 ? 1 : 0), to = Math.min(list.length, k + step);
	while (from < to) {
		const mid = (from + to) >>> 1;
		if (time[list[mid]] < t)
			from = mid + 1;
		else
			to = mid;
	}
	return Math.max(from, k + 1);
}

/* A number over time as an area: at each pixel the largest value there. */
function drawCounter(t, c, y, height) {
	const g = t.g, span = c.most - Math.min(0, c.least) || 1, zero = y + height * c.most / span;
	let k = Math.max(0, lower(c.time, t.from) - 1);
	g.fillStyle = t.inks.pick;
	for (let x = t.label; x < t.width; x++) {
		const until = t.time(x + 1);
		let v = c.time.length && c.time[k] < until ? c.value[k] : 0;
		for (let n = 0; k + 1 < c.time.length && c.time[k + 1] < until; n++) {
			k = n < 50 ? k + 1 : Math.max(k + 1, lower(c.time, until, k + 1) - 1);
			v = Math.max(v, c.value[k]);
		}
		const h = v / span * height;
		g.fillRect(x, Math.min(zero, zero - h), 1, Math.abs(h));
	}
	drawText(t, c.most.toLocaleString() + ' at most', t.label + 4, y + 7, 200, FONT, t.inks.fore);
}

/* Why the picked slice took so long: lines of the explanation, inner ones below outer ones. */
function drawChain(t, y) {
	const { data } = t;
	t.chain.rows.forEach((row, depth) => {
		if (row)
			drawSpans(t, row, y + depth * ROW, ROW - 2, (l) => WHY_LOOKS[data.line.kind[l]] || WHY_LOOKS[6],
				(l) => data.texts[data.line.text[l] - 1]);
	});
	const { start, duration } = data.slice, s = t.chain.slice;
	t.g.strokeStyle = t.inks.pick;
	t.g.strokeRect(t.x(start[s]) - .5, y - 1, t.x(start[s] + duration[s]) - t.x(start[s]) + 1, t.chain.depth * ROW + 1);
}

/* A frame around the picked slice. */
function drawPicked(t, lane, y) {
	const s = t.picked.slice, { slice } = t.data;
	if (s < 0 || lane.thread !== slice.thread[s])
		return;
	const x = t.x(slice.start[s]), w = Math.max(2, t.x(slice.start[s] + slice.duration[s]) - x);
	t.g.lineWidth = 2;
	t.g.strokeStyle = t.inks.fore;
	t.g.strokeRect(x, y + slice.depth[s] * ROW, w, ROW - 2);
	t.g.lineWidth = 1;
}

/*
 * From who woke to who was woken.  Where a view has more than can be told apart, those of the
 * picked thread are drawn alone.
 */
function drawArrows(t, shown) {
	const place = new Map(shown.filter((r) => r.kind === 'thread').map((r) => [r.thread, r]));
	const lists = [...place.keys()].map((thread) => t.waits.within(thread, t.from, t.to));
	let n = 0, chosen = [];
	for (const list of lists)
		n += list.length;
	if (n <= ARROWS_MAX)
		chosen = lists.flatMap((list) => Array.from(list));
	else if (t.pickedLane())
		chosen = arrowsOf(t, t.pickedLane().thread);
	const drawn = [];
	t.g.strokeStyle = t.g.fillStyle = t.inks.arrow;
	for (const w of chosen) {
		const from = place.get(t.waits.waker(w)), to = place.get(t.data.sleep.thread[w]);
		const x = t.x(t.data.sleep.woken[w]);
		if (!from || !to || from === to || x < t.label)
			continue;
		const y0 = t.top + from.y - t.scroll + GAP, y1 = t.top + to.y - t.scroll + GAP;
		drawArrow(t.g, x, y0, y1);
		drawn.push({ wait: w, x, y0, y1 });
	}
	return drawn;
}

function arrowsOf(t, thread) {
	const list = Array.from(t.waits.within(thread, t.from, t.to));
	return list.length <= ARROWS_MAX ? list : list.slice(0, ARROWS_MAX);
}

function drawArrow(g, x, y0, y1) {
	const down = y1 > y0 ? 1 : -1;
	g.beginPath();
	g.moveTo(x, y0);
	g.lineTo(x, y1);
	g.stroke();
	g.beginPath();
	g.arc(x, y0, 2, 0, 7);
	g.moveTo(x, y1);
	g.lineTo(x - 3.5, y1 - 6 * down);
	g.lineTo(x + 3.5, y1 - 6 * down);
	g.fill();
}

/* Round times, 90 pixels apart and more. */
function gridSteps(t) {
	const least = (t.to - t.from) / Math.max(1, (t.width - t.label) / 90);
	const ten = Math.pow(10, Math.floor(Math.log10(least)));
	const step = [1, 2, 5, 10].map((n) => n * ten).find((n) => n >= least);
	const list = [];
	for (let at = Math.ceil(t.from / step) * step; at < t.to; at += step)
		if (t.x(at) >= t.label)
			list.push(at);
	return list;
}

function drawGrid(t) {
	t.g.fillStyle = t.inks.line;
	for (const at of gridSteps(t))
		t.g.fillRect(t.x(at), 0, 1, t.tall);
}

function drawRuler(t) {
	const g = t.g;
	g.fillStyle = t.inks.back;
	g.fillRect(0, 0, t.width, t.top);
	g.font = FONT;
	for (const at of gridSteps(t)) {
		const x = t.x(at), text = roundText(at);
		g.fillStyle = t.inks.line;
		g.fillRect(x, 0, 1, t.top);
		g.fillStyle = t.inks.soft;
		if (x + g.measureText(text).width + 4 < t.width)
			g.fillText(text, x + 3, RULER / 2);
	}
	drawText(t, timeText(t.to - t.from) + ' shown', 8, RULER / 2, t.label - 12, FONT, t.inks.soft);
	if (t.data.marks.length)
		drawText(t, 'Marks', 8, RULER + MARKS / 2, t.label - 12, '600 12px system-ui, sans-serif', t.inks.fore);
}

/* A line across everything, and as much of its text as has room before the next. */
function drawMarks(t) {
	const g = t.g, list = t.data.marks;
	let last = t.label - 1;
	for (let k = 0; k < list.length; k++) {
		const x = t.x(list[k].time);
		if (x < last || x > t.width)
			continue;
		g.fillStyle = t.inks.mark;
		for (let y = RULER; y < t.tall; y += 7)
			g.fillRect(x - .5, y, 1.5, 5);
		const next = k + 1 < list.length ? Math.min(t.x(list[k + 1].time), t.width) : t.width;
		if (next - x > 20) {
			g.font = FONT;
			const w = Math.min(next - x - 3, g.measureText(list[k].text).width + 8);
			g.fillRect(x, RULER, w, MARKS - 3);
			drawText(t, list[k].text, x + 4, RULER + MARKS / 2 - 1, w - 6, FONT, t.inks.back);
		}
		last = x + 1;
	}
}

function drawSelection(t) {
	const g = t.g, time = t.pickedTime();
	if (t.range) {
		const a = Math.max(t.label, t.x(t.range[0])), b = Math.max(t.label, t.x(t.range[1]));
		g.globalAlpha = .15;
		g.fillStyle = t.inks.pick;
		g.fillRect(a, 0, b - a, t.tall);
		g.globalAlpha = 1;
	}
	if (time !== null && t.x(time) >= t.label) {
		g.fillStyle = t.inks.pick;
		g.fillRect(t.x(time) - .5, 0, 2, t.tall);
	}
}
