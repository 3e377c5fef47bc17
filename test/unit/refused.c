/* Numbers and enumerators that a caller must not pass are refused by name: no shift by -1, no place behind a table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glslines/glslines.h>
#include <string.h>

static void refuses(gls_status status, const char *name)
{
    if (status != GLS_ERR_ARGUMENT || !strstr(gls_last_error(), name))
        fail_msg("status %d, and '%s' does not name %s", status, gls_last_error(), name);
}

/* Each list of texts in the options of a run: fewer than none, too many, and NULL in it. */
static void test_lists(void **state)
{
    static const struct {
        size_t offset;
        const char *name;
    } lists[] = {{offsetof(gls_job_options, include), "--include"},
                 {offsetof(gls_job_options, exclude), "--exclude"},
                 {offsetof(gls_job_options, stat_tck), "--stat-tck"},
                 {offsetof(gls_job_options, connectome), "--connectome"},
                 {offsetof(gls_job_options, peaks), "--peaks"}};
    static const int n[] = {-1, GLS_MAX_STRINGS + 1, 1 << 30, 1, GLS_MAX_STRINGS};
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (size_t k = 0; k < sizeof n / sizeof *n; k++) {
            gls_job_options o = gls_job_options_default();
            gls_job *job = NULL;
            gls_strings *list = (gls_strings *)(void *)((char *)&o + lists[i].offset);
            memset(list, 0, sizeof *list);
            list->n = n[k];
            o.dwi = "none/dwi.nii.gz";
            o.sample = "none/fa.nii.gz";
            refuses(gls_job_create(&o, NULL, &job), lists[i].name);
            assert_null(job);
        }
    gls_job_options o = gls_job_options_default();
    gls_job *job = NULL;
    o.model.shells.n = -1;
    refuses(gls_job_create(&o, NULL, &job), "--shells");
}

static void test_enumerators(void **state)
{
    static const int wrong[] = {-1, 99, INT32_MAX, INT32_MIN};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        gls_respond_options o = gls_respond_options_default();
        o.dwi = "none/dwi.nii.gz";
        o.prefix = "none/x";
        o.algorithm = (gls_response_algorithm)wrong[i];
        o.act = NULL;
        refuses(gls_respond_files(&o, NULL), "algorithm");
        /* the struct keeps the number, and the tracker refuses it */
        gls_track_params p = gls_track_params_default_for((gls_direction_getter)wrong[i]);
        assert_int_equal((int)p.dg, wrong[i]);
        (void)gls_track_cutoff(&p);
        (void)gls_track_seed_cutoff(&p);
        for (int member = 0; member < 3; member++) {
            gls_job_options job = gls_job_options_default();
            if (member == 0) job.preset = (gls_preset)wrong[i];
            if (member == 1) job.track.dg = (gls_direction_getter)wrong[i];
            if (member == 2) job.model.model = (gls_model_kind)wrong[i];
            gls_job *made = NULL;
            gls_job_options_set_defaults(&job, NULL);
            job.dwi = "none/dwi.nii.gz";
            refuses(gls_job_create(&job, NULL, &made), member == 0 ? "--preset" : member == 1 ? "--dg" : "--model");
        }
    }
}

/* NULL among the images of tissues; a conversion of nothing. */
static void test_pointers(void **state)
{
    static const double affine[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    gls_grid grid;
    gls_image *mask, *made = NULL;
    gls_normalise_result result;
    (void)state;
    assert_int_equal(gls_grid_init(&grid, (const int32_t[]){4, 4, 4}, affine), GLS_OK);
    assert_int_equal(gls_image_create(&grid, 1, &mask), GLS_OK);
    gls_image *tissue[2] = {mask, NULL};
    refuses(gls_normalise(tissue, 2, mask, NULL, &result), "tissue[t]");
    refuses(gls_seed_region_of_tissues((const gls_image *const *)tissue, 2, mask, &made), "tissue[t]");
    assert_null(made);
    gls_image_destroy(mask);
    assert_int_equal(gls_convert(0, NULL, GLS_TYPE_FLOAT32, NULL, GLS_TYPE_FLOAT32), GLS_OK);
    assert_int_equal(gls_convert(0, NULL, GLS_TYPE_FLOAT32, NULL, GLS_TYPE_INT8), GLS_OK);
    refuses(gls_convert(1, NULL, GLS_TYPE_FLOAT32, NULL, GLS_TYPE_INT8), "from && to");
}

/* A job completes the options that are not given, and refuses given ones that contradict each other. */
static void test_given(void **state)
{
    gls_job_options o = gls_job_options_default();
    gls_job *job = NULL;
    (void)state;
    o.phantom = true;
    o.given = (const char *const[]){"nseeds", "seed-grid", NULL};
    refuses(gls_job_create(&o, NULL, &job), "--nseeds and --seed-grid");
    o.given = (const char *const[]){"device", "ngpus", NULL};
    o.device = "llvmpipe,llvmpipe";
    o.ngpus = 3;
    refuses(gls_job_create(&o, NULL, &job), "--ngpus 3: --device names 2 devices");
    o.given = (const char *const[]){"nseeds", "max_angle", NULL}; /* the member, not the option */
    refuses(gls_job_create(&o, NULL, &job), "given: max_angle is the name of no option");
    o = gls_job_options_default();
    o.phantom = true;
    o.output = "none/a.trx";
    o.format = GLS_FORMAT_TRK;
    o.given = (const char *const[]){"output", "write-method", NULL};
    refuses(gls_job_create(&o, NULL, &job), "--write-method");
    o.given = (const char *const[]){"output", NULL};
    o.track.dg = GLS_DG_BOOT; /* is not given: the phantom decides, and the output is what fails */
    assert_int_equal(gls_job_create(&o, NULL, &job), GLS_ERR_OUTPUT);
    assert_null(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists), cmocka_unit_test(test_enumerators),
                                       cmocka_unit_test(test_pointers), cmocka_unit_test(test_given)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
