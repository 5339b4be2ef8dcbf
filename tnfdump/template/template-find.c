/*
 * template-find.c - the files of -t: a path, a name in the directories of templates, or
 * "default" for all that these have.
 */
#include <glob.h>

#include "tnfdump/template/template.h"

#define ETC_DIR		"/etc/tnf/fmt.d"
#define SUFFIX		".fmt"

/* The i-th directory, to be freed; NULL: there are no more.  TNF_TEMPLATES comes first, then the
   user's, then the machine's. */
static char *
directory(unsigned i)
{
	const char *own = secure_getenv("TNF_TEMPLATES"), *config = secure_getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");

	for (; own != NULL && *own != '\0'; i--) {
		size_t n = strcspn(own, ":");
		if (i == 0)
			return tnf_xstrndup(own, n);
		own += n + (own[n] == ':');
	}
	if (i == 0)
		return config != NULL && *config == '/' ? tnf_xasprintf("%s/tnf/fmt.d", config) :
		    tnf_xasprintf("%s/.config/tnf/fmt.d", home != NULL ? home : "");
	return i == 1 ? tnf_xstrdup(ETC_DIR) : NULL;
}

/* The text of a file, to be freed; NULL and errno. */
static char *
template_read(const char *path)
{
	FILE *f = fopen(path, "re");

	if (f == NULL)
		return NULL;
	char *text = tnf_xcalloc(TEMPLATE_SIZE_MAX + 1, 1);
	size_t n = fread(text, 1, TEMPLATE_SIZE_MAX, f);
	if (ferror(f) || !feof(f) || memchr(text, '\0', n) != NULL) {
		errno = ferror(f) ? errno : feof(f) ? EINVAL : EFBIG;
		free(text);
		text = NULL;
	}
	fclose(f);
	return text;
}

static int
template_take(struct template *t, const char *path)
{
	char *text = template_read(path);

	if (text == NULL)
		return options_wrong("template", errno == ENOENT ? "%s: %s, nor in the directories of "
		    "templates: see tnffmt(5)" : "%s: %s", path, strerror(errno));
	int rc = template_add(t, path, text) ? 0 : -1;
	free(text);
	return rc;
}

/* All templates of the directories. */
static int
take_all(struct template *t)
{
	char *dir;
	unsigned n = 0;
	int rc = 0;

	for (unsigned i = 0; rc == 0 && (dir = directory(i)) != NULL; i++) {
		char *pattern = tnf_xasprintf("%s/*" SUFFIX, dir);
		glob_t found;
		if (glob(pattern, 0, NULL, &found) == 0) {
			for (size_t k = 0; rc == 0 && k < found.gl_pathc; k++, n++)
				rc = template_take(t, found.gl_pathv[k]);
			globfree(&found);
		}
		free(pattern);
		free(dir);
	}
	if (rc == 0 && n == 0)
		return options_wrong("template", "default: no file *" SUFFIX " in the directories of "
		    "templates: see tnffmt(5)");
	return rc;
}

/* The path of the template with this name, with .fmt or without, to be freed; NULL: there is none. */
static char *
find_name(const char *name)
{
	char *dir, *path;

	for (unsigned i = 0; (dir = directory(i)) != NULL; i++) {
		for (int suffix = 0; suffix < 2; suffix++) {
			path = tnf_xasprintf("%s/%s%s", dir, name, suffix ? SUFFIX : "");
			if (access(path, F_OK) == 0) {
				free(dir);
				return path;
			}
			free(path);
		}
		free(dir);
	}
	return NULL;
}

struct template *
template_open(const char *name, struct expr_source *source)
{
	struct template *t = template_new(source);
	char *found = NULL;
	int rc;

	if (strchr(name, '/') == NULL && access(name, F_OK) != 0)
		found = find_name(name);
	if (found == NULL && strcmp(name, "default") == 0 && access(name, F_OK) != 0)
		rc = take_all(t);
	else
		rc = template_take(t, found != NULL ? found : name);
	free(found);
	if (rc == 0 && template_bind(t))
		return t;
	template_free(t);
	return NULL;
}
