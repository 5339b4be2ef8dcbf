/*
 * template.h - the report language of -t FILE (tnffmt(5)).
 *
 * A file is a list of stanzas, each a list of statements; a probe has the
 * stanza that names it, else the text in its own tnf%fmt attribute, else the
 * one called default.
 */
#ifndef TNFDUMP_TEMPLATE_TEMPLATE_H
#define TNFDUMP_TEMPLATE_TEMPLATE_H

#include "analysis/expr/expr.h"
#include "tnfdump/tnfdump.h"

#define TEMPLATE_SIZE_MAX	(1u << 20)	/* of the file */
#define TEMPLATE_DEPTH_MAX	32u		/* blocks in blocks; sub-templates */
#define TEMPLATE_CHAIN_MAX	64u	/* "else if" behind "if" */
#define TEMPLATE_LOOP_MAX	65536u		/* iterations of a loop */

enum statement_kind {
	ST_TEXT, ST_VALUE,		/* parts of a string */
	ST_LET, ST_IF, ST_SWITCH, ST_CASE, ST_BITS, ST_FOR,
	ST_START_TIMER, ST_END_TIMER, ST_USE, ST_SKIP, ST_STOP, ST_LOOP, ST_BREAK, ST_ERROR
};

struct statement {
	enum statement_kind kind;
	struct statement *next;
	struct statement *body;		/* if, for, loop; a switch's cases; a case's; error's text */
	struct statement *other;	/* else */
	char		*text;		/* ST_TEXT, bit name; variable; sub's name */
	char		*absent;	/* bits: text if the bit is not set, or NULL */
	size_t		 len;		/* of ST_TEXT */
	struct expr	*expr;		/* NULL in a case: default */
	struct stanza	*use;
	uint64_t	 mask, value;	/* bits */
	bool		 compare;	/* of bits: those of the mask equal the value; false: one of them is set */
	char		 format;	/* ST_VALUE: letter, or 0 */
	int		 width;		/* ST_VALUE: < 0 left-aligned */
	unsigned	 line;		/* of the file */
};

struct stanza {
	struct stanza	*next;
	const char	*path;		/* of its file */
	char		*pattern;	/* probe name with * and ?; "@name": a sub */
	int		 level;		/* 0 application ... 3 interrupt; -1: by keys */
	char		*label;		/* NULL: the probe's name; "": none */
	struct statement *body;
};

struct template_file {
	struct template_file *next;
	char		 path[];
};

struct template {
	struct template_file *files;
	struct stanza	*stanzas;
	struct expr_source *source;
};

/* template-find.c: the template of -t NAME; NULL after a message. */
struct template *template_open(const char *name, struct expr_source *);

/* template-parse.c: adds the stanzas of a file, whose path is copied.  After the last file,
   template_bind() finds the stanzas that "use" names.  false after a message "FILE:LINE: fact". */
struct template *template_new(struct expr_source *);
bool template_add(struct template *, const char *path, const char *text);
bool template_bind(struct template *);
/* One string alone, as in a probe's tnf%fmt attribute; NULL: not well-formed. */
struct statement *template_parse_string(struct template *, const char *, size_t);
/* NULL is allowed. */
void template_free(struct template *);
void statements_free(struct statement *);

/* True if a value can be printed by this format letter (tnffmt(5)); letter 0: none was given. */
bool template_format_known(char letter);
/* The value of a variable that tnfdump sets, of $1 and so on, or of a word of AIX; false: the name is
   that of a variable of the template's own.  ev: NULL to ask for the name alone. */
bool template_word(struct dump *, const struct tnf_event *, const char *name, struct val *ret);

/* template-run.c: the option -t. */
int  template_set(struct dump *, const char *path);
void template_run_free(struct dump *);

#endif
