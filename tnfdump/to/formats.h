/*
 * formats.h - the output formats, and the reports with their options.
 *
 * Each format is one file here, in tnfdump/text/ or tnfdump/report/, and a row in
 * outputs.c.
 */
#ifndef TNFDUMP_TO_FORMATS_H
#define TNFDUMP_TO_FORMATS_H

#include "analysis/attrs.h"
#include "analysis/pairs.h"
#include "analysis/states.h"
#include "analysis/stats.h"
#include "analysis/why.h"
#include "tnfdump/tnfdump.h"

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

/*
 * The reports, and their options.
 */

int stats_set(struct dump *, const char *list);
int pair_set(struct dump *, const char *rule);
int link_set(struct dump *, const char *by);		/* --link */

/* Sets the output of --stats=LIST or --top=LIST after checking the list. */
struct output;
int reports_by(struct dump *, const char *option, const struct output *, const char *list);
/* Statistics by the expressions of dump->by; NULL after a message. */
struct stats *reports_stats(struct dump *);

/* The matcher of starts and ends, with the rules of --pair. */
struct pairs *reports_pairs(struct dump *);

int  info_set(struct dump *, const char *form);		/* --info */
bool info_chosen(const struct dump *);

int diff_fail_on(struct dump *, const char *condition);	/* --fail-on */
/* Compares the two files of the command line; the exit status. */
int diff_run(struct dump *, char **paths);

/* Says on standard error what each file lost, and why. */
void loss_report(struct dump *);
void loss_report_paths(struct dump *, char **paths);	/* -r: not in a stream */

int  top_set(struct dump *, const char *list);		/* --top */
int  interval_set(struct dump *, const char *seconds);	/* --interval */
bool top_asked(const struct dump *);

int  why_set(struct dump *, const char *pair);		/* --why */
int  why_slow_set(struct dump *, const char *pair);	/* --why-slow */
int  why_id_set(struct dump *, const char *value);	/* --id */
/* After all options: these three choose the output; 0, or -1 after options_wrong(). */
int  why_choose(struct dump *);
/* report-why.c: the index behind --why.  Each event goes in after pairs_feed(), with its
   answer. */
struct why_input;
struct why_input *why_input_new(struct dump *);
void why_input_free(struct why_input *);
void why_input_event(struct why_input *, const struct tnf_event *, enum pair_role,
    const struct pair_slice *);
struct why_pairs *why_input_pairs(struct why_input *);
/* report-why.c: stacks of at most 'max' instances, weighed in ns. */
void why_fold(struct why_pairs *, struct dump *, size_t max);

/* Called while no event comes: handles keys, and draws the table when it is due. */
void top_tick(struct dump *);

#endif
