/*
 * selector.h - which probes are meant: "order name=/^io/ file='a b.c' $always".
 *
 * A selector is attribute=value, or a value alone, which stands for keys=value.  Each of
 * the two is a word, a 'text' or a /basic regular expression/.  Commands of prex,
 * TNF_ENABLE and "enable" of tnfwatch.conf all come here.  Nothing here ends the process:
 * it may be a program of others.
 */
#ifndef FORMAT_SELECTOR_H
#define FORMAT_SELECTOR_H

#include <regex.h>

#include "format/attributes.h"

enum token_kind {
	TOK_END,	/* end of the line, or a comment up to it */
	TOK_CONTINUE,	/* a backslash, and then the end of the line */
	TOK_SEMICOLON,	/* ends a statement in -c strings; elsewhere an error */
	TOK_EQUAL,
	TOK_COMMA,
	TOK_IDENT,
	TOK_WORD,	/* an identifier that prex's language reserves; not told here */
	TOK_SET,	/* $name */
	TOK_FCN,	/* &name */
	TOK_QSTR,	/* 'text' */
	TOK_REGEX,	/* /pattern/ */
	TOK_INT,
	TOK_BAD
};

/* The first token of a line: how many blanks are before it, and its length. */
enum token_kind tnf_lex(const char *s, size_t *blanks, size_t *len);

struct tnf_spec {
	char	*text;
	regex_t	*regex;		/* NULL: text is to be equal */
	bool	is_regex;	/* with a NULL regex: it matches nothing */
	bool	any;		/* a pattern that fits whatever there is: no choice */
};

/* Returns 0, or what regerror(3) explains: it matches nothing then. */
int	tnf_spec_init(struct tnf_spec *, const char *text, size_t len, bool is_regex);
/* The same from a token: a word, a text or a pattern.  -1: it is none of these. */
int	tnf_spec_token(struct tnf_spec *, enum token_kind, const char *text, size_t len);
void	tnf_spec_free(struct tnf_spec *);
bool	tnf_spec_match(const struct tnf_spec *, const char *text, size_t len);

struct tnf_selector {
	struct tnf_spec attr, value;
};

/* An empty list is all zero, from calloc().  Once made, a list is shared and never
   changed: refs counts who keeps it beside the first. */
struct tnf_selectors {
	unsigned refs;
	size_t	n;
	struct tnf_selector *v;
};

void	tnf_selectors_unref(struct tnf_selectors *);
/* Adds what "$name" stands for where nobody has made sets: "all" is every probe, "always"
   the kernel's that may be on for ever.  ENOENT: there is no such set. */
int	tnf_selectors_add_set(struct tnf_selectors *, const char *name, size_t len);

/* Adds copies of the selectors of a list.  0 or ENOMEM. */
int	tnf_selectors_add_list(struct tnf_selectors *, const struct tnf_selectors *more);

/* Takes the tokens of a list one after the other. */
struct tnf_selectors_parser {
	struct tnf_selectors *list;
	struct tnf_spec attr;
	enum { SELECTOR_NONE, SELECTOR_ATTR, SELECTOR_EQUAL } has;
};
/* 0; -1: the token cannot stand here, and has not been taken; or it has been, and is a
   pattern of which regerror(3) says why it matches nothing. */
int	tnf_selectors_take(struct tnf_selectors_parser *, enum token_kind, const char *text,
	    size_t len);
/* The list is at its end.  false: a value is missing behind "=". */
bool	tnf_selectors_finish(struct tnf_selectors_parser *);
/* Says why no selector has this token as it stands, and what to write; "": that is plain. */
void	tnf_selectors_hint(char *hint, size_t size, enum token_kind, const char *text, size_t len);

/* The selectors and sets of a text of several lines; NULL: 'why' says "word: what is
   wrong", and *at where the word is. */
struct tnf_selectors *tnf_selectors_parse(const char *text, char *why, size_t size, size_t *at);

/* A probe's attributes: those that change, and then what it says of itself. */
struct tnf_probe_attrs {
	bool	enabled, traced;
	const char *object, *funcs;	/* NULL: it has no such attribute */
	const char *own;		/* "name N;slots A B ;keys K;..." */
};
/* The place of a walk; zero at first. */
struct tnf_probe_attrs_at {
	unsigned n;
	const char *rest;
};
bool	tnf_probe_attrs_next(const struct tnf_probe_attrs *, struct tnf_probe_attrs_at *,
	    struct attribute *);
bool	tnf_probe_attrs_find(const struct tnf_probe_attrs *, const char *name, struct attribute *);
/* A point that nobody wrote the probe for, and that nobody uses yet: there are thousands,
   and only who chooses one means it. */
bool	tnf_probe_attrs_unused_import(const struct tnf_probe_attrs *);

/* selector-functions.c: the functions of programs that the selector asks for, as
   tnfctl_import_add() takes them: the pattern, which the caller frees, and the kind.  NULL: it
   asks for none.  "name=work_entry" may also be the name of a probe. */
char	*tnf_selector_functions(const struct tnf_selector *, const char **kind);

/* True if any of the selectors chooses the probe.  With used, sets used[i] of all by which it
   is. */
bool	tnf_selectors_match(const struct tnf_selectors *, const struct tnf_probe_attrs *, bool *used);

#endif
