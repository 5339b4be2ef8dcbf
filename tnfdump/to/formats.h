/*
 * formats.h - the output formats.
 *
 * Each format is one file here, in tnfdump/text/ or tnfdump/report/, and a row in
 * outputs.c.  The headers that most formats need come with this one.
 */
#ifndef TNFDUMP_TO_FORMATS_H
#define TNFDUMP_TO_FORMATS_H

#include "analysis/json.h"
#include "analysis/states.h"
#include "analysis/stats.h"
#include "analysis/why.h"
#include "tnfdump/hosts.h"
#include "tnfdump/origin.h"
#include "tnfdump/pipeline.h"
#include "tnfdump/text/pretty.h"

#define FORMAT(name)							\
	int name ## _begin(struct dump *);				\
	int name ## _event(struct dump *, const struct tnf_event *);	\
	int name ## _end(struct dump *)

FORMAT(text);
FORMAT(jsonl);
FORMAT(csv);
FORMAT(chrome);
FORMAT(perfetto);
FORMAT(ctf);
FORMAT(folded);
FORMAT(pprof);
FORMAT(html);
int otlp_begin(struct dump *);
int otlp_pb_begin(struct dump *);
int otlp_logs_pb_begin(struct dump *);
int otlp_event(struct dump *, const struct tnf_event *);
int otlp_end(struct dump *);
FORMAT(slice);
FORMAT(sqlite);
FORMAT(stats_report);
FORMAT(states_report);
FORMAT(tree);
FORMAT(link);
FORMAT(calls);

#undef FORMAT

/* Makes the states for a format that shows pairs and states (outputs.c). */
struct states *formats_states(struct dump *, state_span_fn *, void *arg);
/* Feeds an event to the states, then to the dump's pairs. */
enum pair_role formats_feed(struct dump *, struct states *, const struct tnf_event *,
    struct pair_slice *);
/* Returns the event with the pid and thread id of the machine, since containers use the
   same numbers again; with --hosts no other machine has the pid. */
struct tnf_event formats_writer(struct dump *, const struct tnf_event *);
/* Text that all events of a probe share: 'make' writes it once. */
void formats_once(struct out *, struct perprobe *, const struct tnf_probe *,
    void (*make)(struct out *, const struct tnf_probe *));
void formats_once_free(struct perprobe *);
/* Text that all events of a thread share while it stays on its CPU and keeps its name: 'make'
   writes it when one of these has changed, and for each event of a trace that is followed. */
#define THREAD_TEXTS	16	/* remembered */

struct perthread {
	struct {
		struct tnf_event of;
		const char *comm;
		struct out text;
	} last[THREAD_TEXTS];
};

void formats_thread(struct dump *, struct perthread *, const struct tnf_event *,
    void (*make)(struct dump *, struct out *, const struct tnf_event *));
void formats_thread_free(struct perthread *);
bool formats_same_thread(const struct tnf_event *, const struct tnf_event *);
/* The name of the event's process, with --hosts as "web1: nginx", to be freed; or NULL. */
char *formats_process(struct dump *, const struct tnf_event *);

#endif
