/*
 * fleet.c - what comes over the wire: decoded, written again, and read back the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tnffleet/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fleet_message m, again;
	const char *why;
	size_t n;
	void *bytes;

	if (!fleet_decode(data, size, &m, &why)) {
		if (why == NULL || *why == '\0')
			abort();
		return 0;
	}
	for (unsigned i = 0; i < m.n_files; i++)
		if (!fleet_name_is_good(m.files[i].name) || strchr(m.files[i].name, '/') != NULL ||
		    m.files[i].size < 0)
			abort();
	if (strchr(m.host, '/') != NULL || strchr(m.file, '/') != NULL ||
	    strchr(m.question, '/') != NULL || *m.file == '.' || *m.question == '.')
		abort();
	(void)fleet_matches(&m, "web1", m.label, m.n_labels);
	if ((bytes = fleet_encode(&m, &n)) == NULL)
		abort();
	if (!fleet_decode(bytes, n, &again, &why) || again.body_size != m.body_size ||
	    strcmp(again.host, m.host) != 0 || strcmp(again.where, m.where) != 0 ||
	    again.n_files != m.n_files || again.n_labels != m.n_labels || again.size != m.size)
		abort();
	free(bytes);
	return 0;
}
