/*
 * task-names.c - processes and threads that contexts tell of, and which was probably meant.
 */
#include "analysis/match.h"
#include "analysis/task-names.h"
#include "common/text.h"
#include "common/xalloc.h"

bool
task_names_thread(const tnf_context_t *const *c, size_t n, const struct selector *s)
{
	size_t n_tasks;

	for (size_t i = 0; i < n; i++) {
		const struct tnf_context_task *t = tnf_context_tasks(c[i], &n_tasks);
		for (size_t k = 0; t != NULL && k < n_tasks; k++)
			if (t[k].tid != t[k].pid && (s->numbers.n == 0 ?
			    match_glob(s->text, t[k].comm) :
			    ranges_has(&s->numbers, (uint64_t)t[k].tid)))
				return true;
	}
	return false;
}

const char *
task_names_guess(const tnf_context_t *const *c, size_t n, const char *name, bool threads)
{
	const struct tnf_context_task *t;
	const char **list = tnf_xcalloc(1, sizeof(*list)), *like;
	size_t n_names = 0, n_tasks;

	for (size_t i = 0; i < n; i++) {
		if ((t = tnf_context_tasks(c[i], &n_tasks)) == NULL)
			continue;
		list = tnf_xreallocarray(list, n_names + n_tasks + 1, sizeof(*list));
		for (size_t k = 0; k < n_tasks; k++)
			if (threads || t[k].tid == t[k].pid)
				list[n_names++] = t[k].comm;
		list[n_names] = NULL;
	}
	like = tnf_word_guess(list, name);
	free(list);
	return like;
}
