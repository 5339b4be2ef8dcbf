/*
 * flame.js - flame graphs of the selection, or of the whole trace: slices within slices, stacks of
 * samples, stacks of waits, and stacks of any other probe that has them.
 *
 * A node is { name, total, self, children }.  With a second stretch of time to compare with, the
 * colour tells which has the larger share: orange if this one, blue if the other.
 */
const FLAME_ROW = 17;

function flameNode(name) {
	return { name, total: 0, self: 0, other: 0, children: new Map() };
}

function flameChild(node, name) {
	let child = node.children.get(name);
	if (!child)
		node.children.set(name, child = flameNode(name));
	return child;
}

/* Adds a weight at the end of a path; 'field' is "total", or "other" of the one to compare with. */
function flameAdd(root, path, weight, field) {
	let node = root;
	root[field] += weight;
	for (const name of path) {
		node = flameChild(node, name);
		node[field] += weight;
	}
	if (field === 'total')
		node.self += weight;
}

/* "[inner, outer (inlined: x in y)]" of the page's texts, the outermost first, without offsets. */
function framesOf(text) {
	text = text.replace(/(\S+) \(inlined: (.*?)\)(?=[ \]])/g, (all, name, inlined) => inlined.replaceAll(' in ', ' ') + ' ' + name);
	return text.replace(/^\[|\]$/g, '').split(/[ ,]+/).filter((f) => f && f !== 'null' && f !== '0' && f !== '0x0')
		.map((f) => f.replace(/\+0x[0-9a-f]+$/, '')).reverse();
}

function stackMembers(probe) {
	return probe.members.filter((m) => (m.name === 'stack' || m.name === 'user') && m.type === 'string');
}

/* Which graphs the trace has: name -> function(add, from, to), where add(path, weight). */
function flameKinds(app) {
	const { data, waits } = app, kinds = new Map();
	if (data.slice.async.includes(0))
		kinds.set('slices', (add, from, to) => flameSlices(data, add, from, to));
	if (waits.n)
		kinds.set('waits', (add, from, to) => flameWaits(app, add, from, to));
	for (const name of new Set(data.probes.filter((p) => stackMembers(p).length && p.name !== 'thread_block').map((p) => p.name)))
		kinds.set(name, (add, from, to) => flameStacks(data, name, add, from, to));
	return kinds;
}

/* The time of each slice that no slice within it has. */
function flameSlices(data, add, from, to) {
	const { slice } = data, open = [];
	const part = (s) => Math.max(0, Math.min(to, slice.start[s] + slice.duration[s]) - Math.max(from, slice.start[s]));
	const close = (depth) => {
		while (open.length > depth) {
			const top = open.pop();
			if (top.self > 0)
				add(top.path, top.self);
		}
	};
	for (let s = 0; s < slice.n && !slice.async[s]; s++) {
		const above = s > 0 && slice.thread[s - 1] === slice.thread[s] ? slice.depth[s] : 0;
		close(above);
		const parent = open[open.length - 1], ns = part(s);
		if (parent)
			parent.self -= ns;
		const t = data.threads[slice.thread[s]];
		open.push({ path: [...(parent ? parent.path : [hostText(t) + (t.process || t.comm || t.pid)]), data.spans[slice.name[s]]], self: ns });
	}
	close(0);
}

function flameWaits(app, add, from, to) {
	const { data, waits } = app, { sleep } = data;
	for (let w = 0; w < waits.n; w++) {
		const ns = Math.min(to, sleep.woken[w]) - Math.max(from, sleep.from[w]);
		if (ns <= 0)
			continue;
		const t = data.threads[sleep.thread[w]];
		add([hostText(t) + (t.comm || t.process || t.pid), ...framesOf(waits.stack(w)), waits.thing(w)], ns);
	}
}

function flameStacks(data, name, add, from, to) {
	const members = data.probes.map((p) => p.name === name ? stackMembers(p) : null);
	for (let i = lower(data.time, from); i < data.n && data.time[i] < to; i++) {
		const list = members[data.probe[i]];
		if (!list)
			continue;
		const t = data.threads[data.thread[i]], of = (n) => list.filter((m) => m.name === n).flatMap((m) => framesOf(dataText(data, i, m)));
		add([hostText(t) + (t.comm || t.process || t.pid), ...of('user'), ...of('stack')], 1);
	}
}

class Flame {
	constructor(app) {
		Object.assign(this, { app, kinds: flameKinds(app), other: null, top: null, at: null, boxes: [], width: 0 });
		this.kind = this.kinds.keys().next().value;
		this.canvas = make('canvas', null, { id: 'flame-graph', tabIndex: 0 });
		this.canvas.setAttribute('role', 'application');
		this.canvas.setAttribute('aria-label', 'flame graph: arrow keys move, Enter zooms in, Backspace zooms out');
		this.says = make('output');
		this.listen();
		new ResizeObserver(() => this.draw()).observe(this.canvas);
	}

	show() {
		const box = byId('flame'), { range } = this.app.line;
		box.hidden = this.kinds.size === 0;
		if (box.hidden)
			return;
		const bar = make('p', null, { className: 'choices' });
		for (const name of this.kinds.keys()) {
			const b = button(name, () => { this.kind = name; this.show(); });
			b.ariaPressed = String(name === this.kind);
			bar.append(b, ' ');
		}
		bar.append(this.other ? button('do not compare', () => { this.other = null; this.show(); }) :
			button('compare others with ' + (range ? 'this selection' : 'the whole'), () => { this.other = range || [0, Infinity]; this.show(); }));
		box.replaceChildren(make('h2', 'Flame graph of ' + (range ? 'the selection' : 'the whole trace') +
			(this.other ? ', compared with ' + (this.other[1] === Infinity ? 'the whole' : timeText(this.other[0]) + ' to ' + timeText(this.other[1])) +
			': orange has a larger share here, blue there' : '')), bar, this.canvas, this.says);
		this.build(range || [0, Infinity]);
	}

	build(range) {
		const root = this.root = flameNode('all'), kind = this.kinds.get(this.kind);
		kind((path, weight) => flameAdd(root, path, weight, 'total'), range[0], range[1]);
		if (this.other)
			kind((path, weight) => flameAdd(root, path, weight, 'other'), this.other[0], this.other[1]);
		this.top = this.at = root;
		this.path = [root];
		this.draw();
	}

	weight(ns) { return ['slices', 'waits'].includes(this.kind) ? timeText(ns) : ns.toLocaleString(); }

	/* Boxes from the top down; what is narrower than a pixel is left out. */
	place() {
		this.boxes = [];
		let depth = 0;
		const put = (node, x, width, level) => {
			if (width < 1)
				return;
			this.boxes.push({ node, x, y: level * FLAME_ROW, width });
			depth = Math.max(depth, level + 1);
			const scale = width / (node.total || 1);
			for (const child of [...node.children.values()].sort((a, b) => b.total - a.total)) {
				put(child, x, child.total * scale, level + 1);
				x += child.total * scale;
			}
		};
		put(this.top, 0, this.width, 0);
		return depth;
	}

	color(node) {
		if (!this.other)
			return hashColor([...node.name].reduce((h, c) => h * 31 + c.charCodeAt(0) | 0, 7));
		const here = node.total / (this.root.total || 1), there = node.other / (this.root.other || 1);
		const change = (here - there) / (Math.max(here, there) || 1), strong = Math.round(Math.abs(change) * 90);
		return `color-mix(in srgb, ${change > 0 ? '#e69f00' : '#56b4e9'} ${strong + 10}%, #dddddd)`;
	}

	draw() {
		const c = this.canvas, ratio = window.devicePixelRatio || 1;
		if (!this.root || !c.clientWidth)
			return;
		this.width = c.clientWidth;
		const tall = this.place() * FLAME_ROW;
		c.style.height = tall + 'px';
		c.width = Math.round(this.width * ratio);
		c.height = Math.round(tall * ratio);
		const g = c.getContext('2d');
		g.setTransform(ratio, 0, 0, ratio, 0, 0);
		g.font = '11px system-ui, sans-serif';
		g.textBaseline = 'middle';
		for (const b of this.boxes) {
			g.fillStyle = this.color(b.node);
			g.fillRect(b.x, b.y, b.width > 2 ? b.width - .5 : b.width, FLAME_ROW - 1);
			if (b.width > 28) {
				g.fillStyle = '#111';
				g.fillText(b.node.name.slice(0, Math.floor((b.width - 6) / 6)), b.x + 3, b.y + FLAME_ROW / 2);
			}
			if (b.node === this.at) {
				g.strokeStyle = '#000';
				g.lineWidth = 2;
				g.strokeRect(b.x + 1, b.y + 1, b.width - 2, FLAME_ROW - 3);
			}
		}
		this.tell();
	}

	tell() {
		const n = this.at, share = (a, b) => b ? (100 * a / b).toFixed(1) + ' %' : '0 %';
		this.says.textContent = n.name + ': ' + this.weight(n.total) + ' (' + share(n.total, this.root.total) + '), itself ' + this.weight(n.self) +
			(this.other ? '; there ' + share(n.other, this.root.other) : '');
	}

	boxAt(x, y) {
		return this.boxes.find((b) => x >= b.x && x < b.x + b.width && y >= b.y && y < b.y + FLAME_ROW);
	}

	zoom(node) {
		this.top = this.at = node;
		this.draw();
	}

	parentOf(node, from = this.root) {
		for (const child of from.children.values()) {
			const found = child === node ? from : this.parentOf(node, child);
			if (found)
				return found;
		}
		return null;
	}

	listen() {
		this.canvas.addEventListener('click', (e) => {
			const b = this.boxAt(e.offsetX, e.offsetY);
			if (b)
				this.zoom(b.node === this.top ? this.parentOf(b.node) || this.root : b.node);
		});
		this.canvas.addEventListener('pointermove', (e) => {
			const b = this.boxAt(e.offsetX, e.offsetY);
			if (b && b.node !== this.at) {
				this.at = b.node;
				this.tell();
			}
		});
		this.canvas.addEventListener('keydown', (e) => this.key(e));
	}

	/* Down goes to the largest child, up to the parent, left and right to neighbours. */
	key(e) {
		const sorted = (n) => n ? [...n.children.values()].sort((a, b) => b.total - a.total) : [];
		const side = (by) => {
			const list = sorted(this.parentOf(this.at));
			return list[list.indexOf(this.at) + by];
		};
		const to = { ArrowDown: () => sorted(this.at)[0], ArrowUp: () => this.parentOf(this.at),
			ArrowLeft: () => side(-1), ArrowRight: () => side(1) }[e.key];
		if (to) {
			this.at = to() || this.at;
			this.draw();
		} else if (e.key === 'Enter')
			this.zoom(this.at);
		else if (e.key === 'Backspace' || e.key === 'Escape')
			this.zoom(this.parentOf(this.top) || this.root);
		else
			return;
		e.preventDefault();
		e.stopPropagation();
	}
}
