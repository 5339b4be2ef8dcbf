/*
 * samples.h - small good files, one of each kind.
 */
#ifndef TESTS_SAMPLES_H
#define TESTS_SAMPLES_H

#include "tests/reader/mkfile.h"

#define SAMPLES		6u
#define SAMPLE_EVENTS	30u

extern const char *const sample_names[SAMPLES];
struct mk *sample(unsigned n);

#endif
