/*
 * member-path.h - arguments such as "o->next->id": from a pointer to a member.
 */
#ifndef LIBTNFCTL_MEMBER_PATH_H
#define LIBTNFCTL_MEMBER_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel-probes/uprobe.h"
#include "libtnfctl/usdt.h"

struct member_path {
	struct kp_hops hops;
	const char *type;	/* static */
	bool	 text;
};

/*
 * Finds the way of a path from the variable of its first name where the code at 'address' is (as
 * the symbol table of the open file has it).  'asked' is what the user calls the member.  false,
 * with the reason in 'why'.
 */
bool	tnfctl_member_path(int fd, const char *shown, uint64_t address, const char *path,
	    enum usdt_type asked, struct member_path *ret, char *why, size_t size);
/* The same for a name of arguments, whose operand is place i of a site. */
bool	tnfctl_member_place(int fd, const struct kp_uprobe_spec *, uint64_t address,
	    const struct usdt_args_named *, unsigned i, struct kp_site *, struct kp_uprobe_found *);
/* Adds the member that tells which ways led nowhere, if there are any. */
void	tnfctl_member_unread(const struct usdt_args_named *, struct kp_uprobe_found *);

#endif
