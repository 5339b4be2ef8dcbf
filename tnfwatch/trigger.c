/*
 * trigger.c - when does something fire?
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/expr/expr.h"
#include "tnfwatch/trigger.h"
#include "tnfwatch/util.h"

struct trigger {
	char	*name, *when;
};

struct trigger_engine {
	trigger_fired_fn *fired;
	void	*arg;
	struct trigger *trigger;
	unsigned n;
};

struct trigger_source {
	struct trigger_engine *engine;
	void	*client;
	const struct trigger_source_ops *ops;
	struct expr **expr;	/* by trigger; NULL: none */
	struct expr_source source;
};

struct trigger_engine *
trigger_engine_new(trigger_fired_fn *fired, void *arg)
{
	struct trigger_engine *e = xcalloc(1, sizeof *e);

	e->fired = fired;
	e->arg = arg;
	return e;
}

void
trigger_engine_free(struct trigger_engine *e)
{
	for (unsigned i = 0; e != NULL && i < e->n; i++) {
		free(e->trigger[i].name);
		free(e->trigger[i].when);
	}
	if (e != NULL)
		free(e->trigger);
	free(e);
}

int
trigger_add(struct trigger_engine *e, const char *name, const char *when,
    struct trigger_error *err)
{
	static const struct expr_source none = { .member = tnf_event_value,
	    .item = tnf_value_item };
	struct expr_error why;
	struct expr *x = when != NULL && *when != '\0' ? expr_new(when, &none, &why) : NULL;

	if (x == NULL && when != NULL && *when != '\0') {
		err->offset = why.column;
		snprintf(err->text, sizeof err->text, "%s", why.text);
		return -1;
	}
	expr_free(x);
	e->trigger = xreallocarray(e->trigger, e->n + 1, sizeof *e->trigger);
	e->trigger[e->n].name = xstrdup(name);
	e->trigger[e->n].when = when != NULL && *when != '\0' ? xstrdup(when) : NULL;
	return (int)e->n++;
}

unsigned
trigger_count(const struct trigger_engine *e)
{
	return e->n;
}

const char *
trigger_name(const struct trigger_engine *e, unsigned i)
{
	return e->trigger[i].name;
}

static const char *
trigger_comm(void *arg, const struct tnf_event *ev)
{
	struct trigger_source *s = arg;

	return s->ops->comm(s->client, ev);
}

struct trigger_source *
trigger_source_open(struct trigger_engine *e, void *client, const char *name, pid_t pid,
    bool kernel, const struct trigger_source_ops *ops)
{
	struct trigger_source *s = xcalloc(1, sizeof *s);

	s->engine = e;
	s->client = client;
	s->ops = ops;
	s->source = (struct expr_source){ .member = tnf_event_value, .item = tnf_value_item,
	    .comm = ops != NULL && ops->comm != NULL ? trigger_comm : NULL, .arg = s };
	s->expr = xcalloc(e->n + 1, sizeof *s->expr);
	for (unsigned i = 0; i < e->n; i++)
		if (e->trigger[i].when != NULL)
			s->expr[i] = expr_new(e->trigger[i].when, &s->source, NULL);
	return s;
}

void
trigger_source_close(struct trigger_source *s)
{
	for (unsigned i = 0; s != NULL && i < s->engine->n; i++)
		expr_free(s->expr[i]);
	if (s != NULL)
		free(s->expr);
	free(s);
}

void
trigger_event(struct trigger_source *s, const struct tnf_event *ev)
{
	struct trigger_firing f = { .time = ev->time, .source = s->client, .event = ev,
	    .reason = "the expression holds for this event" };

	for (unsigned i = 0; i < s->engine->n; i++)
		if (s->expr[i] != NULL && expr_true(s->expr[i], ev)) {
			f.trigger = i;
			s->engine->fired(s->engine->arg, &f);
		}
}

void
trigger_lost(struct trigger_source *s, uint64_t n)
{
}

void
trigger_ended(struct trigger_engine *e, struct trigger_source *s, const char *comm, pid_t pid,
    int status, int64_t now)
{
}

void
trigger_tick(struct trigger_engine *e, int64_t now)
{
}
