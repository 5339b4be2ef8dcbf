/*
 * formats.h - the output formats.
 *
 * Each is one file here, in tnfdump/text/ or tnfdump/report/, and a row in outputs.c.
 */
#ifndef TNFDUMP_TO_FORMATS_H
#define TNFDUMP_TO_FORMATS_H

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
FORMAT(html);
FORMAT(slice);
FORMAT(sqlite);
FORMAT(stats_report);
FORMAT(states_report);
FORMAT(tree);

#undef FORMAT

#endif
