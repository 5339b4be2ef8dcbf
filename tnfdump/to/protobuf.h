/*
 * protobuf.h - the fields of a Protocol Buffers message.
 *
 * A message inside a message is built in a buffer of its own, because its length comes
 * first; proto_message() appends the buffer and empties it.
 */
#ifndef TNFDUMP_TO_PROTOBUF_H
#define TNFDUMP_TO_PROTOBUF_H

#include "common/out.h"

static inline void
proto_varint(struct out *o, uint64_t v)
{
	out_room(o);
	char *p = o->p;		/* what is written might be o->p itself, for all that the compiler knows */
	for (; v >= 0x80; v >>= 7)
		*p++ = (char)(v | 0x80);
	*p++ = (char)v;
	o->p = p;
}

/* How many bytes v takes, and a field of so many bytes with a number up to 15. */
static inline size_t
proto_varint_size(uint64_t v)
{
	return (70 - (unsigned)__builtin_clzll(v | 1)) / 7;
}

static inline size_t
proto_bytes_size(size_t n)
{
	return 1 + proto_varint_size(n) + n;
}

static inline void
proto_u64(struct out *o, unsigned field, uint64_t v)
{
	proto_varint(o, (uint64_t)field << 3);
	proto_varint(o, v);
}

static inline void
proto_bytes(struct out *o, unsigned field, const char *s, size_t n)
{
	proto_varint(o, (uint64_t)field << 3 | 2);
	proto_varint(o, n);
	tnf_out_bytes(o, s, n);
}

static inline void
proto_str(struct out *o, unsigned field, const char *s)
{
	proto_bytes(o, field, s, strlen(s));
}

static inline void
proto_fixed64(struct out *o, unsigned field, uint64_t v)
{
	proto_varint(o, (uint64_t)field << 3 | 1);
	out_room(o);
	for (int i = 0; i < 8; i++)
		*o->p++ = (char)(v >> 8 * i);
}

static inline void
proto_double(struct out *o, unsigned field, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	proto_fixed64(o, field, bits);
}

static inline void
proto_message(struct out *o, unsigned field, struct out *m)
{
	proto_bytes(o, field, m->base, out_size(m));
	m->p = m->base;
}

#endif
