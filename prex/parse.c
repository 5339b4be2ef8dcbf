/*
 * parse.c - cut lines into tokens, collect those of one command, and the grammar that commands
 * share, with its lists of words.
 */
#include "prex/shell.h"

void
strings_add(struct strings *l, char *s)
{
	if (l->n == l->size) {
		l->size = l->size > 0 ? 2 * l->size : 16;
		l->v = tnf_xreallocarray(l->v, l->size + 1, sizeof *l->v);
	}
	l->v[l->n++] = s;
	l->v[l->n] = NULL;
}

static int
strings_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void
strings_sort(struct strings *l)
{
	size_t i, n = 0;

	if (l->n == 0)
		return;
	qsort(l->v, l->n, sizeof *l->v, strings_compare);
	for (i = 1; i < l->n; i++) {
		if (strcmp(l->v[n], l->v[i]) == 0)
			free(l->v[i]);
		else
			l->v[++n] = l->v[i];
	}
	l->n = n + 1;
	l->v[l->n] = NULL;
}

void
strings_free(struct strings *l)
{
	while (l->n > 0)
		free(l->v[--l->n]);
	free(l->v);
	memset(l, 0, sizeof *l);
}

enum word_match
word_find(const char *const *words, const char *text, const char **ret)
{
	size_t len = strlen(text), found = 0;

	for (; *words != NULL; words++) {
		if (strncmp(*words, text, len) != 0)
			continue;
		*ret = *words;
		if ((*words)[len] == '\0')
			return WORD_ONE;
		found++;
	}
	if (found > 1)
		*ret = NULL;
	return found == 0 ? WORD_NONE : found == 1 ? WORD_ONE : WORD_SEVERAL;
}

char *
string_append(char *s, const char *between, const char *more)
{
	char *longer = tnf_xasprintf("%s%s%s", s, *s != '\0' ? between : "", more);

	free(s);
	return longer;
}

char *
word_candidates(const char *const *words, const char *text)
{
	char *s = tnf_xstrdup("");

	for (; *words != NULL; words++)
		if (strncmp(*words, text, strlen(text)) == 0)
			s = string_append(s, ", ", *words);
	return s;
}

bool
lex_is_plain(const char *s)
{
	size_t blanks, len;

	return tnf_lex(s, &blanks, &len) == TOK_IDENT && blanks == 0 &&
	    s[len] == '\0' && !cmd_reserves(s);
}

static long
int_value(const char *text)
{
	char *end;
	unsigned long scale = 1, n = strtoul(text, &end, 10);

	if (*end == 'k' || *end == 'K')
		scale = 1024;
	else if (*end == 'm' || *end == 'M')
		scale = 1024 * 1024;
	else if (*end == 'g' || *end == 'G')
		scale = 1024 * 1024 * 1024;
	return n > INT_MAX / scale ? -1 : (long)(n * scale);
}

size_t
lex(const char *s, struct token *tok)
{
	size_t blanks, len;

	memset(tok, 0, sizeof *tok);
	tok->kind = tnf_lex(s, &blanks, &len);
	s += blanks;
	tok->text = tnf_xstrndup(s, len);
	switch (tok->kind) {
	case TOK_SET:
	case TOK_FCN:
		tok->value = tnf_xstrndup(s + 1, len - 1);
		break;
	case TOK_QSTR:
	case TOK_REGEX:
		tok->value = tnf_xstrndup(s + 1, len - 2);
		break;
	default:
		tok->value = tnf_xstrndup(s, len);
	}
	if (tok->kind == TOK_INT)
		tok->number = int_value(tok->text);
	if (tok->kind == TOK_IDENT && cmd_reserves(tok->text))
		tok->kind = TOK_WORD;
	return blanks + len;
}

bool
token_is_word(const struct token *tok, const char *word)
{
	return tok->kind == TOK_WORD && strcmp(tok->text, word) == 0;
}

void
token_free(struct token *tok)
{
	free(tok->text);
	free(tok->value);
}

static void
statement_add(struct statement *st, const struct token *tok)
{
	st->v = tnf_xreallocarray(st->v, st->n + 2, sizeof *st->v);
	st->v[st->n++] = *tok;
}

static void
statement_finish(struct statement *st, const struct token *end)
{
	st->v = tnf_xreallocarray(st->v, st->n + 1, sizeof *st->v);
	st->v[st->n] = *end;
	if (st->n > 0)
		st->line = st->v[0].line;
}

static void
statement_clear(struct statement *st)
{
	while (st->n > 0)
		token_free(&st->v[--st->n]);
}

/* A statement never goes on in the next source, even if the file ends in the
   middle of a line. */
static bool
end_of_source(struct shell *sh, struct statement *st, bool begun)
{
	struct token end = { .kind = TOK_END };

	if (begun) {
		end.text = tnf_xstrdup("\n");
		end.line = sh->top->line_no;
		statement_finish(st, &end);
		return true;
	}
	source_pop(sh);
	return false;
}

/* In the rules of a process filter a slash begins no pattern. */
static bool
has_paths(const struct statement *st)
{
	const char *name;

	return st->n > 0 && word_find(cmd_names, st->v[0].text, &name) == WORD_ONE &&
	    strcmp(name, "pfilter") == 0;
}

enum statement_read
statement_read(struct shell *sh, struct statement *st)
{
	struct token tok;
	bool begun = false;

	memset(st, 0, sizeof *st);
	while (sh->top != NULL) {
		switch (source_fill(sh, begun)) {
		case SOURCE_LINE:
			break;
		case SOURCE_INTERRUPT:
			statement_clear(st);
			begun = false;
			continue;
		case SOURCE_END:
			if (end_of_source(sh, st, begun))
				return STATEMENT_OK;
			continue;
		}
		if (!begun) {
			free(st->source);
			st->source = tnf_xstrdup(sh->top->name);
			st->line = sh->top->line_no;
			begun = true;
		}
		source_token(sh->top, &tok, has_paths(st));
		if (tok.kind == TOK_END) {
			statement_finish(st, &tok);
			return STATEMENT_OK;
		}
		if (tok.kind == TOK_CONTINUE)
			token_free(&tok);
		else
			statement_add(st, &tok);
	}
	return STATEMENT_EOF;
}

void
statement_free(struct statement *st)
{
	if (st->v != NULL)
		token_free(&st->v[st->n]);
	statement_clear(st);
	free(st->v);
	free(st->source);
	free(st->hint);
}

const struct token *
statement_peek(const struct statement *st)
{
	return &st->v[st->next];
}

const struct token *
statement_take(struct statement *st, enum token_kind kind)
{
	if (st->v[st->next].kind != kind || kind == TOK_END)
		return NULL;
	return &st->v[st->next++];
}

void
statement_hint(struct statement *st, char *hint)
{
	free(st->hint);
	st->hint = hint;
}

bool
statement_at_end(const struct statement *st)
{
	return st->next == st->n;
}

const char *
parse_one_of(struct statement *st, const char *const *words)
{
	const struct token *tok = statement_peek(st);
	const char *word = NULL, *guess;
	char *list;

	if (tok->kind != TOK_IDENT && tok->kind != TOK_WORD)
		return NULL;
	switch (word_find(words, tok->text, &word)) {
	case WORD_ONE:
		st->next++;
		return word;
	case WORD_SEVERAL:
		list = word_candidates(words, tok->text);
		statement_hint(st, tnf_xasprintf("%s: ambiguous: %s", tok->text, list));
		free(list);
		return NULL;
	case WORD_NONE:
		break;
	}
	if ((guess = tnf_word_guess(words, tok->text)) != NULL)
		statement_hint(st, tnf_xasprintf("%s: no such word: did you mean "
		    "\"%s\"?", tok->text, guess));
	return NULL;
}

/* Takes at most one of the command's own words. */
bool
parse_word(struct shell *sh, struct statement *st, struct args *a)
{
	const struct cmd *c = cmd_find(st->v[0].value);

	if (statement_at_end(st))
		return true;
	return (a->word = parse_one_of(st, c->words)) != NULL;
}

/* Says why the token is no selector or attribute as it stands. */
static void
hint_spec(struct statement *st, const struct token *tok)
{
	char hint[200];

	tnf_selectors_hint(hint, sizeof hint, tok->kind, tok->text, strlen(tok->text));
	if (tok->kind == TOK_WORD)
		statement_hint(st, tnf_xasprintf("%s: a word of the language: "
		    "quote it: '%s'", tok->text, tok->text));
	else if (*hint != '\0')
		statement_hint(st, tnf_xstrdup(hint));
}

/* Handles the result for a token; false: the token has not been taken. */
static bool
took_spec(struct shell *sh, struct statement *st, int error)
{
	const struct token *tok = statement_peek(st);
	char why[80];

	if (error < 0) {
		hint_spec(st, tok);
		return false;
	}
	st->next++;
	if (error > 0) {
		regerror(error, NULL, why, sizeof why);
		shell_error(sh, ERROR_SEMANTIC, "invalid regular expression");
		shell_say(sh, "%s: %s", tok->text, why);
	}
	return true;
}

bool
parse_spec(struct shell *sh, struct statement *st, struct args *a)
{
	const struct token *tok = statement_peek(st);
	struct tnf_spec spec;

	if (!took_spec(sh, st, tnf_spec_token(&spec, tok->kind, tok->text, strlen(tok->text))))
		return false;
	specs_add(&a->specs, spec);
	return true;
}

/* Takes the present selectors of a set among selectors: the set may be redefined later. */
static void
take_set(struct shell *sh, struct statement *st, struct tnf_selectors_parser *p)
{
	const char *name = st->v[st->next++].value;
	const struct name *set = names_find(&sh->sets, name);

	tnf_selectors_finish(p);
	if (set != NULL)
		tnf_selectors_add_list(p->list, set->selectors);
	else
		shell_error(sh, ERROR_SEMANTIC, "no set named \"$%s\"", name);
}

bool
parse_selectors(struct shell *sh, struct statement *st, struct args *a)
{
	struct tnf_selectors_parser p = { .list = a->selectors };
	const struct token *tok;

	if (p.list == NULL)
		p.list = a->selectors = tnf_xcalloc(1, sizeof *p.list);
	for (;;) {
		tok = statement_peek(st);
		if (tok->kind == TOK_SET && p.has != SELECTOR_EQUAL)
			take_set(sh, st, &p);
		else if (!took_spec(sh, st, tnf_selectors_take(&p, tok->kind, tok->text,
		    strlen(tok->text))))
			return tnf_selectors_finish(&p);
	}
}

bool
parse_target(struct shell *sh, struct statement *st, struct args *a)
{
	const struct token *tok = statement_peek(st);
	enum token_kind next = statement_at_end(st) ? TOK_END : tok[1].kind;

	if (tok->kind != TOK_SET || next == TOK_SET || next == TOK_IDENT || next == TOK_QSTR ||
	    next == TOK_REGEX)
		return parse_selectors(sh, st, a);
	st->next++;
	a->set = tok->value;
	if (!statement_at_end(st))
		hint_spec(st, statement_peek(st));
	return true;
}

bool
parse_numbers(struct statement *st, struct args *a)
{
	const struct token *tok;
	long *v = NULL;

	do {
		if ((tok = statement_take(st, TOK_INT)) == NULL) {
			free(v);
			return false;
		}
		v = tnf_xreallocarray(v, a->n_numbers + 1, sizeof *v);
		v[a->n_numbers++] = tok->number;
	} while (statement_take(st, TOK_COMMA) != NULL);
	a->numbers = v;
	return true;
}

void
args_free(struct args *a)
{
	tnf_selectors_unref(a->selectors);
	specs_free(&a->specs);
	free((long *)a->numbers);
	free(a->rule);
	free(a->text);
	free(a->names);
	free(a->values);
}

bool
parse_file_name(struct shell *sh, struct statement *st, struct args *a)
{
	const struct token *tok;

	if ((tok = statement_take(st, TOK_QSTR)) == NULL &&
	    (tok = statement_take(st, TOK_IDENT)) == NULL) {
		tok = statement_peek(st);
		if (tok->kind == TOK_REGEX || tok->kind == TOK_BAD)
			statement_hint(st, tnf_xasprintf("%s: a name with more than letters, "
			    "digits, \"_\", \".\" and \"%%\" is quoted: '/usr/bin/a'", tok->text));
		return false;
	}
	a->name = tok->value;
	return true;
}
