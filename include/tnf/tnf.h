/*
 * tnf.h - read a trace file, record by record.
 *
 * The classic interface: a session over a file in memory, and data handles
 * that name a record, a member of one, or an element.  <tnf/stream.h> is the
 * faster way for who only wants the events in order of time.  Nothing in the
 * file is trusted: whatever it holds, a call returns.
 *
 * Errors.  A call that fails tells the error handler (tnf_set_error_handler),
 * records the error for tnf_error_last(), and returns a null handle, NULL, 0
 * or -1.  Where the original printed and aborted by default, the handler here
 * does nothing unless you install one.  "Null is fine" is said where it is.
 *
 * A session and its handles serve one thread at a time; different sessions
 * may be used from different threads.  The error handler is one for the whole
 * process.  Names that are handed out live until tnf_reader_end().
 */
#ifndef TNF_TNF_H
#define TNF_TNF_H

#include <sys/types.h>
#include <stddef.h>
#include <stdint.h>

#include <tnf/com.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TNF TNF;

/* Names a piece of data in one session: a plain value, to be copied freely. */
typedef uint64_t tnf_datum_t;
#define TNF_DATUM_NULL	((tnf_datum_t)0)

/* 0, an errno (1 to 1023), or one of these. */
typedef int tnf_errcode_t;
#define TNF_ERRNO_MAX	1023	/* the highest of the first */
enum {
	TNF_ERR_NONE		= 0,
	TNF_ERR_NOTTNF		= 1024,	/* not a TNF file */
	TNF_ERR_BADDATUM	= 1025,	/* operation on bad or NULL data handle */
	TNF_ERR_TYPEMISMATCH	= 1026,	/* type mismatch */
	TNF_ERR_BADINDEX	= 1027,	/* index out of bounds */
	TNF_ERR_BADSLOT		= 1028,	/* no such slot */
	TNF_ERR_BADREFTYPE	= 1029,	/* bad reference type */
	TNF_ERR_ALLOCFAIL	= 1030,	/* memory allocation failure */
	TNF_ERR_BADTNF		= 1031,	/* bad TNF file */
	TNF_ERR_INTERNAL	= 1032,	/* internal error */
	TNF_ERR_NEWER		= 1033	/* a feature that this reader does not know
					   (Linux) */
};

typedef enum {
	TNF_K_UNKNOWN,
	TNF_K_SCALAR,		/* of a kind that this reader does not know */
	TNF_K_CHAR,
	TNF_K_INT8,
	TNF_K_INT16,
	TNF_K_INT32,
	TNF_K_UINT8,
	TNF_K_UINT16,
	TNF_K_UINT32,
	TNF_K_INT64,
	TNF_K_UINT64,
	TNF_K_FLOAT32,
	TNF_K_FLOAT64,
	TNF_K_ARRAY,
	TNF_K_STRING,
	TNF_K_STRUCT,
	TNF_K_TYPE
} tnf_kind_t;

/* 'tnf' is NULL if the call had no session. */
typedef void tnf_error_handler_t(void *arg, TNF *tnf, tnf_errcode_t);

void	tnf_set_error_handler(tnf_error_handler_t *, void *arg); /* NULL: none */
/* A handler as that of the original: says "error: libtnf: CODE: TEXT" on
   standard error and calls abort(). */
tnf_error_handler_t tnf_default_error_handler;
const char *tnf_error_message(tnf_errcode_t);	/* never NULL */

/* The last error of this thread: its code, where in the file (if 'offset' is
   not NULL) and what exactly ("" if unknown; if 'text' is not NULL).  Clears
   it.  (Linux) */
tnf_errcode_t tnf_error_last(uint64_t *offset, const char **text);

/* Sessions.  The memory is borrowed until tnf_reader_end() and need not be
   aligned.  At most 4,095 at a time. */
tnf_errcode_t tnf_reader_begin(caddr_t base, size_t size, TNF **ret);
tnf_errcode_t tnf_reader_end(TNF *);		/* NULL is fine */

/* Blocks: number 0 is the first one behind the directory.  Never used blocks
   and numbers out of range give the null handle, without error. */
int	    tnf_get_block_count(TNF *);
tnf_datum_t tnf_get_block_absolute(TNF *, unsigned n);
tnf_datum_t tnf_get_block_relative(tnf_datum_t, int n);
tnf_datum_t tnf_get_block_header(tnf_datum_t);	/* null: in the file header */
int	    tnf_is_block_header(tnf_datum_t);
/* Bytes in a block, and where number 0 begins.  (Linux) */
void	    tnf_get_geometry(TNF *, uint32_t *block_size, uint32_t *start);

/* Records, in file order: the file header, then each block's header and what
   is in it.  Behind the last one: null, without error. */
tnf_datum_t tnf_get_file_header(TNF *);
tnf_datum_t tnf_get_next_record(tnf_datum_t);
tnf_datum_t tnf_get_tag_arg(tnf_datum_t);	/* an event's schedule, or null */

int	    tnf_is_inline(tnf_datum_t);
int	    tnf_is_scalar(tnf_datum_t);
int	    tnf_is_record(tnf_datum_t);
int	    tnf_is_array(tnf_datum_t);
int	    tnf_is_string(tnf_datum_t);
int	    tnf_is_struct(tnf_datum_t);
int	    tnf_is_type(tnf_datum_t);

tnf_kind_t  tnf_get_kind(tnf_datum_t);
size_t	    tnf_get_size(tnf_datum_t);		/* bytes */
tnf_datum_t tnf_get_type(tnf_datum_t);
char	   *tnf_get_type_name(tnf_datum_t);
caddr_t	    tnf_get_raw(tnf_datum_t);		/* the bytes, in file order */
uint64_t    tnf_get_offset(tnf_datum_t);	/* in the file.  (Linux) */

unsigned    tnf_get_element_count(tnf_datum_t);
tnf_datum_t tnf_get_element(tnf_datum_t, unsigned);
tnf_datum_t tnf_get_element_type(tnf_datum_t);
caddr_t	    tnf_get_elements(tnf_datum_t);
char	   *tnf_get_chars(tnf_datum_t);		/* ends in NUL */

unsigned    tnf_get_slot_count(tnf_datum_t);
char	   *tnf_get_slot_name(tnf_datum_t, unsigned);
unsigned    tnf_get_slot_index(tnf_datum_t, const char *name);
tnf_datum_t tnf_get_slot_named(tnf_datum_t, const char *name);
tnf_datum_t tnf_get_slot_indexed(tnf_datum_t, unsigned);
int	    tnf_has_slot(tnf_datum_t, const char *name); /* (Linux) */

/* Any scalar of that size; cast for the unsigned ones. */
char	      tnf_get_char(tnf_datum_t);
tnf_int8_t    tnf_get_int8(tnf_datum_t);
tnf_int16_t   tnf_get_int16(tnf_datum_t);
tnf_int32_t   tnf_get_int32(tnf_datum_t);
tnf_int64_t   tnf_get_int64(tnf_datum_t);
tnf_float32_t tnf_get_float32(tnf_datum_t);
tnf_float64_t tnf_get_float64(tnf_datum_t);

/* Type records. */
tnf_kind_t  tnf_type_get_kind(tnf_datum_t);
char	   *tnf_type_get_name(tnf_datum_t);
int	    tnf_type_get_size(tnf_datum_t);	/* arrays, abstract types: -1 */
/* The type itself if it has that name, else its property of that name, else
   its base's; null: absent. */
tnf_datum_t tnf_type_get_property(tnf_datum_t, const char *name);
tnf_datum_t tnf_type_get_base(tnf_datum_t);	/* null: not derived */

#ifdef __cplusplus
}
#endif

#endif /* TNF_TNF_H */
