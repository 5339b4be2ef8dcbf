/*
 * sqlite-file.c - a database that appears under its name whole, or not at all.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "analysis/json.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "tnfdump/to/sqlite-file.h"

static void
sqlite_fail(struct sqlite *s, const char *text)
{
	if (s->error == NULL)
		s->error = tnf_xstrdup(text);
}

/* Nobody reads the file before it has its name: no journal, no waiting for the
   disk, no locks. */
static const char sqlite_fast[] =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY;"
    "PRAGMA page_size = 16384; PRAGMA cache_size = -65536; BEGIN;";

void
sqlite_create(struct sqlite *s, const char *path)
{
	size_t n = strlen(path) + sizeof(".XXXXXX");

	*s = (struct sqlite){ .path = path, .temp = tnf_xcalloc(1, n) };
	snprintf(s->temp, n, "%s.XXXXXX", path);
	int fd = mkstemp(s->temp);
	if (fd < 0) {
		sqlite_fail(s, strerror(errno));
		free(s->temp);
		s->temp = NULL;
		return;
	}
	close(fd);
	if (sqlite3_open_v2(s->temp, &s->db,
	    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
	    SQLITE_OK)
		sqlite_fail(s, sqlite3_errmsg(s->db));
	sqlite_run(s, sqlite_fast);
}

void
sqlite_commit(struct sqlite *s)
{
	sqlite_run(s, "COMMIT;");
	if (s->error == NULL && sqlite3_close(s->db) != SQLITE_OK)
		sqlite_fail(s, sqlite3_errmsg(s->db));
	else if (s->error == NULL)
		s->db = NULL;
	if (s->error == NULL && rename(s->temp, s->path) != 0)
		sqlite_fail(s, strerror(errno));
	if (s->error == NULL) {
		free(s->temp);
		s->temp = NULL;
	}
}

void
sqlite_close(struct sqlite *s)
{
	sqlite3_close_v2(s->db);
	if (s->temp != NULL)
		unlink(s->temp);
	free(s->temp);
	free(s->error);
}

void
sqlite_run(struct sqlite *s, const char *sql)
{
	if (s->error == NULL &&
	    sqlite3_exec(s->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		sqlite_fail(s, sqlite3_errmsg(s->db));
}

void
sqlite_runf(struct sqlite *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char *sql = sqlite3_vmprintf(fmt, ap);
	va_end(ap);
	if (sql == NULL)
		sqlite_fail(s, "out of memory");
	else
		sqlite_run(s, sql);
	sqlite3_free(sql);
}

sqlite3_stmt *
sqlite_prepare(struct sqlite *s, const char *sql)
{
	sqlite3_stmt *ret = NULL;

	if (s->error == NULL && sqlite3_prepare_v3(s->db, sql, -1,
	    SQLITE_PREPARE_PERSISTENT, &ret, NULL) != SQLITE_OK)
		sqlite_fail(s, sqlite3_errmsg(s->db));
	return ret;
}

void
sqlite_insert(struct sqlite *s, sqlite3_stmt *row)
{
	if (s->error != NULL)
		return;
	if (sqlite3_step(row) != SQLITE_DONE)
		sqlite_fail(s, sqlite3_errmsg(s->db));
	sqlite3_reset(row);
}

void
sqlite_bind_chars(sqlite3_stmt *row, int i, const char *chars, size_t n)
{
	if (tnf_utf8_is_valid(chars, n))
		sqlite3_bind_text64(row, i, chars, n, SQLITE_STATIC, SQLITE_UTF8);
	else
		sqlite3_bind_blob64(row, i, chars, n, SQLITE_STATIC);
}

void
sqlite_bind_string(sqlite3_stmt *row, int i, const char *s)
{
	if (s != NULL)
		sqlite_bind_chars(row, i, s, strlen(s));
	else
		sqlite3_bind_null(row, i);
}
