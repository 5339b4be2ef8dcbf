/*
 * program.h - where the other programs of the family are.
 */
#ifndef COMMON_PROGRAM_H
#define COMMON_PROGRAM_H

/* The path of a program that is beside ours, or beside it in the build, or else in PATH;
   the name without a slash: there is none.  The caller frees it. */
char *tnf_program_path(const char *name);

#endif
