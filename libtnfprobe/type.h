/*
 * type.h - the built-in types, and how a definition is put together.
 */
#ifndef LIBTNFPROBE_TYPE_H
#define LIBTNFPROBE_TYPE_H

#include <stddef.h>
#include <stdint.h>

/*
 * One row a type: A abstract; S scalar (size, alignment); D derived (base);
 * R array (element); T struct (size).  The slots of structs are in type.c.
 */
#define CORE_TYPES(A, S, D, R, T)					\
	A(type_none)							\
	T(file_header, 56)						\
	T(block_header, 24)						\
	T(struct_type, 24)						\
	T(type, 12)							\
	T(scalar_type, 20)						\
	T(derived_type, 16)						\
	T(array_type, 24)						\
	T(probe_type, 28)						\
	T(struct, 0)							\
	T(sched_rec, 24)						\
	A(tagged)							\
	A(inline)							\
	S(scalar, 0, 0)							\
	S(char, 1, 1)							\
	S(int8, 1, 1)							\
	S(uint8, 1, 1)							\
	S(int16, 2, 2)							\
	S(uint16, 2, 2)							\
	S(int32, 4, 4)							\
	S(uint32, 4, 4)							\
	S(int64, 8, 8)							\
	S(uint64, 8, 8)							\
	S(float32, 4, 4)						\
	S(float64, 8, 8)						\
	R(array, type_none)						\
	R(string, char)							\
	R(type_array, type)						\
	R(name_array, name)						\
	D(derived, type_none)						\
	D(align, uint32)						\
	D(header_size, uint32)						\
	D(self_size, uint32)						\
	D(type_size, uint32)						\
	D(derived_base, type)						\
	D(element_type, type)						\
	D(tag, type)							\
	D(tag_arg, tagged)						\
	D(name, string)							\
	D(properties, type_array)					\
	D(slot_types, type_array)					\
	D(slot_names, name_array)					\
	D(opaque, uint64)						\
	D(size, uint64)							\
	D(probe_event, tag)						\
	D(time_base, int64)						\
	D(time_delta, uint32)						\
	D(pid, int32)							\
	D(lwpid, uint32)

#define CORE_ID_1(id)		CORE_##id,
#define CORE_ID_2(id, a)	CORE_##id,
#define CORE_ID_3(id, a, b)	CORE_##id,
enum core {
	CORE_TYPES(CORE_ID_1, CORE_ID_3, CORE_ID_2, CORE_ID_2, CORE_ID_2)
	CORE_COUNT
};

/*
 * All of these between tnf_tag_begin() and tnf_tag_end().  They return the
 * reference to store: permanent, or 0.  If there is no room they go on and
 * write nowhere, and tnf_tag_end() returns false.
 */
uint32_t tnf_core(enum core);		/* 0 for CORE_type_none */
uint32_t tnf_core_tag(enum core);	/* the same for a tag slot */
enum core tnf_core_find(const char *name);	/* CORE_type_none: not known */
uint32_t tnf_put_text(enum core type, const char *text, size_t len, size_t max);
uint32_t tnf_put_array(enum core type, unsigned n, uint32_t **cells);
uint32_t tnf_put_struct_properties(void);

/* An aborted transaction takes back what tnf_core() remembers. */
void tnf_core_save(void);
void tnf_core_restore(void);
void tnf_core_forget(void);

#endif /* LIBTNFPROBE_TYPE_H */
