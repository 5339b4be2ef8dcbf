/*
 * complete.c - finds how the line could go on.  Commands and their words come from the table,
 * the rest from the session, the target and, for a rule of "pfilter", from the processes,
 * programs, cgroups and units that exist.
 */
#include <sys/vfs.h>

#include <ctype.h>
#include <fts.h>
#include <linux/magic.h>

#include "common/files.h"
#include "prex/shell.h"

/* Takes a candidate; one that does not begin as the word does is dropped. */
static void
completion_add(struct completion *c, char *text)
{
	if (strncmp(text, c->word, strlen(c->word)) == 0)
		strings_add(&c->candidates, text);
	else
		free(text);
}

/* A rule is a key and a value: 'add' knows the values that there are. */
struct rule_kind {
	const char *key;
	void	(*add)(struct completion *, const char *key, const char *value);
};

static void
add_rule(struct completion *c, const char *key, const char *value)
{
	completion_add(c, tnf_xasprintf("%s%s", key, value));
}

/* Goes over the directories "/proc/PID". */
static void
each_process(struct completion *c, const char *key,
    void (*fn)(struct completion *, const char *key, const char *pid))
{
	autoclosedir DIR *d = opendir("/proc");
	struct dirent *e;

	while (d != NULL && (e = readdir(d)) != NULL)
		if (isdigit((unsigned char)e->d_name[0]))
			fn(c, key, e->d_name);
}

static void
add_pids(struct completion *c, const char *key, const char *value)
{
	each_process(c, key, add_rule);
}

/* Adds a name, unless it would need quotes. */
static void
add_name(struct completion *c, const char *key, const char *pid)
{
	char name[64];

	if (tnf_proc_file(name, sizeof name, "/proc/%s/comm", pid) < 0)
		return;
	name[strcspn(name, "\n")] = '\0';
	if (*name != '\0' && strpbrk(name, " \t'\"#;\\") == NULL)
		add_rule(c, key, name);
}

static void
add_programs(struct completion *c, const char *key, const char *value)
{
	each_process(c, key, add_name);
}

/* Finds the unified hierarchy, which is mounted alone, or beside older ones. */
static const char *
find_groups(void)
{
	static const char *const places[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	struct statfs fs;

	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (statfs(places[i], &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC)
			return places[i];
	return NULL;
}

/* Adds one level of the tree; a group that has others can be completed further. */
static void
add_groups(struct completion *c, const char *key, const char *value)
{
	const char *top = find_groups(), *slash = strrchr(value, '/');
	autofree char *above = tnf_xstrndup(value, slash == NULL ? 0 : (size_t)(slash - value));
	autofree char *dir = top == NULL ? NULL : tnf_xasprintf("%s%s", top, above);
	autoclosedir DIR *d = dir == NULL ? NULL : opendir(dir);
	struct dirent *e;
	struct stat st;

	while (d != NULL && (e = readdir(d)) != NULL) {

		if (e->d_name[0] == '.')
			continue;
		autofree char *full = tnf_xasprintf("%s/%s", dir, e->d_name);
		if (stat(full, &st) == 0 && S_ISDIR(st.st_mode)) {
			autofree char *path = tnf_xasprintf("%s/%s%s", above, e->d_name,
			    st.st_nlink > 2 ? "/" : "");
			add_rule(c, key, path);
		}
	}
}

static bool
is_unit(const char *name)
{
	static const char *const ends[] = { ".service", ".scope", ".slice", ".socket" };
	size_t n = strlen(name);

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (n > strlen(ends[i]) && strcmp(name + n - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

static void
add_units(struct completion *c, const char *key, const char *value)
{
	const char *top = find_groups();
	char *const tops[] = { (char *)top, NULL };
	FTS *fts = top == NULL ? NULL : fts_open(tops, FTS_PHYSICAL | FTS_NOSTAT, NULL);
	FTSENT *e;

	while (fts != NULL && (e = fts_read(fts)) != NULL)
		if (e->fts_info == FTS_D && is_unit(e->fts_name))
			add_rule(c, key, e->fts_name);
	if (fts != NULL)
		fts_close(fts);
}

/* Adds the names that this node has for its pods: POD_NAMESPACE_NAME-ID.log. */
static void
add_pods(struct completion *c, const char *key, const char *value)
{
	autoclosedir DIR *d = opendir(CONTAINER_LOGS);
	struct dirent *e;

	while (d != NULL && (e = readdir(d)) != NULL) {
		autofree char *name = tnf_xstrndup(e->d_name, strcspn(e->d_name, "_"));

		if (strchr(e->d_name, '_') != NULL)
			add_rule(c, key, name);
	}
}

static const struct rule_kind kinds[] = {
	{ "cgroup=", add_groups },
	{ "children=", add_pids },
	{ "name=", add_programs },
	{ "pid=", add_pids },
	{ "pod=", add_pods },
	{ "unit=", add_units },
};

/* Adds a rule that exists, which the word may begin. */
static void
add_present(void *arg, const char *rule)
{
	add_rule(arg, "", rule);
}

/* A part of complete(): rules of "pfilter add", or of "pfilter delete". */
static void
complete_filter(struct shell *sh, const char *text, bool delete, struct completion *c)
{
	const char *blank = strrchr(text, ' ');

	free(c->word);
	c->word = tnf_xstrdup(blank == NULL ? text : blank + 1);
	if (delete)
		tnfctl_filter_rule_apply(sh->target, add_present, c);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		size_t n = strlen(kinds[i].key);

		if (strncmp(c->word, kinds[i].key, n) != 0)
			add_rule(c, kinds[i].key, "");
		else if (!delete)
			kinds[i].add(c, kinds[i].key, c->word + n);
	}
}

struct members {
	const struct token *tokens;	/* of the selectors */
	size_t	n;
	const char *stay;	/* what of the word is before the name of a member */
	struct completion *c;
};

/* Is the probe named there?  Many probes have a key, but no member, in common. */
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
	const char *p = slots->value, *end = p + slots->value_len, *slot;
	size_t len;

	while (attribute_word(&p, end, &slot, &len))
		if (len > 0)
			completion_add(m->c, tnf_xasprintf("%s%.*s", m->stay, (int)len, slot));
}

static tnfctl_errcode_t
complete_where_visit(struct shell *sh, tnfctl_handle_t *h, tnfctl_probe_t *p,
    const struct tnf_probe_attrs *attrs, void *arg)
{
	struct members *m = arg;
	struct tnf_probe_attrs more;
	struct attribute slots;

	if (!is_named(m, attrs) || !attrs_describe(sh, p, &more))
		return TNFCTL_ERR_NONE;
	if (tnf_probe_attrs_find(&more, "slots", &slots))
		add_members(m, &slots);
	free((void *)more.funcs);
	return TNFCTL_ERR_NONE;
}

static void
complete_where(struct shell *sh, const struct token *tokens, size_t n, struct completion *c)
{
	size_t at = strlen(c->word);
	struct members m = { .tokens = tokens, .n = n, .c = c };

	while (at > 0 && (isalnum((unsigned char)c->word[at - 1]) || c->word[at - 1] == '_'))
		at--;
	autofree char *stay = at > 0 ? tnf_xstrndup(c->word, at) : tnf_xstrdup("'");
	m.stay = stay;
	probes_visit(sh, complete_where_visit, &m);
}

enum { MAX_TOKENS = 256 };

struct context {
	struct shell *sh;
	struct token tokens[MAX_TOKENS];	/* before the word */
	size_t	n;
	struct completion *c;
	const char *text;			/* the whole line */
};

/* Adds a value or attribute, which may need quotes or have them already. */
static void
add_text(struct context *x, const char *s, const char *tail)
{
	const char *word = x->c->word;
	bool quoted = *word == '\'';

	if (strncmp(s, word + quoted, strlen(word + quoted)) != 0 || strpbrk(s, "'\n") != NULL)
		return;
	if (quoted || !lex_is_plain(s))
		strings_add(&x->c->candidates, tnf_xasprintf("'%s'%s", s, tail));
	else
		strings_add(&x->c->candidates, tnf_xasprintf("%s%s", s, tail));
}

static void
add_words(struct context *x, const char *const *words)
{
	for (; words != NULL && *words != NULL; words++)
		completion_add(x->c, tnf_xstrdup(*words));
}

/* Adds sets or functions. */
static void
add_names(struct context *x, int mark, const struct names *l)
{
	const struct name *n;

	TAILQ_FOREACH(n, l, entry)
		completion_add(x->c, tnf_xasprintf("%c%s", mark, n->name));
}

static void
complete_collect(struct context *x, const struct token *attr, struct values *l)
{
	struct specs specs = { 0 };

	specs_add_text(&specs, attr != NULL ? attr->value : "",
	    attr == NULL || attr->kind == TOK_REGEX);
	if (values_collect(x->sh, &specs, l) != TNFCTL_ERR_NONE) {
		values_free(l);
		memset(l, 0, sizeof *l);
	}
	specs_free(&specs);
}

static void
add_attrs(struct context *x, const char *tail)
{
	struct values l;

	complete_collect(x, NULL, &l);
	for (size_t i = 0; i < l.n; i++)
		add_text(x, l.v[i].attr, tail);
	values_free(&l);
}

static void
add_values(struct context *x, const struct token *attr)
{
	struct values l;

	complete_collect(x, attr, &l);
	for (size_t i = 0; i < l.n; i++)
		for (size_t j = 0; j < l.v[i].values.n; j++)
			if (*l.v[i].values.v[j] != '\0')
				add_text(x, l.v[i].values.v[j], "");
	values_free(&l);
}

/* Adds selectors and sets, from the i-th token on. */
static void
add_target(struct context *x, size_t i)
{
	struct token keys = { .kind = TOK_IDENT, .value = (char[]){ "keys" } };

	if (x->n > i + 1 && x->tokens[x->n - 1].kind == TOK_EQUAL) {
		add_values(x, &x->tokens[x->n - 2]);
		return;
	}
	add_names(x, '$', &x->sh->sets);
	add_values(x, &keys);
	add_attrs(x, "=");
}

static void
add_list(struct context *x, const struct cmd *cmd)
{
	for (size_t i = 1; i < x->n; i++)
		if (token_is_word(&x->tokens[i], "probes")) {
			add_target(x, i + 1);
			return;
		}
	if (x->n == 1)
		add_words(x, cmd->words);
	else if (x->tokens[1].kind != TOK_WORD)
		completion_add(x->c, tnf_xstrdup("probes"));
	else if (!token_is_word(&x->tokens[1], "values"))
		return;
	add_attrs(x, "");
}

/* Adds the name of a file, always in quotes: most names have a slash or a hyphen. */
static void
add_file(struct context *x, const char *dir, const char *prefix, const char *name)
{
	autofree char *real = tnf_xasprintf("%s/%s", dir, name);
	struct stat sb;
	bool is_dir = stat(real, &sb) == 0 && S_ISDIR(sb.st_mode);

	if (strchr(name, '\'') == NULL)
		strings_add(&x->c->candidates, tnf_xasprintf("'%s%s%s", prefix,
		    name, is_dir ? "/" : "'"));
}

static void
add_files(struct context *x)
{
	const char *typed = x->c->word + (*x->c->word == '\'');
	const char *slash = strrchr(typed, '/');
	const char *base = slash != NULL ? slash + 1 : typed;
	autofree char *prefix = tnf_xstrndup(typed, base - typed);
	const char *dir = *prefix != '\0' ? prefix : ".";
	struct dirent *de;
	autoclosedir DIR *dp = opendir(dir);

	while (dp != NULL && (de = readdir(dp)) != NULL)
		if (strncmp(de->d_name, base, strlen(base)) == 0 &&
		    (de->d_name[0] != '.' || *base == '.'))
			add_file(x, dir, prefix, de->d_name);
}

/* Adds selectors, then the words behind them, and conditions in quotes. */
static void
add_trace(struct context *x)
{
	static const char *const words[] = { "stack=", "ustack=", "args", "where", "then freeze" };
	const struct token *last = &x->tokens[x->n - 1];

	if (x->n > 2 && last->kind == TOK_IDENT && strcmp(last->text, "where") == 0) {
		complete_where(x->sh, x->tokens + 1, x->n - 2, x->c);
		return;
	}
	add_target(x, 1);
	if (x->n > 1 && last->kind != TOK_EQUAL)
		for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
			completion_add(x->c, tnf_xstrdup(words[i]));
}

static void
add_filter(struct context *x, const struct cmd *cmd)
{
	if (x->n == 1) {
		add_words(x, cmd->words);
		completion_add(x->c, tnf_xstrdup("except"));
	} else if (token_is_word(&x->tokens[1], "add") || token_is_word(&x->tokens[1], "delete")) {
		complete_filter(x->sh, x->text, token_is_word(&x->tokens[1], "delete"), x->c);
	}
}

static void
add_arguments(struct context *x, const struct cmd *cmd)
{
	switch (cmd->complete) {
	case COMPLETE_NOTHING:
		break;
	case COMPLETE_WORDS:
		if (x->n == 1)
			add_words(x, cmd->words);
		break;
	case COMPLETE_TARGET:
		add_target(x, 1);
		break;
	case COMPLETE_TRACE:
		add_trace(x);
		break;
	case COMPLETE_FILTER:
		add_filter(x, cmd);
		break;
	case COMPLETE_CONNECT:
		if (x->n == 1)
			add_names(x, '&', &x->sh->fcns);
		else
			add_target(x, 2);
		break;
	case COMPLETE_CREATE:
	case COMPLETE_NAME:
		if (x->n == 1) {
			add_names(x, '$', &x->sh->sets);
			add_names(x, '&', &x->sh->fcns);
		} else if (cmd->complete == COMPLETE_CREATE && x->tokens[1].kind == TOK_SET) {
			add_target(x, 2);
		}
		break;
	case COMPLETE_LIST:
		add_list(x, cmd);
		break;
	case COMPLETE_FILE:
		if (x->n == 1)
			add_files(x);
		break;
	case COMPLETE_HELP:
		if (x->n == 1) {
			add_words(x, cmd_names);
			add_words(x, topic_names);
		}
		break;
	}
}

/* Cuts the text into tokens and the word at its end. */
static void
complete_cut(struct context *x, const char *text)
{
	size_t blanks, len;

	while (x->n < MAX_TOKENS) {
		enum token_kind kind = tnf_lex(text, &blanks, &len);
		const char *s = text + blanks;

		if (s[0] == '\0' || (s[len] == '\0' && kind != TOK_EQUAL) ||
		    (kind == TOK_BAD && strchr("'/$&", *s) != NULL)) {
			x->c->word = tnf_xstrdup(s);
			return;
		}
		text += lex(text, &x->tokens[x->n++]);
	}
	x->c->word = tnf_xstrdup("");
}

void
complete(struct shell *sh, const char *text, struct completion *c)
{
	struct context *x = tnf_xcalloc(1, sizeof *x);
	const char *name = NULL;

	memset(c, 0, sizeof *c);
	x->sh = sh;
	x->c = c;
	x->text = text;
	complete_cut(x, text);
	if (x->n == 0)
		add_words(x, cmd_names);
	else if (word_find(cmd_names, x->tokens[0].text, &name) == WORD_ONE)
		add_arguments(x, cmd_find(name));
	strings_sort(&c->candidates);
	while (x->n > 0)
		token_free(&x->tokens[--x->n]);
	free(x);
}

void
completion_free(struct completion *c)
{
	free(c->word);
	strings_free(&c->candidates);
}
