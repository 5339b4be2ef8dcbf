/*
 * cookie.c - a program as it was written for Solaris.  Also compiled as C++.
 */
#include <tnf/probe.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cookie_s {
	const char	*flavour;
	int		 chips;
	double		 weight;
	struct cookie_s	*next;
};
typedef struct cookie_s cookie_t;

TNF_DECLARE_RECORD(cookie_t, tnf_cookie);
TNF_DEFINE_RECORD_4(cookie_t, tnf_cookie, tnf_string, flavour, tnf_int, chips,
	tnf_double, weight, tnf_cookie, next)

static int eaten;

static void
bake(cookie_t *c, int n)
{
	TNF_PROBE_2(bake_start, "bakery oven", "sunw%debug 'a cookie goes in'",
		tnf_int, number, n,
		tnf_string, flavour, c->flavour);
	c->chips = n * 3;
	c->weight = n * 1.5;
	TNF_PROBE_1(bake_end, "bakery oven", "", tnf_cookie, cookie, c);
}

static void
eat(cookie_t *c)
{
	if (c->chips > 3)
		TNF_PROBE_1_DEBUG(many_chips, "eater", "sunw%verbosity 2",
			tnf_long, chips, (long)c->chips);
	TNF_PROBE_3(eat, "eater", "com%taste good;com%time 'at tea'",
		tnf_opaque, where, c,
		tnf_ulong, eaten, (unsigned long)++eaten,
		tnf_float, share, (float)(c->weight / 100));
}

/* A connected function. */
void nibble(tnf_probe_setup_t *);

void
nibble(tnf_probe_setup_t *setup)
{
	tnf_probe_control_t *probe = setup->probe;
	const tnf_ops_t *ops = probe->ops;
	const tnf_tag_data_t *type = probe->slots[0];

	eaten += ops == NULL && type == NULL;
}

int
main(int argc, char **argv)
{
	static cookie_t jar[3];
	const char *flavours[] = { "oat", "ginger", NULL };
	int i;

	(void)argc;
	(void)argv;
	TNF_PROBE_0(start, "main", "");
	for (i = 0; i < 3; i++) {
		jar[i].flavour = flavours[i];
		if (i > 0)
			jar[i].next = &jar[i - 1];
		bake(&jar[i], i);
	}
	for (i = 0; i < 3; i++)
		eat(&jar[i]);
	TNF_PROBE_0(stop, "main", "");
	return eaten == 3 || eaten == 0 ? 0 : 1;
}
