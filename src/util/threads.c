/* The number of threads, the limits of control groups, and the instruction set of the processor. OpenMP, OpenBLAS and
 * the software renderer each count the processors of the machine; a container that may use two of 64 processors would
 * be slowed down by 64 threads that wait for each other. */
#include "util/threads.h"

#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/common.h>

#include "util/status.h"
#include "util/text.h"

/* Largest number of threads that a caller may ask for. */
#define MAX_THREADS 4096

/* Smallest stack that threads of this program need, bytes: those of OpenMP, of the library and of drivers. */
#define MIN_STACK ((size_t)1 << 20)

/* number of threads that gls_set_threads() has set; 0: none */
static atomic_int chosen;
/* number of threads that OMP_NUM_THREADS asks for */
static int asked_for;

/* Keeps to limits before the first thread begins: fewer threads than OMP_NUM_THREADS asks for where it asks for more
 * than can be, and a larger stack of new threads where ulimit -s leaves them too little. */
__attribute__((constructor)) static void keep_limits(void)
{
    pthread_attr_t attributes;
    size_t bytes = MIN_STACK;
    asked_for = omp_get_max_threads();
    if (asked_for > MAX_THREADS) omp_set_num_threads(MAX_THREADS);
    if (pthread_attr_init(&attributes) != 0) return;
    if (pthread_getattr_default_np(&attributes) == 0) pthread_attr_getstacksize(&attributes, &bytes);
    if (bytes < MIN_STACK && pthread_attr_setstacksize(&attributes, MIN_STACK) == 0)
        pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
}

/* The smallest stack of two threads of OpenMP, bytes; 0: unknown. */
static size_t stack_of_team(void)
{
    size_t least = SIZE_MAX;
#pragma omp parallel num_threads(2) reduction(min : least)
    {
        pthread_attr_t attributes;
        size_t bytes;
        if (omp_get_thread_num() > 0 && pthread_getattr_np(pthread_self(), &attributes) == 0) {
            if (pthread_attr_getstacksize(&attributes, &bytes) == 0) least = bytes;
            pthread_attr_destroy(&attributes);
        }
    }
    return least == SIZE_MAX ? 0 : least;
}

/* GLS_ERR_ARGUMENT: a variable of OpenMP gives its threads a stack that is too small. Nothing can change it later. */
static gls_status check_stack(void)
{
    static const char *const variables[] = {"OMP_STACKSIZE", "GOMP_STACKSIZE"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *text = getenv(variables[i]);
        const size_t bytes = text ? stack_of_team() : 0;
        if (bytes > 0 && bytes < MIN_STACK)
            return gls_fail(GLS_ERR_ARGUMENT, "%s=%.40s: threads need %zu kB or more: unset it, or raise it",
                            variables[i], text, MIN_STACK >> 10);
    }
    return GLS_OK;
}

/* Lowers the limit to quota / period, both in microseconds, unless it is lower already. A quota or period that is not
 * positive means no limit. */
static void take_smaller_cpus(gls_cgroup *limits, double quota, double period)
{
    if (!(quota > 0) || !(period > 0)) return;
    double cpus = quota / period;
    if (limits->cpus == 0 || cpus < limits->cpus) limits->cpus = cpus;
}

/* Lowers the limit to `bytes`, unless it is lower already. 0 and numbers from 2^60 on mean no limit: version 1 of
 * control groups writes a number near 2^63. */
static void take_smaller_memory(gls_cgroup *limits, unsigned long long bytes)
{
    if (bytes == 0 || bytes >= 1ull << 60) return;
    if (limits->memory_bytes == 0 || bytes < limits->memory_bytes) limits->memory_bytes = bytes;
}

/* Reads the first line of a file of a control group. Returns false if there is none. */
static bool read_setting(const char *folder, const char *name, char *line, int size)
{
    char path[4300];
    snprintf(path, sizeof path, "%.4200s/%s", folder, name);
    FILE *file = fopen(path, "r");
    bool ok = file && fgets(line, size, file);
    if (file) fclose(file);
    return ok;
}

/* Lowers the limits to those of one control group, of version 2 (cpu.max, memory.max) or 1. */
static void read_group(const char *folder, gls_cgroup *limits)
{
    char line[128], period[128];
    double quota, of;
    if (read_setting(folder, "cpu.max", line, sizeof line) && sscanf(line, "%lf %lf", &quota, &of) == 2)
        take_smaller_cpus(limits, quota, of);
    if (read_setting(folder, "cpu.cfs_quota_us", line, sizeof line) &&
        read_setting(folder, "cpu.cfs_period_us", period, sizeof period))
        take_smaller_cpus(limits, gls_strtod(line, NULL), gls_strtod(period, NULL));
    if (read_setting(folder, "memory.max", line, sizeof line) ||
        read_setting(folder, "memory.limit_in_bytes", line, sizeof line))
        take_smaller_memory(limits, strtoull(line, NULL, 10));
}

/* Lowers the limits to those of a group and of all its parents. hierarchy: folder where the hierarchy is mounted;
 * group: path of the group below it, of which this function cuts off one name after the other. */
static void read_groups(const char *hierarchy, char *group, gls_cgroup *limits)
{
    char folder[4200];
    for (;;) {
        snprintf(folder, sizeof folder, "%.100s%.4000s", hierarchy, group);
        read_group(folder, limits);
        char *slash = strrchr(group, '/');
        if (!slash || !*group) return;
        *slash = '\0';
    }
}

gls_cgroup gls_cgroup_read(const char *groups, const char *root)
{
    gls_cgroup limits = {0};
    char line[4200], hierarchy[256];
    FILE *file = fopen(groups, "r");
    while (file && fgets(line, sizeof line, file)) {
        /* version 2: "0::/group"; version 1: "4:cpu,cpuacct:/group" */
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group) continue;
        *group++ = '\0';
        controllers++;
        if (strcmp(group, "/") == 0) *group = '\0';
        if (!*controllers)
            snprintf(hierarchy, sizeof hierarchy, "%s", root);
        else if (strstr(controllers, "cpu") || strcmp(controllers, "memory") == 0)
            snprintf(hierarchy, sizeof hierarchy, "%.150s/%.90s", root, controllers);
        else
            continue;
        read_groups(hierarchy, group, &limits);
    }
    if (file) fclose(file);
    return limits;
}

/* read once by read_own_limits() */
static gls_cgroup own_limits;

/* Reads the limits of the control group of this process; once, for pthread_once(). */
static void read_own_limits(void)
{
    own_limits = gls_cgroup_read("/proc/self/cgroup", "/sys/fs/cgroup");
}

const gls_cgroup *gls_cgroup_limits(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_own_limits);
    return &own_limits;
}

gls_status gls_set_threads(int n)
{
    if (n < 0 || n > MAX_THREADS)
        return gls_fail(GLS_ERR_ARGUMENT, "%d threads: must be 1 to %d, or 0 for automatic", n, MAX_THREADS);
    /* free_choice: the user chose no number, by argument or OMP_NUM_THREADS; only then does the limit of the control
     * group count */
    const char *asked = getenv("OMP_NUM_THREADS");
    if (n == 0 && asked_for > MAX_THREADS)
        return gls_fail(GLS_ERR_ARGUMENT, "OMP_NUM_THREADS=%.40s: must be 1 to %d threads", asked ? asked : "",
                        MAX_THREADS);
    gls_status status = check_stack();
    if (status) return status;
    bool free_choice = n == 0 && !(asked && *asked);
    int most = omp_get_max_threads();
    double cpus = free_choice ? gls_cgroup_limits()->cpus : 0;
    if (cpus > 0 && ceil(cpus) < most) n = (int)ceil(cpus);
    if (n == 0) return GLS_OK;
    char text[16];
    snprintf(text, sizeof text, "%d", n);
    atomic_store(&chosen, n);
    gls_threads_apply();
    gls_blas_set_threads(n);
    /* Mesa reads the variable when it creates the first software device; the driver uses at most 32 threads */
    setenv("LP_NUM_THREADS", text, !free_choice);
    return GLS_OK;
}

void gls_threads_apply(void)
{
    int n = atomic_load(&chosen);
    if (n > 0) omp_set_num_threads(n);
}

#if GLS_CPU_HAS_LEVELS
#include <cpuid.h>

/* Asks the processor and the operating system. gcc 12 cannot ask for F16C by name, so cpuid is read for it. */
static gls_cpu ask(void)
{
    unsigned a, b, c, d;
    __builtin_cpu_init();
    bool f16c = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !f16c) return GLS_CPU_PLAIN;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw"))
        return GLS_CPU_AVX512;
    return GLS_CPU_AVX2;
}

gls_cpu gls_cpu_level(void)
{
    /* The answer is kept, because cpuid is slow on virtual machines, where the host emulates it. Threads that ask at
     * the same time get the same answer. */
    static _Atomic int known;
    if (known == 0) known = 1 + (int)ask();
    return (gls_cpu)(known - 1);
}
#else
gls_cpu gls_cpu_level(void)
{
    return GLS_CPU_PLAIN;
}
#endif
