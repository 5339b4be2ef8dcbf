/*
 * print-format.h - the names that a tracepoint's print format has for values.
 */
#ifndef KERNEL_PROBES_PRINT_FORMAT_H
#define KERNEL_PROBES_PRINT_FORMAT_H

/*
 * Calls fn for each member whose values have names, with these as a text (tnf(5),
 * "Context"): "symbolic MASK VALUE=NAME,..." or "flags MASK DELIMITER VALUE=NAME,...".
 * What cannot be understood is left out.
 */
void tnfctl_print_format_names(const char *format, void (*fn)(void *arg, const char *member,
    const char *names), void *arg);

#endif /* KERNEL_PROBES_PRINT_FORMAT_H */
