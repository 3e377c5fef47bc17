/* Rows of params.def: parameters on which the result depends are part of a run's identity, all others are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <glslines/glslines.h>

#include "record/method.h"
#include "record/run_params.h"
#include "run/job_inputs.h"
#include "track/track_params.h"

static const gls_grid cubes = {.voxel_size = {2, 2, 2}};

static gls_job_options of_boot(void)
{
    gls_job_options o = gls_job_options_default();
    o.track.dg = GLS_DG_BOOT;
    gls_job_options_set_defaults(&o, (const char *const[]){"dg", NULL});
    return o;
}

static gls_job_options with_user(gls_param_user user)
{
    gls_job_options o = of_boot();
    switch (user) {
    case GLS_FOR_STOP_MAP: o.track.dg = GLS_DG_PROB; break;
    case GLS_FOR_FOD: o.track.dg = GLS_DG_SDSTREAM; break;
    case GLS_FOR_CUTOFF: o.track.dg = GLS_DG_SDSTREAM; break;
    case GLS_FOR_IFOD: o.track.dg = GLS_DG_IFOD1; break;
    case GLS_FOR_RK4: o.track.dg = GLS_DG_TENSORDET; break;
    case GLS_FOR_PROB_DET: o.track.dg = GLS_DG_PROB; break;
    case GLS_FOR_WHOLE_ODFS: o.track.dg = GLS_DG_CLOSEST; break;
    case GLS_FOR_CSD: o.model.model = GLS_MODEL_CSD; break;
    case GLS_FOR_MSMT: o.model.model = GLS_MODEL_MSMT; break;
    case GLS_FOR_SH: o.sh = "sh.nii"; break;
    case GLS_FOR_ODF: o.odf = "odf.nii"; break;
    case GLS_FOR_PEAK_FILES: o.peaks = (gls_strings){{"peaks.nii"}, 1}; break;
    case GLS_FOR_SEEDS_PER_VOXEL: o.seeds_per_voxel = 2; break;
    case GLS_FOR_SEED_LIST: o.seeds = "seeds.txt"; break;
    case GLS_FOR_SEED_GRID: o.seed_grid = 2; break;
    case GLS_FOR_SEED_DYNAMIC: o.seed_dynamic = "auto"; break;
    case GLS_FOR_TISSUE: o.act = "5tt.nii"; break;
    case GLS_FOR_PFT: o.track.pft = true; break;
    default:
        if (user >= GLS_FOR_GETTERS) o.track.dg = (gls_direction_getter)(user - GLS_FOR_GETTERS);
        break;
    }
    return o;
}

static uint64_t identity(const gls_job_options *o)
{
    uint64_t hash = 0;
    gls_track_params mm = gls_params_in_mm(o, &cubes);
    const gls_method method = gls_method_of(o);
    assert_int_equal(gls_params_identity(o, &method, &mm, &hash), GLS_OK);
    return hash;
}

/* Returns the first value of a row, and another one. */
#define FIRST_FLAG(at)
#define FIRST_INT(at)
#define FIRST_UINT64(at)
#define FIRST_SEED(at)
#define FIRST_DOUBLE(at)
#define FIRST_LENGTH(at)
#define FIRST_NUMBERS(at)
#define FIRST_STRINGS(at) at = (gls_strings){{"one"}, 1};
#define FIRST_STRING(at) at = "one";
#define FIRST_CHOICE(at)
#define OTHER_FLAG(at) at = !at;
#define OTHER_INT(at) at = at > 0 ? at + 1 : 8; /* 0 may stand for a value that is not set */
#define OTHER_UINT64(at) at = at + 1;
#define OTHER_SEED(at) at = at + 1;
#define OTHER_DOUBLE(at) at = at < 0 ? 1 : at + 0.015625; /* below 0: not set */
#define OTHER_LENGTH(at) at = at + 0.015625;
#define OTHER_NUMBERS(at) at = (gls_numbers){{1000}, 1};
#define OTHER_STRINGS(at) at = (gls_strings){{"two"}, 1};
#define OTHER_STRING(at) at = "two";
#define OTHER_CHOICE(at) at = at == 0;

#define CHECK(type, at, name, user, role)                                                                        \
    {                                                                                                            \
        gls_job_options o = with_user(GLS_FOR_##user);                                                           \
        FIRST_##type(o.at);                                                                                      \
        const gls_method method = gls_method_of(&o);                                                             \
        uint64_t before = identity(&o);                                                                          \
        assert_true(gls_param_is_used(gls_options_find(gls_params, name), &method, &o) ||                        \
                    GLS_ROLE_##role != GLS_ROLE_RESULT);                                                         \
        OTHER_##type(o.at);                                                                                      \
        if ((identity(&o) != before) != (GLS_ROLE_##role == GLS_ROLE_RESULT)) fail_msg("identity and %s", name); \
        n++;                                                                                                     \
    }
#define CHECK_TRACK(type, field, ...) CHECK(type, track.field, __VA_ARGS__)
#define CHECK_JOB(type, field, ...) CHECK(type, field, __VA_ARGS__)
#define CHECK_GRADIENTS(type, field, ...) CHECK(type, model.field, __VA_ARGS__)
#define CHECK_MODEL(type, field, ...) CHECK(type, model.field, __VA_ARGS__)
#define CHECK_BASIS(type, field, ...) CHECK(type, model.field, __VA_ARGS__)
#define CHECK_COMMAND(...)

static void test_identity(void **state)
{
    size_t n = 0, n_command = 0;
    (void)state;
#define GLS_PARAM(owner, group, type, field, name, letter, metavar, unit, range, default_, default_text, choices, \
                  user, role, ...)                                                                                \
    CHECK_##owner(type, field, name, user, role)
#include <glslines/params.def>
#undef GLS_PARAM
    for (const gls_option *row = gls_params; row->name; row++) n_command += row->owner == GLS_OF_COMMAND;
    assert_null(gls_params[n + n_command].name);
}

/* The unit of a length is part of it, as long as it changes the length. */
static void test_lengths(void **state)
{
    gls_job_options o = of_boot();
    (void)state;
    uint64_t voxels = identity(&o);
    gls_track_params mm = gls_params_in_mm(&o, &cubes);
    assert_true(mm.step_size == 1 && mm.probe_length == 1 && mm.max_length == 250);
    o.in_mm.step_size = true;
    mm = gls_params_in_mm(&o, &cubes);
    assert_true(mm.step_size == 0.5 && mm.probe_length == 1);
    assert_true(identity(&o) != voxels);
    /* defaults of a getter count voxels by their volume, what is given by the smallest side */
    const gls_grid flat = {.voxel_size = {1, 1, 8}};
    o = gls_job_options_default();
    o.track = gls_track_params_default_for(GLS_DG_IFOD2);
    mm = gls_params_in_mm(&o, &flat);
    assert_true(fabs(mm.step_size - 1) < 1e-9 && fabs(mm.min_length - 10) < 1e-9 && fabs(mm.max_length - 200) < 1e-9);
    o.track.step_size = 0.5;
    o.track.max_length = 90;
    mm = gls_params_in_mm(&o, &flat);
    assert_true(mm.step_size == 0.5 && mm.max_length == 90);
    mm = gls_track_params_default_for(GLS_DG_SDSTREAM);
    gls_track_params_scale(&mm, 2);
    assert_true(mm.step_size == 0.2 && mm.min_length == 10 && mm.max_length == 200 && mm.probe_length == 1);
    /* the step of eudx is in mm for the library as for a run */
    mm = gls_track_params_default_for(GLS_DG_EUDX);
    gls_track_params_scale(&mm, 2);
    assert_true(mm.step_size == 0.5 && mm.min_length == 2 && mm.max_length == 500);
    mm.step_size = -0.5;
    gls_track_params_scale(&mm, 2);
    assert_true(mm.step_size == 1);
}

static void test_keys(void **state)
{
    char key[96];
    (void)state;
    gls_option_key(gls_options_find(gls_params, "b0-threshold"), key, sizeof key);
    assert_string_equal(key, "b0_threshold_s_per_mm2");
    gls_option_key(gls_options_find(gls_params, "max-angle"), key, sizeof key);
    assert_string_equal(key, "max_angle_degrees");
    assert_null(gls_options_find(gls_params, "max_angle"));
}

/* Every range of the tracker is checked, and defaults are valid. */
static void test_ranges(void **state)
{
    gls_track_params p = gls_track_params_default();
    (void)state;
    assert_int_equal(gls_track_params_check(&p), GLS_OK);
    p.max_angle = 91;
    assert_int_equal(gls_track_params_check(&p), GLS_ERR_ARGUMENT);
    assert_string_equal(gls_last_error(), "max-angle is 91, but must be more than 0 and at most 90 degrees");
    p = gls_track_params_default();
    p.stop_threshold = INFINITY;
    assert_int_equal(gls_track_params_check(&p), GLS_ERR_ARGUMENT);
    p = gls_track_params_default();
    p.probe_count = 33;
    assert_int_equal(gls_track_params_check(&p), GLS_ERR_ARGUMENT);
    /* values that single precision cannot hold, or rounds to a bound that is excluded */
    p = gls_track_params_default();
    p.stop_threshold = 1e39;
    assert_int_equal(gls_track_params_check(&p), GLS_ERR_ARGUMENT);
    p.stop_threshold = 3e38;
    assert_int_equal(gls_track_params_check(&p), GLS_OK);
    p.probe_length = 1e-60;
    assert_int_equal(gls_track_params_check(&p), GLS_ERR_ARGUMENT);
}

/* A parameter that is off by default is refused with a getter that lacks it, whichever row it is; the message names the
 * getters that have it. */
static void test_other_getters(void **state)
{
    size_t n = 0;
    (void)state;
    for (const gls_option *row = gls_params; row->name; row++) {
        gls_job_options o = gls_job_options_default();
        if (row->owner != GLS_OF_TRACK || !gls_user_is_getter(row->user) || gls_option_get_number(row, &o).value != 0)
            continue;
        for (int dg = 0; dg < GLS_DG_COUNT; dg++) {
            char names[256], message[400];
            o.track.dg = (gls_direction_getter)dg;
            const gls_method method = gls_method_of(&o);
            const bool used = gls_param_is_used(row, &method, &o);
            gls_option_set_number(row, &o, (gls_option_number){1, true});
            assert_int_equal(gls_track_params_check_getter(&o.track), used ? GLS_OK : GLS_ERR_ARGUMENT);
            snprintf(message, sizeof message, "--%s: only --dg %s can use it", row->name,
                     gls_getters_with((gls_param_user)row->user, names, sizeof names));
            if (!used) assert_string_equal(gls_last_error(), message);
            gls_option_set_number(row, &o, (gls_option_number){0, false});
        }
        n++;
    }
    assert_true(n >= 6);
    /* peaks are drawn from whole ODFs by closest, too */
    gls_track_params p = gls_track_params_default();
    p.dg = GLS_DG_CLOSEST;
    p.odf_interpolation = GLS_ODF_INTERPOLATE_AMPLITUDES;
    assert_int_equal(gls_track_params_check(&p), GLS_OK);
}

/* A parameter that the method uses is taken. One that needs another option is refused, and the message names it. */
static void test_required(void **state)
{
    size_t n = 0;
    (void)state;
    for (const gls_option *row = gls_params; row->name; row++)
        for (int dg = 0; dg < GLS_DG_COUNT; dg++) {
            char begin[128];
            gls_job_options o = gls_job_options_default();
            o.track.dg = (gls_direction_getter)dg;
            const gls_method method = gls_method_of(&o);
            const gls_status status = gls_method_require(&method, row, &o);
            if (row->user == GLS_FOR_STOP_MAP) continue;
            if (gls_method_uses(&method, row, &o)) assert_int_equal(status, GLS_OK);
            const bool beside = row->user >= GLS_FOR_SH && row->user <= GLS_FOR_SEED_DYNAMIC &&
                                row->user != GLS_FOR_SEED_COUNT && row->user != GLS_FOR_SEED_GRID;
            if (!beside && row->user != GLS_FOR_PFT) continue;
            assert_int_equal(status, GLS_ERR_ARGUMENT);
            snprintf(begin, sizeof begin, "--%s: needs --", row->name);
            assert_memory_equal(gls_last_error(), begin, strlen(begin));
            n++;
        }
    assert_true(n > 0);
}

/* The method follows from the inputs and the getter. */
static void test_method(void **state)
{
    static const struct {
        gls_direction_getter dg;
        const char *sh, *peaks, *given;
        gls_getter_source source;
        bool fits, odf, series, peaks_followed, finds_peaks, tensors;
    } rows[] = {
        {GLS_DG_IFOD2, NULL, NULL, NULL, GLS_FROM_ODF, true, true, false, false, false, false},
        {GLS_DG_PROB, "sh.nii", NULL, "sh", GLS_FROM_ODF, false, true, false, false, false, false},
        {GLS_DG_BOOT, NULL, NULL, NULL, GLS_FROM_QBALL, true, false, true, false, false, false},
        {GLS_DG_FACT, NULL, "peaks.nii", "peaks", GLS_FROM_PEAKS, false, false, false, true, false, false},
        {GLS_DG_FACT, NULL, NULL, NULL, GLS_FROM_PEAKS, true, true, false, true, true, false},
        {GLS_DG_EUDX, NULL, NULL, NULL, GLS_FROM_PEAKS, false, false, false, true, true, true},
        {GLS_DG_TENSORDET, NULL, NULL, NULL, GLS_FROM_SERIES, false, false, true, false, false, false},
        {GLS_DG_SEEDTEST, NULL, NULL, NULL, GLS_FROM_NOTHING, false, false, false, false, false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gls_job_options o = gls_job_options_default();
        o.track.dg = rows[i].dg;
        o.sh = rows[i].sh;
        if (rows[i].peaks) o.peaks = (gls_strings){{rows[i].peaks}, 1};
        const gls_method m = gls_method_of(&o);
        assert_int_equal(m.source, rows[i].source);
        assert_true(m.given == rows[i].given || (m.given && strcmp(m.given, rows[i].given) == 0));
        assert_true(m.fits == rows[i].fits && m.odf == rows[i].odf && m.series == rows[i].series);
        assert_true(m.peaks == rows[i].peaks_followed && m.finds_peaks == rows[i].finds_peaks);
        assert_true(m.tensors == rows[i].tensors && !m.masks_alone && !m.tissue && m.seeds == GLS_SEEDS_COUNTED);
    }
    gls_job_options o = gls_job_options_default();
    o.track.dg = GLS_DG_SEEDTEST;
    o.mask = "mask.nii";
    o.seeds = "seeds.txt";
    o.act = "5tt.nii";
    const gls_method m = gls_method_of(&o);
    assert_true(m.masks_alone && m.seeds == GLS_SEEDS_LISTED);
    assert_string_equal(m.tissue, "5tt.nii");
}

/* Values that are no number of a list, no direction, or a loop of too many turns. */
static void test_refused(void **state)
{
    gls_track_params p = gls_track_params_default();
    (void)state;
    p.dg = GLS_DG_COUNT;
    assert_int_equal(gls_track_params_check(&p), GLS_ERR_ARGUMENT);
    p.dg = (gls_direction_getter)-1;
    assert_int_equal(gls_track_params_check(&p), GLS_ERR_ARGUMENT);
    assert_false(gls_getter_ends_itself(GLS_DG_COUNT));
    p = gls_track_params_default();
    p.mapping = GLS_MAPPING_COUNT;
    assert_int_equal(gls_track_params_check(&p), GLS_ERR_ARGUMENT);
    p = gls_track_params_default();
    p.ptt_substep = 1e-30; /* of another getter */
    assert_int_equal(gls_track_params_check(&p), GLS_OK);
    p.dg = GLS_DG_PTT;
    assert_int_equal(gls_track_params_check(&p), GLS_ERR_ARGUMENT);
    /* a value that no enumerator has, in any option of a run */
    for (const gls_option *row = gls_params; row->name; row++) {
        for (int wrong = -1; row->kind == GLS_KIND_CHOICE && wrong <= 1000; wrong += 1001) {
            gls_job_options o = gls_job_options_default();
            gls_job *job = NULL;
            *(int *)((char *)&o + row->offset) = wrong;
            assert_int_equal(gls_job_create(&o, NULL, &job), GLS_ERR_ARGUMENT);
            assert_non_null(strstr(gls_last_error(), row->name));
            assert_null(job);
            if (row->owner == GLS_OF_TRACK) assert_int_equal(gls_track_params_check(&o.track), GLS_ERR_ARGUMENT);
        }
    }
    gls_model_options model = gls_job_options_default().model;
    model.model = (gls_model_kind)-1;
    assert_int_equal(gls_model_options_check(&model), GLS_ERR_ARGUMENT);
    static const double none[][3] = {{NAN, 0, 1}, {0, INFINITY, 0}, {1e200, 0, 0}, {0, 1e-200, 0}};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        p = gls_track_params_default();
        memcpy(p.seed_direction, none[i], sizeof none[i]);
        assert_int_equal(gls_track_params_check(&p), GLS_ERR_ARGUMENT);
    }
}

/* Every struct of options knows its size, and one of another version is refused. */
static void sizes(void **state)
{
    (void)state;
#define HAS_SIZE(options) assert_int_equal(options##_default().size, sizeof(options))
    HAS_SIZE(gls_job_options);
    HAS_SIZE(gls_fit_options);
    HAS_SIZE(gls_merge_options);
    HAS_SIZE(gls_gradients_options);
    HAS_SIZE(gls_phantom_params);
    HAS_SIZE(gls_responses_options);
    HAS_SIZE(gls_tractogram_options);
    HAS_SIZE(gls_tractogram_read_options);
    HAS_SIZE(gls_tensor_options);
    HAS_SIZE(gls_odf_options);
    HAS_SIZE(gls_msmt_options);
    HAS_SIZE(gls_density_options);
    HAS_SIZE(gls_score_options);
    HAS_SIZE(gls_track_params);
    HAS_SIZE(gls_response_options);
    HAS_SIZE(gls_csd_options);
    HAS_SIZE(gls_peak_options);
    HAS_SIZE(gls_connectome_options);
    HAS_SIZE(gls_qball_options);
    HAS_SIZE(gls_bundles_options);
    HAS_SIZE(gls_crop_options);
    HAS_SIZE(gls_sample_options);
    HAS_SIZE(gls_render_options);
    HAS_SIZE(gls_report_options);
    HAS_SIZE(gls_select_options);
    gls_job_options options = gls_job_options_default();
    options.size -= 8;
    assert_int_equal(gls_track_files(&options, NULL, NULL), GLS_ERR_ARGUMENT);
    assert_non_null(strstr(gls_last_error(), "options"));
}

/* Every option that names one input file has a file with a role, by which --skip-existing compares it. */
static void test_roles(void **state)
{
    (void)state;
    gls_input_file file[GLS_FILE_N_FILES];
    for (const gls_option *row = gls_params; row->name; row++) {
        if ((row->role != GLS_ROLE_PATH && row->role != GLS_ROLE_SHARED) ||
            (row->kind != GLS_KIND_STRING && strncmp(row->name, "peaks", 5) != 0))
            continue;
        gls_job_options o = gls_job_options_default();
        if (row->kind == GLS_KIND_STRINGS)
            *(gls_strings *)((char *)&o + row->offset) = (gls_strings){{"one"}, 1};
        else
            *(const char **)((char *)&o + row->offset) = "one";
        gls_job_inputs_files(&o, file);
        int n = 0;
        for (int i = 0; i < GLS_FILE_N_FILES; i++) {
            assert_non_null(file[i].role);
            n += file[i].path && strcmp(file[i].path, "one") == 0;
            for (int k = 0; k < i; k++) assert_string_not_equal(file[i].role, file[k].role);
        }
        if (n != 1) fail_msg("--%s: is no input of a run", row->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes),         cmocka_unit_test(test_identity),
                                       cmocka_unit_test(test_lengths),  cmocka_unit_test(test_keys),
                                       cmocka_unit_test(test_ranges),   cmocka_unit_test(test_other_getters),
                                       cmocka_unit_test(test_required), cmocka_unit_test(test_method),
                                       cmocka_unit_test(test_refused),  cmocka_unit_test(test_roles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
