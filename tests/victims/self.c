/*
 * self.c - victim: controls its own probes, at times.
 *
 * Lines of its input: open close quit.  Answers with the code.
 */
#include <tnf/probe.h>
#include <tnf/tnfctl.h>

#include "victim.h"

int
main(void)
{
	tnfctl_handle_t *h = NULL;
	tnfctl_errcode_t err;
	char line[64];

	victim_ready();
	while (fgets(line, sizeof(line), stdin) != NULL && line[0] != 'q') {
		TNF_PROBE_0(self, "self", "");
		if (line[0] == 'o') {
			err = tnfctl_internal_open(&h);
		} else {
			err = tnfctl_close(h, TNFCTL_TARG_DEFAULT);
			h = NULL;
		}
		printf("%d\n", (int)err);
		fflush(stdout);
	}
	return 0;
}
