/*
 * loader.c - victim: loads and unloads an object at each line of its input.
 *
 * loader FILE: prints "loaded", "unloaded" in turns.
 */
#include <dlfcn.h>

#include <tnf/probe.h>

#include "victim.h"

static int in_constructor;

static void __attribute__((constructor))
early(void)
{
	in_constructor = 1;
	TNF_PROBE_0(early, "init", "");
}

int
main(int argc, char **argv)
{
	void (*work)(int), *h = NULL;
	char line[16];

	TNF_PROBE_1(loader, "load", "", tnf_int, ctor, in_constructor);
	victim_ready();
	while (argc > 1 && fgets(line, sizeof(line), stdin) != NULL) {
		if (h != NULL) {
			dlclose(h);
			h = NULL;
			puts("unloaded");
		} else if ((h = dlopen(argv[1], RTLD_NOW)) != NULL) {
			*(void **)&work = dlsym(h, "plugin_work");
			work(42);
			puts("loaded");
		} else {
			victim_harmed(dlerror());
		}
		fflush(stdout);
	}
	return 0;
}
