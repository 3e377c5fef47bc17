/* Every option of track, beside several getters and models: another value changes the parameters of the run or is
 * refused by name, and the value that the run has anyway, given explicitly, changes none. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <cJSON.h>

#include "cmd/commands.h"
#include "options/options.h"
#include "options/parser.h"
#include "record/method.h"
#include "record/run_params.h"

/* Runs by their options, with blanks between them. */
static const char *const runs[] = {
    "--model msmt",
    "--dg boot",
    "--dg prob --model csd",
    "--dg ptt --model csa",
    "--dg tensordet",
    "--dg fact --model msmt",
    "--dg ifod1 --preset tckgen --model csd",
    "--dg eudx --fa x.nii",
    "--dg prob --model msmt --pft --act-rule cmc --act x.nii",
    "--model msmt --seeds-per-voxel 2 --backtrack --act x.nii",
    "--dg bedpost --bedpostx x --roi x.nii",
};
enum { N_RUNS = sizeof runs / sizeof *runs, MOST_WORDS = 32 };

/* A command line with what it says. */
typedef struct line {
    char text[512];
    char *argv[MOST_WORDS];
    int argc;
    track_options options;
    cmd_arguments arguments;
} line;

/* Returns what is printed on standard error until end_capture(). */
static int begin_capture(FILE *file)
{
    fflush(stderr);
    const int saved = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    return saved;
}

static void end_capture(int saved, FILE *file, char *text, size_t size)
{
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

/* Reads the options of a run on a series that does not exist, and one more word. Returns the parameters of the run as
 * JSON, from malloc; NULL: a word is refused with the message `why`. The series is opened after all other checks. */
static char *parameters(const char *run, const char *word, char *why, size_t size)
{
    static line l;
    memset(&l, 0, sizeof l);
    snprintf(l.text, sizeof l.text, "glslines track none.nii %s %s", run, word);
    for (char *state, *w = strtok_r(l.text, " ", &state); w; w = strtok_r(NULL, " ", &state)) l.argv[l.argc++] = w;
    if (strstr(run, "--bedpostx")) memmove(&l.argv[2], &l.argv[3], sizeof *l.argv * (size_t)(l.argc-- - 3));
    track_options_default(&l.options);
    *why = '\0';
    if (!cmd_options_parse(&command_track, l.argc, l.argv, 2, &l.options, &l.arguments, why, size)) return NULL;
    FILE *file = tmpfile();
    assert_non_null(file);
    const int saved = begin_capture(file);
    gls_job *job = NULL;
    int code = track_options_take(&l.options, &l.arguments);
    gls_job_options *o = &l.options.run.job;
    gls_status status = code ? GLS_OK : gls_job_options_complete(o, o->given);
    if (!code && !status) status = gls_job_create(o, NULL, &job);
    end_capture(saved, file, why, size);
    if (code) return NULL;
    assert_int_not_equal(status, GLS_OK);
    if (status == GLS_ERR_ARGUMENT) {
        snprintf(why, size, "%s", gls_last_error());
        return NULL;
    }
    cJSON *object = cJSON_CreateObject();
    const gls_method method = gls_method_of(&l.options.run.job);
    gls_params_add(object, &l.options.run.job, &method, &l.options.run.job.track);
    char *text = cJSON_PrintUnformatted(object);
    cJSON_Delete(object);
    return text;
}

/* The value that a run has for an option, as text of the command line: of a flag "true" or "false"; NULL: none. */
static const char *value_of(const char *json, const gls_option *row, char *text, size_t size)
{
    char key[96];
    cJSON *object = cJSON_Parse(json);
    gls_option_key(row, key, sizeof key);
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    const bool known = cJSON_IsNumber(item) || cJSON_IsString(item) || cJSON_IsBool(item);
    if (cJSON_IsBool(item)) snprintf(text, size, "%s", cJSON_IsTrue(item) ? "true" : "false");
    if (cJSON_IsString(item)) snprintf(text, size, "%s", item->valuestring);
    if (cJSON_IsNumber(item)) snprintf(text, size, "%.17g", item->valuedouble);
    cJSON_Delete(object);
    return known ? text : NULL;
}

/* A value in the range of the option that differs from `is`. */
static const char *other_value(const gls_option *row, const char *is, char *text, size_t size)
{
    const gls_range r = row->range;
    const double low = isfinite(r.min) ? r.min : 0, high = isfinite(r.max) ? r.max : low + 4;
    for (int turn = row->kind == GLS_KIND_CHOICE && !is ? 1 : 0; turn < 4; turn++) {
        double v = low + (high - low) * (0.2 + 0.15 * turn);
        if (row->kind != GLS_KIND_DOUBLE && row->kind != GLS_KIND_LENGTH) v = 2 * floor(v / 2 + 1);
        if (v > high) v = high;
        if (row->kind == GLS_KIND_CHOICE)
            snprintf(text, size, "%s", GLS_WORD(row->choices, turn));
        else
            snprintf(text, size, "%.9g%s", v, row->kind == GLS_KIND_LENGTH ? "mm" : "");
        if (*text && (!is || strcmp(text, is) != 0)) return text;
    }
    return NULL;
}

/* Options whose values show in the parameters: what chooses devices and names outputs does not. */
static bool is_asked(const gls_option *row)
{
    return row->owner != GLS_OF_COMMAND && row->kind != GLS_KIND_STRING && row->kind != GLS_KIND_STRINGS &&
           row->kind != GLS_KIND_NUMBERS && row->kind != GLS_KIND_SEED && row->role == GLS_ROLE_RESULT;
}

static void another_value_counts(void **state)
{
    size_t taken = 0, refused = 0;
    (void)state;
    for (size_t k = 0; k < N_RUNS; k++) {
        char why[1024], text[64], word[128], name[64];
        char *usual = parameters(runs[k], "", why, sizeof why);
        if (!usual) fail_msg("track %s: %s", runs[k], why);
        for (const gls_option *row = gls_params; row->name; row++) {
            snprintf(name, sizeof name, "--%s", row->name);
            if (!is_asked(row) || strstr(runs[k], name)) continue;
            const char *is = value_of(usual, row, text, sizeof text);
            char other[64];
            const char *value = row->kind == GLS_KIND_FLAG ? NULL : other_value(row, is, other, sizeof other);
            /* a flag that is set, and the first choice of what the run does not use, change nothing */
            if (row->kind == GLS_KIND_FLAG ? is && strcmp(is, "true") == 0 : !value) continue;
            snprintf(word, sizeof word, "%s%s%s", name, value ? "=" : "", value ? value : "");
            char *changed = parameters(runs[k], word, why, sizeof why);
            if (!changed && !strstr(why, "--")) fail_msg("track %s %s: '%s'", runs[k], word, why);
            if (changed && strcmp(changed, usual) == 0)
                fail_msg("track %s %s: is taken and changes nothing", runs[k], word);
            taken += changed != NULL;
            refused += changed == NULL;
            free(changed);
        }
        free(usual);
    }
    print_message("%zu taken, %zu refused\n", taken, refused);
    assert_true(taken > 200 && refused > 200);
}

static void the_usual_value_changes_nothing(void **state)
{
    size_t taken = 0;
    (void)state;
    for (size_t k = 0; k < N_RUNS; k++) {
        char why[1024], text[64], word[128], name[64];
        char *usual = parameters(runs[k], "", why, sizeof why);
        if (!usual) fail_msg("track %s: %s", runs[k], why);
        for (const gls_option *row = gls_params; row->name; row++) {
            snprintf(name, sizeof name, "--%s", row->name);
            if (!is_asked(row) || row->kind == GLS_KIND_FLAG || strstr(runs[k], name)) continue;
            const char *is = value_of(usual, row, text, sizeof text);
            if (!is) continue;
            snprintf(word, sizeof word, "%s=%s", name, is);
            char *same = parameters(runs[k], word, why, sizeof why);
            /* the number of seeds replaces that of streamlines, as the help of --select says */
            if (same && strcmp(same, usual) != 0 && strcmp(name, "--nseeds") != 0)
                fail_msg("track %s %s:\n%s\n%s", runs[k], word, usual, same);
            if (!same && !strstr(why, "--")) fail_msg("track %s %s: '%s'", runs[k], word, why);
            taken += same != NULL;
            free(same);
        }
        free(usual);
    }
    print_message("%zu taken\n", taken);
    assert_true(taken > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(another_value_counts),
                                       cmocka_unit_test(the_usual_value_changes_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
