/*
 * histogram-draw.h - how long things took, as bars.
 */
#ifndef TNFDUMP_REPORT_HISTOGRAM_DRAW_H
#define TNFDUMP_REPORT_HISTOGRAM_DRAW_H

#include "analysis/histogram.h"
#include "common/out.h"

/* One line a power of two that has values, with a bar. */
void histogram_draw(const struct histogram *, struct out *);

#endif
