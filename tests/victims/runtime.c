/*
 * runtime.c - victim: makes probes while it runs, as it is told.
 *
 *	define NAME [KEYS]	makes the probe
 *	wait NAME		until it is on
 *	hit NAME N		N times, with numbers, a text of 1000 bytes and a blob
 *	fork			the child hits all its probes once, and makes one more
 *	exec			the program becomes itself anew
 * Answers each line with "ok" or with what is wrong.
 */
#include <stdlib.h>
#include <sys/wait.h>

#include <tnf/runtime.h>

#include "victim.h"

#define MANY	1000

static struct { char name[64]; struct tnf_probe_control *probe; } probes[MANY];
static int n_probes;

static struct tnf_probe_control *
define(const char *name, const char *keys)
{
	static const struct tnf_probe_argument_type args[] = {
		{ "n", TNF_ARG_INT64 }, { "half", TNF_ARG_FLOAT64 },
		{ "text", TNF_ARG_TEXT }, { "blob", TNF_ARG_BLOB },
	};
	struct tnf_probe_control *p;

	p = tnf_probe_define(name, keys, "file runtime.c", 4, args);
	if (p == NULL || n_probes == MANY)
		victim_harmed("define");
	snprintf(probes[n_probes].name, sizeof(probes[0].name), "%s", name);
	probes[n_probes++].probe = p;
	return p;
}

static struct tnf_probe_control *
find(const char *name)
{
	int i;

	for (i = 0; i < n_probes; i++)
		if (strcmp(probes[i].name, name) == 0)
			return probes[i].probe;
	return define(name, "");
}

static void
hit(struct tnf_probe_control *p, int n)
{
	static char text[1001];
	struct tnf_probe_value v[4] = { { .u.i = n }, { .u.d = n / 2. },
		{ .u.text = text, .size = TNF_SIZE_NUL },
		{ .u.data = "\0\1\2\xff", .size = 4 } };

	memset(text, 'a' + n % 26, 1000);
	if (tnf_probe_is_on(p))
		tnf_probe_hit(p, v);
}

static void
in_child(void)
{
	int status, i, n = n_probes;
	pid_t pid = fork();

	if (pid == 0) {
		for (i = 0; i < n; i++)
			hit(probes[i].probe, 1);
		find("of_a_child");
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status != 0)
		victim_harmed("child");
}

int
main(int argc, char **argv)
{
	char line[256], name[64], arg[64];
	int i, n;

	victim_ready();
	while (fgets(line, sizeof(line), stdin) != NULL) {
		arg[0] = '\0';
		n = sscanf(line, "%*s %63s %63s", name, arg);
		if (strncmp(line, "define ", 7) == 0 && n > 0)
			define(name, arg);
		else if (strncmp(line, "wait ", 5) == 0 && n > 0)
			for (i = 0; !tnf_probe_is_on(find(name)); i++)
				usleep(10000);
		else if (strncmp(line, "hit ", 4) == 0 && n > 0)
			for (i = 0; i < atoi(arg); i++)
				hit(find(name), i);
		else if (strcmp(line, "fork\n") == 0)
			in_child();
		else if (strcmp(line, "exec\n") == 0)
			execv("/proc/self/exe", argv);
		else
			victim_harmed(line);
		puts("ok");
		fflush(stdout);
	}
	return 0;
}
