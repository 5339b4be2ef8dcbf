/*
 * ctf.h - what the two halves of the CTF format share.
 */
#ifndef TNFDUMP_TO_CTF_H
#define TNFDUMP_TO_CTF_H

#include "tnfdump/origin.h"
#include "analysis/perprobe.h"

#define CTF_MAGIC		0xc1fc1fc1u
#define CTF_PACKET_HEADER	48u	/* bytes; packet.header and packet.context */

/* How an argument is laid out. */
enum ctf_field { CTF_SIGNED, CTF_UNSIGNED, CTF_HEX, CTF_REAL, CTF_TEXT };

/* What the metadata must know when the stream is complete. */
struct ctf_trace {
	struct perprobe	 probes;	/* const struct tnf_probe *; NULL: no event */
	const struct tnf_file *file;	/* of the first event */
	int64_t		 offset;	/* wall clock at time 0, ns; or 0 */
	bool		 has_wall;
};

enum ctf_field ctf_field(const struct tnf_member *);
/* Remembers the probe of an event. */
void ctf_note(struct ctf_trace *, struct dump *, const struct tnf_event *);
void ctf_metadata(struct out *, struct dump *, const struct ctf_trace *);
void ctf_trace_free(struct ctf_trace *);

#endif
