/*
 * tnf_writer.h - the writer's types, under their old name.
 */
#ifndef SYS_TNF_WRITER_H
#define SYS_TNF_WRITER_H

#include <tnf/writer.h>

#endif /* SYS_TNF_WRITER_H */
