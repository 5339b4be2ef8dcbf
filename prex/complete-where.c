/*
 * complete-where.c - the members of which the conditions of "trace" can speak.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <tnf/tnfctl.h>

#include "prex/attr.h"
#include "prex/complete.h"
#include "prex/lex.h"
#include "prex/probe-op.h"
#include "prex/shell.h"

struct members {
	const struct token *tokens;	/* of the selectors */
	size_t	n;
	const char *stay;	/* what of the word is before the name of a member */
	struct completion *c;
};

/* Is it named there?  Many have one key, and no member in common. */
static bool
is_named(const struct members *m, const struct tnf_probe_attrs *attrs)
{
	struct attribute name;
	bool has = tnf_probe_attrs_find(attrs, "name", &name);

	for (size_t i = 0; has && i < m->n; i++)
		if (m->tokens[i].value != NULL &&
		    strncmp(m->tokens[i].value, name.value, name.value_len) == 0 &&
		    m->tokens[i].value[name.value_len] == '\0')
			return true;
	return false;
}

static void
add_members(struct members *m, const struct attribute *slots)
{
	const char *word = m->c->word, *p = slots->value, *end = p + slots->value_len, *slot;
	size_t len;

	while (attribute_word(&p, end, &slot, &len)) {
		char *text = tnf_xasprintf("%s%.*s", m->stay, (int)len, slot);

		if (len > 0 && strncmp(text, word, strlen(word)) == 0)
			strings_add(&m->c->candidates, text);
		else
			free(text);
	}
}

static void
complete_where_visit(struct shell *sh, tnfctl_probe_t *p, const struct tnf_probe_attrs *attrs,
    void *arg)
{
	struct members *m = arg;
	tnfctl_probe_state_t state;
	struct tnf_probe_attrs more;
	struct attribute slots;

	if (!is_named(m, attrs) || tnfctl_probe_describe(sh->target, p) != TNFCTL_ERR_NONE ||
	    tnfctl_probe_state_get(sh->target, p, &state) != TNFCTL_ERR_NONE)
		return;
	attrs_of_probe(&more, &state, &sh->fcns);
	if (tnf_probe_attrs_find(&more, "slots", &slots))
		add_members(m, &slots);
	free((void *)more.funcs);
}

void
complete_where(struct shell *sh, const struct token *tokens, size_t n, struct completion *c)
{
	size_t at = strlen(c->word);
	struct members m = { .tokens = tokens, .n = n, .c = c };
	char *stay;

	while (at > 0 && (isalnum((unsigned char)c->word[at - 1]) || c->word[at - 1] == '_'))
		at--;
	stay = at > 0 ? tnf_xstrndup(c->word, at) : tnf_xstrdup("'");
	m.stay = stay;
	probes_visit(sh, complete_where_visit, &m);
	free(stay);
}
