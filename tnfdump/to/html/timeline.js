/*
 * timeline.js - the canvas: which stretch of time and which lanes it shows, and what is picked.
 */
const LABEL = 190, RULER = 24, ROW = 15, STATE = 8, TICK = 9, GAP = 4, TITLE = 20, MARKS = 17,
	COUNTER = 34, MORE = 18;

class Timeline {
	constructor(canvas, app) {
		Object.assign(this, { canvas, app, data: app.data, lanes: app.lanes, waits: app.waits, scroll: 0,
			picked: { event: -1, slice: -1 }, hits: new Uint32Array(0), range: null, chain: null, hover: null,
			arrows: true, drawn: { arrows: [] }, waiting: false });
		this.end = Math.max(1, this.data.meta.duration);
		this.from = 0;
		this.to = this.end;
		this.layout();
		new ResizeObserver(() => this.draw()).observe(canvas);
	}

	/* On a phone, names of lanes leave more room. */
	get label() { return this.width < 600 ? 110 : LABEL; }

	/* Gives every row on the screen its place. */
	layout() {
		let y = 0;
		this.rows = this.lanes.visible();
		for (const row of this.rows) {
			row.y = y;
			row.height = this.heightOf(row);
			y += row.height;
		}
		this.height = y;
		/* No taller than what is in it; style.css has the limits. */
		this.top = RULER + (this.data.marks.length ? MARKS : 0);
		this.canvas.parentNode.style.setProperty('--lanes', Math.max(this.height, 240) + this.top + 8 + 'px');
	}

	heightOf(row) {
		if (row.kind === 'title' || row.kind === 'more' || row.kind === 'counter')
			return { title: TITLE, more: MORE, counter: COUNTER }[row.kind];
		if (row.kind === 'request' && !row.depth)
			row.depth = this.rowsOf(row).length;
		const depth = row.kind === 'cpu' ? 1 : row.depth || 0;
		return GAP + (row.state ? STATE : 0) + Math.max(depth * ROW, row.events.length || row.state ? 0 : ROW) +
			(row.events.length ? TICK : 0) + this.chainHeight(row);
	}

	rowsOf(lane) {
		return lane.rows || (lane.rows = lane.make());
	}

	/* The offsets at which the parts of a thread's lane begin. */
	placesOf(lane) {
		const state = GAP / 2, slices = state + (lane.state ? STATE : 0);
		const ticks = slices + Math.max((lane.depth || 0) * ROW, lane.events.length || lane.state ? 0 : ROW);
		return { state, slices, ticks, chain: ticks + (lane.events.length ? TICK : 0) };
	}

	chainHeight(lane) {
		return this.chain && this.chain.lane === lane ? this.chain.depth * ROW + GAP : 0;
	}

	/* From a time to its pixel, and from a pixel to its time. */
	x(t) { return this.label + (t - this.from) / (this.to - this.from) * (this.width - this.label); }
	time(x) { return this.from + (x - this.label) / (this.width - this.label) * (this.to - this.from); }

	view(from, to) {
		const span = Math.min(Math.max(to - from, 20), this.end * 1.02);
		from = Math.min(Math.max(from, -0.01 * this.end), this.end * 1.01 - span);
		this.from = from;
		this.to = from + span;
		this.draw();
		this.app.tell('view');
	}
	zoom(factor, at = (this.from + this.to) / 2) { this.view(at - (at - this.from) * factor, at + (this.to - at) * factor); }
	pan(part) { const d = (this.to - this.from) * part; this.view(this.from + d, this.to + d); }
	fit() { this.view(0, this.end); }
	select(range) {
		this.range = range;
		this.draw();
		this.app.tell('range');
	}

	/* Lanes have been opened, folded, pinned or moved. */
	arrange() {
		this.layout();
		this.draw();
	}

	draw() {
		if (!this.waiting && !this.paper) {
			this.waiting = true;
			requestAnimationFrame(() => { this.waiting = false; this.paint(); });
		}
	}

	prepare() {
		const c = this.canvas, ratio = this.paper ? 2 : window.devicePixelRatio || 1;
		this.width = c.clientWidth;
		this.tall = c.clientHeight;
		if (c.width !== Math.round(this.width * ratio) || c.height !== Math.round(this.tall * ratio)) {
			c.width = Math.round(this.width * ratio);
			c.height = Math.round(this.tall * ratio);
		}
		const style = getComputedStyle(document.documentElement);
		this.inks = {};
		for (const name of ['fore', 'soft', 'line', 'back', 'panel', 'mark', 'pick', 'arrow'])
			this.inks[name] = style.getPropertyValue('--' + name);
		const g = this.g = c.getContext('2d', { alpha: false });
		g.setTransform(ratio, 0, 0, ratio, 0, 0);
		g.fillStyle = this.inks.back;
		g.fillRect(0, 0, this.width, this.tall);
		g.textBaseline = 'middle';
		this.scroll = Math.max(0, Math.min(this.scroll, this.height + this.top - this.tall + 20));
	}

	paint() {
		const began = performance.now();
		this.prepare();
		drawGrid(this);
		const shown = this.onScreen();
		for (const row of shown)
			drawRow(this, row, this.top + row.y - this.scroll);
		this.drawn.arrows = this.arrows ? drawArrows(this, shown) : [];
		drawRuler(this);
		drawMarks(this);
		drawSelection(this);
		this.drawn.ms = performance.now() - began;
		performance.mark('painted');
	}

	onScreen() {
		const first = lowerBy(this.rows.length, (k) => this.rows[k].y + this.rows[k].height, this.scroll + 1);
		const last = lowerBy(this.rows.length, (k) => this.rows[k].y, this.scroll + this.tall - this.top);
		return this.rows.slice(first, last);
	}

	/* The first of a list of events that is not before t. */
	first(list, t) { return lowerBy(list.length, (k) => this.data.time[list[k]], t); }

	hitsOf(lane) {
		if (lane.hitsFor !== this.hits) {
			lane.hitsFor = this.hits;
			lane.hits = this.hits.filter((i) => this.data.thread[i] === lane.thread);
		}
		return lane.hits;
	}

	/* Picks an event, a slice, or nothing: { event } or { slice }.  'show' brings it into view. */
	pick(what, show) {
		const event = what.event >= 0 ? what.event : -1, slice = what.slice >= 0 ? what.slice : -1;
		this.picked = { event, slice, state: what.state >= 0 ? what.state : -1 };
		this.chain = slice >= 0 ? this.app.chains.of(slice, this.lanes) : null;
		this.layout();
		if (show)
			this.show();
		this.draw();
		this.app.tell('pick');
	}

	pickedTime() {
		const { event, slice } = this.picked;
		return slice >= 0 ? this.data.slice.start[slice] : event >= 0 ? this.data.time[event] : null;
	}

	pickedLane() {
		const { event, slice } = this.picked, { data } = this;
		return this.lanes.byThread.get(slice >= 0 ? data.slice.thread[slice] : event >= 0 ? data.thread[event] : -1);
	}

	/* Moves the view to what is picked, and opens its lane. */
	show() {
		const t = this.pickedTime(), lane = this.pickedLane(), half = (this.to - this.from) / 2;
		if (t !== null && (t < this.from || t > this.to))
			this.view(t - half, t + half);
		if (!lane)
			return;
		this.lanes.reveal(lane);
		this.layout();
		this.tall = this.canvas.clientHeight;
		if (lane.y < this.scroll || lane.y + lane.height > this.scroll + this.tall - this.top)
			this.scroll = Math.max(0, lane.y - this.tall / 3);
	}

	/* The thing that is drawn under a point: { kind, ... }. */
	at(px, py) {
		if (py < this.top)
			return py < RULER ? { kind: 'ruler' } : this.markAt(px);
		const y = py - this.top + this.scroll;
		const k = lowerBy(this.rows.length, (j) => this.rows[j].y + this.rows[j].height, y + .001), row = this.rows[k];
		if (!row || y < row.y)
			return { kind: 'nothing' };
		if (row.kind === 'title' || row.kind === 'more' || px < this.label)
			return { kind: row.kind === 'title' || row.kind === 'more' ? row.kind : 'label', row };
		return this.inLane(row, this.time(px), y - row.y);
	}

	inLane(lane, t, y) {
		const slack = (this.to - this.from) / (this.width - this.label) * 3;
		const find = (row) => {
			const k = row ? row.after(t - slack) : 0;
			return row && k < row.n && row.start(k) <= t + slack ? k : -1;
		};
		if (lane.kind === 'counter')
			return { kind: 'counter', lane, time: t };
		if (lane.kind === 'cpu') {
			const row = this.rowsOf(lane)[0], k = find(row);
			return k >= 0 ? { kind: 'run', lane, row, k } : { kind: 'nothing' };
		}
		const place = this.placesOf(lane);
		if (this.chainHeight(lane) && y >= place.chain) {
			const row = this.chain.rows[Math.floor((y - place.chain) / ROW)], k = find(row);
			return k >= 0 ? { kind: 'line', line: row.id(k) } : { kind: 'nothing' };
		}
		if (lane.state && y < place.slices) {
			const k = find(lane.state);
			if (k >= 0)
				return { kind: 'state', lane, state: lane.state.id(k) };
		}
		const row = y >= place.slices ? this.rowsOf(lane)[Math.floor((y - place.slices) / ROW)] : null, k = find(row);
		if (k >= 0)
			return { kind: 'slice', slice: row.id(k) };
		return this.eventNear(lane.events, t);
	}

	eventNear(list, t) {
		let k = this.first(list, t);
		if (k > 0 && (k === list.length || t - this.data.time[list[k - 1]] < this.data.time[list[k]] - t))
			k--;
		return k < list.length ? { kind: 'event', event: list[k] } : { kind: 'nothing' };
	}

	/* The mark whose text is there, or that is close. */
	markAt(px) {
		const list = this.data.marks, t = this.time(px + 4);
		let k = list.length - 1;
		while (k >= 0 && list[k].time > t)
			k--;
		return k < 0 ? { kind: 'nothing' } : { kind: 'event', event: list[k].event };
	}
}
