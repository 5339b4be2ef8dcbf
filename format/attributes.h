/*
 * attributes.h - a probe's attributes: "name N;slots A B ;keys K;file F;line 3;".
 *
 * An attribute ends at a semicolon.  Its value is the text behind its name and one blank.
 * Values are cut into words at blanks, and a word between single quotes keeps its blanks.
 * Code that chooses probes by their words (for prex, for variables of the environment) says
 * "quoted": then a semicolon between quotes ends nothing, either.  Code that looks an attribute
 * up does not say so: the name of a file may have one apostrophe in it.
 */
#ifndef FORMAT_ATTRIBUTES_H
#define FORMAT_ATTRIBUTES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Parts of the string, which do not end with a NUL. */
struct attribute {
	const char *name, *value;	/* directly behind the name: it has none */
	size_t name_len, value_len;
};

static inline bool
attribute_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline size_t
attribute_len(const char *s, bool quoted)
{
	const char *p = s, *end;

	if (!quoted)
		return strcspn(s, ";");
	for (; *p != '\0' && *p != ';'; p++)
		if (*p == '\'' && (end = strchr(p + 1, '\'')) != NULL)
			p = end;
	return (size_t)(p - s);
}

/* The next attribute, behind which *s goes on; false: there is none. */
static inline bool
attribute_next(const char **s, bool quoted, struct attribute *ret)
{
	const char *end, *p;

	while (**s != '\0') {
		end = *s + attribute_len(*s, quoted);
		for (p = *s; attribute_is_blank(*p); p++)
			;
		for (ret->name = p; p < end && !attribute_is_blank(*p); p++)
			;
		*s = end + (*end == ';');
		if (p == ret->name)
			continue;
		ret->name_len = (size_t)(p - ret->name);
		ret->value = p + (p < end);
		ret->value_len = (size_t)(end - ret->value);
		return true;
	}
	return false;
}

/* The first attribute of this name; false: there is none. */
static inline bool
attribute_find(const char *s, const char *name, struct attribute *ret)
{
	size_t len = strlen(name);

	while (attribute_next(&s, false, ret))
		if (ret->name_len == len && memcmp(ret->name, name, len) == 0)
			return true;
	return false;
}

/* The next word of a value that ends at 'end', behind which *s goes on; false: there is
   none. */
static inline bool
attribute_word(const char **s, const char *end, const char **ret, size_t *ret_len)
{
	const char *p = *s, *quote;

	while (p < end && attribute_is_blank(*p))
		p++;
	if (p >= end)
		return false;
	if (*p == '\'' && (quote = memchr(p + 1, '\'', (size_t)(end - p - 1))) != NULL) {
		*ret = p + 1;
		*ret_len = (size_t)(quote - p - 1);
		*s = quote + 1;
		return true;
	}
	*ret = p;
	while (p < end && !attribute_is_blank(*p))
		p++;
	*ret_len = (size_t)(p - *ret);
	*s = p;
	return true;
}

#endif
