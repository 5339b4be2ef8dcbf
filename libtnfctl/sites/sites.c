/*
 * sites.c - where a jump may be put into the code of a program: the rules.
 *
 * The analysis of a file is kept for later questions: a library is the same in many
 * processes.  Files are told apart by device, inode, size and times (is_same()); two files
 * may claim the same build id.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include "common/elf-file.h"
#include "libtnfctl/sites/code.h"
#include "libtnfctl/sites/sites.h"

#define KEPT_MAX	16u	/* how many analyses are kept that nobody uses */
#define RSEQ_ENTRY	32u	/* bytes of struct rseq_cs */
#define RSEQ_START	8u	/* in it: where the first address is, */
#define RSEQ_SIZE	16u	/* and the number of bytes from there */

struct refused_address {
	uint64_t address;
	const char *why;
};

struct range {
	uint64_t start, size;
};

struct sites {
	struct sites *next;
	unsigned users;
	struct stat	file;
	struct code	code;
	const char	*refused;	/* why nothing in the object may be patched, or NULL */
	struct refused_address *functions;	/* in order */
	size_t		 nfunctions;
	struct range	 sequences;	/* the section of restartable sequences */
	struct range	*restarted;	/* the code of each */
	size_t		 nrestarted;
	bool		 failed;	/* no memory */
};

static struct {
	pthread_mutex_t lock;
	struct sites *first;	/* the latest */
} kept = { PTHREAD_MUTEX_INITIALIZER, NULL };

static void
sites_free(struct sites *s)
{
	if (s == NULL)
		return;
	tnfctl_code_free(&s->code);
	free(s->functions);
	free(s->restarted);
	free(s);
}

static bool
refuse_function(struct sites *s, uint64_t address, const char *why)
{
	struct refused_address *v = tnf_grow(s->functions, s->nfunctions, sizeof *v);

	if (v == NULL) {
		s->failed = true;
		return false;
	}
	s->functions = v;
	v[s->nfunctions++] = (struct refused_address){ address, why };
	return true;
}

static bool
note_name(void *arg, const char *name, uint64_t address, bool is_resolver)
{
	const char *why = is_resolver ? "the dynamic linker calls it" : tnfctl_refused_name(name);

	return why == NULL || refuse_function(arg, address, why);
}

/* A restartable sequence (rseq(2)) is started again if the thread is interrupted inside, which the
   kernel sees by the thread's address.  Notes the sequence that begins at 'address' if 'place', where
   this address stands, is the start_ip of a descriptor (struct rseq_cs); other places are left out. */
static bool
note_sequence(struct sites *s, uint64_t place, uint64_t address)
{
	struct range *v;
	uint64_t size;
	size_t left;
	const uint8_t *p;

	if (place - s->sequences.start >= s->sequences.size ||
	    (place - s->sequences.start) % RSEQ_ENTRY != RSEQ_START)
		return true;
	p = tnfctl_code_at(&s->code, place - RSEQ_START + RSEQ_SIZE, &left);
	if (p == NULL || left < sizeof size)
		return true;
	if ((v = tnf_grow(s->restarted, s->nrestarted, sizeof *v)) == NULL) {
		s->failed = true;
		return false;
	}
	memcpy(&size, p, sizeof size);
	s->restarted = v;
	v[s->nrestarted++] = (struct range){ address, size };
	return true;
}

static bool
sites_relocation(void *arg, uint64_t place, uint64_t address, bool is_resolver)
{
	struct sites *s = arg;

	return note_sequence(s, place, address) &&
	    (!is_resolver || refuse_function(s, address, "the dynamic linker calls it"));
}

static bool
note_section(void *arg, uint64_t address, uint64_t size)
{
	((struct sites *)arg)->sequences = (struct range){ address, size };
	return false;
}

/* In a program that is never moved, no relocation tells where the sequences are. */
static void
read_fixed_sequences(struct sites *s)
{
	uint64_t end = s->sequences.start + s->sequences.size, address;
	size_t left;

	for (uint64_t at = s->sequences.start + RSEQ_START; at < end; at += RSEQ_ENTRY) {
		const uint8_t *p = tnfctl_code_at(&s->code, at, &left);

		if (p == NULL || left < sizeof address)
			return;
		memcpy(&address, p, sizeof address);
		if (address != 0 && !note_sequence(s, at, address))
			return;
	}
}

COMPARE_BY(by_address, struct refused_address, address)

static void
find_refused(struct sites *s, struct elffile *e)
{
	tnf_elffile_sections(e, "__rseq_cs", note_section, s);
	if (tnf_elffile_is_fixed(e))
		read_fixed_sequences(s);
	tnf_elffile_relocations(e, sites_relocation, s);
	tnf_elffile_labels(e, note_name, s);
	if (s->nfunctions > 0)
		qsort(s->functions, s->nfunctions, sizeof *s->functions, by_address);
}

/* false and errno: it cannot be read, or ENOMEM. */
static bool
analyse(struct sites *s, struct elffile *e)
{
	s->refused = tnfctl_move_unknown();
	if (s->refused == NULL)
		s->refused = tnfctl_refused_object(e);
	if (s->refused != NULL)
		return true;
	if (!tnfctl_code_load(e, &s->code))
		return false;
	if (!tnfctl_code_read_frames(&s->code, e))
		s->refused = "its call frame information is not understood";
	else if (tnfctl_move_needs_branches)
		s->refused = tnfctl_code_read_branches(&s->code, e);
	find_refused(s, e);
	tnfctl_code_keep_executed(&s->code);
	errno = ENOMEM;
	return !s->failed && !s->code.failed;
}

static struct sites *
sites_read(int fd, const struct stat *st)
{
	struct elffile *e = tnf_elffile_open(fd);
	struct sites *s = NULL;
	bool is_read = false;
	int error = ENOEXEC;

	if (e != NULL && (s = calloc(1, sizeof *s)) != NULL) {
		s->file = *st;
		is_read = analyse(s, e);
		error = errno;
	} else if (e != NULL) {
		error = ENOMEM;
	}
	tnf_elffile_close(e);
	if (!is_read) {
		sites_free(s);
		errno = error;
		return NULL;
	}
	return s;
}

static bool
is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	    a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	    a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Returns the analysis that is kept for this file, which has one user more.  If there is none, keeps
   'fresh' from now on and returns it; NULL: returns NULL. */
static struct sites *
kept_use(const struct stat *st, struct sites *fresh)
{
	struct sites *s;

	pthread_mutex_lock(&kept.lock);
	for (s = kept.first; s != NULL && !is_same(&s->file, st); s = s->next)
		;
	if (s == NULL && fresh != NULL) {
		s = fresh;
		s->next = kept.first;
		kept.first = s;
	}
	if (s != NULL)
		s->users++;
	pthread_mutex_unlock(&kept.lock);
	return s;
}

struct sites *
tnfctl_sites_open(int fd)
{
	struct sites *s, *fresh;
	struct stat st;

	if (fstat(fd, &st) != 0)
		return NULL;
	if ((s = kept_use(&st, NULL)) != NULL)
		return s;
	if ((fresh = sites_read(fd, &st)) == NULL)
		return NULL;
	s = kept_use(&st, fresh);
	if (s != fresh)
		sites_free(fresh);
	return s;
}

void
tnfctl_sites_close(struct sites *s)
{
	struct sites **at, *gone;
	unsigned unused = 0;

	if (s == NULL)
		return;
	pthread_mutex_lock(&kept.lock);
	s->users--;
	for (at = &kept.first; *at != NULL; ) {
		if ((*at)->users > 0 || ++unused <= KEPT_MAX) {
			at = &(*at)->next;
			continue;
		}
		gone = *at;
		*at = gone->next;
		sites_free(gone);
	}
	pthread_mutex_unlock(&kept.lock);
}

static const char *
function_refused(const struct sites *s, uint64_t address)
{
	const struct refused_address key = { .address = address }, *found;

	if (s->nfunctions == 0)
		return NULL;
	found = bsearch(&key, s->functions, s->nfunctions, sizeof key, by_address);
	return found != NULL ? found->why : NULL;
}

/* Why the function may not be patched at all, or not at this address, where perhaps no instruction
   begins; NULL: it may. */
static const char *
frame_refused(const struct sites *s, const struct code_frame *f, uint64_t address)
{
	const char *why = function_refused(s, f->start);
	const uint8_t *p;
	size_t left;

	if (why != NULL)
		return why;
	if (f->is_signal)
		return "a signal handler returns by it";
	if (f->computes)
		return "it may compute where it branches to";
	p = tnfctl_code_at(&s->code, f->start, &left);
	if (p == NULL || !tnfctl_move_steps_to(p, left, address - f->start))
		return "no instruction begins there";
	return NULL;
}

static const char *
bytes_refused(const struct sites *s, const struct site *site)
{
	for (unsigned i = 1; tnfctl_move_needs_branches && i < SITE_JUMP; i++)
		if (tnfctl_code_is_marked(&s->code, site->address + i))
			return "branch into it";
	for (size_t i = 0; i < s->nrestarted; i++)
		/* Differences wrap: if the subtrahend is above, the difference is huge. */
		if (site->address - s->restarted[i].start < s->restarted[i].size ||
		    s->restarted[i].start - site->address < site->length)
			return "the kernel starts it again (rseq)";
	return NULL;
}

static const char *
judge(const struct sites *s, struct site *site)
{
	const struct code_frame *f = tnfctl_code_frame(&s->code, site->address);
	const char *why;
	const uint8_t *p;
	size_t left;

	if ((p = tnfctl_code_at(&s->code, site->address, &left)) == NULL)
		return "it is not in the file's code";
	/* For 64-bit ARM gcc puts the nops of -fpatchable-function-entry before the frame: there a
	   site without a frame is judged by its instructions. */
	if (f == NULL && tnfctl_move_needs_branches)
		return "nothing says where it ends (no call frame information)";
	if (f != NULL && (why = frame_refused(s, f, site->address)) != NULL)
		return why;
	if ((why = tnfctl_move_judge(p, left, f != NULL ? f->end - site->address : left,
	    site)) != NULL)
		return why;
	return bytes_refused(s, site);
}

/* Moves ret->address to where the jump goes: behind the endbr64 of a function, or else behind a first
   instruction that is shorter than the jump, as a uprobe may replace it.  Returns why the site is
   refused, or NULL. */
static const char *
place_jump(const struct sites *s, struct site *ret)
{
	size_t left, landing = 0, first = 0;
	const uint8_t *p = tnfctl_code_at(&s->code, ret->address, &left);

	if (p != NULL && !ret->usdt)
		landing = tnfctl_move_landing(p, left);
	if (p != NULL && landing == 0 && (first = tnfctl_move_first(p, left, ret)) == SIZE_MAX)
		return "its first instruction is short, and changes an argument or memory";
	ret->first = (uint8_t)first;
	ret->address += landing + first;
	if (first > 0 && tnfctl_code_is_marked(&s->code, ret->address))
		return "branch to its second instruction, and the first is short";
	return judge(s, ret);
}

static void
find_site(const struct sites *s, struct site *ret)
{
	ret->refused = s->refused != NULL ? s->refused : place_jump(s, ret);
	if (ret->refused != NULL)
		ret->length = 0;
}

void
tnfctl_sites_function(const struct sites *s, uint64_t address, struct site *ret)
{
	*ret = (struct site){ .address = address, .refused = function_refused(s, address) };
	if (ret->refused == NULL)
		find_site(s, ret);
}

void
tnfctl_sites_usdt(const struct sites *s, uint64_t address, struct site *ret)
{
	*ret = (struct site){ .address = address, .usdt = true };
	find_site(s, ret);
}
