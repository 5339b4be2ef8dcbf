/*
 * other-operand.c - a machine whose operands we do not read.
 */
#include "libtnfctl/usdt-operand.h"

bool
tnfctl_arch_operand(struct operand_text *t, struct kp_operand *o)
{
	return tnfctl_operand_refuse(t, "operands of this machine are not known");
}
