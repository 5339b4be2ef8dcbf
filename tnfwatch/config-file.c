/*
 * config-file.c - the files of a configuration are read, and every mistake in them told.
 *
 * libinih cuts lines into section, key and value; which line that was is counted
 * where it takes them.  A value that goes on in indented lines comes to us in
 * pieces, each under the same key.
 */
#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <ini.h>
#include <libgen.h>
#include <stdarg.h>
#include <string.h>

#include "common/printable.h"
#include "tnfwatch/config-impl.h"
#include "tnfwatch/util.h"

#define LINE_MAX_BYTES	4096

void
config_mistake(struct config_reader *r, unsigned line, const char *fmt, ...)
{
	va_list ap;

	r->n_mistakes++;
	if (r->mistakes == NULL)
		return;
	tnf_printable_printf(r->mistakes, "%s:%u: ", r->path, line);
	va_start(ap, fmt);
	tnf_printable_vprintf(r->mistakes, fmt, ap);
	va_end(ap);
	putc('\n', r->mistakes);
}

void
config_mistake_caret(struct config_reader *r, const char *text, size_t offset)
{
	if (r->mistakes == NULL || offset > strlen(text))
		return;
	tnf_printable_printf(r->mistakes, "    %s\n", text);
	fprintf(r->mistakes, "    %*s^\n", (int)offset, "");
}

/* A line "[section]" is looked at here: libinih tells of sections only with a key. */
static char *
reader_line(char *buf, int size, void *arg)
{
	struct config_reader *r = arg;
	char *p, *end;
	int c;

	if (fgets(buf, size, r->f) == NULL)
		return NULL;
	r->line++;
	if (strchr(buf, '\n') == NULL && !feof(r->f)) {
		config_mistake(r, r->line, "longer than %d bytes: go on in a line that is indented",
		    size);
		while ((c = getc(r->f)) != '\n' && c != EOF)
			;
	}
	p = buf + strspn(buf, " \t");
	r->goes_on = p > buf;
	if (*p == '[' && p == buf && (end = strchr(p, ']')) != NULL) {
		*end = '\0';
		config_section_begin(r, p + 1);
		*end = ']';
	}
	return buf;
}

/* libinih calls this for each line with a value. */
static int
reader_value(void *arg, const char *section, const char *key, const char *value)
{
	struct config_reader *r = arg;
	/* libinih leaves the end of a line that goes on as it is. */
	int len = (int)strlen(value);

	while (len > 0 && isspace((unsigned char)value[len - 1]))
		len--;
	if (r->section_text == NULL) {
		config_mistake(r, r->line, "%s: before the first section: write [watch] first", key);
		return 1;
	}
	/* It goes on from the line before. */
	if (r->goes_on && r->key != NULL && strcmp(r->key, key) == 0) {
		char *both = tnf_xasprintf("%s %.*s", r->value, len, value);
		free(r->value);
		r->value = both;
		return 1;
	}
	config_value_done(r);
	r->key = tnf_xstrdup(key);
	r->value = tnf_xstrndup(value, (size_t)len);
	r->value_line = r->line;
	return 1;
}

static void
text_add(struct config *c, const char *path)
{
	char *text = read_text(path, 1 << 20), *all;

	if (text == NULL)
		return;
	all = tnf_xasprintf("%s# %s\n%s", c->text != NULL ? c->text : "", path, text);
	free(c->text);
	free(text);
	c->text = all;
}

static void
reader_file(struct config_reader *r, const char *path)
{
	int line;

	r->path = path;
	r->line = 0;
	if ((r->f = fopen(path, "re")) == NULL) {
		r->n_mistakes++;
		if (r->mistakes != NULL)
			tnf_printable_printf(r->mistakes, "%s: %s: %s\n", path, strerror(errno),
			    errno == ENOENT ? "name the configuration with -c" :
			    "be root, or name another with -c");
		return;
	}
	ini_max_line = LINE_MAX_BYTES;
	ini_use_stack = true;
	/* Only the first line that is neither is known. */
	if ((line = ini_parse_stream(reader_line, r, reader_value, r)) > 0)
		config_mistake(r, (unsigned)line, "neither [section] nor key = value");
	config_value_done(r);
	fclose(r->f);
	free(r->section_text);
	r->section_text = NULL;
	r->section = S_NONE;
	text_add(r->c, path);
}

static void
reader_directory(struct config_reader *r, const char *file)
{
	char *copy = tnf_xstrdup(file),
	    *pattern = tnf_xasprintf("%s/watch.d/*.conf", dirname(copy));
	glob_t g;

	if (glob(pattern, 0, NULL, &g) == 0) {
		for (size_t i = 0; i < g.gl_pathc; i++)
			reader_file(r, g.gl_pathv[i]);
		/* The last names of the paths are needed no more. */
		r->path = file;
		globfree(&g);
	}
	free(pattern);
	free(copy);
}

void
config_read_files(struct config_reader *r, const char *file)
{
	reader_file(r, file);
	if (r->f != NULL)
		reader_directory(r, file);
}
