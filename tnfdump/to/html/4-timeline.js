/*
 * 4-timeline.js - the canvas.  Each row is drawn pixel by pixel: at a pixel, a
 * binary search tells what is there and where the next thing begins, so that
 * the work depends on the width of the window and not on the number of events.
 */
const LABEL = 190, RULER = 24, ROW = 15, STATE = 7, TICK = 9, GAP = 4, TITLE = 20,
	MARKS = 17;
const STATE_COLORS = { USER: '#009e73', SYSTEM: '#0072b2', TRAP: '#cc79a7', TFAULT: '#cc79a7',
	DFAULT: '#cc79a7', KFAULT: '#cc79a7', USER_LOCK: '#d55e00', SLEEP: '#b8bec6',
	WAIT_CPU: '#e69f00', STOPPED: '#767676' };
const SLICE_COLORS = ['#56b4e9', '#e69f00', '#8fd3b6', '#f0e442', '#7aa6d8', '#e8a27c', '#d9a6c4', '#bdc9a0'];

function hashColor(n) {
	return SLICE_COLORS[(n * 2654435761 >>> 0) % SLICE_COLORS.length];
}

class Timeline {
	constructor(canvas, data, lanes, tell) {
		Object.assign(this, { canvas, data, lanes, tell, scroll: 0, picked: -1, hits: new Uint32Array(0),
			range: null, drag: null, waiting: false });
		this.end = Math.max(1, data.meta.duration);
		this.from = 0;
		this.to = this.end;
		this.layout();
		this.listen();
		new ResizeObserver(() => this.draw()).observe(canvas);
	}

	layout() {
		let y = 0;
		for (const lane of this.lanes) {
			lane.y = y;
			lane.height = lane.kind === 'title' ? TITLE : GAP + (lane.state ? STATE : 0) +
				Math.max(lane.rows.length * ROW, lane.events.length || lane.state ? 0 : ROW) +
				(lane.events.length ? TICK : 0);
			y += lane.height;
		}
		this.height = y;
		/* No taller than what is in it; style.css has the limits. */
		this.top = RULER + (this.data.marks.length ? MARKS : 0);
		this.canvas.parentNode.style.setProperty('--lanes', this.height + this.top + 8 + 'px');
	}

	/* Where is time t; when is pixel x? */
	x(t) { return LABEL + (t - this.from) / (this.to - this.from) * (this.width - LABEL); }
	time(x) { return this.from + (x - LABEL) / (this.width - LABEL) * (this.to - this.from); }

	view(from, to) {
		const span = Math.min(Math.max(to - from, 20), this.end * 1.02);
		from = Math.min(Math.max(from, -0.01 * this.end), this.end * 1.01 - span);
		this.from = from;
		this.to = from + span;
		this.draw();
		this.tell('view');
	}
	zoom(factor, at) { this.view(at - (at - this.from) * factor, at + (this.to - at) * factor); }
	pan(part) { const d = (this.to - this.from) * part; this.view(this.from + d, this.to + d); }
	fit() { this.view(0, this.end); }

	draw() {
		if (!this.waiting) {
			this.waiting = true;
			requestAnimationFrame(() => { this.waiting = false; this.paint(); });
		}
	}

	paint() {
		const c = this.canvas, ratio = window.devicePixelRatio || 1;
		this.width = c.clientWidth;
		this.tall = c.clientHeight;
		if (c.width !== Math.round(this.width * ratio) || c.height !== Math.round(this.tall * ratio)) {
			c.width = Math.round(this.width * ratio);
			c.height = Math.round(this.tall * ratio);
		}
		const style = getComputedStyle(document.documentElement);
		this.color = (name) => style.getPropertyValue('--' + name);
		this.inks = { fore: this.color('fore'), soft: this.color('soft'), line: this.color('line'),
			back: this.color('back'), panel: this.color('panel'), mark: this.color('mark'), pick: this.color('pick') };
		const g = this.g = c.getContext('2d', { alpha: false });
		g.setTransform(ratio, 0, 0, ratio, 0, 0);
		g.fillStyle = this.inks.back;
		g.fillRect(0, 0, this.width, this.tall);
		g.textBaseline = 'middle';
		this.scroll = Math.max(0, Math.min(this.scroll, this.height + this.top - this.tall + 20));
		this.grid();
		for (const lane of this.lanes) {
			const y = this.top + lane.y - this.scroll;
			if (y + lane.height >= this.top && y < this.tall)
				this.lane(lane, y);
		}
		this.ruler();
		this.marks();
		this.selection();
		performance.mark('painted');
	}

	lane(lane, y) {
		const g = this.g;
		if (lane.kind === 'title') {
			g.fillStyle = this.inks.panel;
			g.fillRect(0, y, this.width, lane.height);
			this.label(lane.title, 8, y + lane.height / 2, this.width - 16, '600 12px system-ui, sans-serif', this.inks.fore);
			return;
		}
		g.fillStyle = this.inks.line;
		g.fillRect(0, y + lane.height - .5, this.width, .5);
		this.label(lane.title, lane.alone ? 8 : 14, y + lane.height / 2, LABEL - 20,
			(lane.alone ? '600 ' : '') + '12px system-ui, sans-serif', lane.alone ? this.inks.fore : this.inks.soft);
		g.save();
		g.beginPath();
		g.rect(LABEL, y, this.width - LABEL, lane.height);
		g.clip();
		y += GAP / 2;
		if (lane.state) {
			this.spans(lane.state, y, STATE - 1, (k) => STATE_COLORS[this.data.meta.states[this.data.state.state[k]]] || '#888', null);
			y += STATE;
		}
		for (const row of lane.rows) {
			if (lane.kind === 'cpu')
				this.spans(row, y, ROW - 2, (t) => hashColor(this.data.threads[t].pid), (t) => threadText(this.data.threads[t]));
			else
				this.spans(row, y, ROW - 2, (s) => hashColor(this.data.slice.name[s]), (s) => this.data.meta.spans[this.data.slice.name[s]]);
			y += ROW;
		}
		if (lane.events.length)
			this.ticks(lane, y);
		g.restore();
	}

	label(text, x, y, room, font, ink) {
		const g = this.g;
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

	spans(row, y, height, color, name) {
		const g = this.g, perPixel = (this.to - this.from) / (this.width - LABEL);
		let k = lower(row.end, this.from);
		g.font = '11px system-ui, sans-serif';
		while (k < row.n && row.start[k] < this.to) {
			const x0 = Math.max(this.x(row.start[k]), LABEL), x1 = Math.min(this.x(row.end[k]), this.width);
			const w = Math.max(x1 - x0, .75);
			g.fillStyle = color(row.what[k]);
			g.fillRect(x0, y, w > 2 ? w - .5 : w, height);
			if (name && w > 28) {
				g.fillStyle = '#111';
				const text = name(row.what[k]), room = Math.floor((w - 6) / 6);
				g.fillText(text.length > room ? text.slice(0, room) : text, x0 + 3, y + height / 2 + .5);
			}
			/* Whatever ends within this pixel is behind it. */
			k = w < 1 ? Math.max(k + 1, lower(row.end, row.start[k] + perPixel, k + 1)) : k + 1;
		}
	}

	/* Events as strokes; those that the search found stand out. */
	ticks(lane, y) {
		const g = this.g, time = this.data.time, list = lane.events;
		const perPixel = (this.to - this.from) / (this.width - LABEL);
		let k = this.first(list, this.from);
		g.fillStyle = this.inks.soft;
		while (k < list.length && time[list[k]] <= this.to) {
			const t = time[list[k]];
			g.fillRect(this.x(t), y, 1, TICK - 3);
			k = Math.max(k + 1, this.first(list, t + perPixel));
		}
		if (!this.hits.length)
			return;
		g.fillStyle = this.inks.mark;
		const hits = this.hitsOf(lane);
		k = this.first(hits, this.from);
		while (k < hits.length && time[hits[k]] <= this.to) {
			const t = time[hits[k]];
			g.fillRect(this.x(t) - 1, y - 2, 3, TICK);
			k = Math.max(k + 1, this.first(hits, t + perPixel));
		}
	}

	/* The first of a list of events that is not before t. */
	first(list, t) {
		let a = 0, b = list.length;
		while (a < b) {
			const mid = (a + b) >>> 1;
			if (this.data.time[list[mid]] < t) a = mid + 1; else b = mid;
		}
		return a;
	}

	hitsOf(lane) {
		if (lane.hitsFor !== this.hits) {
			lane.hitsFor = this.hits;
			lane.hits = this.hits.filter((i) => this.data.thread[i] === lane.thread);
		}
		return lane.hits;
	}

	/* Round times, 90 pixels apart and more. */
	steps() {
		const least = (this.to - this.from) / Math.max(1, (this.width - LABEL) / 90);
		const ten = Math.pow(10, Math.floor(Math.log10(least)));
		const step = [1, 2, 5, 10].map((n) => n * ten).find((n) => n >= least);
		const list = [];
		for (let t = Math.ceil(this.from / step) * step; t < this.to; t += step)
			if (this.x(t) >= LABEL)
				list.push(t);
		return list;
	}

	grid() {
		this.g.fillStyle = this.inks.line;
		for (const t of this.steps())
			this.g.fillRect(this.x(t), 0, 1, this.tall);
	}

	ruler() {
		const g = this.g, font = '11px system-ui, sans-serif';
		g.fillStyle = this.inks.back;
		g.fillRect(0, 0, this.width, this.top);
		g.font = font;
		for (const t of this.steps()) {
			const x = this.x(t), text = roundText(t);
			g.fillStyle = this.inks.line;
			g.fillRect(x, 0, 1, this.top);
			g.fillStyle = this.inks.soft;
			if (x + g.measureText(text).width + 4 < this.width)
				g.fillText(text, x + 3, RULER / 2);
		}
		this.label(timeText(this.to - this.from) + ' shown', 8, RULER / 2, LABEL - 12, font, this.inks.soft);
		if (this.data.marks.length)
			this.label('Marks', 8, RULER + MARKS / 2, LABEL - 12, '600 12px system-ui, sans-serif', this.inks.fore);
	}

	/* A line across everything, and as much of its text as has room before the next. */
	marks() {
		const g = this.g, list = this.data.marks;
		let last = LABEL - 1, next;
		for (let k = 0; k < list.length; k++) {
			const x = this.x(list[k].time);
			if (x < last || x > this.width)
				continue;
			g.fillStyle = this.inks.mark;
			for (let y = RULER; y < this.tall; y += 7)
				g.fillRect(x - .5, y, 1.5, 5);
			next = k + 1 < list.length ? Math.min(this.x(list[k + 1].time), this.width) : this.width;
			if (next - x > 20) {
				g.font = '11px system-ui, sans-serif';
				const w = Math.min(next - x - 3, g.measureText(list[k].text).width + 8);
				g.fillRect(x, RULER, w, MARKS - 3);
				this.label(list[k].text, x + 4, RULER + MARKS / 2 - 1, w - 6, g.font, this.inks.back);
			}
			last = x + 1;
		}
	}

	/* The mark whose text is there, or that is close. */
	markAt(px) {
		const list = this.data.marks, t = this.time(px + 4);
		let k = list.length - 1;
		while (k >= 0 && list[k].time > t)
			k--;
		return k < 0 ? -1 : list[k].event;
	}

	selection() {
		const g = this.g;
		if (this.range) {
			const a = Math.max(LABEL, this.x(this.range[0])), b = Math.max(LABEL, this.x(this.range[1]));
			g.globalAlpha = .15;
			g.fillStyle = this.inks.pick;
			g.fillRect(a, 0, b - a, this.tall);
			g.globalAlpha = 1;
		}
		if (this.picked >= 0) {
			const x = this.x(this.data.time[this.picked]);
			g.fillStyle = this.inks.pick;
			if (x >= LABEL)
				g.fillRect(x - .5, 0, 2, this.tall);
		}
	}

	pick(i, show) {
		this.picked = i;
		if (show && i >= 0) {
			const t = this.data.time[i];
			if (t < this.from || t > this.to)
				this.view(t - (this.to - this.from) / 2, t + (this.to - this.from) / 2);
			const lane = this.lanes.find((l) => l.kind === 'thread' && l.thread === this.data.thread[i]);
			if (lane && (lane.y < this.scroll || lane.y + lane.height > this.scroll + this.tall - this.top))
				this.scroll = Math.max(0, lane.y - this.tall / 3);
		}
		this.draw();
		this.tell('pick');
	}

	/* The slice or else the event under a point. */
	at(px, py) {
		if (py < this.top)
			return py < RULER ? -1 : this.markAt(px);
		const lane = this.lanes.find((l) => py >= this.top + l.y - this.scroll && py < this.top + l.y + l.height - this.scroll);
		if (!lane || lane.kind === 'title' || px < LABEL)
			return -1;
		const t = this.time(px), slack = (this.to - this.from) / (this.width - LABEL) * 3;
		let y = py - (this.top + lane.y - this.scroll) - GAP / 2 - (lane.state ? STATE : 0);
		const row = lane.rows[Math.floor(y / ROW)];
		if (row && y >= 0 && lane.kind !== 'cpu') {
			const k = lower(row.end, t - slack);
			if (k < row.n && row.start[k] <= t + slack)
				return sliceEvent(this.data, row.what[k]);
		}
		const list = lane.events;
		let k = this.first(list, t);
		if (k > 0 && (k === list.length || t - this.data.time[list[k - 1]] < this.data.time[list[k]] - t))
			k--;
		return k < list.length ? list[k] : -1;
	}

	listen() {
		const c = this.canvas;
		c.addEventListener('wheel', (e) => {
			e.preventDefault();
			if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY))
				this.pan((e.deltaX || e.deltaY) / 1500);
			else if (e.offsetX < LABEL) {
				this.scroll += e.deltaY;
				this.draw();
			} else
				this.zoom(Math.exp(e.deltaY / 400), this.time(e.offsetX));
		}, { passive: false });
		c.addEventListener('pointerdown', (e) => {
			c.focus();
			c.setPointerCapture(e.pointerId);
			this.drag = { x: e.offsetX, y: e.offsetY, from: this.from, to: this.to, scroll: this.scroll,
				range: e.shiftKey || e.offsetY < RULER, moved: false };
		});
		c.addEventListener('pointermove', (e) => this.drag && this.move(e));
		c.addEventListener('pointerup', (e) => {
			const d = this.drag;
			this.drag = null;
			if (d && !d.moved)
				this.pick(this.at(e.offsetX, e.offsetY), false);
			else if (d && d.range)
				this.tell('range');
		});
		c.addEventListener('dblclick', () => {
			if (this.range)
				this.view(this.range[0], this.range[1]);
		});
		c.addEventListener('keydown', (e) => this.key(e));
	}

	move(e) {
		const d = this.drag;
		if (Math.abs(e.offsetX - d.x) + Math.abs(e.offsetY - d.y) < 4 && !d.moved)
			return;
		d.moved = true;
		if (d.range) {
			const a = this.time(Math.max(LABEL, d.x)), b = this.time(Math.max(LABEL, e.offsetX));
			this.range = [Math.min(a, b), Math.max(a, b)];
			this.draw();
			return;
		}
		const shift = (d.x - e.offsetX) / (this.width - LABEL) * (d.to - d.from);
		this.scroll = d.scroll + d.y - e.offsetY;
		this.view(d.from + shift, d.to + shift);
	}

	key(e) {
		const middle = (this.from + this.to) / 2;
		const keys = {
			w: () => this.zoom(.6, middle), s: () => this.zoom(1 / .6, middle),
			'+': () => this.zoom(.6, middle), '-': () => this.zoom(1 / .6, middle),
			a: () => this.pan(-.2), d: () => this.pan(.2), f: () => this.fit(),
			ArrowLeft: () => this.neighbour(-1), ArrowRight: () => this.neighbour(1),
			ArrowUp: () => { this.scroll -= 60; this.draw(); }, ArrowDown: () => { this.scroll += 60; this.draw(); },
			PageUp: () => { this.scroll -= this.tall * .8; this.draw(); },
			PageDown: () => { this.scroll += this.tall * .8; this.draw(); },
			'[': () => this.bound(0), ']': () => this.bound(1),
			z: () => this.range && this.view(this.range[0], this.range[1]),
			Escape: () => { this.range = null; this.tell('range'); this.pick(-1, false); },
		};
		if (keys[e.key] && !e.ctrlKey && !e.metaKey && !e.altKey) {
			e.preventDefault();
			keys[e.key]();
		}
	}

	/* [ and ]: the selection reaches from or to the picked event. */
	bound(end) {
		if (this.picked < 0)
			return;
		const t = this.data.time[this.picked], r = this.range || [0, this.end];
		this.range = end ? [Math.min(r[0], t), t] : [t, Math.max(r[1], t)];
		this.draw();
		this.tell('range');
	}

	/* The event before or after the picked one, in its thread. */
	neighbour(step) {
		if (this.picked < 0) {
			this.pick(Math.min(lower(this.data.time, this.from), this.data.n - 1), true);
			return;
		}
		const t = this.data.thread[this.picked], g = this.data.byThread;
		const k = lower(g.index, this.picked, g.start[t], g.start[t + 1]) + step;
		if (k >= g.start[t] && k < g.start[t + 1])
			this.pick(g.index[k], true);
	}
}
