/*
 * container.c - containers and pods that paths of control groups tell, and their names.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/proc.h"
#include "tests/check-run.h"

#define ID	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER	"fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define POD	"1f2e3d4c-5b6a-4978-8695-a4b3c2d1e0f9"
#define POD_	"1f2e3d4c_5b6a_4978_8695_a4b3c2d1e0f9"

static const struct {
	const char *cgroup, *id, *pod;
} groups[] = {
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_
	  ".slice/cri-containerd-" ID ".scope", ID, POD },
	{ "/kubepods/besteffort/pod" POD "/" ID, ID, POD },
	{ "/kubepods.slice/kubepods-pod" POD_ ".slice/crio-" ID ".scope/container", ID, POD },
	{ "/kubepods.slice/kubepods-pod" POD_ ".slice", "", POD },
	{ "/docker/" ID, ID, "" },
	{ "/system.slice/docker-" ID ".scope", ID, "" },
	{ "/machine.slice/libpod-" ID ".scope/container", ID, "" },
	{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope", ID, "" },
	{ "/docker/" OTHER "/kubepods/pod" POD "/" ID, ID, POD },
	{ "/docker/" ID "0", "", "" },
	{ "/system.slice/podman.service", "", "" },
	{ "/kubepods/pod1f2e3d4c-5b6a-4978-8695-a4b3c2d1e0f/x", "", "" },
	{ "/kubepods/pod1f2e3d4c+5b6a-4978-8695-a4b3c2d1e0f9/x", "", "" },
	{ "/pod", "", "" }, { "/", "", "" }, { "", "", "" },
};

static void
check_group(int i)
{
	struct container c;

	ck_assert_int_eq(tnf_container_of(groups[i].cgroup, &c),
	    *groups[i].id != '\0' || *groups[i].pod != '\0');
	ck_assert_str_eq(c.id, groups[i].id);
	ck_assert_str_eq(c.pod, groups[i].pod);
}

START_TEST(test_groups)
{
	check_group(_i);
}
END_TEST

static void
make(const char *dir, const char *name)
{
	char path[1024];
	int fd;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

START_TEST(test_names)
{
	static const char *const files[] = { "shop-7d9f_web_server-" ID ".log",
	    "no-names-" OTHER ".log", "half_a-" OTHER ".log", "x_y_z-" OTHER ".txt" };
	char dir[] = "/tmp/tnf-container.XXXXXX", path[1024], id[65];
	struct container_names names;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		make(dir, files[i]);
	ck_assert(tnf_container_names(dir, ID, &names));
	ck_assert_str_eq(names.pod, "shop-7d9f");
	ck_assert_str_eq(names.pod_namespace, "web");
	ck_assert_str_eq(names.name, "server");
	ck_assert(tnf_container_in_pod(dir, "shop-7d9f", id));
	ck_assert_str_eq(id, ID);
	ck_assert(!tnf_container_in_pod(dir, "shop", id));
	ck_assert(!tnf_container_in_pod(dir, "no-names", id));
	ck_assert(!tnf_container_names(dir, OTHER, &names));
	ck_assert_str_eq(names.pod, "");
	ck_assert(!tnf_container_names(dir, "", &names));
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, files[i]);
		unlink(path);
	}
	rmdir(dir);
	ck_assert(!tnf_container_names(dir, ID, &names));
}
END_TEST

int
main(void)
{
	TCase *tc = tcase_create("container");
	Suite *s = suite_create("common-container");

	tcase_add_loop_test(tc, test_groups, 0, sizeof groups / sizeof groups[0]);
	tcase_add_test(tc, test_names);
	suite_add_tcase(s, tc);
	return check_run(s);
}
