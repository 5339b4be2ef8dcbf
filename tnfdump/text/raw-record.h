/*
 * raw-record.h - prints a record for -r.
 */
#ifndef TNFDUMP_TEXT_RAW_RECORD_H
#define TNFDUMP_TEXT_RAW_RECORD_H

#include <tnf/tnf.h>

#include "tnfdump/tnfdump.h"

/* What -r remembers of the types and the references of one file. */
struct raw_records;

struct raw_records *raw_records_new(struct dump *);
void raw_records_free(struct raw_records *);

/* Prints the record, which is not NULL, with its members.  tnf_error_last() then tells any
   error in it. */
void raw_record_put(struct raw_records *, tnf_datum_t);

#endif
