/*
 * check.c - <tnf/otel.h>: what is a traceparent and what is none, the variable that others read,
 * and attributes of the process as a reader outside finds them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tnf/otel.h>

#define CHECK(cond) \
	do { \
		if (!(cond)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
			bad = 1; \
		} \
	} while (0)

#define TRACE	"0af7651916cd43dd8448eb211c80319c"
#define SPAN	"b7ad6b7169203331"

extern __thread const uint8_t *otel_thread_ctx_v1;

static int bad;

static void
texts(void)
{
	static const char *const wrong[] = {
		"", "00", "00-" TRACE "-" SPAN "-0", "ff-" TRACE "-" SPAN "-01",
		"00-" TRACE "-0000000000000000-01", "00-00000000000000000000000000000000-" SPAN "-01",
		"00-0AF7651916CD43DD8448EB211C80319C-" SPAN "-01", "00 " TRACE "-" SPAN "-01",
		"0g-" TRACE "-" SPAN "-01",
	};
	struct tnf_otel_span s, t;
	char text[TNF_OTEL_TEXT];

	memset(&s, 7, sizeof(s));
	t = s;
	CHECK(!tnf_otel_parse(NULL, &s));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (tnf_otel_parse(wrong[i], &s) || memcmp(&s, &t, sizeof(s)) != 0) {
			fprintf(stderr, "\"%s\" is taken\n", wrong[i]);
			bad = 1;
		}
	CHECK(tnf_otel_parse("cc-" TRACE "-" SPAN "-01-more", &s));
	CHECK(tnf_otel_parse("00-" TRACE "-" SPAN "-00", &s));
	tnf_otel_format(&s, text);
	CHECK(strcmp(text, "00-" TRACE "-" SPAN "-01") == 0);
	tnf_otel_new(&s, &t);
	CHECK(memcmp(s.trace, t.trace, sizeof(s.trace)) == 0);
	CHECK(memcmp(s.span, t.span, sizeof(s.span)) != 0);
	tnf_otel_new(NULL, &t);
	CHECK(memcmp(s.trace, t.trace, sizeof(s.trace)) != 0);
}

static void
variable(void)
{
	struct tnf_otel_span s, t;

	CHECK(otel_thread_ctx_v1 == NULL && !tnf_otel_get(&t));
	CHECK(tnf_otel_parse("00-" TRACE "-" SPAN "-01", &s));
	tnf_otel_set(&s);
	CHECK(memcmp(otel_thread_ctx_v1, &s, sizeof(s)) == 0);
	CHECK(otel_thread_ctx_v1[24] == 1);			/* valid */
	CHECK(memcmp(otel_thread_ctx_v1 + 26, "\0", 2) == 0);	/* no attributes */
	CHECK(tnf_otel_get(&t) && memcmp(&s, &t, sizeof(s)) == 0);
	tnf_otel_set(NULL);
	CHECK(otel_thread_ctx_v1 == NULL && !tnf_otel_get(&t));
}

/* Reads the page of the process as OTEP 4719 says; the payload's bytes, or -1. */
static int
published(unsigned char *payload, size_t size)
{
	struct {
		char signature[8];
		uint32_t version, size;
		uint64_t time;
		const unsigned char *payload;
	} *h = NULL;
	char line[512], *end;
	FILE *f = fopen("/proc/self/maps", "r");

	while (f != NULL && h == NULL && fgets(line, sizeof(line), f) != NULL)
		if (strstr(line, "/memfd:OTEL_CTX") != NULL || strstr(line, "[anon:OTEL_CTX]") != NULL)
			h = (void *)strtoul(line, &end, 16);
	if (f != NULL)
		fclose(f);
	if (h == NULL)
		return -1;
	CHECK(memcmp(h->signature, "OTEL_CTX", 8) == 0 && h->version == 2 && h->time != 0);
	if (h->size > size)
		return -1;
	memcpy(payload, h->payload, h->size);
	return (int)h->size;
}

static void
resource(void)
{
	static const unsigned char want[] = "\x0a\x16\x0a\x0cservice.name\x12\x06\x0a\x04shop";
	unsigned char got[4096];
	char value[3000];
	int status;

	CHECK(published(got, sizeof(got)) == -1);
	CHECK(tnf_otel_resource((const char *const[]){ "service.name", NULL }) == EINVAL);
	CHECK(tnf_otel_resource((const char *const[]){ "service.name", "shop", NULL }) == 0);
	CHECK(published(got, sizeof(got)) == sizeof(want) - 1);
	CHECK(memcmp(got, want, sizeof(want) - 1) == 0);
	memset(value, 'x', sizeof(value));
	value[sizeof(value) - 1] = '\0';
	CHECK(tnf_otel_resource((const char *const[]){ "a", "b", "long", value, NULL }) == 0);
	CHECK(published(got, sizeof(got)) == 10 + 3 + 6 + 3 + 3 + 2999);
	pid_t pid = fork();
	if (pid == 0) {
		bad = 0;
		CHECK(published(got, sizeof(got)) == -1);
		CHECK(tnf_otel_resource((const char *const[]){ "service.name", "shop", NULL }) == 0);
		CHECK(published(got, sizeof(got)) == sizeof(want) - 1);
		_exit(bad);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
}

int
main(void)
{
	texts();
	variable();
	resource();
	return bad;
}
