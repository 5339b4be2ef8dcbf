/*
 * code.c - the bytes of an ELF file as they are loaded, and the marks on them.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/elf-file.h"
#include "libtnfctl/code.h"

#define LOADED_MAX	((uint64_t)1 << 30)	/* bytes of one object */
#define ADDRESS_MAX	((uint64_t)1 << 47)

struct loading {
	struct code *code;
	struct elffile *elf;
	uint64_t total;
	int	 error;
};

static bool
load_segment(void *arg, const struct elffile_segment *s)
{
	struct loading *l = arg;
	struct code *c = l->code;
	struct code_segment *into = &c->segments[c->n];

	if (s->type != PT_LOAD || s->size == 0)
		return true;
	if (c->n == CODE_SEGMENTS_MAX || s->size > LOADED_MAX - l->total ||
	    s->address > ADDRESS_MAX) {
		l->error = EFBIG;
		return false;
	}
	*into = (struct code_segment){ .address = s->address, .size = s->size, .exec = s->exec };
	l->total += s->size;
	into->bytes = malloc(s->size);
	into->marks = s->exec ? calloc(s->size / 8 + 1, 1) : NULL;
	c->n++;
	if (into->bytes == NULL || (s->exec && into->marks == NULL))
		l->error = ENOMEM;
	else
		into->size = tnf_elffile_read(l->elf, s->address, into->bytes, s->size);
	return l->error == 0;
}

bool
tnfctl_code_load(struct elffile *e, struct code *ret)
{
	struct loading l = { .code = ret, .elf = e };

	memset(ret, 0, sizeof *ret);
	tnf_elffile_segments(e, load_segment, &l);
	errno = l.error;
	return l.error == 0;
}

void
tnfctl_code_keep_executed(struct code *c)
{
	for (unsigned i = 0; i < c->n; i++)
		if (!c->segments[i].exec) {
			free(c->segments[i].bytes);
			c->segments[i].bytes = NULL;
		}
	free(c->anchors);
	c->anchors = NULL;
	c->nanchors = 0;
}

void
tnfctl_code_free(struct code *c)
{
	for (unsigned i = 0; i < c->n; i++) {
		free(c->segments[i].bytes);
		free(c->segments[i].marks);
	}
	free(c->frames);
	free(c->anchors);
	memset(c, 0, sizeof *c);
}

static const struct code_segment *
segment_at(const struct code *c, uint64_t address)
{
	for (unsigned i = 0; i < c->n; i++)
		if (address - c->segments[i].address < c->segments[i].size)
			return &c->segments[i];
	return NULL;
}

const uint8_t *
tnfctl_code_at(const struct code *c, uint64_t address, size_t *left)
{
	const struct code_segment *s = segment_at(c, address);

	if (s == NULL || s->bytes == NULL)
		return NULL;
	*left = s->size - (address - s->address);
	return s->bytes + (address - s->address);
}

bool
tnfctl_code_is_executed(const struct code *c, uint64_t address)
{
	const struct code_segment *s = segment_at(c, address);

	return s != NULL && s->exec;
}

void
tnfctl_code_mark(struct code *c, uint64_t address)
{
	const struct code_segment *s = segment_at(c, address);
	uint64_t at;

	if (s == NULL || s->marks == NULL)
		return;
	at = address - s->address;
	s->marks[at / 8] |= (uint8_t)(1u << at % 8);
}

bool
tnfctl_code_is_marked(const struct code *c, uint64_t address)
{
	const struct code_segment *s = segment_at(c, address);
	uint64_t at;

	if (s == NULL || s->marks == NULL)
		return false;
	at = address - s->address;
	return s->marks[at / 8] >> at % 8 & 1;
}

bool
tnfctl_code_anchor(struct code *c, uint64_t address)
{
	uint64_t *v = tnfctl_code_grow(c->anchors, c->nanchors, sizeof *v);

	if (v == NULL) {
		c->failed = true;
		return false;
	}
	c->anchors = v;
	v[c->nanchors++] = address;
	return true;
}
