/*
 * rules.c - each rule of sites.c on a function that keeps it and on one that breaks it; whole
 * files that are refused; files that are cut off.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <check.h>

#include "common/elf-file.h"
#include "kernel-probes/operand.h"
#include "libtnfctl/sites/sites.h"
#include "tests/check-run.h"

#define BRANCH	"branch into it"
#define MOVED	"an instruction there cannot be moved"
#define SHORT	"it is too short"
#define FIRST	"its first instruction is short, and changes an argument or memory"
#define SECOND	"branch to its second instruction, and the first is short"

static const char *directory;	/* of the files that rules.S and fixed.S are made into */

struct rule {
	const char *name;	/* of a function, or "usdt_..." of a label at a nop */
	const char *refused;	/* or NULL: it is not, and ... */
	unsigned length, behind;	/* ... length; how far behind the name it begins */
	bool	 calls, nops;
};

static const struct rule rules[] = {
	{ "yes_plain", NULL, 8, 4, false, false },
	{ "yes_endbr", NULL, 8, 4, false, false },
	{ "yes_patchable", NULL, 5, 4, false, true },
	{ "yes_mcount", NULL, 5, 4, false, true },
	{ "yes_rip", NULL, 7, 4, false, false },
	{ "yes_condition", NULL, 6, 4, false, false },
	{ "yes_call", NULL, 9, 4, true, false },
	{ "yes_call_memory", NULL, 6, 4, true, false },
	{ "yes_jump", NULL, 5, 4, false, false },
	{ "yes_padding", NULL, 5, 4, false, false },
	{ "yes_loop", NULL, 6, 4, false, false },
	{ "yes_local", NULL, 5, 3, false, false },
	{ "yes_behind", NULL, 5, 0, false, false },
	{ "yes_branching", NULL, 5, 4, false, false },
	{ "yes_taking", NULL, 7, 4, false, false },
	{ "yes_switch", NULL, 7, 4, false, false },
	{ "yes_next_table", NULL, 5, 4, false, false },
	{ "yes_behind_sequence", NULL, 5, 0, false, false },
	{ "yes_branch_behind", NULL, 5, 4, false, false },
	{ "yes_call_table", NULL, 5, 4, true, false },
	{ "yes_reached", NULL, 7, 0, false, false },
	{ "yes_taken", NULL, 5, 0, false, false },
	{ "yes_last", NULL, 5, 4, false, false },
	{ .name = "no_adds", .refused = FIRST },
	{ .name = "no_stores", .refused = FIRST },
	{ .name = "no_moves_stack", .refused = FIRST },
	{ .name = "no_branches", .refused = FIRST },
	{ .name = "no_loop", .refused = SECOND },
	{ .name = "no_short", .refused = SHORT },
	{ .name = "no_room_before", .refused = SHORT },
	{ .name = "no_branch", .refused = BRANCH },
	{ .name = "no_branch_elsewhere", .refused = BRANCH },
	{ .name = "no_branch_gap", .refused = BRANCH },
	{ .name = "no_branch_data", .refused = BRANCH },
	{ .name = "no_lea", .refused = BRANCH },
	{ .name = "no_relocation", .refused = BRANCH },
	{ .name = "no_table", .refused = BRANCH },
	{ .name = "no_catch", .refused = BRANCH },
	{ .name = "no_landing", .refused = BRANCH },
	{ .name = "no_label", .refused = BRANCH },
	{ .name = "no_call_first", .refused = "a call there is not the last instruction" },
	{ .name = "no_frame", .refused = "nothing says where it ends (no call frame information)" },
	{ .name = "no_signal", .refused = "a signal handler returns by it" },
	{ .name = "no_system_call", .refused = MOVED },
	{ .name = "no_counted", .refused = MOVED },
	{ .name = "no_transaction", .refused = MOVED },
	{ .name = "no_trap", .refused = MOVED },
	{ .name = "no_short_address", .refused = MOVED },
	{ .name = "no_stack_call", .refused = "a call there finds its target by the stack pointer" },
	{ .name = "no_computed", .refused = "it may compute where it branches to" },
	{ .name = "no_known", .refused = "its instructions are not known" },
	{ .name = "no_middle", .refused = "no instruction begins there" },
	{ .name = "numbers", .refused = "it is not in the file's code" },
	{ .name = "no_sequence", .refused = "the kernel starts it again (rseq)" },
	{ .name = "no_second_sequence", .refused = "the kernel starts it again (rseq)" },
	{ .name = "malloc", .refused = "libtnfprobe calls it while it records" },
	{ .name = "no_other_name", .refused = "libtnfprobe calls it while it records" },
	{ .name = "SafeFetch32_impl", .refused = "a signal handler looks for its address" },
	{ .name = "no_resolver", .refused = "the dynamic linker calls it" },
	{ "usdt_yes", NULL, 7, 1, false, false },
	{ "usdt_yes_condition", NULL, 5, 1, false, false },
	{ "usdt_yes_nop5", NULL, 5, 0, false, true },
	{ "usdt_yes_nop10", NULL, 10, 0, false, true },
	{ .name = "usdt_no_branch", .refused = SECOND },
	{ .name = "usdt_no_branch_behind", .refused = BRANCH },
	{ .name = "usdt_no_room", .refused = SHORT },
};

/* Functions that begin with a short instruction, behind which the jump is put. */
static const struct first_rule {
	struct rule rule;
	unsigned pushed;
	uint32_t lost;
} first_rules[] = {
	{ { "yes_push", NULL, 6, 1, false, false }, 8, 0 },
	{ { "yes_frame", NULL, 5, 4, false, false }, 24, 0 },
	{ { "yes_clears", NULL, 6, 2, false, false }, 0, 1u << KP_R_DX },
	{ { "yes_copies", NULL, 7, 3, false, false }, 0, 1u << KP_R_DI },
	{ { "yes_extends", NULL, 5, 3, false, false }, 0, 0 },
	{ { "yes_tests", NULL, 5, 3, false, false }, 0, 0 },
	{ { "yes_nop", NULL, 5, 1, false, false }, 0, 0 },
	{ { "yes_short_jump", NULL, 5, 0, false, false }, 0, 0 },
};

static const struct rule fixed_rules[] = {
	{ "yes_nothing", NULL, 5, 1, false, false },
	{ .name = "no_word", .refused = BRANCH },
	{ .name = "no_immediate", .refused = BRANCH },
	{ .name = "no_displacement", .refused = BRANCH },
	{ .name = "no_sequence", .refused = "the kernel starts it again (rseq)" },
	{ .name = "no_second_sequence", .refused = "the kernel starts it again (rseq)" },
};

static int
open_file(const char *name)
{
	char path[4096];
	int fd;

	ck_assert(snprintf(path, sizeof path, "%s/%s", directory, name) < (int)sizeof path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_msg(fd >= 0, "%s", path);
	return fd;
}

static void
judge_rule(const struct sites *sites, struct elffile *e, const struct rule *r)
{
	struct site site;
	uint64_t address;

	ck_assert_msg(tnf_elffile_symbol(e, r->name, &address), "%s", r->name);
	if (strncmp(r->name, "usdt_", 5) == 0)
		tnfctl_sites_usdt(sites, address, &site);
	else
		tnfctl_sites_function(sites, address, &site);
	if (r->refused != NULL || site.refused != NULL) {
		ck_assert_msg(r->refused != NULL, "%s: %s", r->name, site.refused);
		ck_assert_msg(site.refused != NULL, "%s", r->name);
		ck_assert_str_eq(site.refused, r->refused);
		ck_assert_uint_eq(site.length, 0);
		return;
	}
	ck_assert_msg(site.length == r->length, "%s: %u", r->name, site.length);
	ck_assert_msg(site.address == address + r->behind, "%s", r->name);
	ck_assert_msg(site.calls == r->calls && site.nops == r->nops, "%s", r->name);
}

START_TEST(first_instructions)
{
	int fd = open_file("rules.so");
	struct sites *sites = tnfctl_sites_open(fd);
	struct elffile *e = tnf_elffile_open(fd);
	const struct first_rule *r = &first_rules[_i];
	struct site site;
	uint64_t address;

	ck_assert_ptr_nonnull(sites);
	judge_rule(sites, e, &r->rule);
	ck_assert(tnf_elffile_symbol(e, r->rule.name, &address));
	tnfctl_sites_function(sites, address, &site);
	ck_assert_uint_eq(site.first, r->rule.behind);
	ck_assert_uint_eq(site.pushed, r->pushed);
	ck_assert_uint_eq(site.lost, r->lost);
	tnf_elffile_close(e);
	tnfctl_sites_close(sites);
	close(fd);
}
END_TEST

static void
judge_file(const char *file, const struct rule *r, size_t n)
{
	int fd = open_file(file);
	struct sites *sites = tnfctl_sites_open(fd), *again = tnfctl_sites_open(fd);
	struct elffile *e = tnf_elffile_open(fd);

	ck_assert_ptr_nonnull(sites);
	ck_assert_ptr_nonnull(e);
	ck_assert_ptr_eq(sites, again);	/* the analysis is kept */
	tnfctl_sites_close(again);
	for (size_t i = 0; i < n; i++)
		judge_rule(sites, e, &r[i]);
	tnf_elffile_close(e);
	tnfctl_sites_close(sites);
	close(fd);
}

START_TEST(rules_of_code)
{
	judge_file("rules.so", rules, sizeof rules / sizeof *rules);
	judge_file("fixed", fixed_rules, sizeof fixed_rules / sizeof *fixed_rules);
}
END_TEST

static const struct refused_file {
	const char *name, *refused;
} files[] = {
	{ "fixed-static", "it is linked statically, and has no C library's threads" },
	{ "fixed-go", "a Go program moves its stacks, with the addresses to return to" },
	{ "relocated.so", "its code is relocated" },
	{ "linker.so", "the dynamic linker is at work before a process can be probed" },
	{ "musl-linker.so", "the dynamic linker is at work before a process can be probed" },
	{ "musl.so", "the dynamic linker is at work before a process can be probed" },
	{ "vdso.so", "it is the kernel's code" },
	{ "probe.so", "libtnfprobe itself records events" },
};

START_TEST(whole_files)
{
	const struct refused_file *f = &files[_i];
	int fd = open_file(f->name);
	struct sites *sites = tnfctl_sites_open(fd);
	struct elffile *e = tnf_elffile_open(fd);
	struct site site;
	uint64_t address;

	ck_assert_ptr_nonnull(sites);
	ck_assert(tnf_elffile_symbol(e, "yes_nothing", &address));
	tnfctl_sites_function(sites, address, &site);
	ck_assert_msg(site.refused != NULL, "%s", f->name);
	ck_assert_str_eq(site.refused, f->refused);
	tnf_elffile_close(e);
	tnfctl_sites_close(sites);
	close(fd);
}
END_TEST

/* rules.so in memory, 'size' bytes of it; the caller frees it and closes *fd. */
static uint8_t *
copy_file(int *fd, size_t *size)
{
	int from = open_file("rules.so");
	uint8_t *bytes;

	*size = (size_t)lseek(from, 0, SEEK_END);
	bytes = malloc(*size);
	ck_assert_ptr_nonnull(bytes);
	ck_assert(pread(from, bytes, *size, 0) == (ssize_t)*size);
	close(from);
	*fd = memfd_create("rules", MFD_CLOEXEC);
	ck_assert(*fd >= 0 && pwrite(*fd, bytes, *size, 0) == (ssize_t)*size);
	return bytes;
}

START_TEST(without_sections)
{
	Elf64_Ehdr header;
	struct sites *sites;
	struct site site;
	size_t size;
	uint8_t *bytes;
	int fd;

	bytes = copy_file(&fd, &size);
	memcpy(&header, bytes, sizeof header);
	header.e_shoff = 0;
	header.e_shnum = header.e_shstrndx = 0;
	ck_assert(pwrite(fd, &header, sizeof header, 0) == sizeof header);
	ck_assert_ptr_nonnull(sites = tnfctl_sites_open(fd));
	tnfctl_sites_function(sites, 0x1000, &site);
	ck_assert_str_eq(site.refused, "the file has no table of sections");
	tnfctl_sites_close(sites);
	close(fd);
	free(bytes);
}
END_TEST

static bool
note_address(void *arg, uint64_t address, uint64_t size)
{
	*(uint64_t *)arg = address;
	return false;
}

START_TEST(without_frames)
{
	const uint32_t longer = 0x7fffffff;	/* than the section */
	uint64_t address = 0, offset;
	struct elffile *e;
	struct sites *sites;
	struct site site;
	size_t size;
	int fd;

	free(copy_file(&fd, &size));
	ck_assert_ptr_nonnull(e = tnf_elffile_open(fd));
	tnf_elffile_sections(e, ".eh_frame", note_address, &address);
	ck_assert(tnf_elffile_offset(e, address, &offset));
	tnf_elffile_close(e);
	ck_assert(pwrite(fd, &longer, sizeof longer, (off_t)offset) == sizeof longer);
	ck_assert_ptr_nonnull(sites = tnfctl_sites_open(fd));
	tnfctl_sites_function(sites, 0x1000, &site);
	ck_assert_str_eq(site.refused, "its call frame information is not understood");
	tnfctl_sites_close(sites);
	close(fd);
}
END_TEST

/* A file that becomes another is analysed again, also if it is as long as before. */
START_TEST(changed_file)
{
	struct sites *before, *after;
	struct timespec later[2] = { { 0, UTIME_OMIT }, { 1, 0 } };
	size_t size;
	uint8_t *bytes;
	int fd;

	bytes = copy_file(&fd, &size);
	ck_assert_ptr_nonnull(before = tnfctl_sites_open(fd));
	ck_assert(pwrite(fd, bytes, size, 0) == (ssize_t)size && futimens(fd, later) == 0);
	ck_assert_ptr_nonnull(after = tnfctl_sites_open(fd));
	ck_assert_ptr_ne(before, after);
	tnfctl_sites_close(before);
	tnfctl_sites_close(after);
	close(fd);
	free(bytes);
}
END_TEST

/* Cut off anywhere, a file is no file, or its functions are judged by what is there. */
START_TEST(cut_off)
{
	struct sites *sites;
	struct site site;
	size_t size;
	uint8_t *bytes;
	int fd;

	bytes = copy_file(&fd, &size);
	for (size_t left = size; left > 0; left -= left > 97 ? 97 : left) {
		ck_assert(ftruncate(fd, (off_t)left) == 0);
		if ((sites = tnfctl_sites_open(fd)) == NULL)
			continue;
		for (uint64_t at = 0x1000; at < 0x1400; at++) {
			tnfctl_sites_function(sites, at, &site);
			ck_assert(site.refused != NULL || site.length >= SITE_JUMP);
			tnfctl_sites_usdt(sites, at, &site);
			ck_assert(site.refused != NULL || site.length >= SITE_JUMP);
		}
		tnfctl_sites_close(sites);
	}
	close(fd);
	free(bytes);
}
END_TEST

int
main(int argc, char **argv)
{
	Suite *suite = suite_create("rules");
	TCase *tc = tcase_create("rules");

	if (argc != 2)
		return 2;
	directory = argv[1];
	tcase_add_test(tc, rules_of_code);
	tcase_add_loop_test(tc, first_instructions, 0, sizeof first_rules / sizeof *first_rules);
	tcase_add_loop_test(tc, whole_files, 0, sizeof files / sizeof *files);
	tcase_add_test(tc, without_sections);
	tcase_add_test(tc, without_frames);
	tcase_add_test(tc, changed_file);
	tcase_add_test(tc, cut_off);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
