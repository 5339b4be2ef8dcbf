/*
 * input.js - mouse, touch and keyboard on the timeline.
 */
function listen(t) {
	const c = t.canvas, fingers = new Map();
	let drag = null;

	c.addEventListener('wheel', (e) => {
		e.preventDefault();
		if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY))
			t.pan((e.deltaX || e.deltaY) / 1500);
		else if (e.offsetX < t.label && !e.ctrlKey) {
			t.scroll += e.deltaY;
			t.draw();
		} else	/* a touch pad's pinch comes as a wheel with Ctrl, in small steps */
			t.zoom(Math.exp(e.deltaY / (e.ctrlKey ? 80 : 400)), t.time(e.offsetX));
	}, { passive: false });

	c.addEventListener('pointerdown', (e) => {
		c.focus();
		c.setPointerCapture(e.pointerId);
		fingers.set(e.pointerId, e);
		drag = fingers.size === 2 ? pinchOf(t, fingers) : dragOf(t, e);
	});
	c.addEventListener('pointermove', (e) => {
		if (fingers.has(e.pointerId))
			fingers.set(e.pointerId, e);
		if (!drag)
			hover(t, e);
		else if (drag.pinch)
			pinch(t, drag, fingers);
		else
			move(t, drag, e);
	});
	const up = (e) => {
		const d = drag;
		fingers.delete(e.pointerId);
		drag = null;
		if (fingers.size)	/* the other finger stays: no click, and no jump */
			drag = Object.assign(dragOf(t, [...fingers.values()][0]), { moved: true });
		else if (d && e.type === 'pointerup')
			drop(t, d, e);
	};
	c.addEventListener('pointerup', up);
	c.addEventListener('pointercancel', up);
	c.addEventListener('pointerleave', () => showTip(t, null));
	c.addEventListener('dblclick', (e) => doubleClick(t, e));
	c.addEventListener('keydown', (e) => key(t, e));
}

function dragOf(t, e) {
	const x = e.offsetX, y = e.offsetY, what = t.at(x, y);
	const lane = what.kind === 'label' || what.kind === 'title' ? what.row : null;
	return { x, y, from: t.from, to: t.to, scroll: t.scroll, range: x >= t.label && (e.shiftKey || y < RULER || t.selecting),
		lane: lane && x < t.label && e.pointerType === 'mouse' ? lane : null, moved: false };
}

function pinchOf(t, fingers) {
	const [a, b] = [...fingers.values()];
	return { pinch: true, moved: true, from: t.from, to: t.to, a: t.time(a.offsetX), b: t.time(b.offsetX) };
}

/* The times that were under the fingers stay under them. */
function pinch(t, d, fingers) {
	const [a, b] = [...fingers.values()], apart = b.offsetX - a.offsetX;
	if (Math.abs(apart) < 10)
		return;
	const perPixel = Math.abs((d.b - d.a) / apart);
	const left = perPixel * (t.width - t.label), middle = (d.a + d.b) / 2;
	const at = ((a.offsetX + b.offsetX) / 2 - t.label) / (t.width - t.label);
	t.view(middle - left * at, middle + left * (1 - at));
}

function move(t, d, e) {
	if (Math.abs(e.offsetX - d.x) + Math.abs(e.offsetY - d.y) < 4 && !d.moved)
		return;
	d.moved = true;
	showTip(t, null);
	if (d.lane) {
		const to = t.at(1, e.offsetY).row;
		if (to && reorder(t, d.lane, to))
			t.arrange();
		return;
	}
	if (d.range) {
		const a = t.time(Math.max(t.label, d.x)), b = t.time(Math.max(t.label, e.offsetX));
		t.range = [Math.min(a, b), Math.max(a, b)];
		t.draw();
		return;
	}
	const shift = (d.x - e.offsetX) / (t.width - t.label) * (d.to - d.from);
	t.scroll = d.scroll + d.y - e.offsetY;
	t.view(d.from + shift, d.to + shift);
}

/* A name that is drawn to another place: a lane within its group, a group among groups. */
function reorder(t, from, to) {
	if (from.kind === 'title' || to.kind === 'title')
		return t.lanes.moveGroup(from.of || from.group, to.of || to.group);
	return t.lanes.move(from, to) || (from.group !== to.group && !from.pinned && !to.pinned &&
		from.group.lanes.length === 1 && t.lanes.moveGroup(from.group, to.group));
}

function drop(t, d, e) {
	if (!d.moved)
		click(t, t.at(e.offsetX, e.offsetY), e);
	else if (d.range) {
		t.selecting = false;
		t.app.tell('range');
	}
}

function click(t, what, e) {
	const { data } = t;
	if (what.kind === 'title' && what.row.of)
		what.row.of.open = !what.row.of.open;
	else if (what.kind === 'more')
		what.row.of.more = true;
	else if (what.kind === 'label')
		labelClick(t, what.row, e);
	if (['title', 'more', 'label'].includes(what.kind))
		t.arrange();
	else if (what.kind === 'run')
		t.pick({ event: what.row.column.event[what.k], run: what }, false);
	else if (what.kind === 'state')
		t.pick({ event: eventBefore(data, data.state.thread[what.state], data.state.start[what.state]), state: what.state }, false);
	else if (what.kind === 'line')
		t.app.chains.open(what.line);
	else if (what.kind !== 'counter')
		t.pick(what, false);
}

/* The name of a lane: the star pins it; of a process with one thread, the rest folds it. */
function labelClick(t, lane, e) {
	if (lane.group.kind === 'process' && lane.group.lanes.length === 1 && !lane.pinned && !e.ctrlKey && !e.metaKey)
		lane.group.open = false;
	else
		t.lanes.pin(lane);
}

/* The last event of the thread that is not after the time. */
function eventBefore(data, thread, time) {
	const list = data.byThread.of(thread);
	return list[Math.max(0, lowerBy(list.length, (k) => data.time[list[k]], time + 1) - 1)] ?? -1;
}

function doubleClick(t, e) {
	const what = t.at(e.offsetX, e.offsetY), { slice } = t.data;
	if (what.kind === 'slice')
		t.app.go({ slice: what.slice });
	else if (what.kind === 'line' || e.offsetX < t.label || t.picked.slice >= 0 && slice.n === 0)
		return;
	else if (t.range)
		t.view(t.range[0], t.range[1]);
}

/* Says in words which thing is under the pointer. */
function hover(t, e) {
	const what = t.at(e.offsetX, e.offsetY);
	showTip(t, e.pointerType === 'touch' ? null : tipText(t, what), e);
	t.canvas.style.cursor = ['title', 'more', 'label'].includes(what.kind) ? 'pointer' : 'crosshair';
}

function tipText(t, what) {
	const { data } = t, { slice, state } = data;
	const took = (name, ns, at) => name + '\n' + timeText(ns) + ' from ' + timeText(at);
	switch (what.kind) {
	case 'slice':
		return took(data.spans[slice.name[what.slice]], slice.duration[what.slice], slice.start[what.slice]);
	case 'state':
		return took(data.meta.states[state.state[what.state]], state.duration[what.state], state.start[what.state]);
	case 'run':
		return took(threadText(data.threads[what.row.column.thread[what.k]]), what.row.column.duration[what.k], what.row.start(what.k));
	case 'line':
		return took(data.texts[data.line.text[what.line] - 1], data.line.ns[what.line], data.line.from[what.line]);
	case 'event':
		return data.probes[data.probe[what.event]].name + '\n' + timeText(data.time[what.event]);
	case 'counter': {
		const c = what.lane.counter, k = lower(c.time, what.time + 1) - 1;
		return c.title + ': ' + (k >= 0 ? c.value[k].toLocaleString() : '0');
	}
	case 'label':
		return what.row.title + '\nclick: pin; drag: move';
	default:
		return null;
	}
}

function showTip(t, text, e) {
	const tip = byId('tip');
	tip.hidden = !text;
	if (!text)
		return;
	tip.textContent = text;
	const left = t.canvas.offsetLeft + e.offsetX + 14;
	tip.style.left = Math.min(left, document.documentElement.clientWidth - tip.offsetWidth - 8) + 'px';
	tip.style.top = t.canvas.offsetTop + e.offsetY + 18 + 'px';
}

function key(t, e) {
	const scroll = (by) => { t.scroll += by; t.draw(); };
	const lane = t.pickedLane();
	const keys = {
		w: () => t.zoom(.6), s: () => t.zoom(1 / .6), '+': () => t.zoom(.6), '-': () => t.zoom(1 / .6),
		a: () => t.pan(-.2), d: () => t.pan(.2), f: () => { t.fit(); t.app.tell('went'); },
		ArrowLeft: () => neighbour(t, -1), ArrowRight: () => neighbour(t, 1),
		ArrowUp: () => scroll(-60), ArrowDown: () => scroll(60),
		PageUp: () => scroll(-t.tall * .8), PageDown: () => scroll(t.tall * .8),
		'[': () => bound(t, 0), ']': () => bound(t, 1),
		z: () => t.range && t.view(t.range[0], t.range[1]),
		p: () => { if (lane) { t.lanes.pin(lane); t.arrange(); } },
		o: () => { if (lane) { lane.group.open = !lane.group.open; t.arrange(); } },
		'<': () => { if (lane && t.lanes.step(lane, -1)) t.arrange(); },
		'>': () => { if (lane && t.lanes.step(lane, 1)) t.arrange(); },
		e: () => slicesOfEvent(t), Escape: () => { t.select(null); t.pick({}, false); },
	};
	if (keys[e.key] && !e.ctrlKey && !e.metaKey && !e.altKey) {
		e.preventDefault();
		keys[e.key]();
	}
}

/* [ and ]: the selection reaches from or to what is picked. */
function bound(t, end) {
	const time = t.pickedTime(), r = t.range || [0, t.end];
	if (time !== null)
		t.select(end ? [Math.min(r[0], time), time] : [time, Math.max(r[1], time)]);
}

/* The event before or after the picked one, in its thread; of a slice, the one of its name. */
function neighbour(t, step) {
	const { event, slice } = t.picked, { data } = t;
	if (slice >= 0) {
		const next = sameName(data, slice, step);
		if (next >= 0)
			t.app.go({ slice: next });
		return;
	}
	if (event < 0) {
		t.pick({ event: Math.min(lower(data.time, t.from), data.n - 1) }, true);
		return;
	}
	const list = data.byThread.of(data.thread[event]), k = lower(list, event) + step;
	if (k >= 0 && k < list.length)
		t.pick({ event: list[k] }, true);
}

/* e: the innermost slice around the picked event; of a slice, the slice around it. */
function slicesOfEvent(t) {
	const { event, slice } = t.picked, { data } = t;
	const around = slice >= 0 ? slicesAround(data, data.slice.thread[slice], data.slice.start[slice]).filter((s) =>
		data.slice.depth[s] < data.slice.depth[slice]) : event >= 0 ? slicesAround(data, data.thread[event], data.time[event]) : [];
	if (around.length)
		t.pick({ slice: around[around.length - 1] }, true);
}
