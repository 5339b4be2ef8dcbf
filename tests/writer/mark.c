/*
 * mark.c - a value for each type that TNF_MARK tells apart, and the macros of ktr(9).
 */
#include <errno.h>

#include <tnf/ktr.h>

struct order { int cakes; unsigned char tiny; };
enum state { BAKED = 5 };

static void
marks(const struct order *o, const char *name, enum state state)
{
	char text[8] = "text";
	unsigned long most = ~0ul;
	_Bool yes = 1;
	float half = 0.5f;
	long id = -7;

	TNF_MARK(done, id, o->cakes, name);
	TNF_MARK(nothing);
	TNF_MARK(all, most, half, yes, text, o->tiny, state);
	TNF_MARK_2(error, errno, (void*)0);
	CTR0(KTR_GEN, "nothing at all");
	CTR2(KTR_SCHED | KTR_PROC, "from %s to %5ld%%", name, id);
	CTR6(KTR_NET, "%d %u %x %#lx %s %p", 1, 2u, 255, 4096ul, "five", (void *)0x10);
	TR1("at %d", 3);
	TNF_PROBE_10(ten, "ten", "", tnf_int, a, 1, tnf_string, b, "2", tnf_int, c, 3, tnf_long, d, 4,
	    tnf_double, e, 5.5, tnf_int, f, 6, tnf_uint8, g, 7, tnf_string, h, "8", tnf_opaque, i,
	    (void *)9, tnf_short, j, 10);
}

int
main(void)
{
	const struct order order = { 3, 200 };

	marks(&order, "bob", BAKED);
	return 0;
}
