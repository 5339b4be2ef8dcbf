/*
 * topic.c - the texts of the help topics.
 */
#include <stddef.h>

#include "prex/topic.h"

static const char intro[] =
"prex controls probes: places in a program, a library or the kernel where a\n"
"record can be written into a trace file, or a function can be called.  Probes\n"
"are selected by their attributes.  A short session:\n"
"\n"
"    $ prex server 8080            start a program; it has not run yet\n"
"    prex> list probes $all        which probes are there?\n"
"    prex> enable keys=net         switch on those with the key \"net\"\n"
"    prex> continue                let it run; Ctrl-C brings the prompt back\n"
"    prex> list tracefile          where did the records go?\n"
"    prex> quit\n"
"    $ tnfdump /tmp/trace-4711     look at them\n"
"\n"
"Commands may be abbreviated as long as they stay unique.\n";

static const char functions[] =
"A function handle names a function of the target that can be connected to\n"
"probes.  &debug is there from the start; it prints the probe and its arguments\n"
"on the target's standard error.\n"
"\n"
"    create &mine my_probe_function\n"
"    connect &mine name=parse_line\n"
"    clear $all\n"
"\n"
"The function is  void f(struct tnf_probe_setup *) , see TNF_PROBE(3).\n";

static const char kernel_mode[] =
"prex -k controls the probes of the kernel.  They write into a buffer in the\n"
"kernel, which stays when prex leaves, and so does all that was set.\n"
"\n"
"    prex> buffer alloc 8m\n"
"    prex> trace keys=syscall\n"
"    prex> enable keys=syscall\n"
"    prex> ktrace on\n"
"    prex> quit\n"
"    $ sleep 5; tnfxtract kernel.tnf; tnfdump kernel.tnf\n"
"\n"
"Nothing is written unless the probe is enabled and traced, ktrace is on, and\n"
"the process passes the filter (pfilter).\n";

static const char probe_spec[] =
"A selector is  attribute=value , or a value alone, which stands for\n"
"keys=value.  Both sides are a word, a 'quoted text' or a /regular expression/\n"
"(as in ed(1); it may match anywhere in the text).  A probe is selected if one\n"
"of the selectors fits one of its values.\n"
"\n"
"    name=parse_line          exactly this\n"
"    io 'net'                 with the key io or the key net\n"
"    name=/^parse/            begins with \"parse\"\n"
"    line='50'                numbers are quoted\n"
"    'enable'='on'            so are words that the language uses itself\n"
"    /.*/=/open/              anything anywhere\n"
"\n"
"Attributes: name slots keys file line, those that the program adds, and\n"
"enable trace object funcs.\n";

static const char processes[] =
"prex cmd starts a program and stops it before it runs any code of its own;\n"
"prex -p pid attaches to one that runs.  \"continue\" lets it run, Ctrl-C stops\n"
"it.  When prex leaves, a program that it started is killed and one that it\n"
"attached to runs on; \"help quit\" tells what else can be done.\n"
"\n"
"Commands about probes are remembered and repeated for the probes of libraries\n"
"that the program loads later (list history).\n";

static const char set_spec[] =
"A set is a name for a list of selectors:\n"
"\n"
"    create $mine name=/^parse/ keys=io\n"
"    enable $mine\n"
"    list sets\n"
"\n"
"$all is there from the start and selects every probe.\n";

#define TOPICS(X)							\
	X(intro) X(functions) X(kernel_mode) X(probe_spec) X(processes)	\
	X(set_spec)

#define X(name) { #name, name },
const struct topic topics[] = { TOPICS(X) { NULL, NULL } };
#undef X

#define X(name) #name,
static const char *const names[] = { TOPICS(X) NULL };
#undef X
const char *const *const topic_names = names;
