/*
 * old-client.c - a client of libtnf as it was written for Solaris: every name
 * of <tnf/com.h> and <tnf/tnf.h> that such a source may use is there, and means
 * what the format says.
 */
#include <sys/wait.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tnf/tnf.h>

#include "tests/reader/samples.h"

#define NEED(x)	do {							\
	if (!(x)) {							\
		printf("FAIL: %s\n", #x);				\
		failed = 1;						\
	}								\
} while (0)

static int failed;

static const char *const names[] = {
	TNF_N_TAGGED, TNF_N_INLINE, TNF_N_SCALAR, TNF_N_DERIVED, TNF_N_ARRAY,
	TNF_N_STRUCT, TNF_N_TYPE, TNF_N_TAG_ARG, TNF_N_SCALAR_TYPE,
	TNF_N_DERIVED_TYPE, TNF_N_ARRAY_TYPE, TNF_N_STRUCT_TYPE,
	TNF_N_PROBE_TYPE, TNF_N_CHAR, TNF_N_INT8, TNF_N_INT16, TNF_N_INT32,
	TNF_N_INT64, TNF_N_UINT8, TNF_N_UINT16, TNF_N_UINT32, TNF_N_UINT64,
	TNF_N_FLOAT32, TNF_N_FLOAT64, TNF_N_STRING, TNF_N_NAME, TNF_N_OPAQUE,
	TNF_N_SIZE, TNF_N_TYPE_ARRAY, TNF_N_NAME_ARRAY, TNF_N_TAG,
	TNF_N_PROPERTIES, TNF_N_SLOT_TYPES, TNF_N_SLOT_NAMES, TNF_N_TYPE_SIZE,
	TNF_N_HEADER_SIZE, TNF_N_SELF_SIZE, TNF_N_ALIGN, TNF_N_DERIVED_BASE,
	TNF_N_ELEMENT_TYPE, TNF_N_FILE_HEADER, TNF_N_BLOCK_HEADER,
	TNF_N_SCHED_REC, TNF_N_KERNEL_SCHEDULE, TNF_N_PROBE_EVENT,
	TNF_N_TIME_BASE, TNF_N_TIME_DELTA, TNF_N_PID, TNF_N_LWPID,
	TNF_N_KTHREAD_ID, TNF_N_CPUID,
};

/* Members of the file header and of a block's. */
static const char *const file_slots[] = {
	TNF_N_FILE_VERSION, TNF_N_FILE_HEADER_SIZE, TNF_N_FILE_LOGICAL_SIZE,
	TNF_N_BLOCK_HEADER_SIZE, TNF_N_BLOCK_SIZE, TNF_N_DIRECTORY_SIZE,
	TNF_N_BLOCK_COUNT, TNF_N_BLOCKS_VALID, TNF_N_TAG,
}, *const block_slots[] = {
	TNF_N_GENERATION, TNF_N_BYTES_VALID, TNF_N_A_LOCK, TNF_N_B_LOCK,
	TNF_N_NEXT_BLOCK,
};

#define COUNT(a)	(sizeof(a) / sizeof (a)[0])

/* An event's first word by hand, as old tools did. */
static void
take_apart(tnf_datum_t event, TNF *tnf, const char *base)
{
	tnf_record_p at = tnf_get_raw(event), word;
	tnf_ref32_t ref, directory;

	memcpy(&ref, at, sizeof ref);
	NEED(TNF_REF32_IS_PAIR(ref) && !TNF_REF32_IS_FULL(ref) && !TNF_REF32_IS_TAG(ref));
	NEED(TNF_REF32_TYPE(ref) == TNF_REF32_T_PAIR);
	NEED(TNF_TAG16_IS_ABS(TNF_REF32_TAG16(ref)) && !TNF_TAG16_IS_REL(TNF_REF32_TAG16(ref)));
	NEED(TNF_TAG16_TYPE(TNF_REF32_TAG16(ref)) == TNF_TAG16_T_ABS);
	word = (tnf_record_p)base + TNF_TAG16_VAL(TNF_REF32_TAG16(ref));
	memcpy(&directory, word, sizeof directory);
	NEED(TNF_REF32_IS_PERMANENT(directory) && !TNF_REF32_IS_RECLAIMABLE(directory));
	NEED(TNF_REF32_IS_FULL(directory));
	NEED((uint64_t)TNF_REF32_SIGN_EXTEND(TNF_REF32_VAL(directory)) ==
	    tnf_get_offset(tnf_get_type(event)));
	NEED(TNF_REF32_ARG16(ref) != 0);
	(void)tnf;
}

static void
arithmetic(void)
{
	NEED(TNF_REF32_SIGN_EXTEND(0x7ffffffcu) == -4);
	NEED(TNF_REF32_SIGN_EXTEND(0x80000010u) == 16);
	NEED(TNF_REF32_MAKE_PERMANENT(0x10u) == 0x80000010u);
	NEED(TNF_REF32_MAKE_RECLAIMABLE(0x80000010u) == 0x10u);
	NEED(TNF_REF32_ARG16(0x1235fff9u) == -8);
	NEED(TNF_TAG16_T_REL != TNF_TAG16_T_ABS && TNF_TAG16_T_MASK == 3);
	NEED(TNF_REF32_T_TAG != TNF_REF32_T_RESERVED && TNF_REF32_T_MASK == 3);
	NEED(TNF_ERRNO_MAX == TNF_ERR_NOTTNF - 1);
}

static void
kinds(void)
{
	static const tnf_arg_kind_t all[] = { TNF_UNKNOWN, TNF_INT32, TNF_UINT32,
	    TNF_INT64, TNF_UINT64, TNF_FLOAT32, TNF_FLOAT64, TNF_STRING,
	    TNF_ARRAY, TNF_STRUCT, TNF_OPAQUE };
	unsigned i;

	for (i = 0; i < COUNT(all); i++)
		NEED(all[i] == (tnf_arg_kind_t)i);
}

static void
read_all(char *base, size_t size)
{
	tnf_datum_t d, header;
	unsigned i, events = 0;
	TNF *tnf;

	NEED(tnf_reader_begin(base, size, &tnf) == TNF_ERR_NONE);
	header = tnf_get_file_header(tnf);
	for (i = 0; i < COUNT(file_slots); i++)
		NEED(tnf_get_slot_index(header, file_slots[i]) != (unsigned)-1);
	for (d = tnf_get_next_record(header); d != TNF_DATUM_NULL;
	    d = tnf_get_next_record(d)) {
		for (i = 0; tnf_is_block_header(d) && i < COUNT(block_slots); i++)
			NEED(tnf_get_slot_index(d, block_slots[i]) != (unsigned)-1);
		if (tnf_get_tag_arg(d) == TNF_DATUM_NULL)
			continue;
		if (events++ == 0)
			take_apart(d, tnf, base);
		NEED(tnf_type_get_property(tnf_get_type(d), TNF_N_STRUCT) != TNF_DATUM_NULL);
	}
	NEED(events == SAMPLE_EVENTS);
	tnf_reader_end(tnf);
}

/* It says what is wrong and ends the process, as the original did by default. */
static void
handler(void)
{
	char text[100] = "";
	int fds[2], status;
	pid_t pid;

	if (pipe(fds) != 0 || (pid = fork()) < 0)
		abort();
	if (pid == 0) {
		dup2(fds[1], STDERR_FILENO);
		tnf_set_error_handler(tnf_default_error_handler, NULL);
		tnf_get_kind(TNF_DATUM_NULL);
		_exit(0);
	}
	close(fds[1]);
	NEED(waitpid(pid, &status, 0) == pid);
	NEED(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	NEED(read(fds[0], text, sizeof text - 1) > 0);
	NEED(strcmp(text, "error: libtnf: 1025: operation on bad or NULL data "
	    "handle\n") == 0);
	close(fds[0]);
}

int
main(void)
{
	struct mk *m = sample(0);
	size_t size, i;
	char *base = (char *)mk_bytes(m, &size);

	for (i = 0; i < COUNT(names); i++)
		NEED(strncmp(names[i], "tnf_", 4) == 0);
	arithmetic();
	kinds();
	read_all(base, size);
	mk_free(m);
	handler();
	return failed;
}
