/*
 * losses.h - why events are missing, in words.
 */
#ifndef ANALYSIS_LOSSES_H
#define ANALYSIS_LOSSES_H

/* Of an enum tnf_lost; NULL: a reason that this version does not know. */
const char *loss_name(unsigned reason);

#endif
