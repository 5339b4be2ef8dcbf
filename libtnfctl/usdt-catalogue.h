/*
 * usdt-catalogue.h - what the arguments of known providers are called, and which
 * of them are strings: a note tells neither.
 *
 * One file a provider, with its name, of which the first that is found counts:
 * /etc/tnf/providers.d/NAME, then NAME among those that are installed with us.
 * TNF_PROVIDERS in the environment, a directory, comes before both, unless the
 * program is set-id.  The format is in tracing(7).
 */
#ifndef LIBTNFCTL_USDT_CATALOGUE_H
#define LIBTNFCTL_USDT_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel-probes/operand.h"

#define USDT_ARGS_WRONG	"args: a name for each, with :string, :chars or :address where it is no number"
#define USDT_ARG_MAX	32u	/* of an argument's name, NUL included */

enum usdt_type { USDT_NUMBER, USDT_STRING, USDT_CHARS, USDT_ADDRESS };

struct usdt_args_named {
	unsigned n;
	char	 name[KP_OPERANDS_MAX][USDT_ARG_MAX];
	enum usdt_type type[KP_OPERANDS_MAX];
};

/* "name name:type ...", with blanks or commas between them; false: it is not that. */
bool	tnfctl_usdt_args_read(const char *text, struct usdt_args_named *ret);
/* n is 0 where nothing is known. */
void	tnfctl_usdt_catalogue_find(const char *provider, const char *probe,
	    struct usdt_args_named *ret);

#endif
