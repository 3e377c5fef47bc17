/* Defaults by preset, getter and model: values that were not given get defaults, and values that were given are kept.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include <glslines/glslines.h>

#include "record/run_params.h"
#include "util/numbers.h"

#define GIVEN(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Compares field by field, because padding has no fixed contents. */
#define SAME_TRACK(type, field) SAME_##type(a->track.field, b->track.field, #field)
#define SAME_JOB(type, field) SAME_##type(a->field, b->field, #field)
#define SAME_GRADIENTS(type, field) SAME_##type(a->model.field, b->model.field, #field)
#define SAME_MODEL SAME_GRADIENTS
#define SAME_BASIS SAME_GRADIENTS
#define SAME_COMMAND(type, field)
#define SAME_INT(x, y, name) \
    if ((x) != (y)) fail_msg("%s differs", name);
#define SAME_DOUBLE SAME_INT
#define SAME_LENGTH SAME_INT
#define SAME_UINT64 SAME_INT
#define SAME_CHOICE SAME_INT
#define SAME_FLAG SAME_INT
#define SAME_SEED SAME_INT
#define SAME_STRING SAME_INT
#define SAME_STRINGS(x, y, name) SAME_INT((x).n, (y).n, name)
#define SAME_NUMBERS SAME_STRINGS

static void assert_same_options(const gls_job_options *a, const gls_job_options *b)
{
#define GLS_PARAM(owner, group, type, field, ...) SAME_##owner(type, field)
#include <glslines/params.def>
#undef GLS_PARAM
    assert_memory_equal(&a->in_mm, &b->in_mm, sizeof a->in_mm);
}

/* The preset of GPUStreamlines leaves the rows of params.def as they are, but for MRtrix3's getters. */
static void test_gpustreamlines(void **state)
{
    (void)state;
    for (int dg = GLS_DG_BOOT; dg <= GLS_DG_PTT; dg++) {
        gls_job_options bare = gls_job_options_bare();
        bare.preset = GLS_PRESET_GPUSTREAMLINES;
        bare.track.dg = (gls_direction_getter)dg;
        gls_job_options o = gls_job_options_default();
        o.preset = bare.preset;
        o.track.dg = bare.track.dg;
        gls_job_options_set_defaults(&o, GIVEN("preset", "dg"));
        assert_same_options(&o, &bare);
        assert_true(o.track.max_angle == 60 && o.track.max_length == 500 && o.track.stop_threshold == 0.1);
    }
    gls_job_options o = gls_job_options_default();
    o.preset = GLS_PRESET_GPUSTREAMLINES;
    o.track.dg = GLS_DG_IFOD1;
    gls_job_options_set_defaults(&o, GIVEN("preset", "dg"));
    assert_true(o.track.max_angle == 15 && o.track.step_size == -0.1 && o.track.max_length == -100);
}

static void test_getters(void **state)
{
    (void)state;
    gls_job_options o = gls_job_options_default();
    assert_true(o.track.dg == GLS_DG_IFOD2 && o.track.max_angle == 45 && o.track.max_length == -100);
    /* FODs that are fitted here are followed closely; FODs that are given, and the presets of MRtrix3, have its rule */
    assert_true(o.track.fod_power == 2);
    o.preset = GLS_PRESET_TCKGEN;
    gls_job_options_set_defaults(&o, GIVEN("preset"));
    assert_true(o.track.dg == GLS_DG_IFOD2 && o.track.fod_power < 0);
    o.preset = GLS_PRESET_DEFAULT;
    o.sh = "fod.nii";
    o.track.dg = GLS_DG_IFOD2;
    gls_job_options_set_defaults(&o, GIVEN("dg"));
    assert_true(o.track.fod_power < 0);
    o.sh = gls_job_options_default().sh;
    o.model.model = GLS_MODEL_OPDT;
    gls_job_options_set_defaults(&o, GIVEN("model"));
    assert_true(o.track.dg == GLS_DG_BOOT && o.track.max_angle == 45 && o.track.max_length == 250);
    o.model.model = GLS_MODEL_CSD;
    gls_job_options_set_defaults(&o, GIVEN("model"));
    assert_true(o.track.dg == GLS_DG_PROB && o.track.max_angle == 25 && o.track.stop_threshold == 0.15);
    o.model.model = GLS_MODEL_CSA;
    o.track.dg = GLS_DG_BOOT;
    gls_job_options_set_defaults(&o, GIVEN("model", "dg"));
    assert_true(o.track.max_angle == 42 && o.track.stop_threshold == 0.1);
    o.model.model = GLS_MODEL_MSMT;
    gls_job_options_set_defaults(&o, GIVEN("model"));
    assert_true(o.track.dg == GLS_DG_IFOD2 && o.track.max_angle == 45 && o.track.max_length == -100);
    o = gls_job_options_default();
    o.sh = "fod.nii";
    gls_job_options_set_defaults(&o, NULL);
    assert_true(o.track.dg == GLS_DG_PROB && o.track.max_angle == 25);
    for (int dg = GLS_DG_BOOT; dg <= GLS_DG_SDSTREAM; dg++) {
        gls_track_params p = gls_track_params_default_for((gls_direction_getter)dg);
        assert_true(p.dg == (gls_direction_getter)dg && p.min_length == -5);
    }
}

/* The model and the getter of each kind of data, alone and beside what is given: the table of src/doc/getters.md. */
static void test_method(void **state)
{
    (void)state;
    static const struct {
        const char *dwi, *sh, *peaks, *given;
        gls_preset preset;
        int value;
        gls_model_kind model;
        gls_direction_getter dg;
    } table[] = {
        {"dwi.nii", NULL, NULL, NULL, GLS_PRESET_DEFAULT, 0, GLS_MODEL_AUTO, GLS_DG_IFOD2},
        {NULL, NULL, NULL, NULL, GLS_PRESET_DEFAULT, 0, GLS_MODEL_AUTO, GLS_DG_IFOD2}, /* the phantom */
        {NULL, "fod.nii", NULL, NULL, GLS_PRESET_DEFAULT, 0, GLS_MODEL_OPDT, GLS_DG_PROB},
        {"dwi.nii", "fod.nii", NULL, NULL, GLS_PRESET_DEFAULT, 0, GLS_MODEL_OPDT, GLS_DG_PROB},
        {NULL, NULL, "peaks.nii", NULL, GLS_PRESET_DEFAULT, 0, GLS_MODEL_OPDT, GLS_DG_FACT},
        {NULL, NULL, "peaks.nii", NULL, GLS_PRESET_TCKGEN, 0, GLS_MODEL_OPDT, GLS_DG_FACT},
        {"dwi.nii", NULL, NULL, "model", GLS_PRESET_DEFAULT, GLS_MODEL_OPDT, GLS_MODEL_OPDT, GLS_DG_BOOT},
        {"dwi.nii", NULL, NULL, "model", GLS_PRESET_DEFAULT, GLS_MODEL_CSA, GLS_MODEL_CSA, GLS_DG_BOOT},
        {"dwi.nii", NULL, NULL, "model", GLS_PRESET_DEFAULT, GLS_MODEL_CSD, GLS_MODEL_CSD, GLS_DG_PROB},
        {"dwi.nii", NULL, NULL, "model", GLS_PRESET_DEFAULT, GLS_MODEL_MSMT, GLS_MODEL_MSMT, GLS_DG_IFOD2},
        {"dwi.nii", NULL, NULL, "dg", GLS_PRESET_DEFAULT, GLS_DG_BOOT, GLS_MODEL_OPDT, GLS_DG_BOOT},
        {"dwi.nii", NULL, NULL, "dg", GLS_PRESET_DEFAULT, GLS_DG_PTT, GLS_MODEL_AUTO, GLS_DG_PTT},
        {"dwi.nii", NULL, NULL, "dg", GLS_PRESET_DEFAULT, GLS_DG_DET, GLS_MODEL_AUTO, GLS_DG_DET},
        {"dwi.nii", NULL, NULL, NULL, GLS_PRESET_GPUSTREAMLINES, 0, GLS_MODEL_OPDT, GLS_DG_BOOT},
        {"dwi.nii", NULL, NULL, "dg", GLS_PRESET_GPUSTREAMLINES, GLS_DG_PROB, GLS_MODEL_OPDT, GLS_DG_PROB},
        {"dwi.nii", NULL, NULL, "model", GLS_PRESET_GPUSTREAMLINES, GLS_MODEL_CSD, GLS_MODEL_CSD, GLS_DG_PROB},
        {"dwi.nii", NULL, NULL, NULL, GLS_PRESET_DIPY, 0, GLS_MODEL_OPDT, GLS_DG_BOOT},
        {"dwi.nii", NULL, NULL, NULL, GLS_PRESET_TCKGEN, 0, GLS_MODEL_AUTO, GLS_DG_IFOD2},
        {"dwi.nii", NULL, NULL, "dg", GLS_PRESET_PYAFQ, GLS_DG_BOOT, GLS_MODEL_OPDT, GLS_DG_BOOT},
    };
    const char *const places[][4] = {{"mask.nii"}, {NULL, "roi.nii"}, {"mask.nii", "roi.nii"}, {NULL, NULL, "s.txt"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (size_t place = 0; place <= sizeof places / sizeof *places; place++) {
            gls_job_options o = gls_job_options_bare();
            o.preset = table[i].preset;
            o.dwi = table[i].dwi;
            o.sh = table[i].sh;
            if (table[i].peaks) o.peaks = (gls_strings){.n = 1, .value = {table[i].peaks}};
            if (place > 0) { /* the place where streamlines may lie and begin does not matter here */
                o.mask = places[place - 1][0];
                o.roi = places[place - 1][1];
                o.seeds = places[place - 1][2];
            }
            if (table[i].given && strcmp(table[i].given, "dg") == 0) o.track.dg = (gls_direction_getter)table[i].value;
            if (table[i].given && strcmp(table[i].given, "model") == 0) o.model.model = (gls_model_kind)table[i].value;
            gls_job_options_set_defaults(&o, GIVEN("preset", table[i].given));
            if (o.model.model != table[i].model || o.track.dg != table[i].dg)
                fail_msg("row %zu, places %zu: model %d, getter %d", i, place, (int)o.model.model, (int)o.track.dg);
            const gls_method method = gls_method_of(&o);
            if (!table[i].given) assert_non_null(gls_default_getter_reason(&o, &method));
            /* one shell of high b decides on a series alone, unless a model or another getter is given */
            const bool agrees = !table[i].given || (strcmp(table[i].given, "dg") == 0 && table[i].value == GLS_DG_DET);
            const bool decides = table[i].dwi && !table[i].sh && table[i].preset == GLS_PRESET_DEFAULT && agrees;
            o.one_shell = true;
            gls_job_options_set_defaults(&o, GIVEN("preset", table[i].given));
            assert_int_equal(o.one_shell, decides);
            assert_int_equal(o.model.model, decides ? GLS_MODEL_CSD : table[i].model);
            assert_int_equal(o.track.dg, decides ? GLS_DG_DET : table[i].dg);
        }
}

/* The defaults of one shell: no parameter counts as changed, and those of the getter before are gone. A response that
 * is given decides in place of the shell. */
static void test_one_shell(void **state)
{
    (void)state;
    gls_job_options o = gls_job_options_default();
    o.dwi = "dwi.nii";
    o.act = "5tt.nii";
    gls_job_options_set_defaults(&o, NULL);
    assert_true(o.track.dg == GLS_DG_IFOD2 && o.track.fod_cutoff > 0);
    o.one_shell = true;
    gls_job_options_set_defaults(&o, NULL);
    assert_true(o.track.dg == GLS_DG_DET && o.model.model == GLS_MODEL_CSD && o.track.fod_cutoff < 0);
    assert_true(o.track.max_angle == 25 && o.track.max_length == 250 && o.track.fod_power < 0);
    o.act = NULL;
    gls_job_options_set_defaults(&o, NULL);
    gls_method m = gls_method_of(&o);
    assert_non_null(gls_default_model_reason(&o, &m));
    assert_non_null(gls_default_getter_reason(&o, &m));
    cJSON *changed = gls_defaults_changed(&o, &m);
    assert_int_equal(cJSON_GetArraySize(changed), 0);
    cJSON_Delete(changed);
    o.track.dg = GLS_DG_PROB;
    m = gls_method_of(&o);
    changed = gls_defaults_changed(&o, &m);
    assert_string_equal(cJSON_GetArrayItem(changed, 0)->valuestring, "dg");
    cJSON_Delete(changed);
    o.model.response_wm = "wm.txt";
    gls_job_options_set_defaults(&o, GIVEN("response-wm"));
    assert_true(!o.one_shell && o.model.model == GLS_MODEL_AUTO && o.track.dg == GLS_DG_IFOD2);
}

static void test_given(void **state)
{
    (void)state;
    gls_job_options o = gls_job_options_default();
    o.track.dg = GLS_DG_PROB;
    o.track.max_angle = 61;
    o.track.min_length = 0;
    gls_job_options_set_defaults(&o, GIVEN("dg", "max-angle", "min-length"));
    assert_true(o.track.max_angle == 61 && o.track.min_length == 0 && o.track.stop_threshold == 0.15);
    /* twice is as once */
    gls_job_options again = o;
    gls_job_options_set_defaults(&again, GIVEN("dg", "max-angle", "min-length"));
    assert_memory_equal(&o, &again, sizeof o);
    o.act = "5tt.nii";
    gls_job_options_set_defaults(&o, GIVEN("dg"));
    assert_true(o.track.stop_threshold == -1 && o.track.min_length == -2);
    gls_job_options_set_defaults(&o, GIVEN("dg", "fa-threshold"));
    assert_true(o.track.stop_threshold == -1 && o.track.min_length == -2);
}

/* Presets have a model and a getter, which give way to given ones; seeds are given in one way only. */
static void test_presets(void **state)
{
    (void)state;
    gls_job_options o = gls_job_options_default();
    o.preset = GLS_PRESET_PYAFQ;
    gls_job_options_set_defaults(&o, GIVEN("preset"));
    assert_true(o.model.model == GLS_MODEL_CSD && o.track.dg == GLS_DG_PROB && o.track.max_angle == 30);
    assert_true(o.nseeds == 10000000 && o.track.step_size == 0.5 && o.in_mm.step_size && o.track.min_length == 20);
    o = gls_job_options_default();
    o.preset = GLS_PRESET_TRACTOFLOW;
    o.nseeds = 5;
    gls_job_options_set_defaults(&o, GIVEN("preset", "nseeds"));
    assert_true(o.seeds_per_voxel == 0 && o.nseeds == 5 && o.model.sh_order == 8);
    gls_job_options_set_defaults(&o, GIVEN("preset"));
    assert_true(o.seeds_per_voxel == 10);
    o = gls_job_options_default();
    o.preset = GLS_PRESET_TCKGEN;
    o.track.dg = GLS_DG_SDSTREAM;
    gls_job_options_set_defaults(&o, GIVEN("preset", "dg"));
    assert_true(o.model.model == GLS_MODEL_AUTO && o.track.dg == GLS_DG_SDSTREAM && o.track.max_angle == 60);
    assert_true(o.track.select == 5000 && o.nseeds == 5000000);
    o = gls_job_options_default();
    o.preset = GLS_PRESET_DIPY;
    gls_job_options_set_defaults(&o, GIVEN("preset"));
    assert_true(o.track.boot_retry == GLS_BOOT_RETRY_PEAK && o.track.boot_start == GLS_BOOT_START_FIT);
    assert_true(o.track.relative_peak_threshold == 0.25 && o.track.min_separation_angle == 45);
    o.track.dg = GLS_DG_CLOSEST;
    gls_job_options_set_defaults(&o, GIVEN("preset", "dg"));
    assert_true(o.track.relative_peak_threshold == 0.5 && o.track.min_separation_angle == 25);
    /* with tissue the preset's rule at the border of the mask holds with a stop map alone */
    assert_true(o.mask_stop == GLS_MASK_STOP_INTERPOLATED);
    o.act = "5tt.nii";
    gls_job_options_set_defaults(&o, GIVEN("preset", "dg"));
    assert_true(o.mask_stop == GLS_MASK_STOP_NEAREST);
    o.track.stop_threshold = 0.1;
    gls_job_options_set_defaults(&o, GIVEN("preset", "dg", "fa-threshold"));
    assert_true(o.mask_stop == GLS_MASK_STOP_INTERPOLATED);
}

static void test_texts(void **state)
{
    (void)state;
    gls_job_options o = gls_job_options_default();
    gls_default held[GLS_MAX_DEFAULTS];
    char text[256];
    o.track.dg = GLS_DG_PROB;
    o.track.max_length = 100;
    gls_job_options_set_defaults(&o, GIVEN("dg", "max-length"));
    const gls_method method = gls_method_of(&o);
    size_t n = gls_defaults_held(&o, &method, held);
    assert_int_equal(n, 4);
    for (size_t i = 0; i < n; i++) assert_non_null(held[i].reason);
    assert_true(gls_default_is_of_method(&held[0]) && strcmp(held[0].param->name, "model") == 0);
    assert_string_equal(held[1].param->name, "max-angle");
    gls_default_line(&held[1], &o, text, sizeof text);
    assert_int_equal(strncmp(text, "--max-angle 25 degrees (", 24), 0);
    gls_default_text("max-angle", text, sizeof text);
    assert_int_equal(strncmp(text, "45 degrees with boot, ifod2", 27), 0);
    assert_non_null(
        strstr(text, "; 25 degrees with prob, det; 35 degrees with ptt; 15 degrees with ifod1, nulldist1; "));
    gls_default_text("min-length", text, sizeof text);
    assert_int_equal(strncmp(text, "5 voxels", 8), 0);
    for (int preset = 0; preset <= GLS_PRESET_TRACTOFLOW; preset++) {
        char word[32];
        gls_choice_word(gls_options_find(gls_params, "preset")->choices, preset, word, sizeof word);
        assert_string_equal(gls_preset_get(preset)->name, word);
    }
}

/* Whether the keys of all values that are no defaults are these, in the order of the rows. */
static void expect_changed(gls_job_options o, const char *keys)
{
    char list[512] = "";
    const gls_method method = gls_method_of(&o);
    cJSON *changed = gls_defaults_changed(&o, &method), *key;
    cJSON_ArrayForEach(key, changed)
    {
        strcat(list, key->valuestring);
        strcat(list, " ");
    }
    cJSON_Delete(changed);
    assert_string_equal(list, keys);
}

static gls_job_options completed(gls_job_options o, const char *const *given)
{
    gls_job_options_set_defaults(&o, given);
    return o;
}

/* Values that nobody gave are never among them, whatever the getter, the model and the preset are. */
static void test_changed(void **state)
{
    (void)state;
    for (int preset = 0; preset <= GLS_PRESET_TRACTOFLOW; preset++)
        for (int dg = 0; dg < GLS_DG_COUNT; dg++)
            for (int model = 0; model <= GLS_MODEL_AUTO; model++) {
                gls_job_options o = gls_job_options_default();
                o.preset = (gls_preset)preset;
                o.track.dg = (gls_direction_getter)dg;
                o.model.model = (gls_model_kind)model;
                gls_job_options_set_defaults(&o, GIVEN("preset", "dg", "model"));
                const gls_method method = gls_method_of(&o);
                cJSON *changed = gls_defaults_changed(&o, &method), *key;
                cJSON_ArrayForEach(key, changed)
                    assert_true(strcmp(key->valuestring, "dg") == 0 || strcmp(key->valuestring, "model") == 0);
                cJSON_Delete(changed);
            }
    gls_job_options o = gls_job_options_default();
    expect_changed(o, "");
    o.dwi = "dwi.nii";
    expect_changed(completed(o, NULL), "");
    o.model.model = GLS_MODEL_CSD;
    expect_changed(completed(o, GIVEN("model")), "model ");
    o = gls_job_options_default();
    o.track.dg = GLS_DG_IFOD2;
    o.model.model = GLS_MODEL_CSD;
    o.track.max_angle = 45; /* the default of this getter */
    expect_changed(completed(o, GIVEN("dg", "model", "max-angle")), "model dg ");
    o.track.max_angle = 25; /* that of another */
    o.act = "5tt.nii";
    expect_changed(completed(o, GIVEN("dg", "model", "max-angle")), "model dg max_angle_degrees act ");
    o = gls_job_options_default();
    o.preset = GLS_PRESET_TCKGEN;
    expect_changed(completed(o, NULL), "");
    o.nseeds = 77;
    expect_changed(completed(o, GIVEN("nseeds")), "nseeds ");
    o = gls_job_options_default();
    o.preset = GLS_PRESET_TCKGEN;
    o.track.select = 10;
    expect_changed(completed(o, GIVEN("select")), "select ");
    o.preset = GLS_PRESET_TRACTOFLOW;
    o.track.select = 0;
    o.seeds_per_voxel = 3;
    expect_changed(completed(o, GIVEN("seeds-per-voxel")), "seeds_per_voxel ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gpustreamlines), cmocka_unit_test(test_getters), cmocka_unit_test(test_method),
        cmocka_unit_test(test_one_shell),      cmocka_unit_test(test_given),   cmocka_unit_test(test_presets),
        cmocka_unit_test(test_texts),          cmocka_unit_test(test_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
