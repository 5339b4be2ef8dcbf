/*
 * kallsyms.c - a kernel's list of symbols.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/kallsyms.h"

bool
tnf_kallsyms_line(const char *p, struct kallsym *ret)
{
	uint64_t v = 0;
	int digits;

	for (digits = 0; ; digits++, p++) {
		if (*p >= '0' && *p <= '9')
			v = v << 4 | (uint64_t)(*p - '0');
		else if (*p >= 'a' && *p <= 'f')
			v = v << 4 | (uint64_t)(*p - 'a' + 10);
		else
			break;
	}
	if (digits == 0 || p[0] != ' ' || p[1] <= ' ' || p[2] != ' ')
		return false;
	*ret = (struct kallsym){ .address = v, .type = p[1], .name = p + 3 };
	ret->length = strcspn(ret->name, "\t \n");
	p = ret->name + ret->length;
	ret->module = p + strspn(p, "\t ");
	if (*ret->module == '[')
		ret->module_length = strcspn(++ret->module, "]\n");
	return true;
}

int
tnf_kallsyms_each(const char *path, bool (*fn)(void *arg, const struct kallsym *), void *arg)
{
	FILE *f = fopen(path, "re");
	struct kallsym sym;
	char line[1024];

	if (f == NULL)
		return errno;
	while (fgets(line, sizeof line, f) != NULL)
		if (tnf_kallsyms_line(line, &sym) && !fn(arg, &sym))
			break;
	fclose(f);
	return 0;
}
