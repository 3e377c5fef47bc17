/* Writes the results of weighting streamlines: the text file of weights, the table of iterations, the fixel directory,
 * the log and the sidecar. Also measures the steps of streamlines. */
#include "weights/weight_files.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "util/json_text.h"
#include "util/numbers.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"
#include "util/threads.h"
#include "weights/fixel_files.h"
#include "weights/fixel_parts.h"

#define NUMBER_ROOM 24 /* characters of a number with its separator */
/* numbers of a block, which one thread formats */
#define NUMBER_BLOCK 1024
#define NUMBER_BLOCKS 128 /* blocks of a part, which takes 3 MiB */

/* Measures the steps of a block of streamlines, mm. */
static gls_status measure(void *user, const gls_streamlines *s)
{
    gls_step_range *range = user;
    for (size_t i = 0; i < s->n; i++)
        for (uint64_t p = s->offset[i] + 1; p < s->offset[i + 1]; p++) {
            double step = 0;
            for (int a = 0; a < 3; a++) {
                double d = (double)s->point[p][a] - (double)s->point[p - 1][a];
                step += d * d;
            }
            step = sqrt(step);
            /* points that are not finite have no step */
            if (!isfinite(step)) continue;
            range->max = fmax(range->max, step);
            range->sum += step;
            range->n++;
        }
    return GLS_OK;
}

gls_sink gls_step_range_sink(gls_step_range *range)
{
    return (gls_sink){.append = measure, .user = range};
}

void gls_weights_log(const gls_weights *w)
{
    const gls_weights_result *r = gls_weights_get_result(w);
    char n[32], entries[32], seconds[32];
    gls_log(GLS_LOG_INFO, "mapped: %s streamlines to fixels (%s pairs), %s",
            gls_format_count(r->streamlines, n, sizeof n), gls_format_count(r->entries, entries, sizeof entries),
            gls_format_duration(r->seconds_map, seconds, sizeof seconds));
    if (r->iteration) /* the list begins with the start, which is no iteration */
        gls_log(GLS_LOG_INFO, "solved: %zu iterations, %s", r->n_iterations - 1,
                gls_format_duration(r->seconds_solve, seconds, sizeof seconds));
    if (r->without_fixels > 0)
        gls_log(GLS_LOG_WARNING,
                "%" PRIu64 " of %" PRIu64 " streamlines touch no fixel (%" PRIu64 " have less than two points, %" PRIu64
                " lie outside the FODs)",
                r->without_fixels, r->streamlines, r->without_points, r->outside);
    if (r->diverged)
        gls_log(GLS_LOG_WARNING,
                "the cost rose in three iterations one after the other, or was not finite: the weights are those of "
                "iteration %zu, where it was least",
                r->n_iterations - 1);
    else if (r->limit_reached)
        gls_log(GLS_LOG_WARNING, "--max-iters: ended after %zu iterations, with the cost still falling",
                r->n_iterations - 1);
}

/* Numbers that are written as text. Several threads format the blocks of a part; the parts follow one another. */
typedef struct number_text {
    /* numbers to write, borrowed */
    const float *value;
    size_t n, first; /* n: how many numbers; first: index of the first block of the part */
    /* each number is multiplied by this */
    double factor;
    /* text of each block of the part */
    char text[NUMBER_BLOCKS][NUMBER_ROOM * NUMBER_BLOCK];
    /* bytes of each text */
    size_t length[NUMBER_BLOCKS];
} number_text;

/* Prints a number with ten significant digits, as MRtrix3 does, to `to`, memory for GLS_DECIMAL_BYTES bytes. Returns
 * the length of the text. The fast way fails for few numbers, which printf() then prints. */
static size_t print_number(double x, char *to)
{
    const size_t length = gls_decimal_round(x, 10, to);
    return length > 0 ? length : (size_t)gls_snprintf(to, GLS_DECIMAL_BYTES, "%.10g", x);
}

/* Formats blocks of numbers as text; called by gls_parallel(). */
static void format_blocks(void *user, int thread, size_t from, size_t until)
{
    number_text *t = user;
    (void)thread;
    for (size_t block = from; block < until; block++) {
        const size_t first = (t->first + block) * NUMBER_BLOCK;
        char *to = t->text[block], number[GLS_DECIMAL_BYTES];
        for (size_t i = first; i < first + NUMBER_BLOCK && i < t->n; i++) {
            const size_t length = print_number((double)t->value[i] * t->factor, number);
            if (i > 0) *to++ = ' ';
            memcpy(to, number, length);
            to += length;
        }
        t->length[block] = (size_t)(to - t->text[block]);
    }
}

/* Writes all numbers, part by part. Parts follow one another, so the text does not depend on the number of threads. */
static gls_status write_numbers(gls_output *output, number_text *t)
{
    const size_t blocks = (t->n + NUMBER_BLOCK - 1) / NUMBER_BLOCK;
    gls_status status = GLS_OK;
    for (t->first = 0; t->first < blocks && !status; t->first += NUMBER_BLOCKS) {
        const size_t n = blocks - t->first < NUMBER_BLOCKS ? blocks - t->first : NUMBER_BLOCKS;
        gls_parallel(n, 1, omp_get_max_threads(), format_blocks, t);
        for (size_t i = 0; i < n && !status; i++) status = gls_output_write(output, t->text[i], t->length[i]);
    }
    return status;
}

gls_status gls_weights_write_text(const char *path, bool overwrite, gls_output_group *group, const float *value,
                                  uint64_t n, double factor, const char *comment)
{
    gls_output output = GLS_OUTPUT_NONE;
    number_text *t = malloc(sizeof *t);
    if (!t) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    t->value = value;
    t->n = (size_t)n;
    t->factor = factor;
    gls_status status = gls_output_create(path, overwrite, &output);
    output.group = group;
    if (!status) status = gls_output_write(&output, "# ", 2);
    if (!status) status = gls_output_write(&output, comment, strlen(comment));
    if (!status) status = gls_output_write(&output, "\n", 1);
    if (!status) status = write_numbers(&output, t);
    if (!status) status = gls_output_write(&output, "\n", 1);
    if (!status)
        status = gls_output_commit(&output);
    else
        gls_output_discard(&output);
    free(t);
    return status;
}

/* Appends minimum, mean, mean of absolute values, variance and maximum. */
static void append_spread(gls_text *text, const gls_weights_spread *s)
{
    gls_text_printf(text, ",%.9g,%.9g,%.9g,%.9g,%.9g", s->min, s->mean, s->mean_abs, s->var, s->max);
}

gls_status gls_weights_write_iterations(const gls_weights *w, const char *path, bool overwrite, gls_output_group *group)
{
    const gls_weights_result *r = gls_weights_get_result(w);
    gls_text text = {0};
    gls_text_puts(&text, "Iteration,Cost_data,Cost_reg_tik,Cost_reg_tv,Cost_reg,Cost_total,Streamlines,"
                         "Fixels_excluded,Step_min,Step_mean,Step_mean_abs,Step_var,Step_max,Coeff_min,Coeff_mean,"
                         "Coeff_mean_abs,Coeff_var,Coeff_max,Coeff_norm\n");
    for (size_t i = 0; i < r->n_iterations; i++) {
        const gls_weights_iteration *x = &r->iteration[i];
        gls_text_printf(&text, "%zu,%.9g,%.9g,%.9g,%.9g,%.9g,%" PRIu64 ",%" PRIu64, i, x->data, x->tikhonov, x->tv,
                        x->tikhonov + x->tv, x->data + x->tikhonov + x->tv, r->streamlines - r->without_fixels,
                        x->excluded);
        append_spread(&text, &x->step);
        append_spread(&text, &x->coefficient);
        gls_text_printf(&text, ",%.9g\n", x->norm);
    }
    return gls_text_write(&text, path, overwrite, group, GLS_OK);
}

gls_status gls_weights_write_fixels(const gls_weights *w, const gls_fixels *fixels, const char *directory,
                                    bool overwrite, gls_output_group *group)
{
    const size_t n = gls_fixels_count(fixels);
    gls_fixel_values values[GLS_WEIGHTS_N_VALUES];
    float *value = malloc(n * GLS_WEIGHTS_N_VALUES * sizeof *value);
    gls_status status = value ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "%s: out of memory", directory);
    for (size_t k = 0; k < GLS_WEIGHTS_N_VALUES && !status; k++) {
        values[k] = (gls_fixel_values){gls_weights_values_name((gls_weights_values)k), value + k * n};
        status = gls_weights_get_fixels(w, (gls_weights_values)k, value + k * n);
    }
    if (!status) status = gls_fixels_write_grouped(fixels, directory, values, GLS_WEIGHTS_N_VALUES, overwrite, group);
    free(value);
    return status;
}

/* Adds the terms of the cost at the start and after each iteration. */
static void add_iterations(cJSON *root, const gls_weights_result *r)
{
    cJSON *list = cJSON_AddArrayToObject(root, "cost_by_iteration");
    for (size_t i = 0; i < r->n_iterations; i++) {
        cJSON *x = cJSON_CreateObject();
        GLS_JSON_MEMBERS(x, &r->iteration[i], data, tikhonov);
        gls_json_double(x, "total_variation", r->iteration[i].tv);
        cJSON_AddItemToArray(list, x);
    }
}

void gls_weights_describe(cJSON *root, const gls_weights *w)
{
    const gls_weights_result *r = gls_weights_get_result(w);
    cJSON *counts = gls_json_object_at(root, "counts"), *model = cJSON_AddObjectToObject(root, "model");
    GLS_JSON_MEMBERS(counts, r, streamlines, without_points, outside, without_fixels, entries, chunks, fixels);
    gls_json_uint(counts, "fixels_untracked", r->untracked);
    gls_json_uint(counts, "fixels_excluded", r->excluded);
    gls_json_uint(counts, "fixels_removed", r->removed);
    /* SIFT alone removes streamlines */
    if (r->kept > 0) gls_json_uint(counts, "streamlines_kept", r->kept);
    gls_json_double(model, "mu", r->mu);
    gls_json_double(model, "regularisation_scale", r->scale);
    GLS_JSON_MEMBERS(model, r, cost_first, cost_last);
    /* the list begins with the start, which is not an iteration */
    gls_json_uint(model, "iterations", r->iteration ? r->n_iterations - 1 : r->n_iterations);
    cJSON_AddBoolToObject(model, "iteration_limit_reached", r->limit_reached);
    if (r->diverged) cJSON_AddBoolToObject(model, "diverged", true);
    if (r->iteration) add_iterations(model, r);
    cJSON *seconds = cJSON_AddObjectToObject(root, "seconds");
    gls_json_double(seconds, "mapping", r->seconds_map);
    gls_json_double(seconds, "solving", r->seconds_solve);
}
