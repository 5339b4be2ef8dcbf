/*
 * move.c - instructions that are moved into a pad do what they did in their place: random
 * ones run in both, and leave the same registers, flags, stack and memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <check.h>

#include "libtnfctl/arch/arch.h"
#include "libtnfctl/sites/sites.h"
#include "tests/check-run.h"

#define ROUNDS		40000
#define SEQUENCE_MAX	10u	/* instructions */
#define SEQUENCE_BYTES	128u
#define PAD_AT		(1u << 20)	/* behind the code */
#define DATA_AT		(2u << 20)	/* behind that, what instructions refer to */
#define DATA_SIZE	256u
#define AREA_SIZE	(3u << 20)

/* The registers that a sequence gets and leaves; run() knows the offsets. */
struct state {
	uint64_t r[13];		/* not rsp, rdi and r15 */
	uint64_t flags;		/* 104 */
	uint8_t	 xmm[4][16];	/* 112 */
	uint64_t red_zone[8];	/* 176: below the stack pointer */
	const void *code;	/* 240 */
	const void *leave;	/* 248: where the sequence goes when it is done */
	const void *helper;	/* 256: a function that has its return address in rbx */
};

void	move_test_run(struct state *);
extern const uint8_t move_test_leave[], move_test_helper[];

__asm__(
"	.text\n"
"move_test_run:\n"
"	push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
"	mov %rdi, %r15\n"
"	movdqu 112(%r15), %xmm0; movdqu 128(%r15), %xmm1\n"
"	movdqu 144(%r15), %xmm2; movdqu 160(%r15), %xmm3\n"
"	pushq 104(%r15); popfq\n"
"	movq $0, -8(%rsp); movq $0, -16(%rsp); movq $0, -24(%rsp); movq $0, -32(%rsp)\n"
"	movq $0, -40(%rsp); movq $0, -48(%rsp); movq $0, -56(%rsp); movq $0, -64(%rsp)\n"
"	mov 0(%r15), %rax; mov 8(%r15), %rcx; mov 16(%r15), %rdx; mov 24(%r15), %rbx\n"
"	mov 32(%r15), %rbp; mov 40(%r15), %rsi; mov 48(%r15), %r8; mov 56(%r15), %r9\n"
"	mov 64(%r15), %r10; mov 72(%r15), %r11; mov 80(%r15), %r12; mov 88(%r15), %r13\n"
"	mov 96(%r15), %r14\n"
"	jmp *240(%r15)\n"
"move_test_leave:\n"
"	mov %rax, 0(%r15); mov %rcx, 8(%r15); mov %rdx, 16(%r15); mov %rbx, 24(%r15)\n"
"	mov %rbp, 32(%r15); mov %rsi, 40(%r15); mov %r8, 48(%r15); mov %r9, 56(%r15)\n"
"	mov %r10, 64(%r15); mov %r11, 72(%r15); mov %r12, 80(%r15); mov %r13, 88(%r15)\n"
"	mov %r14, 96(%r15)\n"
"	movdqu %xmm0, 112(%r15); movdqu %xmm1, 128(%r15)\n"
"	movdqu %xmm2, 144(%r15); movdqu %xmm3, 160(%r15)\n"
"	lea -64(%rsp), %rsi; lea 176(%r15), %rdi\n"
"	movsq; movsq; movsq; movsq; movsq; movsq; movsq; movsq\n"
"	pushfq; popq 104(%r15)\n"
"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
"	ret\n"
"move_test_helper:\n"
"	mov (%rsp), %rbx\n"
"	lea 1(%rax), %rax\n"
"	ret\n");

static uint8_t *area;
static uint64_t seed;

static uint64_t
any(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed >> 33;
}

struct bytes {
	uint8_t	*p;		/* where the next go */
};

static void
put(struct bytes *b, const void *bytes, size_t n)
{
	memcpy(b->p, bytes, n);
	b->p += n;
}

static void
put_byte(struct bytes *b, unsigned v)
{
	*b->p++ = (uint8_t)v;
}

static void
put_word(struct bytes *b, int64_t v)
{
	int32_t w = (int32_t)v;

	ck_assert(w == v);
	put(b, &w, sizeof w);
}

/* A register that instructions may change: not rsp, rdi or r15. */
static unsigned
any_register(void)
{
	static const uint8_t registers[] = { 0, 1, 2, 3, 5, 6, 8, 9, 10, 11, 12, 13, 14 };

	return registers[any() % sizeof registers];
}

/* mod and rm of memory at an address in the data, relative to the end of an instruction that has
   'behind' bytes more. */
static void
put_place(struct bytes *b, unsigned reg, unsigned behind)
{
	uint8_t *place = area + DATA_AT + any() % (DATA_SIZE - 16);

	put_byte(b, (reg & 7) << 3 | 5);
	put_word(b, place - (b->p + 4 + behind));
}

static void
put_registers(struct bytes *b)
{
	static const uint8_t codes[] = { 0x01, 0x03, 0x09, 0x11, 0x13, 0x19, 0x21, 0x29, 0x31, 0x39,
	    0x85, 0x87, 0x89, 0x8b, 0x63 };
	unsigned x = any_register(), y = any_register();

	if (any() % 2 == 0 && x < 8 && y < 8) {
		put_byte(b, codes[any() % (sizeof codes - 1)]);
	} else {
		put_byte(b, 0x40 | (any() & 8) | (x >> 3) << 2 | y >> 3);
		put_byte(b, codes[any() % sizeof codes]);
	}
	put_byte(b, 0xc0 | (x & 7) << 3 | (y & 7));
}

static void
put_number(struct bytes *b)
{
	unsigned x = any_register();

	if (x >= 8)
		put_byte(b, 0x41);
	if (any() % 2 == 0) {
		put_byte(b, 0xb8 | (x & 7));
		put_word(b, (int32_t)any());
	} else {
		put_byte(b, 0x83);
		put_byte(b, 0xc0 | (unsigned)(any() % 8) << 3 | (x & 7));
		put_byte(b, (unsigned)any() & 0xff);
	}
}

/* lea, loads, stores, and an operation with a number behind the place. */
static void
put_relative(struct bytes *b)
{
	static const uint8_t codes[] = { 0x8d, 0x8b, 0x89, 0x03, 0x01, 0x3b, 0x31 };
	unsigned x = any_register();

	switch (any() % 4) {
	case 0:
		put(b, "\xc7", 1);
		put_place(b, 0, 4);
		put_word(b, (int32_t)any());
		break;
	case 1:
		put(b, any() % 2 ? "\xf3\x0f\x6f" : "\xf3\x0f\x7f", 3);	/* movdqu */
		put_place(b, (unsigned)any() % 4, 0);
		break;
	case 2:
		put(b, "\x80", 1);
		put_place(b, (unsigned)any() % 8, 1);
		put_byte(b, (unsigned)any() & 0xff);
		break;
	default:
		put_byte(b, 0x48 | (x >> 3) << 2);
		put_byte(b, codes[any() % sizeof codes]);
		put_place(b, x, 0);
	}
}

static void
put_stack(struct bytes *b)
{
	static const uint8_t forms[][5] = {
		{ 3, 0x48, 0x89, 0x44, 0x24 }, { 3, 0x48, 0x8b, 0x5c, 0x24 },
	};
	const uint8_t *f = forms[any() % 2];

	put(b, f + 1, 4);
	put_byte(b, (unsigned)-8 * (1 + (unsigned)any() % 8) & 0xff);	/* the red zone */
}

static void
put_nop(struct bytes *b)
{
	static const struct {
		size_t n;
		const char *bytes;
	} nops[] = { { 1, "\x90" }, { 2, "\x66\x90" }, { 3, "\x0f\x1f\x00" },
	    { 5, "\x0f\x1f\x44\x00\x00" } };
	unsigned i = (unsigned)any() % 4;

	put(b, nops[i].bytes, nops[i].n);
}

/* An instruction that goes on behind itself. */
static void
put_straight(struct bytes *b)
{
	switch (any() % 8) {
	case 0:
	case 1:
		put_registers(b);
		break;
	case 2:
		put_number(b);
		break;
	case 3:
	case 4:
	case 5:
		put_relative(b);
		break;
	case 6:
		put_stack(b);
		break;
	default:
		put_nop(b);
	}
}

static void
put_call(struct bytes *b)
{
	void *helper = area + DATA_AT + DATA_SIZE;

	switch (any() % 4) {
	case 0:
		put(b, "\xe8", 1);
		put_word(b, area + PAD_AT - 64 - (b->p + 4));
		break;
	case 1:
		put(b, "\xff\x15", 2);		/* of the place that has its address */
		put_word(b, (uint8_t *)helper - (b->p + 4));
		break;
	case 2:
		put(b, "\x41\xff\x97\x00\x01\x00\x00", 7);	/* call *256(%r15) */
		break;
	default:
		put(b, "\x4d\x8b\xb7\x00\x01\x00\x00", 7);	/* mov 256(%r15), %r14 */
		put(b, "\x41\xff\xd6", 3);			/* call *%r14 */
	}
}

/* The place of a branch's byte of distance, which leads to a later instruction. */
struct branch {
	uint8_t	*distance;
	unsigned after;		/* of these instructions */
};

struct sequence {
	uint8_t	*at[SEQUENCE_MAX + 1];	/* each instruction, or two; the end */
	unsigned n;
	struct branch branches[SEQUENCE_MAX];
	unsigned nbranches;
};

static void
put_branch(struct bytes *b, struct sequence *q)
{
	if (any() % 4 == 0)
		put_byte(b, 0xeb);
	else
		put_byte(b, 0x70 | (unsigned)any() % 16);
	q->branches[q->nbranches++] = (struct branch){ b->p, q->n };
	put_byte(b, 0);
}

/* Writes a sequence to the beginning of the area.  No branch leads into the jump. */
static void
write_sequence(struct sequence *q)
{
	struct bytes b = { area };
	unsigned n = 3 + (unsigned)any() % (SEQUENCE_MAX - 3), to;

	*q = (struct sequence){ .n = 0 };
	for (; q->n < n; q->n++) {
		q->at[q->n] = b.p;
		if (any() % 6 == 0)
			put_branch(&b, q);
		else if (any() % 6 == 0)
			put_call(&b);
		else
			put_straight(&b);
	}
	q->at[q->n] = b.p;
	put(&b, "\x41\xff\xa7\xf8\x00\x00\x00", 7);	/* jmp *248(%r15) */
	ck_assert((size_t)(b.p - area) < SEQUENCE_BYTES);
	for (unsigned i = 0; i < q->nbranches; i++) {
		to = q->branches[i].after + 1 + (unsigned)any() % (n - q->branches[i].after);
		while (to < n && q->at[to] < area + SITE_JUMP)
			to++;
		*q->branches[i].distance = (uint8_t)(q->at[to] - (q->branches[i].distance + 1));
	}
}

static void
run(struct state *s, const void *code, const uint8_t *data_before, uint8_t *data_after)
{
	s->code = code;
	s->leave = move_test_leave;
	s->helper = area + PAD_AT - 64;
	memcpy(area + DATA_AT, data_before, DATA_SIZE);
	move_test_run(s);
	memcpy(data_after, area + DATA_AT, DATA_SIZE);
}

/* Runs the code that begins at 'from' of the original, and what stands for it in the patched one. */
static void
compare(const struct site *site, const uint8_t *from)
{
	uint8_t original[SEQUENCE_BYTES], before[DATA_SIZE], after[2][DATA_SIZE];
	uint8_t jump[SITE_JUMP] = { 0xe9 };
	struct state s[2];
	int32_t distance = (int32_t)(PAD_AT - SITE_JUMP);
	uint64_t pad = (uintptr_t)area + PAD_AT, to;
	size_t n;

	memset(&s[0], 0, sizeof s[0]);
	for (size_t i = 0; i < sizeof s[0].r / sizeof *s[0].r; i++)
		s[0].r[i] = any() << 32 ^ any();
	for (size_t i = 0; i < sizeof s[0].xmm; i++)
		s[0].xmm[i / 16][i % 16] = (uint8_t)any();
	for (size_t i = 0; i < sizeof before; i++)
		before[i] = (uint8_t)any();
	s[0].flags = any() & 0x8d5;	/* those that arithmetic changes */
	s[1] = s[0];
	run(&s[0], from, before, after[0]);

	ck_assert_ptr_null(tnfctl_site_relocate(site, (uintptr_t)area, pad, area + PAD_AT, &n));
	ck_assert_uint_le(n, SITE_MOVED_MAX);
	memcpy(original, area, sizeof original);
	memcpy(jump + 1, &distance, sizeof distance);
	memcpy(area, jump, sizeof jump);
	to = tnfctl_site_to_pad(site, (uintptr_t)area, pad, (uintptr_t)from);
	run(&s[1], from == area ? (void *)area : (void *)(uintptr_t)to, before, after[1]);
	memcpy(area, original, sizeof original);
	s[1].code = s[0].code;
	ck_assert_mem_eq(&s[0], &s[1], sizeof s[0]);
	ck_assert_mem_eq(after[0], after[1], sizeof after[0]);
}

START_TEST(same_result)
{
	struct site site = { .address = 0 };
	unsigned judged = 0, calls = 0, nops = 0;
	struct sequence q;
	const char *why;

	for (unsigned round = 0; round < ROUNDS; round++) {
		write_sequence(&q);
		why = tnfctl_move_judge(area, SEQUENCE_BYTES, (size_t)(q.at[q.n] - area), &site);
		if (why != NULL)
			continue;
		judged++;
		calls += site.calls;
		nops += site.nops;
		/* Behind a jmp is padding: no thread stands there. */
		for (unsigned i = 0; i == 0 || (i <= q.n && q.at[i] < area + site.length &&
		    q.at[i - 1][0] != 0xeb); i++)
			compare(&site, q.at[i]);
	}
	/* Few are refused: a jmp within the first bytes, a call that is not the last. */
	ck_assert_uint_gt(judged, ROUNDS / 2);
	ck_assert_uint_gt(calls, ROUNDS / 100);
	ck_assert_uint_gt(nops, ROUNDS / 1000);
}
END_TEST

/* No instruction begins there, or not in the site. */
START_TEST(no_such_instruction)
{
	/* push %rbp; mov %rsp, %rbp; sub $16, %rsp */
	struct site site = { .length = 8,
	    .bytes = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10 } };

	for (unsigned i = 0; i < 12; i++)
		ck_assert_uint_eq(tnfctl_site_to_pad(&site, 0x1000, 0x9000, 0x1000 + i),
		    i == 0 || i == 1 || i == 4 ? 0x9000 + i : 0);
	ck_assert_uint_eq(tnfctl_site_to_pad(&site, 0x1000, 0x9000, 0xfff), 0);
}
END_TEST

START_TEST(too_far)
{
	/* mov 0x7fff0000(%rip), %rax */
	struct site site = { .length = 7, .bytes = { 0x48, 0x8b, 0x05, 0, 0, 0xff, 0x7f } };
	const uint64_t from = 1ull << 40;
	uint8_t moved[SITE_MOVED_MAX];
	size_t n;

	ck_assert_ptr_null(tnfctl_site_relocate(&site, from, from + 4096, moved, &n));
	ck_assert_str_eq(tnfctl_site_relocate(&site, from, from - 4096 * 1024, moved, &n), "too far from any pad");
	site = (struct site){ .length = 5, .bytes = { 0xb8 } };
	ck_assert_ptr_null(tnfctl_site_relocate(&site, from, from + SITE_REACH, moved, &n));
	ck_assert_str_eq(tnfctl_site_relocate(&site, from, from + SITE_REACH + 1, moved, &n), "too far from any pad");
	ck_assert_str_eq(tnfctl_site_relocate(&site, from, from - SITE_REACH - 1, moved, &n), "too far from any pad");
	site.length = SITE_JUMP - 1;
	ck_assert_str_eq(tnfctl_site_relocate(&site, from, from, moved, &n), "it is no site");
	site = (struct site){ .length = 5, .bytes = { 0x06 } };
	ck_assert_str_eq(tnfctl_site_relocate(&site, from, from, moved, &n), "it is no site");
	site.refused = "a reason";
	ck_assert_str_eq(tnfctl_site_relocate(&site, from, from, moved, &n), "a reason");
}
END_TEST

static void
make_area(void)
{
	void *helper;

	area = mmap(NULL, AREA_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(area, MAP_FAILED);
	/* jmp *(%rip) to the helper, within reach of every call */
	helper = (void *)(uintptr_t)move_test_helper;
	memcpy(area + PAD_AT - 64, "\xff\x25\x00\x00\x00\x00", 6);
	memcpy(area + PAD_AT - 58, &helper, sizeof helper);
	helper = area + PAD_AT - 64;
	memcpy(area + DATA_AT + DATA_SIZE, &helper, sizeof helper);
	seed = 1;
}

int
main(void)
{
	Suite *suite = suite_create("move");
	TCase *tc = tcase_create("move");

	tcase_add_checked_fixture(tc, make_area, NULL);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, same_result);
	tcase_add_test(tc, no_such_instruction);
	tcase_add_test(tc, too_far);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
