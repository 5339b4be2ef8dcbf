/*
 * sqlite-file.h - a database that appears under its name whole, or not at all.
 *
 * A thin layer over libsqlite3: each call that fails keeps the first message,
 * and the ones after it do nothing, so a caller asks once when it is done.
 */
#ifndef TNFDUMP_TO_SQLITE_FILE_H
#define TNFDUMP_TO_SQLITE_FILE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sqlite {
	sqlite3	*db;
	const char *path;	/* the name asked for; the caller's */
	char	*temp;		/* the file's name for now */
	char	*error;		/* of the first failure, or NULL */
};

/* The file is made beside 'path', mode 0600. */
void sqlite_create(struct sqlite *, const char *path);
/* Everything in place under the asked name, replacing what had it. */
void sqlite_commit(struct sqlite *);
/* Gives up what is not committed, and all memory. */
void sqlite_close(struct sqlite *);

/* Statements, ended by ';'. */
void sqlite_run(struct sqlite *, const char *sql);
/* As sqlite3_mprintf(): %w is the inside of a quoted identifier. */
void sqlite_runf(struct sqlite *, const char *fmt, ...);
/* NULL after a failure; sqlite3_finalize() gives it back. */
sqlite3_stmt *sqlite_prepare(struct sqlite *, const char *sql);
/* Inserts the row that is bound; bindings stay as they are. */
void sqlite_insert(struct sqlite *, sqlite3_stmt *);

/* Column i (from 1) of the row; a NULL string is NULL.  The text is borrowed
   until sqlite_insert().  What is not UTF-8 becomes a blob. */
void sqlite_bind_chars(sqlite3_stmt *, int i, const char *, size_t);
void sqlite_bind_string(sqlite3_stmt *, int i, const char *);

#endif
