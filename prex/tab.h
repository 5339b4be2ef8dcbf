/*
 * tab.h - the Tab key.
 */
#ifndef PREX_TAB_H
#define PREX_TAB_H

#include <histedit.h>

struct shell;

extern struct shell *tab_shell;		/* libedit passes no argument for us */

unsigned char tab_complete(EditLine *, int ch);

#endif
