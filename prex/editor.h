/*
 * editor.h - libedit, which is loaded when a terminal needs it: with the three libraries that
 * libedit needs it would take a fifth of the time in which prex starts, and commands of a script need
 * none of them.
 */
#ifndef PREX_EDITOR_H
#define PREX_EDITOR_H

#include <histedit.h>

#define EDITOR_FUNCTIONS(X)						\
	X(el_init) X(el_end) X(el_get) X(el_set) X(el_gets) X(el_line)	\
	X(el_resize) X(el_source) X(el_insertstr) X(el_deletestr)	\
	X(history) X(history_init) X(history_end)

struct editor {
#define X(name) __typeof__(&name) name;
	EDITOR_FUNCTIONS(X)
#undef X
};

/* To be called when there is a struct term with an editor: term_open() loads them. */
extern struct editor editor;

#endif
