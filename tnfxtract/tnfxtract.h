/*
 * tnfxtract.h - what the program's files share.
 */
#ifndef TNFXTRACT_TNFXTRACT_H
#define TNFXTRACT_TNFXTRACT_H

/* "PROGRAM: text" and a newline on stderr. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* TNFXTRACT_TNFXTRACT_H */
