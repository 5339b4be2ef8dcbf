/*
 * where.h - conditions on members, as the kernel compares them.
 */
#ifndef KERNEL_PROBES_WHERE_H
#define KERNEL_PROBES_WHERE_H

#include "kernel-probes/record.h"

struct kp;
struct kp_import;

/*
 * "len > 1000 and dev = \"eth0\" or rc != 0": comparisons of a member with a number
 * or a text, joined by "and", these by "or".  = (==), !=, <, <=, >, >= and & (has
 * any of these bits) for numbers; = and != for texts, which may end in * (what
 * follows may be anything).  0 and the number of conditions in ret->n; -EINVAL, and
 * kp_detail() tells what is not understood.
 */
int kp_where_compile(struct kp *, const struct kp_import *, const char *text,
    struct kp_where *ret);

#endif /* KERNEL_PROBES_WHERE_H */
