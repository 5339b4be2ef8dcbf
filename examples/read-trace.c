/* read-trace.c - counts the events of each probe in trace files, in 30 lines. */
#include <stdio.h>
#include <stdlib.h>

#include <tnf/stream.h>

int
main(int argc, char **argv)
{
	tnf_stream_t *s;
	struct tnf_event ev;
	unsigned long *n;
	unsigned i, n_probes;
	int rc = tnf_stream_new(&s);

	for (i = 1; rc == 0 && i < (unsigned)argc; i++)
		if ((rc = tnf_stream_add(s, argv[i], NULL)) != 0)
			fprintf(stderr, "%s: %s\n", argv[i], tnf_error_message(rc));
	if (rc != 0)
		return 1;
	n_probes = tnf_stream_probes(s);
	if ((n = calloc(n_probes + 1, sizeof *n)) == NULL)
		return 1;
	while ((rc = tnf_stream_next(s, &ev)) == 1)
		n[ev.probe->id]++;
	if (rc < 0)
		fprintf(stderr, "read-trace: %s\n", tnf_error_message(-rc));
	for (i = 0; i < n_probes; i++)
		printf("%8lu %s\n", n[i], tnf_stream_probe(s, i)->name);
	free(n);
	tnf_stream_close(s);
	return rc != 0;
}
