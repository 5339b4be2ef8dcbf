/*
 * auto.c - a process that traces itself from its start.
 *
 * TNF_ENABLE names the probes as prex's "enable" does, TNF_FILE and TNF_SIZE the
 * file; without them a tnfwatch that runs may have asked for it (auto-watch.c).  It
 * happens in our constructor, before main() and before the constructors of what needs
 * us; an object that is loaded later calls by its own constructor (<tnf/probe.h>).
 * Mistakes in the variables are told once, and the program runs on.
 */
#include <ctype.h>
#include <stdarg.h>
#include <sys/auxv.h>
#include <sys/file.h>

#include "format/selector.h"
#include "libtnfprobe/internal.h"

#define SIZE_DEFAULT	((uint64_t)4 << 20)	/* as prex */

static struct tnf_selectors *selectors;	/* never freed: threads may use them */
static bool has_file, has_given_up;

static const struct tnf_selectors *
selectors_now(void)
{
	return __atomic_load_n(&has_given_up, __ATOMIC_RELAXED) ? NULL :
	    __atomic_load_n(&selectors, __ATOMIC_ACQUIRE);
}

/* A scan of all probes. */
struct scan {
	const struct tnf_selectors *sel;
	unsigned probes, chosen;
	bool	is_whole;	/* all objects could be looked at */
};

static void __attribute__((format(printf, 1, 2)))
auto_complain(const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text) - 1, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if ((size_t)n > sizeof(text) - 2)
		n = sizeof(text) - 2;
	/* The environment may hold characters that act on a terminal. */
	for (int i = 0; i < n; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			text[i] = '?';
	text[n++] = '\n';
	if (write(STDERR_FILENO, text, (size_t)n) < 0)
		return;
}

static bool
is_chosen(const struct tnf_selectors *l, const struct tnf_probe_control *c, const char *object)
{
	/* A probe is traced as long as no controller says otherwise. */
	const struct tnf_probe_attrs attrs = { c->test != 0, c->controlled == 0 || c->traced != 0,
	    object, "", c->attrs };

	return tnf_selectors_match(l, &attrs, NULL);
}

static void
count_probe(void *arg, struct tnf_probe_control *c, const char *object)
{
	struct scan *s = arg;

	s->probes++;
	s->chosen += is_chosen(s->sel, c, object);
}

/* Enables a probe as a controller does; a probe that a controller has seen is left alone. */
static void
enable_probe(void *arg, struct tnf_probe_control *c, const char *object)
{
	const struct scan *s = arg;

	if (c->controlled != 0 || !is_chosen(s->sel, c, object))
		return;
	c->traced = 1;
	c->ops = &_tnf_probe_ops;
	c->controlled = 1;
	__atomic_store_n(&c->test, 1, __ATOMIC_RELEASE);
}

/* The name that TNF_FILE gives, with %p as the process's number, or prex's; NULL: no memory. */
static char *
file_name(void)
{
	const char *text = secure_getenv("TNF_FILE"), *tmp = secure_getenv("TMPDIR"), *p;
	char dir[TNF_PATH_SIZE] = "", *name;
	int n;

	if (text == NULL || *text == '\0') {
		n = asprintf(&name, "%s/trace-%d", tmp != NULL && *tmp == '/' ? tmp : "/tmp",
		    (int)getpid());
		return n < 0 ? NULL : name;
	}
	p = strstr(text, "%p");
	if (*text != '/' && getcwd(dir, sizeof(dir) - 1) == NULL)
		return NULL;
	if (*text != '/')
		strcat(dir, "/");
	n = p == NULL ? asprintf(&name, "%s%s", dir, text) :
	    asprintf(&name, "%s%.*s%d%s", dir, (int)(p - text), text, (int)getpid(), p + 2);
	return n < 0 ? NULL : name;
}

/* A size like "16m" in bytes; 0: the text is no size. */
static uint64_t
auto_size(const char *text)
{
	static const char letters[] = "kmg";
	char *end;
	unsigned long long n = strtoull(text, &end, 10);
	/* As prex: without a letter, in kbytes. */
	const char *letter = *end == '\0' ? letters : strchr(letters, tolower((unsigned char)*end));
	unsigned shift;

	if (!isdigit((unsigned char)*text) || letter == NULL || (*end != '\0' && end[1] != '\0'))
		return 0;
	shift = 10 * (unsigned)(letter - letters + 1);
	return n > UINT64_MAX >> shift ? 0 : (uint64_t)n << shift;
}

static uint64_t
file_size(void)
{
	const char *text = secure_getenv("TNF_SIZE");
	uint64_t size = text == NULL || *text == '\0' ? SIZE_DEFAULT : auto_size(text);

	if (size == 0) {
		auto_complain("tnf: TNF_SIZE=%s: is no size: write 16m, 512k, or kbytes", text);
		return 0;
	}
	if (size < FILE_MIN)
		size = FILE_MIN;
	if (size > FILE_MAX) {
		auto_complain("tnf: TNF_SIZE=%s: too large: at most 1g", text);
		return 0;
	}
	return size;
}

/* The user has asked for nothing, so there is nothing to complain of.  *fd has the lock of
   the ring: tnfwatch leaves us alone as long as we hold it. */
static bool
make_file_watched(const struct tnf_auto_watch *w, int *fd)
{
	uint64_t size;
	char *name;

	if ((name = tnf_auto_watch_file(w, &size, fd)) == NULL)
		return false;
	if (flock(*fd, LOCK_EX | LOCK_NB) != 0 || tnf_process_give(name, size, *fd, true) != 0) {
		unlink(name);
		close(*fd);
		*fd = -1;
	}
	free(name);
	return *fd >= 0;
}

static bool
make_file(void)
{
	uint64_t size = file_size();
	char *name;
	int fd, error = ENOMEM;

	if (size == 0)
		return false;
	if ((name = file_name()) != NULL && (error = tnf_auto_file(name, &size, &fd)) == 0) {
		error = tnf_process_give(name, size, fd, false);
		close(fd);
	}
	if (error != 0)
		auto_complain("tnf: TNF_FILE=%s: %llu bytes: %s: this process is not traced",
		    name != NULL ? name : "", (unsigned long long)size, strerror(error));
	free(name);
	return error == 0;
}

/* The file is made when there is something to be recorded. */
static bool
need_file(void)
{
	if (!has_file && !(has_file = make_file()))
		__atomic_store_n(&has_given_up, true, __ATOMIC_RELAXED);
	return has_file;
}

static void
enable_all(struct scan *s)
{
	s->is_whole = tnf_auto_probes(count_probe, s);
	if (s->chosen > 0 && need_file())
		tnf_auto_probes(enable_probe, s);
}

/* Functions take an analysis of code, and jumps that only somebody outside puts there safely.  True: one is
   asked for, and we have said who does that. */
static bool
tell_functions(const struct tnf_selectors *sel)
{
	for (size_t i = 0; i < sel->n; i++) {
		const struct tnf_spec *attr = &sel->v[i].attr, *value = &sel->v[i].value;
		const char *slash = value->is_regex ? "/" : "";

		if (attr->is_regex || attr->text == NULL || value->text == NULL ||
		    (strcmp(attr->text, "function") != 0 && strcmp(attr->text, "return") != 0))
			continue;
		auto_complain("tnf: TNF_ENABLE: %s=%s%.100s%s: only prex switches functions on: "
		    "prex -c 'enable %s=%s%.100s%s; continue' %.100s ...", attr->text, slash, value->text, slash,
		    attr->text, slash, value->text, slash, program_invocation_name);
		return true;
	}
	return false;
}

/* Starts tracing as the environment says. */
static void
start_told(const char *text)
{
	char why[200];
	size_t at;
	struct tnf_selectors *sel = tnf_selectors_parse(text, why, sizeof(why), &at);
	struct scan s = { .sel = sel };

	if (sel == NULL) {
		auto_complain("tnf: TNF_ENABLE: %s: nothing is traced", why);
		return;
	}
	__atomic_store_n(&selectors, sel, __ATOMIC_RELEASE);
	enable_all(&s);
	if (tell_functions(sel))
		return;
	if (s.probes > 0 && s.chosen == 0)
		auto_complain("tnf: TNF_ENABLE=%.200s: selects none of the %u probes of "
		    "process %d", text, s.probes, (int)getpid());
	else if (s.probes == 0 && !s.is_whole)
		auto_complain("tnf: TNF_ENABLE: %s: a file of process %d cannot be read, or is not "
		    "what was loaded: no probes are found", program_invocation_name, (int)getpid());
}

/* Starts tracing as a tnfwatch wants, now or not at all: later tnfwatch attaches, and the
   program may have given up the rights that the ring needs. */
static void
start_watched(void)
{
	char why[200];
	size_t at;
	struct tnf_auto_watch w;
	struct tnf_selectors *sel;
	struct scan s = { .sel = NULL };
	int fd;

	if (!tnf_auto_watch(&w) || (sel = tnf_selectors_parse(w.enable, why, sizeof(why), &at)) == NULL)
		return;
	s.sel = sel;
	tnf_auto_probes(count_probe, &s);
	if (s.chosen == 0 || !make_file_watched(&w, &fd)) {
		tnf_selectors_unref(sel);
		return;
	}
	has_file = true;
	__atomic_store_n(&selectors, sel, __ATOMIC_RELEASE);
	tnf_auto_probes(enable_probe, &s);
	flock(fd, LOCK_UN);
	close(fd);
}

void
tnf_auto_start(void)
{
	const char *text;
	int saved = errno;

	if (getauxval(AT_SECURE) != 0)
		return;
	if ((text = secure_getenv("TNF_ENABLE")) != NULL && text[strspn(text, " \t\n")] != '\0')
		start_told(text);
	else
		start_watched();
	errno = saved;
}

/* A probe has been made at run time: it is no object's. */
void
tnf_auto_defined(struct tnf_probe_control *c)
{
	struct scan s = { .sel = selectors_now() };
	int saved = errno;

	if (s.sel != NULL && is_chosen(s.sel, c, "") && need_file())
		enable_probe(&s, c, "");
	errno = saved;
}

/* An object has been loaded: called by its constructors, once for each of its
   source files with probes. */
void TNF_API
_tnf_probe_object(void)
{
	struct scan s = { .sel = selectors_now() };
	int saved = errno;

	if (s.sel != NULL)
		enable_all(&s);
	errno = saved;
}
