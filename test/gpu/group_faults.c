/* Faults while several devices track together, or one does: lost contexts, memory that runs out, a device that fails
 * for good. Nothing is lost, nothing comes twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glslines/log.h>
#include <unistd.h>

#include "gpu.h"
#include "group.h"

/* --- warnings ------------------------------------------------------------- */

static struct {
    unsigned n;
    char last[1024];
    void (*act)(void);
} warnings;

static void on_log(void *user, gls_log_level level, const char *line)
{
    (void)user;
    if (level != GLS_LOG_WARNING) return;
    warnings.n++;
    snprintf(warnings.last, sizeof warnings.last, "%s", line);
    if (warnings.act) warnings.act();
}

static void watch_warnings(void (*act)(void))
{
    warnings.n = 0;
    warnings.last[0] = '\0';
    warnings.act = act;
    gls_log_set(on_log, NULL, GLS_LOG_WARNING);
}

static void unwatch_warnings(void)
{
    gls_log_set(NULL, NULL, GLS_LOG_WARNING);
}

/* --- faults --------------------------------------------------------------- */

/* Counts the calls of a kind that the creation of the group makes, and all of them together with its run. */
static void count_calls(size_t n, const gls_track_params *p, gls_fault fault, uint64_t *created, uint64_t *all)
{
    group g;
    open_group(&g, n);
    assert_ok(gls_inject_set("open:1000000"));
    assert_ok(create_group(&g, p));
    *created = gls_inject_count(fault);
    assert_ok(run_group(&g));
    *all = gls_inject_count(fault);
    close_group(&g);
}

/* One call fails while all devices are at work. */
static void one_fault(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        gls_fault fault;
    } kinds[] = {{"reset", GLS_FAULT_RESET},
                 {"readback", GLS_FAULT_READBACK},
                 {"upload", GLS_FAULT_UPLOAD},
                 {"dispatch", GLS_FAULT_DISPATCH}};
    gls_track_params p = params;
    p.batch_seeds = 20;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        uint64_t created, all, resumes = 0, halvings = 0, failures = 0, tried = 0;
        count_calls(3, &p, kinds[k].fault, &created, &all);
        for (uint64_t n = created + 1; n <= created + (all - created) * 9 / 10;
             n += (all - created) / 12 + 1, tried++) {
            char text[64];
            group g;
            snprintf(text, sizeof text, "%s:%llu", kinds[k].kind, (unsigned long long)n);
            open_group(&g, 3);
            assert_ok(gls_inject_set(text));
            assert_ok(create_group(&g, &p));
            watch_warnings(NULL);
            assert_ok(run_group(&g));
            unwatch_warnings();
            assert_complete(&g, text);
            gls_track_share sum = total_share(&g);
            resumes += sum.resumes;
            halvings += sum.halvings;
            failures += sum.failed;
            assert_true(warnings.n == sum.resumes + sum.halvings + sum.failed);
            /* and once more, without the device that failed */
            assert_ok(gls_inject_set(NULL));
            assert_ok(run_group(&g));
            assert_complete(&g, "the next run");
            close_group(&g);
        }
        print_message("%s: %d faults in turn: %d contexts replaced, %d batches halved, %d devices left out\n",
                      kinds[k].kind, (int)tried, (int)resumes, (int)halvings, (int)failures);
        assert_true(tried >= 6);
        if (kinds[k].fault == GLS_FAULT_RESET)
            assert_true(resumes > 0 && resumes <= tried && failures == 0);
        else if (kinds[k].fault == GLS_FAULT_DISPATCH)
            assert_true(failures == tried && resumes == 0);
        else
            assert_true(halvings > 0 && halvings <= tried && failures == 0);
    }
}

/* Every readback of a batch fails in turn, those of its streamlines after they were counted among them. */
static void every_readback(void **state)
{
    (void)state;
    uint64_t created, all;
    gls_track_params p = params;
    p.batch_seeds = 60;
    count_calls(1, &p, GLS_FAULT_READBACK, &created, &all);
    for (uint64_t n = created + 1; n <= created + (all - created) / 5 + 2; n++) {
        char text[64];
        group g;
        snprintf(text, sizeof text, "readback:%llu", (unsigned long long)n);
        open_group(&g, 1);
        assert_ok(gls_inject_set(text));
        assert_ok(create_group(&g, &p));
        assert_ok(run_group(&g));
        assert_complete(&g, text);
        assert_int_equal(total_share(&g).halvings, 1);
        close_group(&g);
    }
}

/* Devices are lost for good; when the last one is lost, the run ends. */
static void all_lost(void **state)
{
    (void)state;
    uint64_t created, all;
    char text[64];
    group g;
    gls_track_params p = params;
    p.batch_seeds = 20;
    count_calls(2, &p, GLS_FAULT_RESET, &created, &all);
    snprintf(text, sizeof text, "reset:%llu+", (unsigned long long)(created + all) / 2);
    open_group(&g, 2);
    assert_ok(gls_inject_set(text));
    assert_ok(create_group(&g, &p));
    assert_int_equal(run_group(&g), GLS_ERR_LOST);
    assert_message("lost");
    assert_beginning(&g);
    assert_ok(gls_inject_set(NULL));
    assert_int_equal(run_group(&g), GLS_ERR_DEVICE); /* there is none left */
    assert_message("failed");
    close_group(&g);
}

/* One device lost again and again over the same seeds: three times are made good, the fourth is not. */
static void lost_again(void **state)
{
    (void)state;
    for (int losses = 1; losses <= 4; losses++) {
        uint64_t created, all, at = 0;
        char text[128] = "";
        group g;
        count_calls(1, &params, GLS_FAULT_RESET, &created, &all);
        for (int i = 0; i < losses; i++) {
            at += created + 4; /* the first batch is not complete by then */
            snprintf(text + strlen(text), sizeof text - strlen(text), "%sreset:%llu", i ? "," : "",
                     (unsigned long long)at);
        }
        open_group(&g, 1);
        assert_ok(gls_inject_set(text));
        assert_ok(create_group(&g, &params));
        watch_warnings(NULL);
        gls_status status = run_group(&g);
        unwatch_warnings();
        if (losses <= 3) {
            assert_ok(status);
            assert_complete(&g, text);
            assert_int_equal(total_share(&g).resumes, losses);
            assert_int_equal(warnings.n, losses);
            assert_non_null(strstr(warnings.last, "seed 0"));
        } else {
            assert_int_equal(status, GLS_ERR_LOST);
            assert_message("4 times");
            assert_int_equal(g.got.n, 0);
        }
        close_group(&g);
    }
}

/* What comes with the warning of the first device to fail: time for the others to run as far ahead as they may, and no
 * way to make an engine anew. */
static void delay_and_exhaust(void)
{
    warnings.act = NULL;
    usleep(1500000);
    assert_ok(gls_inject_set("alloc:1+"));
}

/* The device of the batch that is due fails while the other waits, with all the streamlines that it may keep, for that
 * batch: it has to track it itself. */
static void giving_way(void **state)
{
    (void)state;
    group g;
    gls_track_params p = params;
    p.batch_seeds = 2;
    open_group(&g, 2);
    assert_ok(create_group(&g, &p));
    assert_ok(gls_inject_set("readback:1"));
    watch_warnings(delay_and_exhaust);
    assert_ok(run_group(&g));
    unwatch_warnings();
    assert_complete(&g, "giving way");
    assert_true(total_share(&g).failed && g.result.n_devices == 1);
    close_group(&g);
}

/* --- memory --------------------------------------------------------------- */

static void little_memory(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 2; n++) {
        group g;
        char text[64];
        open_group(&g, n);
        assert_ok(create_group(&g, &params));
        uint64_t full = gls_device_get_memory(g.device[0]).allocated_bytes;
        close_group(&g);
        gls_track_params p = params;
        p.batch_seeds = 1;
        open_group(&g, n);
        assert_ok(create_group(&g, &p));
        uint64_t least = gls_device_get_memory(g.device[0]).allocated_bytes;
        close_group(&g);
        assert_true(least < full / 2);
        for (int part = 1; part <= 3; part++) {
            snprintf(text, sizeof text, "memory:%llu",
                     (unsigned long long)(least + (full - least) * (uint64_t)part / 4));
            open_group(&g, n);
            assert_ok(gls_inject_set(text));
            watch_warnings(NULL);
            assert_ok(create_group(&g, &params));
            unwatch_warnings();
            assert_ok(run_group(&g));
            assert_complete(&g, text);
            assert_true(g.result.batch_seeds < expected_result.batch_seeds && warnings.n >= n);
            close_group(&g);
        }
        snprintf(text, sizeof text, "memory:%llu", (unsigned long long)least / 2);
        open_group(&g, n);
        assert_ok(gls_inject_set(text));
        assert_int_equal(create_group(&g, &params), GLS_ERR_DEVICE_MEMORY);
        assert_message("memory");
        close_group(&g);
    }
}

/* Volumes in single precision that do not fit are kept in half precision, on all devices alike: the streamlines are
 * those of half precision. */
static void half_precision(void **state)
{
    (void)state;
    uint64_t used[2];
    group g;
    gls_track_params p = params;
    p.batch_seeds = 64;
    for (int single = 0; single <= 1; single++) {
        p.precision = single ? GLS_PRECISION_FLOAT : GLS_PRECISION_HALF;
        open_group(&g, 1);
        assert_ok(create_group(&g, &p));
        used[single] = gls_device_get_memory(g.device[0]).allocated_bytes;
        assert_ok(run_group(&g));
        assert_int_equal(g.result.precision, single ? GLS_PRECISION_FLOAT : GLS_PRECISION_HALF);
        assert_true(single || (g.got.n == expected.n &&
                               memcmp(g.got.point, expected.point, expected.n_points * sizeof *expected.point) == 0));
        close_group(&g);
    }
    assert_true(used[1] > used[0]);
    for (size_t n = 1; n <= 2; n++) {
        char text[64];
        snprintf(text, sizeof text, "memory:%llu", (unsigned long long)(used[0] + used[1]) / 2);
        open_group(&g, n);
        assert_ok(gls_inject_set(text));
        watch_warnings(NULL);
        assert_ok(create_group(&g, &p));
        unwatch_warnings();
        assert_int_equal(warnings.n, 1);
        assert_non_null(strstr(warnings.last, "half precision"));
        assert_ok(run_group(&g));
        assert_complete(&g, text);
        assert_int_equal(g.result.precision, GLS_PRECISION_HALF);
        close_group(&g);
    }
}

/* Each call of the group's creation fails in turn: without that device, on a new context, or not at all. */
static void creation(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        gls_fault fault;
    } kinds[] = {{"reset", GLS_FAULT_RESET},
                 {"alloc", GLS_FAULT_ALLOC},
                 {"upload", GLS_FAULT_UPLOAD},
                 {"compile", GLS_FAULT_COMPILE}};
    gls_track_params p = params;
    p.batch_seeds = 50;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        uint64_t created, all;
        count_calls(2, &p, kinds[k].fault, &created, &all);
        for (uint64_t n = 1; n <= created; n += created / 7 + 1) {
            char text[64];
            group g;
            snprintf(text, sizeof text, "%s:%llu", kinds[k].kind, (unsigned long long)n);
            open_group(&g, 2);
            assert_ok(gls_inject_set(text));
            watch_warnings(NULL);
            assert_ok(create_group(&g, &p));
            unwatch_warnings();
            assert_int_equal(warnings.n, 1);
            assert_ok(run_group(&g));
            assert_complete(&g, text);
            close_group(&g);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_fault),      cmocka_unit_test(every_readback), cmocka_unit_test(all_lost),
        cmocka_unit_test(lost_again),     cmocka_unit_test(giving_way),     cmocka_unit_test(little_memory),
        cmocka_unit_test(half_precision), cmocka_unit_test(creation),
    };
    return gpu_run_tests(tests, set_up, tear_down, &device);
}
