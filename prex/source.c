/*
 * source.c - the stack of command sources, and the init files.
 */
#include "common/files.h"
#include "prex/shell.h"

static struct source *
source_push(struct shell *sh, const char *name)
{
	struct source *src = tnf_xcalloc(1, sizeof *src);

	src->name = tnf_xstrdup(name);
	src->pos = "";
	src->below = sh->top;
	sh->top = src;
	return src;
}

static void
source_push_stream(struct shell *sh, FILE *fp, const char *name)
{
	source_push(sh, name)->fp = fp;
}

int
source_push_file(struct shell *sh, const char *path)
{
	FILE *fp = fopen(path, "re");
	struct stat sb;

	if (fp == NULL)
		return errno;
	if (fstat(fileno(fp), &sb) == 0 && S_ISDIR(sb.st_mode)) {
		fclose(fp);
		return EISDIR;
	}
	source_push_stream(sh, fp, path);
	return 0;
}

void
source_push_string(struct shell *sh, const char *text, const char *name)
{
	struct source *src = source_push(sh, name);

	src->line = tnf_xstrdup(text);
	src->pos = src->line;
	src->line_no = 1;
}

void
source_push_stdin(struct shell *sh)
{
	struct source *src = source_push(sh, "<STDIN>");

	src->fp = stdin;
	if (isatty(STDIN_FILENO))
		src->term = term_open(sh);
}

void
source_pop(struct shell *sh)
{
	struct source *src = sh->top;

	sh->top = src->below;
	if (src->fp != NULL && src->fp != stdin)
		fclose(src->fp);
	term_close(src->term);
	free(src->line);
	free(src->name);
	free(src);
}

static enum source_fill
source_read_file(struct source *src)
{
	ssize_t i, n;

	/* A program that writes commands to a pipe may wait for the answer to the last one. */
	fflush(stdout);
	while ((n = getline(&src->line, &src->size, src->fp)) < 0) {
		if (!ferror(src->fp) || errno != EINTR || ending_signal() != 0)
			return SOURCE_END;
		clearerr(src->fp);
	}
	/* A NUL would hide the rest of the line: make it an error. */
	for (i = 0; i < n; i++)
		if (src->line[i] == '\0')
			src->line[i] = '\1';
	return SOURCE_LINE;
}

enum source_fill
source_fill(struct shell *sh, bool in_statement)
{
	struct source *src = sh->top;
	enum source_fill r;

	if (ending_signal() != 0)
		return SOURCE_END;
	if (*src->pos != '\0')
		return SOURCE_LINE;
	if (src->fp == NULL)
		return SOURCE_END;
	r = src->term == NULL ? source_read_file(src) :
	    term_read(src->term, in_statement, &src->line, &src->size);
	src->pos = r == SOURCE_LINE ? src->line : "";
	if (r != SOURCE_END)
		src->line_no++;
	return r;
}

void
source_token(struct source *src, struct token *tok, bool paths)
{
	src->pos += lex(src->pos, tok);
	if (paths && tok->kind == TOK_REGEX) {
		src->pos -= strlen(tok->text) - 1;
		tok->kind = TOK_BAD;
		strcpy(tok->text, "/");
		strcpy(tok->value, "");
	}
	tok->line = src->line_no;
	if (tok->kind == TOK_SEMICOLON)
		tok->kind = src->fp == NULL ? TOK_END : TOK_BAD;
	if (src->fp == NULL && strchr(tok->text, '\n') != NULL)
		src->line_no++;
}

/* A .prexrc in a shared directory must not make us act for its owner. */
#define RC_FILE		".prexrc"
enum { MAX_LINKS = 8 };

static bool
rc_trusted(uid_t uid)
{
	return uid == geteuid() || uid == 0;
}

/* Returns what the link points to, as a path from our directory; NULL: trouble. */
static char *
read_link(const char *path)
{
	char buf[PATH_MAX];
	ssize_t n = readlink(path, buf, sizeof buf - 1);
	const char *slash = strrchr(path, '/');

	if (n < 0)
		return NULL;
	buf[n] = '\0';
	if (buf[0] == '/' || slash == NULL)
		return tnf_xstrdup(buf);
	return tnf_xasprintf("%.*s/%s", (int)(slash - path), path, buf);
}

/* Opens the file behind links of users that we trust; -1: it is not opened, and the reason is
   printed unless there is no such file. */
static int
open_through_links(struct shell *sh, const char *path)
{
	char *at = tnf_xstrdup(path), *next;
	struct stat sb;
	int fd = -1, i;

	for (i = 0; i < MAX_LINKS && lstat(at, &sb) == 0 && S_ISLNK(sb.st_mode); i++) {
		if (!rc_trusted(sb.st_uid)) {
			shell_say(sh, "%s: not read: %s is a symbolic link of user %u: "
			    "remove it", path, at, (unsigned)sb.st_uid);
			free(at);
			return -1;
		}
		next = read_link(at);
		free(at);
		if ((at = next) == NULL)
			return -1;
	}
	/* O_NONBLOCK: the file might be a pipe. */
	fd = open(at, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && errno != ENOENT && errno != ENOTDIR)
		shell_error(sh, ERROR_TARGET, "cannot open \"%s\": %s", path, strerror(errno));
	free(at);
	return fd;
}

static bool
rc_acceptable(struct shell *sh, const char *path, const struct stat *sb)
{
	if (!S_ISREG(sb->st_mode))
		shell_say(sh, "%s: not read: not a regular file", path);
	else if (!rc_trusted(sb->st_uid))
		shell_say(sh, "%s: not read: it belongs to user %u: remove it, or make it "
		    "yours (chown)", path, (unsigned)sb->st_uid);
	else if (sb->st_mode & (S_IWGRP | S_IWOTH))
		shell_say(sh, "%s: not read: others may write to it: chmod go-w %s", path, path);
	else
		return true;
	return false;
}

static void
rc_push_checked(struct shell *sh, const char *path, struct stat *sb)
{
	int fd = open_through_links(sh, path);
	FILE *fp;

	memset(sb, 0, sizeof *sb);
	if (fd < 0)
		return;
	if (fstat(fd, sb) == 0 && rc_acceptable(sh, path, sb) && (fp = fdopen(fd, "r")) != NULL)
		source_push_stream(sh, fp, path);
	else
		close(fd);
}

void
rc_push(struct shell *sh)
{
	const char *home = getenv("HOME");
	struct stat here, there;
	char *path = NULL;

	/* If the working directory is the home directory, the file is read once. */
	if (home != NULL && *home != '\0')
		path = tnf_xasprintf("%s/" RC_FILE, home);
	if (path == NULL || stat(RC_FILE, &here) < 0 || stat(path, &there) < 0 ||
	    !stat_same(&here, &there))
		rc_push_checked(sh, "./" RC_FILE, &here);
	if (path != NULL)
		rc_push_checked(sh, path, &there);
	free(path);
}
