/*
 * leave-stopped.h - a program that prex started stays stopped without prex.
 */
#ifndef PREX_LEAVE_STOPPED_H
#define PREX_LEAVE_STOPPED_H

#include <sys/types.h>

/* 'pid' is stopped; nothing but exit() may follow. */
void leave_stopped(pid_t pid);

#endif
