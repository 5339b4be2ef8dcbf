/*
 * calling.h - where a function finds its arguments when it begins, and leaves its
 * result: the calling convention of each kind of machine.
 *
 * Numbers and pointers are in so many registers, then in memory, a word each, from
 * ARCH_STACK_ARGUMENTS bytes above the stack pointer.
 *
 * ARCH_RESULT_FIRST: where a result that no registers hold is to be put is told by an
 * argument before the first; elsewhere a register of its own tells it.
 *
 * ARCH_STRUCTURE_BY_ADDRESS: a structure that is passed by value, and is too large for
 * registers, is told by its address, in place of an argument; elsewhere it is copied
 * into the memory of arguments.
 *
 * ARCH_VECTOR_STRUCTURE: so many bytes a structure of floating-point numbers may have that
 * goes in their registers; 0: none goes there alone.
 */
#ifndef LIBTNFCTL_ARCH_CALLING_H
#define LIBTNFCTL_ARCH_CALLING_H

#include <stdint.h>

#include "kernel-probes/operand.h"

#if defined(__x86_64__)

#define ARCH_ARGUMENTS			6u
#define ARCH_STACK_ARGUMENTS		8u	/* the address to return to is below them */
#define ARCH_RESULT_FIRST		1
#define ARCH_STRUCTURE_BY_ADDRESS	0
#define ARCH_VECTOR_STRUCTURE		0
#define ARCH_RESULT			KP_R_AX

static const uint8_t arch_argument[ARCH_ARGUMENTS] = {
	KP_R_DI, KP_R_SI, KP_R_DX, KP_R_CX, KP_R_R8, KP_R_R9
};

#elif defined(__aarch64__)

#define ARCH_ARGUMENTS			8u
#define ARCH_STACK_ARGUMENTS		0u
#define ARCH_RESULT_FIRST		0
#define ARCH_STRUCTURE_BY_ADDRESS	1
#define ARCH_VECTOR_STRUCTURE		64	/* four of 16 bytes */
#define ARCH_RESULT			KP_R_X0

static const uint8_t arch_argument[ARCH_ARGUMENTS] = {
	KP_R_X0, KP_R_X0 + 1, KP_R_X0 + 2, KP_R_X0 + 3, KP_R_X0 + 4, KP_R_X0 + 5,
	KP_R_X0 + 6, KP_R_X0 + 7
};

#else

/* There are no kernel probes, and nobody hits one of a function's. */
#define ARCH_ARGUMENTS			1u
#define ARCH_STACK_ARGUMENTS		0u
#define ARCH_RESULT_FIRST		0
#define ARCH_STRUCTURE_BY_ADDRESS	0
#define ARCH_VECTOR_STRUCTURE		0
#define ARCH_RESULT			KP_R_NONE

static const uint8_t arch_argument[ARCH_ARGUMENTS] = { KP_R_NONE };

#endif

#endif
