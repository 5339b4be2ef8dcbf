/*
 * command.c - fuzzes the command language of prex, on a target that is a table.
 *
 * The first byte: 'k' is a session with the kernel, else with a process.  No
 * slashes, so that "source" finds nothing but what is here.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "prex/cmd.h"
#include "prex/shell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char table[] =
	"object /bin/one\nprobe name one;keys io net;line 7\n"
	"probe name two-three;keys io;trace_it yes;slots a b ;x 'a b'\n"
	"symbol puts\nfailing two-three\nevent dlopen\nevent gone\n";

static void
set_up(void)
{
	char path[] = "/tmp/tnf-fuzz-table.XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, table, sizeof table - 1) < 0 ||
	    freopen("/dev/null", "w", stdout) == NULL ||
	    setenv("PREX_FAKE", path, 1) != 0)
		abort();
	close(fd);
}

static void
run(struct shell *sh, const char *text)
{
	struct statement st;
	struct completion c;

	complete(sh, text, &c);
	completion_free(&c);
	source_push_string(sh, text, "text");
	while (statement_read(sh, &st) == STATEMENT_OK) {
		dispatch(sh, &st);
		statement_free(&st);
	}
	statement_free(&st);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool ready;
	struct shell sh;
	char *text, *c;

	if (!ready)
		set_up();
	ready = true;
	if (size < 1 || size > 1024 || (text = calloc(size, 1)) == NULL)
		return 0;
	memcpy(text, data + 1, size - 1);
	/* Regular expressions are the C library's. */
	for (c = text; *c != '\0'; c++)
		if (*c == '/')
			*c = '\'';
	shell_init(&sh, "prex");
	sh.interactive = true;
	sh.mode = data[0] == 'k' ? MODE_KERNEL : MODE_USER;
	if ((data[0] == 'k' ? tnfctl_kernel_open(&sh.target) :
	    tnfctl_pid_open(100, &sh.target)) != TNFCTL_ERR_NONE)
		abort();
	run(&sh, text);
	tnfctl_close(sh.target, TNFCTL_TARG_DEFAULT);
	shell_free(&sh);
	free(text);
	return 0;
}
