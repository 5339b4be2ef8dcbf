/*
 * raw.h - every record of a file, in file order (-r).
 */
#ifndef TNFDUMP_TEXT_RAW_H
#define TNFDUMP_TEXT_RAW_H

#include "tnfdump/tnfdump.h"

void raw_run(struct dump *, char **paths);

#endif
