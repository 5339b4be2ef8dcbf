/*
 * plugin.c - victim: a shared object with probes, in its constructor too.
 */
#include <tnf/probe.h>

void plugin_work(int);

static void __attribute__((constructor))
plugin_start(void)
{
	TNF_PROBE_0(plugin_start, "plugin", "");
}

__attribute__((visibility("default"))) void
plugin_work(int n)
{
	TNF_PROBE_1(plugin_work, "plugin", "", tnf_int, n, n);
}
