/*
 * who.c - who asks for something, in words for other people.
 */
#include <pwd.h>
#include <stdio.h>

#include "common/proc-status.h"
#include "common/who.h"

void
tnf_who_is(uid_t uid, pid_t pid, char *ret, size_t size)
{
	const struct passwd *pw = getpwuid(uid);
	char number[24], program[32];

	snprintf(number, sizeof(number), "%ld", (long)uid);
	if (!tnf_proc_status_text(pid, "Name", program, sizeof(program)))
		program[0] = '\0';
	snprintf(ret, size, "%s by %s[%ld]", pw != NULL ? pw->pw_name : number, program,
	    (long)pid);
}
