/*
 * info-json.c - the files in figures, for programs: one object a line and file.
 */
#include "analysis/losses.h"
#include "tnfdump/report/info.h"
#include "tnfdump/input.h"
#include "analysis/json.h"

static void
put_key(struct out *o, const char *key)
{
	out_char(o, ',');
	json_name(o, key);
	out_char(o, ':');
}

static void
put_u64(struct out *o, const char *key, uint64_t v)
{
	put_key(o, key);
	tnf_out_u64(o, v);
}

static void
put_i64(struct out *o, const char *key, int64_t v)
{
	put_key(o, key);
	tnf_out_i64(o, v);
}

static void
info_json_put_text(struct out *o, const char *key, const char *v)
{
	put_key(o, key);
	json_name(o, v);
}

static void
put_sizes(struct out *o, const struct tnf_summary *s)
{
	put_u64(o, "size", s->size);
	put_u64(o, "size_real", s->size_real);
	info_json_put_text(o, "byte_order", s->swapped ==
	    (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ? "big" : "little");
	put_u64(o, "word_bits", s->word_bits);
	put_u64(o, "block_size", s->block_size);
	put_u64(o, "blocks_tag", s->blocks_tag);
	put_u64(o, "blocks_data", s->blocks_data);
	put_u64(o, "blocks_free", s->blocks_free);
	put_u64(o, "blocks_held", s->blocks_held);
	put_u64(o, "laps", s->generation);
	put_u64(o, "damaged", s->damaged);
	put_u64(o, "overwritten", s->overwritten);
}

static void
put_times(struct out *o, const struct info *f)
{
	int64_t wall;

	if (f->events == 0)
		return;
	put_i64(o, "first_ns", f->first);
	put_i64(o, "last_ns", f->last);
	if (info_wall(f, f->first, &wall))
		put_i64(o, "first_wall_ns", wall);
	if (info_wall(f, f->last, &wall))
		put_i64(o, "last_wall_ns", wall);
}

static void
info_json_put_coverage(struct dump *d, const struct info *f)
{
	int64_t from = info_complete(d, f);
	struct out *o = &d->out;
	bool comma = false;

	put_key(o, "by_cpu");
	out_char(o, '[');
	for (unsigned i = 0; i < f->n_cpu; i++) {
		if (f->cpu[i].events == 0)
			continue;
		out_str(o, comma ? ",{\"cpu\":" : "{\"cpu\":");
		comma = true;
		tnf_out_u64(o, i);
		put_u64(o, "events", f->cpu[i].events);
		put_i64(o, "first_ns", f->cpu[i].first);
		put_i64(o, "last_ns", f->cpu[i].last);
		out_char(o, '}');
	}
	out_char(o, ']');
	if (from != INT64_MAX)
		put_i64(o, "complete_from_ns",
		    from == INT64_MIN ? f->first : from);
}

static void
put_ext(struct out *o, const struct info *f)
{
	const char *ended = info_ended(f), *name;
	unsigned i;
	bool comma = false;

	info_json_put_text(o, "writer", f->ext == NULL ? "original" :
	    f->ext->kind == TNF_EXT_KERNEL ? "kernel" : "process");
	if (f->ext == NULL)
		return;
	put_i64(o, "pid", f->ext->pid);
	put_u64(o, "dropped", info_lost(f));
	put_u64(o, "shortened", f->ext->shortened);
	put_key(o, "dropped_by_reason");
	out_char(o, '{');
	for (i = 0; (name = loss_name(i)) != NULL; i++) {
		if (comma)
			out_char(o, ',');
		comma = true;
		json_name(o, name);
		out_char(o, ':');
		tnf_out_u64(o, f->ext->lost[i]);
	}
	out_char(o, '}');
	if (ended != NULL) {
		put_key(o, "ended");
		out_str(o, ended[0] == 'y' ? "true" : "false");
	}
}

static void
info_json_put_context(struct out *o, const struct info *f)
{
	static const char *const facts[] = { "host", "system", "release",
	    "version", "machine", "cpus", "boot", "zone", "crashed",
	    "missing", "printk" };
	const char *text;

	for (unsigned i = 0; f->context != NULL && i < sizeof facts / sizeof facts[0];
	    i++)
		if ((text = tnf_context_fact(f->context, facts[i])) != NULL)
			info_json_put_text(o, facts[i], text);
}

static void
info_json_put_probes(struct dump *d, const struct info_all *all, const struct info *f)
{
	struct out *o = &d->out;
	bool comma = false;

	put_key(o, "probes");
	out_char(o, '[');
	for (unsigned i = 0; i < tnf_stream_probes(d->stream); i++) {
		const struct tnf_probe *p = tnf_stream_probe(d->stream, i);
		if (p->file != f->in->file)
			continue;
		if (comma)
			out_char(o, ',');
		comma = true;
		out_lit(o, "{\"name\":");
		json_name(o, p->name);
		info_json_put_text(o, "keys", p->keys);
		put_u64(o, "events", info_count(all, i));
		out_char(o, '}');
	}
	out_char(o, ']');
}

int
info_json(struct dump *d)
{
	const struct info_all *all = d->state;
	struct out *o = &d->out;

	for (unsigned i = 0; i < all->n; i++) {
		const struct info *f = &all->files[i];
		out_lit(o, "{\"file\":");
		json_name(o, f->in->path);
		put_sizes(o, &f->sum);
		put_times(o, f);
		put_u64(o, "events", f->events);
		put_u64(o, "threads", idset_count(&f->threads));
		put_u64(o, "processes", idset_count(&f->pids));
		put_u64(o, "cpus_seen", idset_count(&f->cpus));
		info_json_put_coverage(d, f);
		put_ext(o, f);
		info_json_put_context(o, f);
		info_json_put_probes(d, all, f);
		out_lit(o, "}\n");
	}
	return 0;
}
