/*
 * member-path.c - the way from a pointer of a program to a member: "o->next->id", by debugging
 * information.
 */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtnfctl/functions.h"

/* Limits, because the file may lie. */
#define NESTED_MAX	8	/* structures without a name in structures */
#define MEMBERS_MAX	65536	/* of a structure */

struct way {
	const char *path;	/* for messages */
	struct member_path *ret;
	char	*why;
	size_t	 size;
};

static bool
refuse(const struct way *w, const char *fact, const char *name, size_t len)
{
	snprintf(w->why, w->size, "args: %s: %s%.*s", w->path, fact, (int)len, name);
	return false;
}

/* Finds the variable or parameter of this name where the code at the address is. */
static bool
find_variable(Dwarf *dwarf, uint64_t address, const char *name, Dwarf_Die *ret)
{
	Dwarf_Die unit, *scopes;
	bool found;
	int n;

	if (!tnfctl_dwarf_unit(dwarf, address, &unit) ||
	    (n = dwarf_getscopes(&unit, address, &scopes)) <= 0)
		return false;
	found = dwarf_getscopevar(scopes, n, name, 0, NULL, 0, 0, ret) >= 0;
	free(scopes);
	return found;
}

/* Finds a member of a structure or union, also in one without a name inside; *off grows. */
static bool
find_member(Dwarf_Die *of, const char *name, size_t len, unsigned depth, Dwarf_Die *ret, uint64_t *off)
{
	Dwarf_Die child, type;
	Dwarf_Attribute attr;
	Dwarf_Word at;
	const char *called;
	unsigned n = 0;
	bool is_const;

	if (depth == NESTED_MAX || dwarf_child(of, &child) != 0)
		return false;
	do {
		if (dwarf_tag(&child) != DW_TAG_member)
			continue;
		at = 0;
		if (dwarf_attr(&child, DW_AT_data_member_location, &attr) != NULL &&
		    dwarf_formudata(&attr, &at) != 0)
			continue;
		called = dwarf_diename(&child);
		if (called != NULL && strlen(called) == len && memcmp(called, name, len) == 0) {
			*ret = child;
			*off += at;
			return !dwarf_hasattr(&child, DW_AT_bit_size);
		}
		if (called == NULL && tnfctl_dwarf_type(&child, &type, &is_const) &&
		    find_member(&type, name, len, depth + 1, ret, off)) {
			*off += at;
			return true;
		}
	} while (++n < MEMBERS_MAX && dwarf_siblingof(&child, &child) == 0);
	return false;
}

/* Describes the last member's value, and how it is recorded. */
static bool
end_at(const struct way *w, Dwarf_Die *type, enum usdt_type asked)
{
	struct kp_hops *h = &w->ret->hops;
	struct function_value v;
	Dwarf_Die element;
	bool is_const;

	if (dwarf_tag(type) == DW_TAG_array_type && asked == USDT_STRING &&
	    tnfctl_dwarf_type(type, &element, &is_const) && dwarf_bytesize(&element) == 1) {
		h->size = 0;
		w->ret->text = true;
		w->ret->type = "tnf_string";
		return true;
	}
	if (!tnfctl_dwarf_value(type, &v) || v.type == NULL)
		return refuse(w, "it is no integer, pointer or text", "", 0);
	h->size = v.size;
	h->sign = v.sign;
	w->ret->text = v.is_text && asked != USDT_ADDRESS;
	w->ret->type = asked == USDT_ADDRESS ? "tnf_opaque" : v.type;
	if (asked == USDT_STRING && dwarf_tag(type) == DW_TAG_pointer_type) {
		w->ret->text = true;
		w->ret->type = "tnf_string";
	} else if (asked == USDT_STRING || asked == USDT_CHARS)
		return refuse(w, "it is no pointer to text and no array of characters", "", 0);
	return true;
}

/* Follows the names behind the variable. */
static bool
follow(const struct way *w, Dwarf_Die *variable, const char *s, enum usdt_type asked)
{
	struct kp_hops *h = &w->ret->hops;
	Dwarf_Die type, at = *variable;
	uint64_t off = 0;
	bool is_const;
	size_t len;

	for (;;) {
		bool arrow = strncmp(s, "->", 2) == 0;

		if (!tnfctl_dwarf_type(&at, &type, &is_const))
			return refuse(w, "no type is known of what is before ", s, strlen(s));
		if (*s == '\0')
			break;
		if (arrow && (dwarf_tag(&type) != DW_TAG_pointer_type ||
		    !tnfctl_dwarf_type(&type, &type, &is_const)))
			return refuse(w, "there is no pointer before ", s, strlen(s));
		s += arrow ? 2 : 1;
		len = strcspn(s, "-.");
		if (arrow) {
			if (h->n == KP_HOPS_MAX)
				return refuse(w, "more than four levels", "", 0);
			if (h->n > 0)
				h->off[h->n - 1] = (__u16)off;
			h->n++;
			off = 0;
		}
		if (!find_member(&type, s, len, 0, &at, &off))
			return refuse(w, "debugging information has no such member, or it is a bit field: ",
			    s, len);
		if (off > UINT16_MAX)
			return refuse(w, "it is too far from the beginning: ", s, len);
		s += len;
	}
	h->off[h->n - 1] = (__u16)off;
	return end_at(w, &type, asked);
}

bool
tnfctl_member_path(int fd, const char *shown, uint64_t address, const char *path,
    enum usdt_type asked, struct member_path *ret, char *why, size_t size)
{
	struct way w = { path, ret, why, size };
	Dwarf *dwarf = tnfctl_dwarf_of(fd, shown);
	size_t head = strcspn(path, "-.");
	char name[USDT_PATH_MAX];
	Dwarf_Die variable;

	memset(ret, 0, sizeof(*ret));
	if (dwarf == NULL)
		return refuse(&w, "the program has no debugging information: build with -g", "", 0);
	snprintf(name, sizeof(name), "%.*s", (int)head, path);
	if (!find_variable(dwarf, address, name, &variable))
		return refuse(&w, "debugging information has no such variable there: ", path, head);
	return follow(&w, &variable, path + head, asked);
}

bool
tnfctl_member_place(int fd, const struct kp_uprobe_spec *spec, uint64_t address,
    const struct usdt_args_named *named, unsigned i, struct kp_site *site, struct kp_uprobe_found *ret)
{
	struct member_path way;

	if (!tnfctl_member_path(fd, spec->shown, address, named->path[i], named->type[i], &way,
	    ret->why, sizeof(ret->why)))
		return false;
	site->hop[i] = way.hops;
	site->v[i].text = way.text ? KP_TEXT_STRING : KP_TEXT_NONE;
	if (ret->member[i].type != NULL && site != ret->site && strcmp(ret->member[i].type, way.type) != 0) {
		snprintf(ret->why, sizeof(ret->why), "args: %s: it is of different types at several "
		    "places", named->path[i]);
		return false;
	}
	ret->member[i].type = way.type;
	return true;
}

void
tnfctl_member_unread(const struct usdt_args_named *named, struct kp_uprobe_found *ret)
{
	for (unsigned i = 0; i < named->n; i++)
		if (named->path[i][0] != '\0') {
			ret->member[ret->members].type = "tnf_uint32";
			strcpy(ret->member[ret->members++].name, KP_UNREAD);
			return;
		}
}
