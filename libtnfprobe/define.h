/*
 * define.h - definitions between tnf_tag_begin() and tnf_tag_end(): into the tag
 * blocks of the process's file.  If there is no room they are written nowhere, and
 * tnf_tag_end() returns false.
 */
#ifndef LIBTNFPROBE_DEFINE_H
#define LIBTNFPROBE_DEFINE_H

#include "format/define.h"

extern struct tnf_definer tnf_definer;

#endif /* LIBTNFPROBE_DEFINE_H */
