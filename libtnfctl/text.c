/*
 * text.c - strings in the target's memory.
 */
#include <stdlib.h>
#include <string.h>

#include "libtnfctl/text.h"

#define PAGE		4096u
#define WINDOW_MAX	(16u * PAGE)

struct text {
	uintptr_t start;	/* page aligned */
	size_t	 size;
	char	 window[WINDOW_MAX];
};

struct text *
tnfctl_text_new(void)
{
	return calloc(1, sizeof(struct text));
}

/* As much from 'start' on as there is, at least a page. */
static bool
move_window(tnfctl_handle_t *h, struct text *s, uintptr_t start)
{
	for (s->size = WINDOW_MAX; s->size >= PAGE; s->size /= 4) {
		s->start = start;
		if (start <= UINTPTR_MAX - s->size &&
		    h->ops->read(h, start, s->window, s->size))
			return true;
	}
	s->size = 0;
	return false;
}

bool
tnfctl_text_read(tnfctl_handle_t *h, struct text *s, uintptr_t address,
    char ret[TEXT_SIZE])
{
	size_t n = 0, part, left;
	const char *at, *end;

	while (n < TEXT_SIZE) {
		if ((address < s->start || address - s->start >= s->size) &&
		    !move_window(h, s, address & ~(uintptr_t)(PAGE - 1)))
			return false;
		at = s->window + (address - s->start);
		left = s->size - (address - s->start);
		part = left < TEXT_SIZE - n ? left : TEXT_SIZE - n;
		end = memchr(at, '\0', part);
		if (end != NULL)
			part = (size_t)(end - at) + 1;
		memcpy(ret + n, at, part);
		if (end != NULL)
			return true;
		n += part;
		address += part;
	}
	return false;
}
