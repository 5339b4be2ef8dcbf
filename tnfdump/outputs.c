/*
 * outputs.c - the output formats: one row each.
 */
#include <string.h>

#include "tnfdump/formats.h"
#include "tnfdump/info.h"
#include "tnfdump/pipeline.h"
#include "tnfdump/text.h"

const struct output outputs[] = {
	{ "text", "a line for each event, as Solaris had it (default)",
	  text_begin, text_event, text_end, false, false },
	{ "jsonl", "JSON lines, one object an event, all types lossless",
	  jsonl_begin, jsonl_event, jsonl_end, false, false },
	{ "csv", "comma-separated values, fixed columns, arguments as JSON",
	  csv_begin, csv_event, csv_end, false, false },
	{ "chrome", "Chrome trace JSON: slices, thread states, I/O",
	  chrome_begin, chrome_event, chrome_end, false, false },
	{ "perfetto", "Perfetto protobuf trace",
	  perfetto_begin, perfetto_event, perfetto_end, false, false },
	{ "ctf", "Common Trace Format 1.8, a directory (--output)",
	  ctf_begin, ctf_event, ctf_end, true, false },
	{ "folded", "folded stacks with counts, for flame graphs",
	  folded_begin, folded_event, folded_end, false, false },
	{ "tnf", "a trace file of its own, of the events that are kept",
	  slice_begin, slice_event, slice_end, true, false },
	{ "stats", "counts, and durations of what begins and ends",
	  stats_report_begin, stats_report_event, stats_report_end, false, false },
	{ "states", "time in each microstate, per thread",
	  states_report_begin, states_report_event, states_report_end, false, true },
	{ "tree", "events indented by level and nesting, with durations",
	  tree_begin, tree_event, tree_end, false, false },
	{ 0 }
};

const struct output *
output_find(const char *name)
{
	const struct output *o;

	for (o = outputs; o->name != NULL; o++)
		if (strcmp(o->name, name) == 0)
			return o;
	return NULL;
}
