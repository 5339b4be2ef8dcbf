/*
 * decode.c - one instruction of x86-64, by Zydis.
 */
#include "libtnfctl/sites/code.h"

#ifdef TNF_ZYDIS

#include <Zydis/Zydis.h>

#include "kernel-probes/operand.h"

bool
tnfctl_insn_known(void)
{
	return true;
}

static enum insn_kind
branch_kind(const ZydisDecodedInstruction *z, enum insn_kind direct, enum insn_kind indirect)
{
	/* A branch of 16 bits cuts its target off. */
	if (z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR || z->operand_width == 16)
		return INSN_FIXED;
	return z->raw.imm[0].is_relative ? direct : indirect;
}

/* A condition that has no long form is in rcx, or is that of a transaction. */
static enum insn_kind
condition_kind(const ZydisDecodedInstruction *z)
{
	bool is_short = z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (z->opcode & 0xf0) == 0x70;
	bool is_near = z->opcode_map == ZYDIS_OPCODE_MAP_0F && (z->opcode & 0xf0) == 0x80;

	return (is_short || is_near) && z->operand_width != 16 ? INSN_BRANCH : INSN_FIXED;
}

static enum insn_kind
decode_kind(const ZydisDecodedInstruction *z)
{
	if (z->mnemonic == ZYDIS_MNEMONIC_ENDBR64)
		return INSN_LANDING;
	if (z->mnemonic == ZYDIS_MNEMONIC_INT3 || z->mnemonic == ZYDIS_MNEMONIC_UD2 ||
	    z->mnemonic == ZYDIS_MNEMONIC_HLT)
		return INSN_STOP;
	switch (z->meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
		return INSN_NOP;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return z->mnemonic == ZYDIS_MNEMONIC_JMP ?
		    branch_kind(z, INSN_JUMP, INSN_JUMP_TO) : INSN_FIXED;
	case ZYDIS_CATEGORY_CALL:
		return z->mnemonic == ZYDIS_MNEMONIC_CALL ?
		    branch_kind(z, INSN_CALL, INSN_CALL_TO) : INSN_FIXED;
	case ZYDIS_CATEGORY_COND_BR:
		return condition_kind(z);
	case ZYDIS_CATEGORY_RET:
		return z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ||
		    z->operand_width == 16 || z->mnemonic != ZYDIS_MNEMONIC_RET ?
		    INSN_FIXED : INSN_RETURN;
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_VTX:
		return INSN_FIXED;
	default:
		return z->raw.imm[0].is_relative ? INSN_FIXED : INSN_PLAIN;
	}
}

/* Its operand in memory; that relative to the instruction is 4 bytes without a base. */
static void
decode_memory(const ZydisDecodedInstruction *z, struct insn *ret)
{
	bool has_modrm = (z->attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0;
	bool is_stack;

	if (!has_modrm)
		return;
	ret->modrm = z->raw.modrm.offset;
	is_stack = z->raw.modrm.rm == 4 && z->raw.modrm.mod != 3 ?
	    (z->attributes & ZYDIS_ATTRIB_HAS_SIB) && z->raw.sib.base == 4 :
	    z->raw.modrm.rm == 4;
	ret->by_stack = is_stack && !z->raw.rex.B;
	if (z->raw.modrm.mod != 0 || z->raw.modrm.rm != 5) {
		if (z->raw.disp.size == 32)
			ret->number[0] = (uint32_t)z->raw.disp.value;
		return;
	}
	/* With a prefix for short addresses the sum is cut off. */
	if (z->address_width != 64) {
		ret->kind = INSN_FIXED;
		return;
	}
	ret->has_place = true;
	ret->is_lea = z->mnemonic == ZYDIS_MNEMONIC_LEA;
	ret->displacement = z->raw.disp.offset;
	ret->relative = z->raw.disp.value;
}

bool
tnfctl_insn_decode(const uint8_t *bytes, size_t n, struct insn *ret)
{
	ZydisDecodedInstruction z;
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, n, &z)))
		return false;
	*ret = (struct insn){ .kind = decode_kind(&z), .length = z.length };
	decode_memory(&z, ret);
	if (z.raw.imm[0].is_relative) {
		ret->has_target = true;
		ret->relative = z.raw.imm[0].value.s;
		ret->condition = z.opcode & 15;
	} else if (z.raw.imm[0].size >= 32) {
		ret->number[1] = z.raw.imm[0].size == 32 ? (uint32_t)z.raw.imm[0].value.u :
		    z.raw.imm[0].value.u;
	}
	return true;
}

static uint32_t
argument_of(ZydisRegister r)
{
	static const struct { ZydisRegister r; unsigned number; } arguments[] = {
		{ ZYDIS_REGISTER_RDI, KP_R_DI }, { ZYDIS_REGISTER_RSI, KP_R_SI },
		{ ZYDIS_REGISTER_RDX, KP_R_DX }, { ZYDIS_REGISTER_RCX, KP_R_CX },
		{ ZYDIS_REGISTER_R8, KP_R_R8 }, { ZYDIS_REGISTER_R9, KP_R_R9 },
	};

	for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++)
		if (arguments[i].r == r)
			return 1u << arguments[i].number;
	return 0;
}

static ZydisRegister
whole(const ZydisDecodedOperand *o)
{
	return o->type != ZYDIS_OPERAND_TYPE_REGISTER ? ZYDIS_REGISTER_NONE :
	    ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, o->reg.value);
}

/* True if the instruction sets a register of an argument to what the argument is, with more or
   fewer bits. */
static bool
keeps_argument(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o)
{
	return (z->mnemonic == ZYDIS_MNEMONIC_MOV || z->mnemonic == ZYDIS_MNEMONIC_MOVZX ||
	    z->mnemonic == ZYDIS_MNEMONIC_MOVSX || z->mnemonic == ZYDIS_MNEMONIC_MOVSXD) &&
	    whole(&o[0]) == whole(&o[1]);
}

/* false: it is one of the effects that are not allowed. */
static bool
note_write(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *all,
    const ZydisDecodedOperand *o, struct insn_effect *ret)
{
	ZydisRegister r = whole(o);
	uint32_t argument = argument_of(r);
	bool clears = z->mnemonic == ZYDIS_MNEMONIC_XOR && whole(&all[0]) == whole(&all[1]);

	if (o->type != ZYDIS_OPERAND_TYPE_REGISTER || r == ZYDIS_REGISTER_RIP)
		return false;
	if (argument == 0)
		return r != ZYDIS_REGISTER_RSP;
	if (keeps_argument(z, all))
		return true;
	ret->lost |= argument;
	return clears || (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ) == 0;
}

bool
tnfctl_insn_effect(const uint8_t *bytes, size_t n, struct insn_effect *ret)
{
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;
	ZydisDecoder decoder;
	enum insn_kind kind;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, n, &z, o)))
		return false;
	*ret = (struct insn_effect){ .length = z.length };
	kind = decode_kind(&z);
	if (kind != INSN_PLAIN)
		return kind == INSN_NOP;
	if (z.mnemonic == ZYDIS_MNEMONIC_PUSH && z.operand_width == 64 &&
	    o[0].type == ZYDIS_OPERAND_TYPE_REGISTER) {
		ret->pushed = 8;
		return true;
	}
	if (z.mnemonic == ZYDIS_MNEMONIC_SUB && whole(&o[0]) == ZYDIS_REGISTER_RSP &&
	    z.operand_width == 64 && z.raw.imm[0].size == 8 && z.raw.imm[0].value.s > 0) {
		ret->pushed = (uint8_t)z.raw.imm[0].value.s;
		return true;
	}
	for (unsigned i = 0; i < z.operand_count; i++)
		if ((o[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0 &&
		    whole(&o[i]) != ZYDIS_REGISTER_RFLAGS && !note_write(&z, o, &o[i], ret))
			return false;
	return true;
}

#else

bool
tnfctl_insn_effect(const uint8_t *bytes, size_t n, struct insn_effect *ret)
{
	return false;
}

bool
tnfctl_insn_known(void)
{
	return false;
}

bool
tnfctl_insn_decode(const uint8_t *bytes, size_t n, struct insn *ret)
{
	return false;
}

#endif
