/*
 * columns-words.c - -O: the words by which trcrpt of AIX chose columns.
 */
#include <string.h>

#include "common/xalloc.h"
#include "tnfdump/options.h"
#include "tnfdump/text/columns.h"

/* In the order in which trcrpt printed them; what it always printed follows. */
static const struct {
	const char *word, *column;
} words[] = {
	{ "exec", "program" }, { "cpuid", "cpu" }, { "pid", "pid" }, { "tid", "lwpid" }, { "svc", "syscall" },
};

#define N_WORDS	(sizeof(words) / sizeof(*words))

/* Words that need another option here, or none. */
static const struct {
	const char *word, *instead;
} others[] = {
	{ "2line", "wanted: 2line=on or 2line=off" },
	{ "timestamp", "wanted: timestamp=0 (elapsed and delta), 1 or 2 (elapsed), 3 (none)" },
	{ "starttime", "--from has the time, in seconds as --from 1.5s" },
	{ "endtime", "--until has the time, in seconds as --until 1.5s" },
	{ "ids", "probes have names and no ids" },
	{ "filename", "the column src has the file and the line of the probe" },
	{ "hist", "--stats counts the events" },
	{ "pagesize", "pages are of a printer: pr(1) makes them" },
	{ "removedups", "what several files have is printed once" },
	{ "cpu", "--cpu keeps the events of processors" },
};

static int
words_wrong(const char *word)
{
	size_t n = strcspn(word, "=");

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (strlen(others[i].word) == n && strncmp(others[i].word, word, n) == 0)
			return options_wrong("words", "%s: %s", word, others[i].instead);
	return options_wrong("words", "%s: there are exec pid tid cpuid svc 2line (=on, =off) and "
	    "timestamp (=0 to 3)", word);
}

/* One word with its value; 'chosen' has a bit for each row of words[]. */
static int
words_one(struct dump *d, const char *word, unsigned *chosen, unsigned *timestamp)
{
	const char *value = strchr(word, '=');
	bool on = value != NULL && strcmp(value, "=on") == 0;

	if (strncmp(word, "timestamp=", 10) == 0 && word[10] >= '0' && word[10] <= '3' && word[11] == '\0') {
		*timestamp = (unsigned)(word[10] - '0');
		return 0;
	}
	if (!on && (value == NULL || strcmp(value, "=off") != 0))
		return words_wrong(word);
	if (strncmp(word, "2line=", 6) == 0)
		return on ? two_line_set(d, NULL) : 0;
	for (size_t i = 0; i < N_WORDS; i++) {
		size_t n = strlen(words[i].word);
		if (strncmp(word, words[i].word, n) == 0 && word[n] == '=') {
			*chosen = on ? *chosen | 1u << i : *chosen & ~(1u << i);
			return 0;
		}
	}
	return words_wrong(word);
}

int
words_set(struct dump *d, const char *list)
{
	static const char *const times[] = { "elapsed,delta,", "elapsed,", "elapsed,", "" };
	char *copy = tnf_xstrdup(list), *rest = copy, *word, columns[128] = "";
	unsigned chosen = 0, timestamp = 0;
	int rc = 0;

	while (rc == 0 && (word = strsep(&rest, ",")) != NULL)
		rc = words_one(d, word, &chosen, &timestamp);
	free(copy);
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < N_WORDS; i++)
		if ((chosen & 1u << i) != 0)
			strcat(strcat(columns, words[i].column), ",");
	strcat(strcat(columns, times[timestamp]), "probe,args");
	return columns_set(d, columns);
}
