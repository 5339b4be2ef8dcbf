/*
 * kdump-loop.c - a libkdumpfile that never comes back from the page at LOOP_AT, and is the
 * one whose path LIBKDUMPFILE tells otherwise.
 *
 * Damage that sends the library round for ever depends on its version: this one does
 * not wait for it.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <libkdumpfile/kdumpfile.h>

#pragma GCC visibility push(default)

static void *
library(const char *name)
{
	void *handle = dlopen(getenv("LIBKDUMPFILE"), RTLD_NOW | RTLD_LOCAL);
	void *function = handle != NULL ? dlsym(handle, name) : NULL;

	if (function == NULL) {
		fprintf(stderr, "kdump-loop: %s\n", dlerror());
		exit(1);
	}
	return function;
}

#define FORWARD(type, name, parameters, arguments)			\
	type								\
	name parameters							\
	{								\
		return ((type (*) parameters)library(#name)) arguments;	\
	}

FORWARD(kdump_ctx_t *, kdump_new, (void), ())
FORWARD(kdump_status, kdump_set_attr,
    (kdump_ctx_t *ctx, const char *key, const kdump_attr_t *value), (ctx, key, value))
FORWARD(kdump_status, kdump_get_typed_attr,
    (kdump_ctx_t *ctx, const char *key, kdump_attr_t *value), (ctx, key, value))
FORWARD(kdump_status, kdump_bmp_find_set, (kdump_bmp_t *map, kdump_addr_t *at), (map, at))
FORWARD(kdump_status, kdump_bmp_find_clear, (kdump_bmp_t *map, kdump_addr_t *at), (map, at))
FORWARD(kdump_status, kdump_vmcoreinfo_raw, (kdump_ctx_t *ctx, char **text), (ctx, text))

kdump_status
kdump_read(kdump_ctx_t *ctx, kdump_addrspace_t space, kdump_addr_t at, void *to, size_t *n)
{
	kdump_status (*read_it)(kdump_ctx_t *, kdump_addrspace_t, kdump_addr_t, void *,
	    size_t *) = (__typeof__(&kdump_read))library("kdump_read");

	while (at / 4096 == strtoull(getenv("LOOP_AT"), NULL, 0) / 4096)
		;
	return read_it(ctx, space, at, to, n);
}
