/*
 * static.c - victim: linked statically.
 */
#include "victim.h"

int
main(void)
{
	victim_ready();
	return getchar() == 'x';
}
