/*
 * otlp-spans.h - spans of --to otlp, in trees, until a whole tree can be written; and log
 * records, of the triggers of tnfwatch that fired.
 */
#ifndef TNFDUMP_TO_OTLP_SPANS_H
#define TNFDUMP_TO_OTLP_SPANS_H

#include <tnf/stream.h>

#include "common/out.h"

/*
 * otlp-encode.c: the messages of OpenTelemetry's protocol, as JSON or as protobuf.
 *
 * Both encodings have the same messages: each function takes a field's number, which
 * protobuf writes, and the field's name, which JSON writes.  Field numbers and names are
 * those of OpenTelemetry's published protos (trace, resource, common).  In JSON, 64-bit
 * integers are strings, enumerations are numbers and ids are hexadecimal.
 */
struct dump;

struct otlp {
	struct out	*o;		/* in memory: fd -1 */
	struct out	*text;		/* for values that only text can show; in memory, too */
	bool		 json;
};

/* Begins a message; 'name' is NULL for an element of a list.  otlp_close() takes what
   otlp_open() returned. */
size_t otlp_open(struct otlp *, unsigned field, const char *name);
void otlp_close(struct otlp *, size_t opened);
/* A list of messages or values, which protobuf does not mark. */
void otlp_list(struct otlp *, const char *name);
void otlp_list_end(struct otlp *);
/* Appends elements or fields that were encoded before; none if n is 0. */
void otlp_append(struct otlp *, const char *bytes, size_t n);

void otlp_text(struct otlp *, unsigned field, const char *name, const char *, size_t n);
void otlp_string(struct otlp *, unsigned field, const char *name, const char *);
void otlp_fixed64(struct otlp *, unsigned field, const char *name, uint64_t);
void otlp_enum(struct otlp *, unsigned field, const char *name, unsigned);
void otlp_id(struct otlp *, unsigned field, const char *name, const uint8_t *, size_t n);

/* Attributes, elements of the list of that field: a text (NULL: none is written), a number,
   true, a member of an event. */
void otlp_attr_string(struct otlp *, unsigned field, const char *key, const char *);
void otlp_attr_int(struct otlp *, unsigned field, const char *key, int64_t);
void otlp_attr_true(struct otlp *, unsigned field, const char *key);
void otlp_attr_value(struct otlp *, unsigned field, const char *key, struct dump *,
    const struct tnf_event *, const struct tnf_value *, const char *member);

/* Spans of one tree.  Viewers stop to answer somewhere above 10,000 of a trace. */
#define SPANS_MAX	10000

enum {				/* fields of Span, Event, Link */
	SPAN_TRACE_ID = 1, SPAN_ID = 2, SPAN_PARENT = 4, SPAN_NAME = 5, SPAN_KIND = 6,
	SPAN_START = 7, SPAN_END = 8, SPAN_ATTR = 9, SPAN_EVENT = 11, SPAN_LINK = 13,
	SPAN_STATUS = 15, EVENT_TIME = 1, EVENT_NAME = 2, EVENT_ATTR = 3,
	LINK_TRACE_ID = 1, LINK_SPAN_ID = 2,
};

/* Elements of a list, encoded. */
struct encoded {
	char	*bytes;
	size_t	 n;
};

struct span_ids {
	uint8_t	 trace[16], span[8];
};

struct span {
	struct span	*parent;	/* in the tree, whether the parent is kept or not */
	struct span	*below;		/* open in the same thread, begun before */
	struct span	*next;		/* of the tree, in order of their starts */
	struct tree	*tree;
	struct thread	*thread;
	char		*name;
	struct tnf_event began;
	int64_t		 start, end;	/* ns since 1970 */
	struct span_ids	 id;
	uint8_t		 outside[8];	/* the parent that the program named; zeros: none */
	uint64_t	 within;	/* the thread's span of OpenTelemetry; 0: none */
	bool		 open, kept, failed;
	char		*error;		/* text of the status, or NULL */
	struct encoded	 attrs, events, links;
};

/* A root with all that began below it. */
struct tree {
	struct tree	*before, *after;	/* trees with open spans */
	struct span	*first, **last;
	unsigned	 n, n_open;
	uint64_t	 left_out;	/* spans beyond SPANS_MAX */
	struct encoded	 resource;	/* attributes of the process */
};

/* The spans of a run.  'e' writes to 'buffer', which is empty between calls. */
struct spans {
	struct dump	*d;
	bool		 logs;		/* records of logs alone are written */
	struct otlp	 e;
	struct out	 buffer, text;
	struct tree	*trees;		/* with open spans, the newest first */
	uint64_t	 left_out;
};

/* Moves what the buffer has behind the elements that are there. */
void spans_keep(struct spans *, struct encoded *);
/* A tree without spans, of the event's process. */
struct tree *tree_new(struct spans *, const struct tnf_event *);
/* A span of the tree; NULL: the tree has SPANS_MAX, and the span was counted. */
struct span *tree_add(struct tree *);
/* Writes the spans of the tree that are kept, and frees the tree. */
void tree_finish(struct spans *, struct tree *);

/* Begins and ends the message around a list of spans or of log records: 'resource' has the
   attributes, and the names are those of JSON. */
struct envelope {
	size_t	 outer, scope;
};
/* The word "traceparent" or "service" of the environment of the event's process; or NULL. */
const char *spans_environment(struct spans *, const struct tnf_event *, const char *what);

/*
 * The event "fired" of tnfwatch becomes a record of a log with the trace and the
 * span of what fired.
 */
struct logs;

struct logs *logs_new(void);
void logs_free(struct logs *);
/* A span has ended; it is looked for when a trigger fires. */
void logs_ended(struct logs *, const struct span *, int64_t duration);
/* Writes a record and returns true if the event is one of a trigger; 'wall': its time since 1970. */
bool logs_fired(struct logs *, struct spans *, const struct tnf_event *, int64_t wall);

#endif
