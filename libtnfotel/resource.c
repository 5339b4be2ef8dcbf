/*
 * resource.c - attributes of the process, as OTEP 4719 lays them out.
 *
 * A page with a header and a message opentelemetry.proto.resource.v1.Resource in protobuf.  A
 * reader finds the page by its name in /proc/PID/maps, and reads again if the time has changed.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <tnf/otel.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA		0x53564d41
#define PR_SET_VMA_ANON_NAME	0
#endif

#define API		__attribute__((visibility("default")))
#define NAME		"OTEL_CTX"
#define VERSION		2
#define TEXT_MAX	16000	/* bytes of a name or a value: lengths have three bytes at most */

struct header {
	char	 signature[8];	/* written last */
	uint32_t version, size;
	uint64_t published;	/* ns since 1970; 0: being changed */
	const unsigned char *payload;
};

static struct header *page;
static unsigned char *payload;

static size_t
varint_size(size_t v)
{
	return v < 0x80 ? 1 : v < 0x4000 ? 2 : 3;
}

/* Bytes of a field with n bytes. */
static size_t
field_size(size_t n)
{
	return 1 + varint_size(n) + n;
}

static unsigned char *
put_field(unsigned char *to, unsigned field, size_t n)
{
	*to++ = (unsigned char)(field << 3 | 2);
	for (; n >= 0x80; n >>= 7)
		*to++ = (unsigned char)(n | 0x80);
	*to++ = (unsigned char)n;
	return to;
}

static unsigned char *
put_text(unsigned char *to, unsigned field, const char *text)
{
	size_t n = strlen(text);

	to = put_field(to, field, n);
	memcpy(to, text, n);
	return to + n;
}

/* KeyValue { key = 1; value = 2 { string_value = 1 } } */
static size_t
pair_size(const char *key, const char *value)
{
	return field_size(strlen(key)) + field_size(field_size(strlen(value)));
}

static unsigned char *
encode(const char *const *attributes, size_t *size)
{
	unsigned char *message, *to;
	const char *const *a;

	*size = 0;
	for (a = attributes; a[0] != NULL; a += 2) {
		if (a[1] == NULL || strlen(a[0]) > TEXT_MAX || strlen(a[1]) > TEXT_MAX) {
			errno = EINVAL;
			return NULL;
		}
		*size += field_size(pair_size(a[0], a[1]));
	}
	if (*size > UINT32_MAX) {
		errno = EINVAL;
		return NULL;
	}
	to = message = malloc(*size + 1);
	for (a = attributes; message != NULL && a[0] != NULL; a += 2) {
		to = put_field(to, 1, pair_size(a[0], a[1]));
		to = put_text(to, 1, a[0]);
		to = put_field(to, 2, field_size(strlen(a[1])));
		to = put_text(to, 1, a[1]);
	}
	return message;
}

/* A page of a file in memory has a name on each kernel; an anonymous one on newer ones. */
static struct header *
new_page(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create(NAME, MFD_CLOEXEC);
	void *p = MAP_FAILED;

	if (fd >= 0) {
		if (ftruncate(fd, (off_t)size) == 0)
			p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
		close(fd);
	}
	if (p == MAP_FAILED)
		p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (madvise(p, size, MADV_DONTFORK) != 0) {
		munmap(p, size);
		return NULL;
	}
	return p;
}

/* In the child of fork() the page is not there. */
static void
forget(void)
{
	page = NULL;
}

API int
tnf_otel_resource(const char *const *attributes)
{
	static bool told;
	struct timespec now;
	unsigned char *message;
	size_t size;

	if ((message = encode(attributes, &size)) == NULL)
		return errno;
	if (!told && (errno = pthread_atfork(NULL, NULL, forget)) == 0)
		told = true;
	if (!told || (page == NULL && (page = new_page()) == NULL)) {
		free(message);
		return errno;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	__atomic_store_n(&page->published, 0, __ATOMIC_SEQ_CST);
	page->version = VERSION;
	page->size = (uint32_t)size;
	page->payload = message;
	__atomic_store_n(&page->published, (uint64_t)now.tv_sec * 1000000000u +
	    (uint64_t)now.tv_nsec, __ATOMIC_SEQ_CST);
	memcpy(page->signature, NAME, sizeof(page->signature));
	prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, page, sysconf(_SC_PAGESIZE), NAME);
	free(payload);
	payload = message;
	return 0;
}
