/*
 * span.c - the current span of a thread, as OTEP 4947 lays it out, and its text.
 */
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <tnf/otel.h>

#define API	__attribute__((visibility("default")))

struct record {
	struct tnf_otel_span ids;
	uint8_t	 valid, flags;
	uint16_t attributes_size;
};

/* Others look the variable up by this name; each thread's points to its record or is NULL. */
extern API __thread const struct record *otel_thread_ctx_v1;
API __thread const struct record *otel_thread_ctx_v1;

static __thread struct record current;

/* Readers stop the thread, or are in it: the compiler alone could change the order. */
static void
order(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

API void
tnf_otel_set(const struct tnf_otel_span *span)
{
	struct tnf_otel_span ids;

	if (span == NULL) {
		otel_thread_ctx_v1 = NULL;
		return;
	}
	ids = *span;
	current.valid = 0;
	order();
	current.ids = ids;
	order();
	current.valid = 1;
	order();
	otel_thread_ctx_v1 = &current;
}

API bool
tnf_otel_get(struct tnf_otel_span *ret)
{
	if (otel_thread_ctx_v1 == NULL)
		return false;
	*ret = current.ids;
	return true;
}

/* Reads n bytes of two small hexadecimal digits each; false: others, or zeros alone. */
static bool
read_id(const char *text, uint8_t *id, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	const char *at;
	bool any = false;

	memset(id, 0, n);
	for (size_t i = 0; i < 2 * n; i++) {
		if (text[i] == '\0' || (at = strchr(digits, text[i])) == NULL)
			return false;
		id[i / 2] = (uint8_t)(id[i / 2] << 4 | (at - digits));
		any |= at != digits;
	}
	return any;
}

API bool
tnf_otel_parse(const char *text, struct tnf_otel_span *ret)
{
	struct tnf_otel_span span;
	uint8_t version;

	/* "ff" is no version, and later ones may have more behind the flags. */
	if (text == NULL || strnlen(text, TNF_OTEL_TEXT) < TNF_OTEL_TEXT - 1 ||
	    text[2] != '-' || text[35] != '-' || text[52] != '-' ||
	    (memcmp(text, "00", 2) != 0 && !read_id(text, &version, 1)) ||
	    memcmp(text, "ff", 2) == 0 || !read_id(text + 3, span.trace, sizeof(span.trace)) ||
	    !read_id(text + 36, span.span, sizeof(span.span)))
		return false;
	*ret = span;
	return true;
}

static char *
write_id(char *to, const uint8_t *id, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		*to++ = "0123456789abcdef"[id[i] >> 4];
		*to++ = "0123456789abcdef"[id[i] & 15];
	}
	return to;
}

API void
tnf_otel_format(const struct tnf_otel_span *span, char text[TNF_OTEL_TEXT])
{
	char *to = stpcpy(text, "00-");

	to = write_id(to, span->trace, sizeof(span->trace));
	*to++ = '-';
	to = write_id(to, span->span, sizeof(span->span));
	strcpy(to, "-01");
}

/* Ids need not be secret; without the kernel's random numbers they are made of the time. */
static void
new_id(uint8_t *id, size_t n)
{
	struct timespec now;

	if (getrandom(id, n, GRND_NONBLOCK) != (ssize_t)n) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		for (size_t i = 0; i < n; i++)
			id[i] = (uint8_t)((uint64_t)now.tv_nsec >> (i % 4 * 8) ^
			    (uint64_t)getpid() >> (i % 2 * 8) ^ (uintptr_t)id >> (i % 6 * 8));
	}
	id[n - 1] |= 1;
}

API void
tnf_otel_new(const struct tnf_otel_span *parent, struct tnf_otel_span *ret)
{
	struct tnf_otel_span span;

	if (parent != NULL)
		span = *parent;
	else
		new_id(span.trace, sizeof(span.trace));
	new_id(span.span, sizeof(span.span));
	*ret = span;
}
