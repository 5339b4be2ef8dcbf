/*
 * sqlite.h - a database that is written, a table for the members of each kind of probe in it,
 * and one for the sleeps of threads.
 */
#ifndef TNFDUMP_TO_SQLITE_H
#define TNFDUMP_TO_SQLITE_H

#include <sqlite3.h>

#include "tnfdump/tnfdump.h"

/* A database that is written.  The first call that fails keeps its message, and later calls
   do nothing: callers check for errors once, at the end. */
struct sqlite {
	sqlite3	*db;
	const char *path;	/* the name asked for; the caller's */
	char	*temp;		/* the file's name for now */
	char	*error;		/* of the first failure, or NULL */
};

/* Runs statements, each ended by ';'. */
void sqlite_run(struct sqlite *, const char *sql);
/* As sqlite3_mprintf(): %w is the inside of a quoted identifier. */
void sqlite_runf(struct sqlite *, const char *fmt, ...);
/* Returns NULL after a failure; sqlite3_finalize() frees the statement. */
sqlite3_stmt *sqlite_prepare(struct sqlite *, const char *sql);
/* Inserts the bound row and keeps the bindings.  Does nothing if the statement is NULL. */
void sqlite_insert(struct sqlite *, sqlite3_stmt *);
/* Binds column i (from 1).  SQLITE_TRANSIENT copies the text, SQLITE_STATIC borrows it until the
   row is inserted.  Text that is not UTF-8 becomes a blob. */
void sqlite_bind_chars(sqlite3_stmt *, int i, const char *, size_t, sqlite3_destructor_type);

/* Binds a value to each column, and inserts the row; sqlite_bind() only binds, behind so many columns.  'kinds' has a letter for each: 'i' a
   number, 'o' a number or, below 0, null, 'z' a number or, of 0, null, 'x' a number as
   hexadecimal text (once a row), 's' SQL_TEXT() a string or, of NULL, null, '-' null. */
#define SQL_ROW(db, row, kinds, ...)	\
	sqlite_row(db, row, kinds, (const int64_t[]){ __VA_ARGS__ })
#define SQL_TEXT(s)	((int64_t)(intptr_t)(s))
void sqlite_row(struct sqlite *, sqlite3_stmt *, const char *kinds, const int64_t *);
void sqlite_bind(sqlite3_stmt *, int before, const char *kinds, const int64_t *);

/*
 * The rows of a large table, which are inserted several at a time: the way into and out of a
 * statement takes longer than a row.  sqlite_rows_next() tells how many columns precede
 * those of the next row.
 */
struct sqlite_rows {
	struct sqlite	*db;
	sqlite3_stmt	*insert;
	char		*table;		/* as SQL has it, with or without its columns */
	int		 columns, n;
};

void sqlite_rows_begin(struct sqlite_rows *, struct sqlite *, const char *table, int columns);
int  sqlite_rows_next(struct sqlite_rows *);
/* The next row is bound. */
void sqlite_rows_put(struct sqlite_rows *);
void sqlite_rows_end(struct sqlite_rows *);

struct members;

struct members *members_new(struct dump *, struct sqlite *);
void members_free(struct members *);

/* The probe's row in table probes; the first call makes the row and the probe's table. */
int64_t members_probe(struct members *, const struct tnf_probe *);

/* Adds the arguments of event 'id'; a probe without members has none to add. */
void members_add(struct members *, const struct tnf_event *, int64_t id);

struct sleeps;

struct sleeps *sleeps_new(struct dump *, struct sqlite *);
void sleeps_free(struct sleeps *);

/* Takes every event, also those that filters drop. */
void sleeps_event(struct sleeps *, const struct tnf_event *);
/* Inserts a row for each sleep that ended; the index that the events made is asked once. */
void sleeps_end(struct sleeps *);

#endif
