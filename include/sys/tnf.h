/*
 * tnf.h - all of TNF that a traced program uses.
 */
#ifndef SYS_TNF_H
#define SYS_TNF_H

#include <tnf/probe.h>

#endif /* SYS_TNF_H */
