/* The check of a device: runs each getter with each gls_mapping in a process of its own and reads the output of that
 * process. */
#include "check/device_check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "track/check/checked.h"
#include "track/check/known_scene.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/threads.h"

extern char **environ;

/* Environment variables that make drivers print statistics of what they compile; the last one makes Mesa compile
 * instead of reading its cache. A driver ignores the variables of other drivers. */
static const char *const talkative[] = {"AMD_DEBUG=cs,stats", "INTEL_DEBUG=cs", "V3D_DEBUG=shaderdb",
                                        "IR3_SHADER_DEBUG=cs", "MESA_SHADER_CACHE_DISABLE=true"};
#define N_TALKATIVE (sizeof talkative / sizeof *talkative)

/* Numbers that a driver prints about a compiled program; -1: it prints none. */
typedef struct statistics {
    long size; /* instructions or bytes; distinguishes a kernel from programs that the driver compiles for itself */
    /* registers: that an invocation uses; spills: values that did not fit into registers; waves: that a SIMD unit runs
     * at a time; simd: invocations of a vector */
    long registers, spills, waves, simd;
} statistics;

static const statistics unknown = {-1, -1, -1, -1, -1};

/* The report of a child process on one getter with one gls_mapping. */
typedef struct check_run {
    const char *variant, *mapping;
    statistics now, largest;   /* now: of the kernel whose compiler output is being read; largest: of the largest kernel
                                  since the last report */
    bool fits, tracked, apart; /* apart: batches do not mix */
    size_t kernels;
    double points_per_second;
    char last[512]; /* message of the child's last line "error"; "": none */
} check_run;

/* *value = the number behind the text `key` in a line. Returns false if the line lacks the key. */
static bool number_behind(const char *line, const char *key, long *value)
{
    const char *at = strstr(line, key);
    if (!at) return false;
    *value = strtol(at + strlen(key), NULL, 10);
    return true;
}

/* Keeps the statistics of the larger program: a driver also compiles small programs for itself. */
static void keep_larger(check_run *run)
{
    if (run->now.size >= run->largest.size) run->largest = run->now;
}

/* Reads statistics of radeonsi: "SGPRS: 48 VGPRS: 60 Code Size: 6200 ... Spilled VGPRs: 0", in one line or several. */
static void read_amd(check_run *run, const char *line)
{
    long value;
    if (strstr(line, "SGPRS: ")) run->now = unknown;
    number_behind(line, " VGPRS: ", &run->now.registers);
    if (strncmp(line, "VGPRS: ", 7) == 0) run->now.registers = strtol(line + 7, NULL, 10);
    if (number_behind(line, "Spilled SGPRs: ", &value)) run->now.spills = value;
    if (number_behind(line, "Spilled VGPRs: ", &value))
        run->now.spills = (run->now.spills > 0 ? run->now.spills : 0) + value;
    number_behind(line, "Code Size: ", &run->now.size);
    if (number_behind(line, "Max Waves: ", &run->now.waves) || strstr(line, "Code Size: ")) keep_larger(run);
}

/* Reads statistics of the drivers for Intel and Broadcom: "SIMD16 shader: 886 instructions. ... 0:0 spills:fills". */
static void read_spills(check_run *run, const char *line)
{
    const char *at = strstr(line, " spills:fills");
    const char *count = strstr(line, " instructions");
    if (!count) count = strstr(line, " inst,");
    if (!at || !count) return;
    run->now = unknown;
    number_behind(line, "SIMD", &run->now.simd);
    while (at > line && (at[-1] == ':' || (at[-1] >= '0' && at[-1] <= '9'))) at--;
    run->now.spills = strtol(at, NULL, 10);
    while (count > line && count[-1] >= '0' && count[-1] <= '9') count--;
    run->now.size = strtol(count, NULL, 10);
    /* Intel's driver compiles narrower programs first, and uses the program that it compiles last */
    if (run->now.simd > run->largest.simd) run->largest = run->now;
    keep_larger(run);
}

/* Prints the statistics that are known, on the present line; the size only for programs with simd. */
static void print_statistics(const statistics *s)
{
    if (s->simd >= 0) printf("  SIMD%ld", s->simd);
    if (s->simd >= 0 && s->size >= 0) printf(", %ld instructions", s->size);
    if (s->registers >= 0) printf("  %ld registers", s->registers);
    if (s->waves >= 0) printf(", %ld waves", s->waves);
    if (s->spills >= 0) printf(", %ld spilled", s->spills);
}

/* Reads one line of the child process, a line of check_one() or statistics that the driver printed, and prints results
 * as they come. user: check_run. Always returns false, so that no line restarts the time limit. */
static bool read_line(void *user, const char *line)
{
    check_run *run = user;
    char label[64];
    double seconds, rate;
    size_t same, expected;
    /* the line of a kernel may follow text that a driver wrote without a line end */
    const char *kernel = strstr(line, "kernel\t");
    if (kernel && sscanf(kernel, "kernel\t%63[^\t]\t%lf", label, &seconds) == 2) {
        read_amd(run, line);
        printf("%-6s  %-8s  %-12s  %6.2f s", run->variant, run->mapping, label, seconds);
        print_statistics(&run->largest);
        putchar('\n');
        fflush(stdout);
        run->now = run->largest = unknown;
        run->kernels++;
    } else if (sscanf(line, "tracked\t%zu\t%zu\t%lf", &same, &expected, &rate) == 3) {
        run->fits = gls_known_fits(same, expected);
        run->tracked = true;
        run->points_per_second = rate;
        char text[32];
        printf("%-6s  %-8s  %zu of %zu half-streamlines as they must be, %spoints/s%s\n", run->variant, run->mapping,
               same, expected, gls_format_rate(rate, text, sizeof text), run->fits ? "" : ": WRONG");
    } else if (sscanf(line, "batches\t%zu\t%zu", &same, &expected) == 2) {
        run->apart = same == expected;
        if (!run->apart)
            printf("%-6s  %-8s  %zu of %zu runs in small batches gave what one batch gives: WRONG\n", run->variant,
                   run->mapping, same, expected);
    } else if (strncmp(line, "error\t", 6) == 0) {
        snprintf(run->last, sizeof run->last, "%s", line + 6);
    } else {
        read_amd(run, line);
        read_spills(run, line);
    }
    return false;
}

/* Environment of the child: the environment of this process, and the variables of talkative[] that are not set. Only
 * the list is from calloc, not its texts. NULL: out of memory. */
static char **environment_of_child(void)
{
    size_t n = 0, kept = 0;
    while (environ[n]) n++;
    char **list = calloc(n + N_TALKATIVE + 1, sizeof *list);
    for (size_t i = 0; i < n && list; i++) list[kept++] = environ[i];
    for (size_t i = 0; i < N_TALKATIVE && list; i++) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(talkative[i], "="), talkative[i]);
        if (!getenv(name)) list[kept++] = (char *)talkative[i];
    }
    return list;
}

/* Starts the process that checks `what`, one variant with one gls_mapping. Returns false and sets errno if the process
 * cannot be started. */
static bool start(const check_options *options, const char *what, gls_child *child)
{
    static const char *const graphics[] = {
        [GLS_GRAPHICS_AUTO] = "auto", [GLS_GRAPHICS_GL] = "gl", [GLS_GRAPHICS_GLES] = "gles"};
    char *list[16], **environment = environment_of_child();
    size_t n = 0;
    list[n++] = "glslines";
    list[n++] = "devices";
    list[n++] = "--device";
    list[n++] = (char *)options->device;
    list[n++] = "--api";
    list[n++] = (char *)graphics[options->api];
    list[n++] = "--variant";
    list[n++] = (char *)what;
    if (options->compile_only) list[n++] = "--compile-only";
    list[n] = NULL;
    bool started = environment && gls_child_spawn(child, list, environment);
    free(environment);
    return started;
}

/* Checks one variant with one gls_mapping and prints the result. Returns whether the variant works with the
 * gls_mapping; with compile_only, whether it compiles. *rate: points per second, 0 if nothing was tracked. */
static bool check_mapping(const check_options *options, size_t variant, gls_mapping mapping, double *rate)
{
    check_run run = {.variant = gls_known_variants[variant].name,
                     .mapping = gls_mapping_name(mapping),
                     .now = unknown,
                     .largest = unknown};
    char what[64];
    gls_child child;
    snprintf(what, sizeof what, "%s:%s", run.variant, run.mapping);
    if (!start(options, what, &child)) {
        gls_log(GLS_LOG_WARNING, "%s: cannot start a process: %s", what, strerror(errno));
        return false;
    }
    gls_child_end end = gls_child_attend(&child, options->seconds, read_line, &run);
    *rate = run.points_per_second;
    bool clean = !end.late && end.signal == 0 && end.code == 0;
    if (clean && ((run.fits && run.apart) || options->compile_only)) return true;
    const char *where = run.tracked ? "after tracking" : run.kernels ? "after that" : "at the first kernel";
    printf("%-6s  %-8s  ", run.variant, run.mapping);
    if (end.late)
        printf("FAILED: not done after %g s, %s\n", options->seconds, where);
    else if (end.signal)
        printf("FAILED: the driver crashed, signal %d, %s\n", end.signal, where);
    else if (!clean)
        printf("FAILED: %s\n", *run.last ? run.last : "the driver ended the process");
    else
        printf("FAILED: the device does not compute right\n");
    return false;
}

/* Whether `only`, VARIANT or VARIANT:MAPPING, names this variant and, if `only` has a mapping, this mapping. NULL names
 * all. With GLS_MAPPING_AUTO only the variant is compared. */
static bool is_wanted(const char *only, const char *variant, gls_mapping mapping)
{
    size_t n = only ? strcspn(only, ":") : 0;
    if (!only) return true;
    if (strlen(variant) != n || strncmp(variant, only, n) != 0) return false;
    return mapping == GLS_MAPPING_AUTO || !only[n] || strcmp(only + n + 1, gls_mapping_name(mapping)) == 0;
}

gls_status check_device(const check_options *options)
{
    gls_device *device = NULL;
    gls_status status = gls_device_open(options->device, options->api, &device);
    if (status) return status;
    gls_device_info info = *gls_device_get_info(device);
    gls_device_close(device);
    gls_checked memory;
    bool keep = !options->compile_only && !options->only;
    if (keep) gls_checked_begin(&memory, &info);
    printf("%s\n%s\n", info.renderer, info.version);
    size_t without = 0, n = 0;
    for (size_t v = 0; v < GLS_KNOWN_VARIANTS; v++) {
        if (!is_wanted(options->only, gls_known_variants[v].name, GLS_MAPPING_AUTO)) continue;
        gls_mapping best = GLS_MAPPING_AUTO;
        double best_rate = -1;
        size_t before = n;
        for (gls_mapping m = GLS_MAPPING_SINGLE; m < GLS_MAPPING_COUNT; m++) {
            double rate = 0;
            /* one invocation for each streamline is for renderers on the CPU */
            if (gls_mapping_lanes(m, &info) == 0 || (m == GLS_MAPPING_SINGLE && !info.software)) continue;
            if (!is_wanted(options->only, gls_known_variants[v].name, m)) continue;
            n++;
            if (!check_mapping(options, v, m, &rate) || rate <= best_rate) continue;
            best = m;
            best_rate = rate;
        }
        without += n > before && best == GLS_MAPPING_AUTO;
        if (keep) gls_checked_add(&memory, gls_known_variants[v].name, best);
    }
    if (keep) gls_checked_finish(&memory);
    if (n == 0)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--variant: %s has no '%s': give a getter with its order, as in boot4, and if wanted a mapping "
                        "of the device, as in boot4:group",
                        info.renderer, options->only);
    if (without == 0) return GLS_OK;
    if (options->only)
        return gls_fail(
            GLS_ERR_DEVICE,
            "%s: --variant %s failed, see the table: track on another --device, or with a --mapping that passes",
            info.renderer, options->only);
    return gls_fail(GLS_ERR_DEVICE, "%s: %zu of %d kinds of tracking fail in every mapping: choose another --device",
                    info.renderer, without, GLS_KNOWN_VARIANTS);
}
