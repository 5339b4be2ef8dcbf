/*
 * fake.h - probes and events without a trace file.
 */
#ifndef TESTS_DUMP_FAKE_H
#define TESTS_DUMP_FAKE_H

#include <tnf/stream.h>

#include "analysis/expr/expr.h"

#define FAKE_PROBES 4

/* Fills an event of the probe with this number; values come from fake_set. */
void fake_event(struct tnf_event *, unsigned probe);
void fake_set(unsigned member, struct tnf_value);	/* for all probes */
struct tnf_probe *fake_probe(unsigned);
extern struct expr_source fake_source;

extern const struct tnf_type fake_int32, fake_uint64, fake_double,
    fake_string, fake_sysnum, fake_point;

struct tnf_value fake_int(int64_t);
struct tnf_value fake_uint(uint64_t);
struct tnf_value fake_real(double);
struct tnf_value fake_text(const char *);
struct tnf_value fake_null(void);
struct tnf_value fake_record(void);	/* fake_point: x 3, y -4 */

#endif
