/* Limits of control groups: the tightest among a group and its parents, as version 2 and version 1 write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <glslines/common.h>

#include "tree.h"
#include "util/threads.h"

static char root[] = "/tmp/glslines_cgroup_XXXXXX";

static void put(const char *name, const char *text)
{
    put_text(root, name, text);
}

static gls_cgroup limits_of(const char *groups)
{
    char path[256];
    put("groups", groups);
    snprintf(path, sizeof path, "%s/groups", root);
    return gls_cgroup_read(path, root);
}

static void test_version_2(void **state)
{
    (void)state;
    put("a/b/cpu.max", "max 100000\n");
    put("a/cpu.max", "250000 100000\n");
    put("a/b/memory.max", "3000000000\n");
    put("a/memory.max", "8000000000\n");
    gls_cgroup g = limits_of("0::/a/b\n");
    assert_true(g.cpus == 2.5 && g.memory_bytes == 3000000000u);
    g = limits_of("0::/a\n");
    assert_true(g.cpus == 2.5 && g.memory_bytes == 8000000000u);
    /* a container sees its own group as the root */
    put("cpu.max", "50000 100000\n");
    put("memory.max", "max\n");
    g = limits_of("0::/\n");
    assert_true(g.cpus == 0.5 && g.memory_bytes == 0);
}

static void test_version_1(void **state)
{
    (void)state;
    put("cpu,cpuacct/job/cpu.cfs_quota_us", "400000\n");
    put("cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
    put("memory/job/memory.limit_in_bytes", "2000000000\n");
    put("memory/memory.limit_in_bytes", "9223372036854771712\n");
    gls_cgroup g = limits_of("7:memory:/job\n3:cpu,cpuacct:/job\n1:name=systemd:/job\n");
    assert_true(g.cpus == 4 && g.memory_bytes == 2000000000u);
    put("cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
    assert_true(limits_of("3:cpu,cpuacct:/job\n").cpus == 0);
    assert_true(limits_of("nonsense\n").cpus == 0);
}

static void test_number(void **state)
{
    (void)state;
    assert_int_equal(gls_set_threads(-1), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_set_threads(3), GLS_OK);
    assert_int_equal(omp_get_max_threads(), 3);
    assert_string_equal(getenv("LP_NUM_THREADS"), "3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_version_2), cmocka_unit_test(test_version_1),
                                       cmocka_unit_test(test_number)};
    if (!mkdtemp(root)) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command) == 0 ? failed : 1;
}
