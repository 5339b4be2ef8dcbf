/*
 * perfetto.c - Perfetto's native trace: a stream of TracePacket messages.
 *
 * Every thread, every kind of overlapping work and every thread's states get a
 * track; slices nest in their track.  Field numbers are those of Perfetto's
 * published protos (trace_packet, track_descriptor, track_event).
 */
#include "analysis/names.h"
#include "tnfdump/to/formats.h"
#include "tnfdump/to/protobuf.h"

enum {				/* Trace, TracePacket */
	TRACE_PACKET = 1, PACKET_CLOCK_SNAPSHOT = 6, PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10, PACKET_TRACK_EVENT = 11, PACKET_CLOCK_ID = 58,
	PACKET_TRACK_DESCRIPTOR = 60,
};
enum {				/* ClockSnapshot, Clock */
	SNAPSHOT_CLOCK = 1, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2,
	CLOCK_REALTIME_ID = 1, CLOCK_MONOTONIC_ID = 3, CLOCK_BOOTTIME_ID = 6,
};
enum {				/* TrackDescriptor, Process-, ThreadDescriptor */
	TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4,
	TRACK_PARENT = 5, PROCESS_PID = 1, PROCESS_NAME = 6,
	THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5,
};
enum {				/* TrackEvent, DebugAnnotation */
	EVENT_ANNOTATION = 4, EVENT_TYPE = 9, EVENT_TRACK = 11,
	EVENT_CATEGORY = 22, EVENT_NAME = 23, EVENT_CALLSTACK = 55,
	TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3,
	NOTE_UINT = 3, NOTE_INT = 4, NOTE_DOUBLE = 5, NOTE_STRING = 6,
	NOTE_POINTER = 7, NOTE_JSON = 9, NOTE_NAME = 10,
	CALLSTACK_FRAME = 1, FRAME_FUNCTION = 1,	/* Callstack, Frame */
};

struct perfetto {
	struct dump	*d;
	struct out	*o;
	struct out	 packet, inner, note, frame, text;	/* being built */
	struct states	*states;
	struct tasks	*tasks;
	struct tnf_event described;	/* the last event whose thread was found to be described, */
	uint64_t	 track;		/* and its track */
	struct perprobe	 names;		/* formats_once(): name and categories */
	struct tasks	*state_tracks;
	bool		 clocks;
	bool		 marks;		/* their track has been described */
};

static uint64_t
thread_track(int32_t pid, uint32_t lwpid)
{
	/* The number is never 0, which Perfetto reserves. */
	return 1ull << 62 | (uint64_t)(uint32_t)pid << 32 | lwpid;
}

static uint64_t
process_track(int32_t pid)
{
	return (uint64_t)(uint32_t)pid << 32 | 0xffffffffu;
}

/* The number of a track of another kind, above those of threads and processes. */
static uint64_t
other_track(uint64_t id, uint64_t kind)
{
	return (id ^ kind << 61) | 1ull << 63;
}

static void
perfetto_finish(struct perfetto *p)
{
	proto_u64(&p->packet, PACKET_SEQUENCE, 1);
	proto_message(p->o, TRACE_PACKET, &p->packet);
}

static void
clock_entry(struct perfetto *p, unsigned id, int64_t time)
{
	proto_u64(&p->note, CLOCK_ID, id);
	proto_u64(&p->note, CLOCK_TIMESTAMP, (uint64_t)time);
	proto_message(&p->inner, SNAPSHOT_CLOCK, &p->note);
}

/* Relates the trace's clock to the clocks of the viewer. */
static void
perfetto_clocks(struct perfetto *p, const struct tnf_event *ev)
{
	int64_t wall;

	clock_entry(p, CLOCK_MONOTONIC_ID, ev->time);
	clock_entry(p, CLOCK_BOOTTIME_ID, ev->time);
	if (origin_clock(p->d, ev->file, &wall))
		clock_entry(p, CLOCK_REALTIME_ID, wall + ev->time);
	proto_message(&p->packet, PACKET_CLOCK_SNAPSHOT, &p->inner);
	perfetto_finish(p);
	p->clocks = true;
}

/* Writes the track descriptor that is in p->inner. */
static void
describe(struct perfetto *p)
{
	proto_message(&p->packet, PACKET_TRACK_DESCRIPTOR, &p->inner);
	perfetto_finish(p);
}

static void
describe_process(struct perfetto *p, int32_t pid, const char *comm)
{
	proto_u64(&p->inner, TRACK_UUID, process_track(pid));
	proto_u64(&p->note, PROCESS_PID, (uint64_t)(int64_t)pid);
	if (comm != NULL)
		proto_str(&p->note, PROCESS_NAME, comm);
	proto_message(&p->inner, TRACK_PROCESS, &p->note);
	describe(p);
}

static void
describe_thread(struct perfetto *p, int32_t pid, uint32_t lwpid, const char *comm)
{
	proto_u64(&p->inner, TRACK_UUID, thread_track(pid, lwpid));
	proto_u64(&p->note, THREAD_PID, (uint64_t)(int64_t)pid);
	proto_u64(&p->note, THREAD_TID, lwpid);
	if (comm != NULL)
		proto_str(&p->note, THREAD_NAME, comm);
	proto_message(&p->inner, TRACK_THREAD, &p->note);
	describe(p);
}

static void
describe_track(struct perfetto *p, uint64_t uuid, uint64_t parent, const char *name)
{
	proto_u64(&p->inner, TRACK_UUID, uuid);
	proto_str(&p->inner, TRACK_NAME, name);
	proto_u64(&p->inner, TRACK_PARENT, parent);
	describe(p);
}

/* Describes the event's thread and process if they are new; returns the thread's track. */
static uint64_t
perfetto_introduce(struct perfetto *p, const struct tnf_event *ev)
{
	if (formats_same_thread(ev, &p->described))
		return p->track;
	struct tnf_event who = formats_writer(p->d, ev);
	unsigned fresh = tasks_seen(p->tasks, &who);

	if (fresh & TASK_NEW_PROCESS) {
		char *name = formats_process(p->d, ev);
		describe_process(p, who.pid, name);
		free(name);
	}
	if (fresh != 0)
		describe_thread(p, who.pid, who.lwpid, origin_comm_last(p->d, ev));
	p->described = *ev;
	return p->track = thread_track(who.pid, who.lwpid);
}

/* Writes an annotation that is a number or a string, with its size in front; false: it has to be
   put together first. */
static bool
note_directly(struct perfetto *p, const struct tnf_value *v, const char *name)
{
	size_t n = strlen(name), size;

	if (v->null || p->d->pretty)
		return false;
	switch (v->kind) {
	case TNF_K_INT8: case TNF_K_INT16: case TNF_K_INT32: case TNF_K_INT64:
		size = 1 + proto_varint_size((uint64_t)v->u.i);
		break;
	case TNF_K_STRING:
		if (v->cut || v->type->blob)
			return false;
		size = proto_bytes_size(v->u.s.len);
		break;
	default:
		return false;
	}
	proto_varint(&p->inner, EVENT_ANNOTATION << 3 | 2);
	proto_varint(&p->inner, proto_bytes_size(n) + size);
	proto_bytes(&p->inner, NOTE_NAME, name, n);
	if (v->kind == TNF_K_STRING)
		proto_bytes(&p->inner, NOTE_STRING, v->u.s.chars, v->u.s.len);
	else
		proto_u64(&p->inner, NOTE_INT, (uint64_t)v->u.i);
	return true;
}

/* Writes a value as an annotation; records and arrays become JSON. */
static void
note_value(struct perfetto *p, const struct tnf_event *ev,
    const struct tnf_value *v, const char *name)
{
	bool scalar = v->kind != TNF_K_STRUCT && v->kind != TNF_K_ARRAY;
	size_t len;

	if (p->d->pretty && scalar && pretty_differs(p->d, ev, v, name)) {
		p->text.p = p->text.base;
		pretty_value(p->d, &p->text, ev, v, name);
		proto_message(&p->note, NOTE_STRING, &p->text);
		return;
	}
	switch (v->kind) {
	case TNF_K_INT8: case TNF_K_INT16: case TNF_K_INT32: case TNF_K_INT64:
		proto_u64(&p->note, NOTE_INT, (uint64_t)v->u.i);
		break;
	case TNF_K_UINT8: case TNF_K_UINT16: case TNF_K_UINT32: case TNF_K_UINT64:
		proto_u64(&p->note, v->type->opaque ? NOTE_POINTER : NOTE_UINT, v->u.u);
		break;
	case TNF_K_FLOAT32: case TNF_K_FLOAT64:
		proto_double(&p->note, NOTE_DOUBLE, v->u.d);
		break;
	case TNF_K_STRING:
		if (!v->type->blob) {
			const char *s = print_marked(p->d, v, &len);
			proto_bytes(&p->note, NOTE_STRING, s, len);
			break;
		}
		__attribute__((fallthrough));
	default:
		p->text.p = p->text.base;
		print_json(p->d, &p->text, ev, v, name);
		proto_message(&p->note, NOTE_JSON, &p->text);
	}
}

static void
perfetto_notes(struct perfetto *p, const struct tnf_event *ev)
{
	struct tnf_value v;

	for (unsigned i = 0; i < ev->probe->n_members; i++) {
		if (!tnf_event_value(ev, i, &v))
			break;
		const char *name = ev->probe->members[i].name;
		if (note_directly(p, &v, name))
			continue;
		proto_str(&p->note, NOTE_NAME, name);
		if (!v.null)
			note_value(p, ev, &v, name);
		proto_message(&p->inner, EVENT_ANNOTATION, &p->note);
	}
}

/* Writes the event's stack, if it has one, of which trace_processor makes flame graphs. */
static void
perfetto_stack(struct perfetto *p, const struct tnf_event *ev)
{
	const char *names[FRAME_NAMES_MAX];
	struct frame frames[FRAMES_MAX];
	unsigned count = frames_of(p->d, ev, frames);

	for (unsigned i = 0; i < count; i++) {
		unsigned n = frame_names(p->d, ev, &frames[i], names);

		if (n == 0) {
			tnf_out_0x(&p->text, frames[i].pc);
			proto_message(&p->frame, FRAME_FUNCTION, &p->text);
			proto_message(&p->note, CALLSTACK_FRAME, &p->frame);
		}
		for (unsigned k = 0; k < n; k++) {
			proto_str(&p->frame, FRAME_FUNCTION, names[k]);
			proto_message(&p->note, CALLSTACK_FRAME, &p->frame);
		}
	}
	if (count > 0)
		proto_message(&p->inner, EVENT_CALLSTACK, &p->note);
}

/* Writes the track event that is in p->inner, as most packets are. */
static void
event_packet(struct perfetto *p, int64_t time)
{
	size_t before = 1 + proto_varint_size((uint64_t)time) + 3, behind = 2;

	proto_varint(p->o, TRACE_PACKET << 3 | 2);
	proto_varint(p->o, before + proto_bytes_size(out_size(&p->inner)) + behind);
	proto_u64(p->o, PACKET_TIMESTAMP, (uint64_t)time);
	proto_u64(p->o, PACKET_CLOCK_ID, CLOCK_MONOTONIC_ID);
	proto_message(p->o, PACKET_TRACK_EVENT, &p->inner);
	proto_u64(p->o, PACKET_SEQUENCE, 1);
}

static void
name_and_categories(struct out *o, const struct tnf_probe *probe)
{
	proto_str(o, EVENT_NAME, probe->name);
	if (*probe->keys != '\0')
		proto_str(o, EVENT_CATEGORY, probe->keys);
}

/* Writes a track event; its categories and arguments come from 'ev', which may be NULL. */
static void
track_event(struct perfetto *p, int64_t time, unsigned type, uint64_t track,
    const char *name, const struct tnf_event *ev)
{
	proto_u64(&p->inner, EVENT_TYPE, type);
	proto_u64(&p->inner, EVENT_TRACK, track);
	if (ev != NULL && name == ev->probe->name)
		formats_once(&p->inner, &p->names, ev->probe, name_and_categories);
	else if (name != NULL)
		proto_str(&p->inner, EVENT_NAME, name);
	if (ev != NULL) {
		if (name != ev->probe->name && *ev->probe->keys != '\0')
			proto_str(&p->inner, EVENT_CATEGORY, ev->probe->keys);
		perfetto_notes(p, ev);
		perfetto_stack(p, ev);
	}
	event_packet(p, time);
}

static void
perfetto_span(void *arg, const struct state_span *s)
{
	struct perfetto *p = arg;
	int32_t pid = hosts_pid(p->d, s->host, s->pid);
	struct tnf_event who = { .pid = pid, .lwpid = state_row(s) };
	uint64_t track = other_track(thread_track(who.pid, who.lwpid), 1);

	if (tasks_seen(p->state_tracks, &who) & TASK_NEW_THREAD)
		describe_track(p, track, thread_track(pid, s->lwpid), "state");
	track_event(p, s->start, TYPE_BEGIN, track, state_name(s->state), NULL);
	track_event(p, s->start + s->duration, TYPE_END, track, NULL, NULL);
}

int
perfetto_begin(struct dump *d)
{
	struct perfetto *p = tnf_xcalloc(1, sizeof(*p));

	tnf_out_memory(&p->packet);
	tnf_out_memory(&p->inner);
	tnf_out_memory(&p->note);
	tnf_out_memory(&p->frame);
	tnf_out_memory(&p->text);
	p->tasks = tasks_new();
	p->state_tracks = tasks_new();
	p->states = formats_states(d, perfetto_span, p);
	p->d = d;
	p->o = &d->out;
	d->state = p;
	return 0;
}

static uint64_t
perfetto_track(struct perfetto *p, const struct tnf_event *ev)
{
	struct tnf_event who = formats_writer(p->d, ev);

	return thread_track(who.pid, who.lwpid);
}

static void
perfetto_begun(struct perfetto *p, const struct pair_slice *s)
{
	const struct tnf_event *ev = s->start;
	uint64_t track = other_track(s->id, 2);

	if (!s->rule->async) {
		track_event(p, ev->time, TYPE_BEGIN, perfetto_track(p, ev), pretty_slice_name(s), ev);
		return;
	}
	describe_track(p, track, process_track(formats_writer(p->d, ev).pid), s->name);
	track_event(p, ev->time, TYPE_BEGIN, track, s->name, ev);
}

/* Writes a slice that an event has ended; its start is written even if filters dropped it. */
static void
perfetto_ended(struct perfetto *p, const struct pair_slice *s, const struct tnf_event *ev)
{
	if (!s->start_kept) {
		perfetto_introduce(p, s->start);
		perfetto_begun(p, s);
	}
	track_event(p, ev->time, TYPE_END,
	    s->rule->async ? other_track(s->id, 2) : perfetto_track(p, s->start), NULL, ev);
}

/* Writes an event that begins and ends nothing.  A mark is named by its text and lies on
   the track of marks. */
static void
perfetto_instant(struct perfetto *p, uint64_t track, const struct tnf_event *ev)
{
	const uint64_t marks = other_track(0, 3);
	char text[MARK_TEXT_MAX];

	if (!mark_text(ev, text)) {
		track_event(p, ev->time, TYPE_INSTANT, track, ev->probe->name, ev);
		return;
	}
	if (!p->marks)
		describe_track(p, marks, 0, "marks");
	p->marks = true;
	track_event(p, ev->time, TYPE_INSTANT, marks, text, ev);
}

int
perfetto_event(struct dump *d, const struct tnf_event *ev)
{
	struct perfetto *p = d->state;
	bool kept = d->keep == KEEP_ALL;
	struct pair_slice s;

	if (!p->clocks && pipeline_zero(d)) {
		perfetto_clocks(p, ev);
		states_window(p->states, ev->time, d->high);
	}
	uint64_t track = kept ? perfetto_introduce(p, ev) : 0;
	enum pair_role role = formats_feed(d, p->states, ev, &s);
	if (role == PAIR_END && s.kept)
		perfetto_ended(p, &s, ev);
	else if (kept && (role == PAIR_NONE || !s.kept))
		perfetto_instant(p, track, ev);
	else if (kept)
		perfetto_begun(p, &s);
	return p->o->error != 0 ? -1 : 0;
}

int
perfetto_end(struct dump *d)
{
	struct perfetto *p = d->state;

	states_end(p->states);
	formats_once_free(&p->names);
	tasks_free(p->tasks);
	tasks_free(p->state_tracks);
	tnf_out_close(&p->packet);
	tnf_out_close(&p->inner);
	tnf_out_close(&p->note);
	tnf_out_close(&p->frame);
	tnf_out_close(&p->text);
	free(p);
	return 0;
}
