/*
 * source.h - the sources of the buffer: the kernel, or an image.
 */
#ifndef TNFXTRACT_SOURCE_H
#define TNFXTRACT_SOURCE_H

#include <sys/uio.h>

#include <pthread.h>

#include "libtnf/context-write.h"
#include "tnfxtract/image.h"

struct kp;

struct source {
	const void *base;	/* 8-byte aligned */
	size_t	 size;
	struct kp *kernel;
	struct image image;
	struct image_search search;	/* pages found in the image */
	struct image_buffer found;
	const char *dump;	/* the image's name */
	bool	 previous;	/* a buffer of this boot does not count */
	uint8_t	 boot_id[16];	/* the present boot */
	const char *symbols;	/* list in the form of /proc/kallsyms, or NULL */
	uint64_t shift;		/* to add to the list's addresses */
	uint64_t lost[TNF_LOST_REASONS];
	uint64_t lost_cpu_max;	/* on the CPU that lost most */
	int	 lost_cpu;	/* its number, -1: unknown */
};

/* These print what is wrong and return false. */
bool source_open_kernel(struct source *);
bool source_open_dump(struct source *, const char *dump, const char *list);
/* Opens this machine's memory; only buffers of an earlier boot count. */
bool source_open_previous(struct source *);
/* Finds the kernel's buffer in an image that is open, and sets base and size to it. */
bool source_find_buffer(struct source *);
/* source-dump.c: restores definitions that the image lacks; false: none are missing, or
   they cannot be restored. */
bool source_restore_definitions(struct source *);
/* Writes the trace files of processes in the image to the directory. */
bool source_write_files(struct source *, const char *directory);
void source_close(struct source *);

/* Writes the buffer's machine, and its living and ended tasks; may run while another thread
   copies the buffer. */
void source_context(const struct source *, struct context_writer *);
/* Notes for --info that a copy lacks so many of so many blocks. */
void source_context_missing(struct context_writer *, size_t missing, size_t blocks);
/* The lowest address of code of the buffer's kernel. */
uint64_t source_code(const struct source *);
/* Fills in lost[] with the counts up to now, for the copy and for the message. */
void source_count_lost(struct source *);
/* Says on stderr if events were lost. */
void source_report_lost(const struct source *);

/* The names of a copy, read while it is made. */
struct names {
	struct source *source;
	struct context_writer context;
	pthread_t thread;
	bool	  beside;	/* the thread reads the names */
	bool	  begun;
};

/* Begins to read, in a thread if two CPUs may be used. */
void names_begin(struct names *, struct source *);
/* Waits for the end of reading; lost events have been counted then. */
void names_end(struct names *);
void names_free(struct names *);

/* "PROGRAM: text" and a newline on stderr. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The copy's file, which appears complete (common/files.h), or standard output. */
struct output {
	const char *name;	/* as the user gave it; "-": standard output */
	const char *base;	/* its last component, in 'dir' */
	int	    dir;
	struct whole file;	/* for standard output: without a name, copied at the end */
};

/* These return 0 or an errno. */
int  output_open(struct output *, const char *name);
int  output_put(struct output *, uint64_t offset, const void *, size_t n);
int  output_put_pieces(struct output *, uint64_t offset, const struct iovec *, int n);
int  output_commit(struct output *, bool sync);	/* under the asked name */

/* Deletes a file that is not committed.  Safe in signal handlers and when repeated. */
void output_discard(struct output *);

#endif /* TNFXTRACT_SOURCE_H */
