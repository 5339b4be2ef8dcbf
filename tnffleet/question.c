/*
 * question.c - the question: its options, and the directory of its answers.
 */
#include <sys/file.h>
#include <sys/random.h>

#include <ctype.h>

#include "analysis/expr/expr.h"
#include "tnffleet/fleet.h"
#include "tnfwatch/watch.h"

static void
ask_new_id(char id[FLEET_NAME])
{
	time_t t = time(NULL);
	unsigned char r[8] = { 0 };
	struct tm tm;

	if (getrandom(r, sizeof r, 0) != sizeof r)
		memcpy(r, &(int64_t){ now_mono() }, sizeof r);
	gmtime_r(&t, &tm);
	size_t n = strftime(id, FLEET_NAME, "%Y%m%dT%H%M%SZ-", &tm);
	for (size_t i = 0; i < sizeof r; i++)
		n += (size_t)snprintf(id + n, FLEET_NAME - n, "%02x", r[i]);
}

/* Locks the directory: two askers at once would write the same files. */
static bool
ask_lock(struct ask *a)
{
	a->dir = open(a->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (a->dir < 0)
		say("%s: %s", a->directory, strerror(errno));
	else if (flock(a->dir, LOCK_EX | LOCK_NB) != 0)
		say("%s: another tnfwatch ask fetches into it", a->directory);
	else
		return true;
	return false;
}

bool
ask_directory(struct ask *a, bool asks_more)
{
	autofree char *path = tnf_xasprintf("%s/.question", a->directory);
	char *text;
	size_t size;
	bool good = false;

	if ((text = path_text(FLEET_HEAD_MAX, "%s", path)) != NULL) {
		if (asks_more)
			say("%s: holds the answer to a question: give another directory, or only "
			    "-o to go on", a->directory);
		else if (!fleet_decode(text, strlen(text), a->question, NULL) ||
		    strcmp(a->question->kind, "ask") != 0)
			say("%s: is no question", path);
		else
			good = true;
	} else if (mkdir(a->directory, 0700) != 0 && errno != EEXIST)
		say("%s: %s", a->directory, strerror(errno));
	else {
		ask_new_id(a->question->question);
		autofree void *bytes = fleet_encode(a->question, &size);
		FILE *f = bytes != NULL ? fopen(path, "wxe") : NULL;
		good = f != NULL && fwrite(bytes, 1, size, f) == size;
		if (f != NULL && fclose(f) != 0)
			good = false;
		if (!good)
			say("%s: %s", path, strerror(errno));
	}
	good = good && ask_lock(a);
	free(text);
	return good;
}

static bool
ask_time(const char *text, int64_t *wall)
{
	struct timespec_clock clock;
	int64_t mono = 0;
	const char *wrong = moment_parse(text, "a duration says no time: write 03:12:20", &clock, &mono);

	*wall = mono + clock.mono_to_wall;
	if (wrong == NULL)
		return true;
	say("--at %s: %s", text, wrong);
	return false;
}

static bool
ask_text(const char *option, const char *value, char *to, size_t size)
{
	for (const char *p = value; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			size = 0;
	if (strlen(value) < size) {
		strcpy(to, value);
		return true;
	}
	say("%s: too long, or not one line", option);
	return false;
}

/* Checks the expression here, and not on each of the machines. */
static bool
ask_where(const char *text)
{
	const struct expr_source source = { .member = tnf_event_value, .item = tnf_value_item };
	struct expr_error wrong;
	struct expr *e = expr_new(text, &source, &wrong);
	char message[FLEET_TEXT];

	if (e != NULL) {
		expr_free(e);
		return true;
	}
	expr_error_format(&wrong, text, message, sizeof message);
	say("--where: %s", message);
	return false;
}

static bool
ask_bytes(const char *text, int64_t *bytes)
{
	uint64_t n;

	if (size_parse(text, &n) && n > 0 && n <= INT64_MAX) {
		*bytes = (int64_t)n;
		return true;
	}
	say("--bytes %s: not a size: write 512k, 16m, 1g", text);
	return false;
}

static bool
ask_option(struct ask *a, const char *option, const char *value, bool *asks_more)
{
	struct fleet_message *q = a->question;

	*asks_more |= strcmp(option, "-o") != 0 && strcmp(option, "--wait") != 0 &&
	    strcmp(option, "--patience") != 0 && strcmp(option, "--deadline") != 0 &&
	    strcmp(option, "--bytes") != 0;
	if (strcmp(option, "-o") == 0) {
		a->directory = value;
		return true;
	}
	if (strcmp(option, "--hosts") == 0)
		return ask_text(option, value, q->hosts, sizeof q->hosts);
	if (strcmp(option, "--where") == 0)
		return ask_text(option, value, q->where, sizeof q->where) && ask_where(value);
	if (strcmp(option, "--bytes") == 0)
		return ask_bytes(value, &a->bytes);
	if (strcmp(option, "--at") == 0)
		return ask_time(value, &q->at);
	if (strcmp(option, "--label") == 0 && q->n_labels < FLEET_LABELS &&
	    strchr(value, '=') != NULL && *value != '=')
		return ask_text(option, value, q->label[q->n_labels++], FLEET_NAME);
	if (strcmp(option, "--label") == 0) {
		say("--label %s: is NAME=VALUE, at most %d", value, FLEET_LABELS);
		return false;
	}
	if (duration_parse(value, strcmp(option, "--last") == 0 ? &q->last :
	    strcmp(option, "--wait") == 0 ? &a->wait :
	    strcmp(option, "--deadline") == 0 ? &a->deadline : &a->patience) &&
	    a->deadline < INT64_MAX / 2)
		return true;
	say("%s %s: not a duration: write 200ms, 5s, 2m", option, value);
	return false;
}

bool
ask_options(struct ask *a, int argc, char **argv, bool *asks_more)
{
	static const char *const names[] = { "-o", "--hosts", "--where", "--at", "--label",
		"--last", "--wait", "--patience", "--deadline", "--bytes" };

	for (int i = 0; i < argc; i += 2) {
		size_t k = 0;

		while (k < sizeof names / sizeof names[0] && strcmp(names[k], argv[i]) != 0)
			k++;
		if (k == sizeof names / sizeof names[0] || i + 1 == argc) {
			fputs("usage: tnfwatch ask [--last TIME] [--at TIME] [--hosts PATTERN] "
			    "[--label NAME=VALUE] [--where EXPR] [--wait TIME] [--patience TIME] "
			    "[--deadline TIME] [--bytes SIZE] -o DIRECTORY\n", stderr);
			return false;
		}
		if (!ask_option(a, argv[i], argv[i + 1], asks_more))
			return false;
	}
	if (a->directory == NULL)
		say("-o DIRECTORY: where is it to go?");
	return a->directory != NULL;
}
