/*
 * tnf_probe.h - TNF_PROBE, for sources that know it by its old name.
 */
#ifndef SYS_TNF_PROBE_H
#define SYS_TNF_PROBE_H

#include <tnf/probe.h>

#endif /* SYS_TNF_PROBE_H */
