/*
 * rc.h - the init files.
 */
#ifndef PREX_RC_H
#define PREX_RC_H

struct shell;

/* Pushes ./.prexrc and then $HOME/.prexrc, so that the latter comes first. */
void	rc_push(struct shell *);

#endif
