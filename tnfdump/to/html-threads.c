/*
 * html-threads.c - the threads of an HTML report, by the numbers that the machine gave them.
 */
#include <inttypes.h>

#include "analysis/json.h"
#include "common/xalloc.h"
#include "tnfdump/hosts.h"
#include "tnfdump/origin.h"
#include "tnfdump/to/html.h"

struct html_threads {
	struct dump	*d;
	struct map	 numbers;	/* struct html_thread_key -> uint32_t */
	struct out	 json;
};

struct html_threads *
html_threads_new(struct dump *d)
{
	struct html_threads *t = tnf_xcalloc(1, sizeof(*t));

	t->d = d;
	tnf_map_init(&t->numbers, sizeof(uint32_t));
	tnf_out_memory(&t->json);
	return t;
}

void
html_threads_free(struct html_threads *t)
{
	tnf_map_free(&t->numbers);
	tnf_out_close(&t->json);
	free(t);
}

/* Writes "host":"web1", with --hosts. */
static void
put_host(const struct html_threads *t, struct out *o, unsigned host)
{
	unsigned n;

	const struct host *list = hosts_list(t->d, &n);
	if (list == NULL || host >= n)
		return;
	out_lit(o, "\"host\":");
	json_name(o, list[host].name);
	tnf_out_format(o, ",\"nth\":%u,", host);
}

uint32_t
html_thread(struct html_threads *t, struct html_thread_key key, const struct tnf_event *ev)
{
	struct out *o = &t->json;
	bool fresh;

	uint32_t *number = tnf_xmap_put(&t->numbers, &key, sizeof(key), &fresh);
	if (!fresh)
		return *number;
	*number = (uint32_t)t->numbers.n - 1;
	out_str(o, *number > 0 ? ",{" : "{");
	put_host(t, o, (unsigned)key.host);
	tnf_out_format(o, "\"pid\":%" PRId32 ",\"lwpid\":%" PRIu32 ",\"tid\":\"0x%" PRIx64 "\"",
	    key.pid, key.lwpid, key.tid);
	json_member(o, "comm", ev != NULL ? origin_comm_last(t->d, ev) : NULL);
	json_member(o, "process", ev != NULL ? origin_process_last(t->d, ev) : NULL);
	out_char(o, '}');
	return *number;
}

uint32_t
html_thread_writer(struct html_threads *t, const struct tnf_event *ev)
{
	struct html_thread_key key = { ev->pid, ev->lwpid, 0, tnf_file_host(ev->file) };

	if (!ev->kernel)	/* a process in a container has other numbers */
		origin_host(t->d, ev, &key.pid, &key.lwpid);
	return html_thread(t, key, ev);
}

const struct out *
html_threads_json(const struct html_threads *t)
{
	return &t->json;
}
