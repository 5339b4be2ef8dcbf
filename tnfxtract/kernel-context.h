/*
 * kernel-context.h - the names that the running kernel gives to a copy of its buffer.
 */
#ifndef TNFXTRACT_KERNEL_CONTEXT_H
#define TNFXTRACT_KERNEL_CONTEXT_H

struct kp;
struct context_writer;

/* Devices, tasks that live and that have ended, names that they had, and what values of
   imported probes are called.  May be called while another thread copies the buffer. */
void kernel_context(struct kp *, struct context_writer *);

#endif /* TNFXTRACT_KERNEL_CONTEXT_H */
