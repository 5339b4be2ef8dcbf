/*
 * tasks.h - the processes and threads seen so far.
 */
#ifndef ANALYSIS_TASKS_H
#define ANALYSIS_TASKS_H

#include <tnf/stream.h>

#define TASK_NEW_THREAD		1u
#define TASK_NEW_PROCESS	2u

struct tasks;

struct tasks *tasks_new(void);
void tasks_free(struct tasks *);

/* TASK_NEW_* flags for the thread that wrote the event, 0: seen before. */
unsigned tasks_seen(struct tasks *, const struct tnf_event *);

#endif
