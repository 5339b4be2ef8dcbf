/*
 * sdt-lib.c - a library with a probe that a program loads while it is traced.
 */
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

__extension__ unsigned short later_loaded_semaphore
    __attribute__((section(".probes"), visibility("hidden"), used));

void later_hit(int n);

__attribute__((visibility("default"))) void
later_hit(int n)
{
	STAP_PROBE1(later, loaded, n);
}
