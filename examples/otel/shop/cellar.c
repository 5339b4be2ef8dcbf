/*
 * cellar.c - a request "TRACEPARENT CAKE" is answered with a price, after a look at the cellar's
 * list.  The program has no ids of its own: it only says in whose span it is, and each pair of
 * its probes is below that.
 *
 * usage: cellar LIST		prints its port, and ends after a request
 */
#include <arpa/inet.h>
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <tnf/otel.h>
#include <tnf/probe.h>

static void
fetch(const char *list, const char *cake, int to)
{
	char line[200], name[100] = "";
	int price = 0, at = 0;
	FILE *f;

	TNF_PROBE_1(fetch_start, "cellar", "", tnf_string, cake, cake);
	f = fopen(list, "r");
	while (f != NULL && strcmp(name, cake) != 0 && fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "%99s %d", name, &at) == 2 && strcmp(name, cake) == 0)
			price = at;
	if (f != NULL)
		fclose(f);
	dprintf(to, "%d\n", price);
	TNF_PROBE_1(fetch_end, "cellar", "", tnf_int, error, price == 0);
}

int
main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), c;
	socklen_t n = sizeof(at);
	struct tnf_otel_span caller;
	char header[100], cake[100];
	FILE *client;

	if (argc != 2)
		errx(2, "usage: cellar LIST");
	if (s < 0 || bind(s, (struct sockaddr *)&at, n) != 0 || listen(s, 1) != 0 ||
	    getsockname(s, (struct sockaddr *)&at, &n) != 0)
		err(1, "socket");
	printf("%d\n", ntohs(at.sin_port));
	fflush(stdout);
	if ((c = accept(s, NULL, NULL)) < 0 || (client = fdopen(c, "r")) == NULL)
		err(1, "accept");
	if (fscanf(client, "%99s %99s", header, cake) != 2)
		errx(1, "no request");
	if (tnf_otel_parse(header, &caller))
		tnf_otel_set(&caller);
	fetch(argv[1], cake, c);
	tnf_otel_set(NULL);
	return fclose(client) != 0;
}
