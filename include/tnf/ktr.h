/*
 * ktr.h - the macros of ktr(9) as probes, for C code that was written for them.  (Linux)
 *
 *	CTR2(KTR_SCHED, "switch from %s to %p", name, td);
 *
 * CTRn(class, format, value, ...) is a probe with the name ktr, n values of 0 to 6, named p1,
 * p2 ..., and the keys "ktr" and the class: prex(1) switches it on by keys=KTR_SCHED.  A class
 * is any word, or several with a '|' and blanks between them; it need not be defined.  The
 * types of values are those of <tnf/mark.h>: a string is copied.  TRn(format, value, ...) has the
 * class KTR_TR.  The format is the attribute ktr%fmt of the probe, which tnfdump -t shows with
 * the values in it: so it has no semicolon, quote or brace.
 */
#ifndef TNF_KTR_H
#define TNF_KTR_H

#include <tnf/mark.h>

#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L

#define TNF_KTR_(format)	"ktr%fmt '" format "'"

#define CTR0(m, format)	TNF_MARK_SITE_0_(ktr, "ktr " #m, TNF_KTR_(format))
#define CTR1(m, format, a) \
	TNF_MARK_SITE_(1, ktr, "ktr " #m, TNF_KTR_(format), "p1 ", , a)
#define CTR2(m, format, a, b) \
	TNF_MARK_SITE_(2, ktr, "ktr " #m, TNF_KTR_(format), "p1 p2 ", , a, , b)
#define CTR3(m, format, a, b, c) \
	TNF_MARK_SITE_(3, ktr, "ktr " #m, TNF_KTR_(format), "p1 p2 p3 ", , a, , b, , c)
#define CTR4(m, format, a, b, c, d) \
	TNF_MARK_SITE_(4, ktr, "ktr " #m, TNF_KTR_(format), "p1 p2 p3 p4 ", , a, , b, , c, , d)
#define CTR5(m, format, a, b, c, d, e) \
	TNF_MARK_SITE_(5, ktr, "ktr " #m, TNF_KTR_(format), "p1 p2 p3 p4 p5 ", , a, , b, , c, \
	    , d, , e)
#define CTR6(m, format, a, b, c, d, e, f) \
	TNF_MARK_SITE_(6, ktr, "ktr " #m, TNF_KTR_(format), "p1 p2 p3 p4 p5 p6 ", , a, , b, \
	    , c, , d, , e, , f)

#define TR0(format)			CTR0(KTR_TR, format)
#define TR1(format, a)			CTR1(KTR_TR, format, a)
#define TR2(format, a, b)		CTR2(KTR_TR, format, a, b)
#define TR3(format, a, b, c)		CTR3(KTR_TR, format, a, b, c)
#define TR4(format, a, b, c, d)		CTR4(KTR_TR, format, a, b, c, d)
#define TR5(format, a, b, c, d, e)	CTR5(KTR_TR, format, a, b, c, d, e)
#define TR6(format, a, b, c, d, e, f)	CTR6(KTR_TR, format, a, b, c, d, e, f)

#endif

#endif /* TNF_KTR_H */
