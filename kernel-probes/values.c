/*
 * values.c - names of values of imported probes that the buffer has.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "kernel-probes/handle.h"
#include "kernel-probes/import.h"
#include "kernel-probes/tracefs.h"

struct names_call {
	void	(*fn)(void *arg, const char *probe, const char *member, const char *names);
	void	*arg;
	const char *probe;
};

static void
names_each(void *arg, const char *member, const char *names)
{
	const struct names_call *c = arg;

	c->fn(c->arg, c->probe, member, names);
}

static void
names_of(struct kp *kp, const char *probe, struct names_call *c)
{
	const char *dot = strchr(probe, '.');
	char path[256], *text;

	if (dot == NULL || strchr(probe, '/') != NULL)
		return;
	snprintf(path, sizeof path, "events/%.*s/%s/format", (int)(dot - probe), probe,
	    dot + 1);
	if (kp_tracefs_read(kp, path, &text) < 0)
		return;
	c->probe = probe;
	kp_print_format_names(text, names_each, c);
	free(text);
}

KP_EXPORT void
kp_value_names_of(struct kp *kp, const char *probe, void (*fn)(void *arg, const char *probe,
    const char *member, const char *names), void *arg)
{
	struct names_call c = { fn, arg, NULL };

	if (kp_tracefs_find(kp) == 0)
		names_of(kp, probe, &c);
	kp->detail[0] = '\0';
}

KP_EXPORT void
kp_value_names(struct kp *kp, void (*fn)(void *arg, const char *probe, const char *member,
    const char *names), void *arg)
{
	struct names_call c = { fn, arg, NULL };
	struct kp_asked *a = malloc(sizeof *a);
	int fd = bpf_obj_get(KP_PIN_ASKED), r;
	uint32_t slot, next;

	r = fd < 0 || a == NULL || kp_tracefs_find(kp) < 0 ? -1 :
	    bpf_map_get_next_key(fd, NULL, &next);
	while (r == 0) {
		slot = next;
		if (bpf_map_lookup_elem(fd, &slot, a) == 0 && a->defined &&
		    a->kind == KP_IMPORT_TRACEPOINT) {
			a->name[sizeof a->name - 1] = '\0';
			names_of(kp, a->name, &c);
		}
		r = bpf_map_get_next_key(fd, &slot, &next);
	}
	kp->detail[0] = '\0';
	free(a);
	if (fd >= 0)
		close(fd);
}
