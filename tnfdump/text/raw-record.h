/*
 * raw-record.h - how a record is printed by -r.
 */
#ifndef TNFDUMP_TEXT_RAW_RECORD_H
#define TNFDUMP_TEXT_RAW_RECORD_H

#include <tnf/tnf.h>

#include "tnfdump/tnfdump.h"

/* What is remembered of the types and the references of one file. */
struct raw_records;

struct raw_records *raw_records_new(struct dump *);
void raw_records_free(struct raw_records *);

/* The record, not NULL, with its members.  What there is wrong with it,
   tnf_error_last() tells then. */
void raw_record_put(struct raw_records *, tnf_datum_t);

#endif
