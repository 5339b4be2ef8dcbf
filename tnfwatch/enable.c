/*
 * enable.c - which probes "enable = thread io name=/re/" means.
 */
#include <stdio.h>
#include <string.h>

#include "prex/attr.h"
#include "prex/cmd.h"
#include "prex/lex.h"
#include "prex/names.h"
#include "prex/selector.h"
#include "tnfwatch/enable.h"
#include "tnfwatch/util.h"

struct enable {
	char	*text;
	struct selectors *selectors;
	bool	 all, always;		/* the sets that were named */
	struct selectors *always_set;
};

/* There are no commands here, so no word is reserved. */
bool
cmd_reserves(const char *word)
{
	return false;
}

struct enable_parser {
	const char *text;
	size_t	 at;
	char	*err;
	size_t	 size;
};

static bool
parser_fail(struct enable_parser *p, const char *word, const char *what)
{
	snprintf(p->err, p->size, "%.60s%s%s", word, *word != '\0' ? ": " : "", what);
	return false;
}

static bool
is_spec(enum token_kind k)
{
	return k == TOK_IDENT || k == TOK_QSTR || k == TOK_REGEX;
}

static bool
parser_spec(struct enable_parser *p, const struct token *tok, struct spec *ret)
{
	char why[80];
	int error;

	if (!is_spec(tok->kind))
		return parser_fail(p, tok->text, "no selector: write key, "
		    "attribute=value, or quote it: 'text', /expression/");
	if ((error = spec_init(ret, tok->value, tok->kind == TOK_REGEX)) == 0)
		return true;
	regerror(error, NULL, why, sizeof why);
	return parser_fail(p, tok->text, why);
}

/* What follows "attribute": "=value" or nothing, which makes it a key. */
static bool
parser_rest(struct enable_parser *p, struct enable *e, struct spec attr)
{
	struct spec value;
	struct token tok;
	size_t n = lex(p->text + p->at, &tok);
	bool ok = true;

	if (tok.kind != TOK_EQUAL) {
		token_free(&tok);
		value = attr;
		spec_init(&attr, "keys", false);
	} else {
		token_free(&tok);
		p->at += n;
		n = lex(p->text + p->at, &tok);
		if ((ok = parser_spec(p, &tok, &value)))
			p->at += n;
		token_free(&tok);
	}
	if (ok)
		selectors_add(e->selectors, attr, value);
	else
		spec_free(&attr);
	return ok;
}

static bool
parser_set(struct enable_parser *p, struct enable *e, const char *name)
{
	if (strcmp(name, "all") == 0)
		return e->all = true;
	if (strcmp(name, "always") == 0)
		return e->always = true;
	return parser_fail(p, name, "no such set: there are $all and $always");
}

static bool
parser_run(struct enable_parser *p, struct enable *e)
{
	struct token tok;
	struct spec attr;
	bool ok = true;

	for (;;) {
		p->at += strspn(p->text + p->at, " \t");
		size_t n = lex(p->text + p->at, &tok);
		if (tok.kind == TOK_END) {
			token_free(&tok);
			return true;
		}
		if (tok.kind == TOK_SET) {
			if ((ok = parser_set(p, e, tok.value)))
				p->at += n;
		} else if ((ok = parser_spec(p, &tok, &attr))) {
			p->at += n;
			ok = parser_rest(p, e, attr);
		}
		token_free(&tok);
		if (!ok)
			return false;
	}
}

struct enable *
enable_parse(const char *text, char *err, size_t size, size_t *offset)
{
	struct enable *e = tnf_xcalloc(1, sizeof *e);
	struct enable_parser p = { text, 0, err, size };

	e->text = tnf_xstrdup(text);
	e->selectors = selectors_new();
	e->always_set = always_selectors();
	if (parser_run(&p, e) && (e->selectors->n > 0 || e->all || e->always ||
	    parser_fail(&p, "", "nothing is named: write keys, or $all")))
		return e;
	*offset = p.at;
	enable_free(e);
	return NULL;
}

void
enable_free(struct enable *e)
{
	if (e == NULL)
		return;
	selectors_unref(e->selectors);
	selectors_unref(e->always_set);
	free(e->text);
	free(e);
}

const char *
enable_text(const struct enable *e)
{
	return e->text;
}

struct enable_run {
	const struct enable *enable;
	struct enabled *done;
};

/* "name N;..." */
static void
enabled_add(struct enabled *e, const char *attrs)
{
	size_t at = strlen(e->names), n;

	e->n++;
	if (strncmp(attrs, "name ", 5) != 0)
		return;
	attrs += 5;
	n = strcspn(attrs, ";");
	if (at + n + 2 <= sizeof e->names)
		snprintf(e->names + at, sizeof e->names - at, "%.*s\n", (int)n, attrs);
}

static bool
enable_matches(const struct enable *e, const struct attrs *attrs)
{
	return e->all || selectors_match(e->selectors, attrs, NULL) ||
	    (e->always && selectors_match(e->always_set, attrs, NULL));
}

static bool
enable_means(const struct enable *e, const tnfctl_probe_state_t *state)
{
	struct names none = TAILQ_HEAD_INITIALIZER(none);
	struct attrs attrs;

	attrs_of_probe(&attrs, state, &none);
	bool means = enable_matches(e, &attrs);
	attrs_free(&attrs);
	return means;
}

bool
enable_has(const struct enable *e, const struct tnf_probe *p)
{
	char *text = tnf_xasprintf("name %s;%s", p->name, p->attrs != NULL ? p->attrs : "");
	struct attrs attrs = { .n = 0 };

	attrs_parse(&attrs, text);
	bool has = enable_matches(e, &attrs);
	attrs_free(&attrs);
	free(text);
	return has;
}

static tnfctl_errcode_t
enable_one(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	struct enable_run *run = arg;
	tnfctl_probe_state_t state;
	tnfctl_errcode_t err = tnfctl_probe_state_get(h, p, &state);

	if (err != TNFCTL_ERR_NONE || !enable_means(run->enable, &state))
		return err;
	enabled_add(run->done, state.attr_string);
	if (!state.traced && (err = tnfctl_probe_trace(h, p, NULL)) != TNFCTL_ERR_NONE)
		return err;
	return state.enabled ? TNFCTL_ERR_NONE : tnfctl_probe_enable(h, p, NULL);
}

tnfctl_errcode_t
enable_apply(const struct enable *e, tnfctl_handle_t *h, struct enabled *done)
{
	struct enable_run run = { e, done };

	return tnfctl_probe_apply(h, enable_one, &run);
}
