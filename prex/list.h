/*
 * list.h - the things that "list" can list, a file each.
 */
#ifndef PREX_LIST_H
#define PREX_LIST_H

struct args;
struct shell;

void	list_sets(struct shell *, const struct args *);
void	list_fcns(struct shell *, const struct args *);
void	list_history(struct shell *, const struct args *);
void	list_tracefile(struct shell *, const struct args *);
void	list_probes(struct shell *, const struct args *);
void	list_values(struct shell *, const struct args *);

#endif
