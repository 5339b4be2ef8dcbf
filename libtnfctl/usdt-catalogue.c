/*
 * usdt-catalogue.c - what the arguments of known providers are called.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtnfctl/usdt-catalogue.h"
#include "libtnfctl/usdt-object.h"

#define LINE_MAX_HERE	1024
#define LINES_MAX	4096	/* of one file */
#define ETC_DIR		"/etc/tnf/providers.d"

static const char *const type_names[] = {
	[USDT_NUMBER] = "", [USDT_STRING] = ":string", [USDT_CHARS] = ":chars",
	[USDT_ADDRESS] = ":address",
};

static bool
is_word(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') ||
		    (s[i] >= '0' && s[i] <= '9') || s[i] == '_'))
			return false;
	return n > 0;
}

/* "name" or "name:type" */
static bool
read_arg(const char *s, size_t n, struct usdt_args_named *ret)
{
	const char *colon = memchr(s, ':', n);
	size_t head = colon != NULL ? (size_t)(colon - s) : n;

	if (ret->n == KP_OPERANDS_MAX || !is_word(s, head) || head >= USDT_ARG_MAX)
		return false;
	for (size_t t = 0; t < sizeof type_names / sizeof *type_names; t++)
		if (strlen(type_names[t]) == n - head &&
		    memcmp(type_names[t], s + head, n - head) == 0) {
			memcpy(ret->name[ret->n], s, head);
			ret->name[ret->n][head] = '\0';
			ret->type[ret->n++] = (enum usdt_type)t;
			return true;
		}
	return false;
}

bool
tnfctl_usdt_args_read(const char *s, struct usdt_args_named *ret)
{
	size_t n = 0;

	memset(ret, 0, sizeof *ret);
	for (;;) {
		s += n;
		s += strspn(s, " ,\t\r\n");
		n = strcspn(s, " ,\t\r\n");
		if (n == 0)
			return true;
		if (!read_arg(s, n, ret))
			return false;
	}
}

/* One line of such a file: 1 a probe, with its name, 0 nothing, -1 a mistake. */
static int
usdt_catalogue_line(const char *line, char *probe, size_t size,
    struct usdt_args_named *ret)
{
	const char *s = line + strspn(line, " \t\r\n");
	size_t n = strcspn(s, " \t\r\n");

	ret->n = 0;
	if (*s == '#' || *s == '\0')
		return 0;
	if (n >= size)
		return -1;
	memcpy(probe, s, n);
	probe[n] = '\0';
	return tnfctl_usdt_args_read(s + n, ret) ? 1 : -1;
}

static FILE *
open_provider(const char *provider)
{
	const char *const dirs[] = { secure_getenv("TNF_PROVIDERS"), ETC_DIR,
	    TNF_PROVIDER_DIR };
	char path[4096];
	FILE *f = NULL;

	for (size_t i = 0; f == NULL && i < sizeof dirs / sizeof *dirs; i++)
		if (dirs[i] != NULL && (size_t)snprintf(path, sizeof path, "%s/%s",
		    dirs[i], provider) < sizeof path)
			f = fopen(path, "re");
	return f;
}

/* The latest file that was asked for is kept: one after the other is the rule. */
struct known {
	char	probe[USDT_NAME_MAX];
	struct usdt_args_named args;
};

static struct {
	pthread_mutex_t lock;
	char	provider[USDT_NAME_MAX];
	struct known *v;
	size_t	n;
} latest = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void
read_provider(FILE *f)
{
	char line[LINE_MAX_HERE];
	struct known k, *v;

	while (latest.n < LINES_MAX && fgets(line, sizeof line, f) != NULL) {
		if (usdt_catalogue_line(line, k.probe, sizeof k.probe, &k.args) != 1)
			continue;
		if ((latest.n & (latest.n - 1)) == 0) {
			v = reallocarray(latest.v, latest.n == 0 ? 1 : 2 * latest.n,
			    sizeof *v);
			if (v == NULL)
				return;
			latest.v = v;
		}
		latest.v[latest.n++] = k;
	}
}

static void
load_provider(const char *provider)
{
	FILE *f;

	if (strcmp(latest.provider, provider) == 0)
		return;
	latest.n = 0;
	free(latest.v);
	latest.v = NULL;
	snprintf(latest.provider, sizeof latest.provider, "%s", provider);
	/* The name comes from a file that anybody may have made. */
	if (strchr(provider, '/') != NULL || provider[0] == '.' ||
	    (f = open_provider(provider)) == NULL)
		return;
	read_provider(f);
	fclose(f);
}

void
tnfctl_usdt_catalogue_find(const char *provider, const char *probe,
    struct usdt_args_named *ret)
{
	memset(ret, 0, sizeof *ret);
	if (strlen(provider) >= USDT_NAME_MAX)
		return;
	pthread_mutex_lock(&latest.lock);
	load_provider(provider);
	for (size_t i = 0; i < latest.n; i++)
		if (strcmp(latest.v[i].probe, probe) == 0)
			*ret = latest.v[i].args;
	pthread_mutex_unlock(&latest.lock);
}
