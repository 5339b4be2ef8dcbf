/*
 * rows.c - a program whose probes show rows of rows.ini.
 *
 *	rows types	each macro, types of arguments, a string that changes afterwards
 *	rows control	the program ends and resumes its recording
 *	rows freeze	the program freezes its recording
 *	rows laps N	N events
 *	rows wait	some events, then it waits for its end
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tnf/probe.h>
#include <tnf/runtime.h>

#define BIG	60000

static int evaluated;

static void
big_text(void)
{
	static const struct tnf_probe_argument_type args[] = { { "text", TNF_ARG_TEXT } };
	struct tnf_probe_control *probe = tnf_probe_define("big", "types", "", 1, args);
	struct tnf_probe_value v = { .size = TNF_SIZE_NUL };
	char *text = malloc(BIG + 1);

	if (probe == NULL || text == NULL)
		exit(1);
	memset(text, 'x', BIG);
	text[BIG] = '\0';
	v.u.text = text;
	if (tnf_probe_is_on(probe))
		tnf_probe_hit(probe, &v);
	free(text);
}

static void
types(void)
{
	char text[400] = "before";

	TNF_PROBE_0(zero, "types", "tnf%fmt 'nothing'");
	TNF_PROBE_1(one, "types", "sunw%debug 'the first'", tnf_int, a, -1);
	TNF_PROBE_2(two, "types more", "tnf%fmt 'a is {a}, b is {b:X}'", tnf_int, a, 1, tnf_ulong, b, 255);
	TNF_PROBE_3(three, "types", "", tnf_longlong, a, 1ll << 40, tnf_double, b, 0.5, tnf_float, c, 1.5f);
	TNF_PROBE_4(four, "types", "", tnf_uint8, a, 8, tnf_int16, b, -16, tnf_opaque, c, NULL, tnf_string, d, NULL);
	TNF_PROBE_5(five, "types", "", tnf_int, a, 1, tnf_int, b, 2, tnf_int, c, 3, tnf_int, d, 4, tnf_int, e, 5);
	TNF_PROBE_1(copied, "types", "", tnf_string, text, text);
	memcpy(text, "behind", 6);
	TNF_PROBE_1(side, "types", "", tnf_int, n, ++evaluated);
	printf("evaluated %d\n", evaluated);
	memset(text, 'x', sizeof(text) - 1);
	TNF_PROBE_1(cut, "types", "", tnf_string, text, text);
	big_text();
}

/* One probe alone: what it costs while it is off. */
void off_cost(int);
void
off_cost(int n)
{
	TNF_PROBE_1(cost, "types", "", tnf_int, n, n);
}

static void
step(const char *name)
{
	TNF_PROBE_1(step, "control", "", tnf_string, name, name);
}

static void
control(void)
{
	step("a");
	tnf_process_disable();
	step("b");
	tnf_process_enable();
	step("c");
	tnf_thread_disable();
	step("d");
	tnf_thread_enable();
	step("e");
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "types";

	if (strcmp(what, "types") == 0)
		types();
	if (strcmp(what, "control") == 0)
		control();
	if (strcmp(what, "freeze") == 0) {
		step("last");
		tnf_process_freeze("the ledger is wrong");
	}
	for (int i = 0; strcmp(what, "laps") == 0 && argc > 2 && i < atoi(argv[2]); i++)
		TNF_PROBE_1(lap, "laps", "", tnf_int, i, i);
	if (strcmp(what, "wait") == 0) {
		step("first");
		step("second");
		printf("waits\n");
		fflush(stdout);
		pause();
	}
	off_cost(argc);
	return 0;
}
