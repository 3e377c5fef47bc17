/* `glslines weights`: how many fibres each streamline of a tractogram represents. */
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/filters.h>

#include "gpu/devices.h"
#include "record/sidecar.h"
#include "tools/chain.h"
#include "tools/tract_results.h"
#include "tools/tract_signal.h"
#include "tools/writer.h"
#include "tractogram/pump.h"
#include "tractogram/readers.h"
#include "tractogram/tck_header.h"
#include "tractogram/tractogram.h"
#include "tractogram/writers.h"
#include "util/json_text.h"
#include "util/status.h"
#include "util/threads.h"
#include "weights/weight_files.h"
#include "weights/weight_model.h"
#include "weights/weights_estimate.h"

/* The devices of the run, which are opened beside the reading of the FODs. */
typedef struct weight_devices {
    gls_device_set set; /* empty: the CPU computes */
    const gls_weights_cli *o;
} weight_devices;

/* Opens devices and loads the kernels of the method. */
static gls_status open_devices(void *user)
{
    weight_devices *d = user;
    gls_device_set *set = &d->set;
    gls_status status = gls_device_set_open_gpus(set, d->o->device, (size_t)d->o->ngpus, (gls_graphics)d->o->api,
                                                 "weights: computed on the CPU, without a device");
    for (size_t i = 0; i < set->n && !status; i++) gls_weights_load_kernels(set->device[i], d->o->model.method, true);
    return status;
}

#define BATCHES_AHEAD 16 /* number of batches, 1.5 MiB each, that may be read in advance */

/* State of `glslines weights`. */
typedef struct weighting {
    /* files, sidecar and message of the command */
    gls_tract_run *run;
    const gls_weights_cli *o;
    gls_weights_options model; /* those of the command, completed */
    gls_fod_options source;    /* the same */
    /* tracks: path of the tractogram; output: path of --output, with --in-place that of the tractogram */
    const char *tracks, *output;
    /* the FODs with their fixels and masks */
    gls_fod fod;
    /* streamlines, model and result; NULL with --method commit */
    gls_weights *weights;
    gls_tract_signal signal; /* state of --method commit */
    /* the result: a value for each streamline; owned by the members above */
    const float *value;
    uint64_t n;
    double area; /* cross-section, mm2, that a value of 1 stands for */
    const char *column;
    const gls_grid *grid; /* grid of the image from which the values come */
} weighting;

/* Whether the weights come from the signal, not from FODs. */
static bool is_commit(const weighting *w)
{
    return w->o->model.method == GLS_METHOD_COMMIT;
}

gls_weights_cli gls_weights_cli_default(void)
{
    return (gls_weights_cli){
        .model = gls_weights_options_default(),
        .fod = gls_fod_options_default(),
#define ROW GLS_ROW_DEFAULT
#define PART_ROW(...)
#include "tools/weights.def"
#undef PART_ROW
#undef ROW
    };
}

/* Checks combinations of options. */
static gls_status check(const gls_weights_cli *o)
{
    if (!o->output && !o->in_place) return gls_fail(GLS_ERR_ARGUMENT, "weights: needs OUT (--output) or --in-place");
    if (o->model.method == GLS_METHOD_COMMIT && o->coeffs)
        return gls_fail(GLS_ERR_ARGUMENT, "--coeffs: only --method sift2 can use it");
    if (o->output && o->in_place) return gls_fail(GLS_ERR_ARGUMENT, "OUT (--output) and --in-place: leave out one");
    if (o->in_place && o->model.method == GLS_WEIGHTS_SIFT)
        return gls_fail(GLS_ERR_ARGUMENT, "--in-place: not with --method sift, which leaves streamlines out");
    if (o->min_factor > 0 && isfinite(o->model.min_coeff))
        return gls_fail(GLS_ERR_ARGUMENT, "--min-coeff and --min-factor exclude each other: leave out one of them");
    if (isfinite(o->max_factor) && isfinite(o->model.max_coeff))
        return gls_fail(GLS_ERR_ARGUMENT, "--max-coeff and --max-factor exclude each other: leave out one of them");
    if (strcmp(o->device, "cpu") == 0 && o->device_memory > 0)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--device-memory: not with --device cpu, which uses no device: leave out one of them");
    return gls_device_gpus_check(o->device, (size_t)o->ngpus, (gls_graphics)o->api);
}

/* Completes the options of the library by those that the command alone has. Factors of weights become their
 * logarithms. */
static void set_options(weighting *w, const char *sh, const gls_transform *transform)
{
    const gls_weights_cli *o = w->o;
    w->source = o->fod;
    w->source.sh = sh;
    w->source.transform = transform;
    w->model = o->model;
    if (o->min_factor > 0) w->model.min_coeff = log(o->min_factor);
    if (isfinite(o->max_factor)) w->model.max_coeff = log(o->max_factor);
    w->model.device_bytes = o->device_memory * 1000000;
    /* limit the size of a chunk: two chunks are in use at a time, and take together a quarter of --device-memory */
    if (o->device_memory > 0 && w->model.chunk_entries > w->model.device_bytes / 32)
        w->model.chunk_entries = (size_t)(w->model.device_bytes / 32);
    w->model.statistics = o->csv != NULL;
    w->model.force = w->run->files.force;
}

/* Whether the weights go to a text file, .txt or .csv. */
static bool is_text(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".txt") == 0 || strcmp(dot, ".csv") == 0);
}

/* Names the outputs if the tractogram is both input and output. Its own sidecar stays; NAME_weights.json describes this
 * run. */
static gls_status name_in_place(const weighting *w)
{
    gls_run *files = &w->run->files;
    const size_t length = strlen(w->tracks);
    if (length < 5 || strcmp(w->tracks + length - 4, ".trx") != 0)
        return gls_fail(GLS_ERR_ARGUMENT, "%s: --in-place needs a TRX file, whose name ends in .trx", w->tracks);
    gls_status status = gls_run_rewrites(files, w->tracks);
    if (status) return status;
    gls_tract_run_lists_input(w->run, w->tracks);
    gls_tract_run_lists_output(w->run, w->tracks);
    char *name = strndup(w->tracks, length - 4);
    status = name ? gls_run_writes_sidecar(files, name, "_weights.json") : gls_no_memory();
    free(name);
    return status;
}

/* Checks the names of inputs and outputs, and adds them to the run. */
static gls_status name_files(const weighting *w)
{
    const gls_weights_cli *o = w->o;
    gls_tractogram_format format;
    /* text: a list of numbers; else a tractogram with a column */
    const bool text = is_text(w->output);
    if (o->transform.n > 0 && !o->fod.act) return gls_fail(GLS_ERR_ARGUMENT, "--transform: needs --act");
    gls_status status = text ? GLS_OK : gls_tractogram_format_parse(w->output, &format);
    if (text && o->coeffs)
        status = gls_fail(GLS_ERR_ARGUMENT, "%s: a text file holds no --coeffs: name a .trx file", w->output);
    if (!status && !text && format == GLS_FORMAT_TCK && o->model.method != GLS_WEIGHTS_SIFT)
        status = gls_fail(GLS_ERR_ARGUMENT, "%s: TCK files hold no weights: name a .txt, .csv or .trx file", w->output);
    if (!status)
        status = gls_tract_run_reads_all(w->run,
                                         GLS_PATHS(o->in_place ? NULL : w->tracks, is_commit(w) ? NULL : w->source.sh,
                                                   o->fod.act, o->fod.proc_mask, w->run->options.reference));
    if (!status) status = gls_chain_note(w->run, &o->transform);
    if (!status && o->in_place) status = name_in_place(w);
    if (!status) status = gls_tract_run_writes(w->run, o->output);
    if (!status) status = gls_tract_run_writes_all(w->run, GLS_PATHS(o->mu, o->csv, o->selection));
    const char *names[GLS_WEIGHTS_N_VALUES];
    for (int k = 0; k < GLS_WEIGHTS_N_VALUES; k++) names[k] = gls_weights_values_name((gls_weights_values)k);
    return status || !o->fixels ? status : gls_tract_fixels_check(w->run, o->fixels, names, GLS_WEIGHTS_N_VALUES);
}

/* Chooses how many pieces a step has for mapping, and whether it is a curve. step: mm; 0: the largest of `range`. */
static gls_status weights_choose_walk(gls_weights *w, double step, const gls_step_range *range, const gls_grid *grid)
{
    bool straight = false;
    if (step <= 0 && range->n > 0) {
        /* if points were left out, the mean step is far below the largest */
        step = range->max;
        straight = range->sum / (double)range->n < 0.75 * step;
        if (straight)
            gls_log(GLS_LOG_INFO,
                    "streamlines have steps of up to %.4g mm, %.4g mm in the mean: mapped as straight "
                    "lines between their points",
                    step, range->sum / (double)range->n);
        else
            gls_log(GLS_LOG_INFO,
                    "step: %.4g mm, the largest in the tractogram, because its header does not state the step", step);
    }
    /* no upsampling of straight lines: their points are not samples of a curve */
    return gls_weights_set_walk(w, straight || step <= 0 ? 1 : gls_weights_upsampling(step, grid),
                                straight ? GLS_WALK_SEGMENTS : GLS_WALK_CURVE);
}

/* Maps all streamlines of the reader and closes the reader. */
static gls_status map(const weighting *w, gls_tractogram_reader *reader)
{
    gls_step_range range = {0};
    gls_status status = GLS_OK;
    double step = w->o->step_size > 0 ? w->o->step_size : gls_tck_step(gls_tractogram_reader_info(reader), 0);
    /* without a stated step all streamlines are measured first */
    if (step == 0) {
        gls_sink measure = gls_step_range_sink(&range);
        status = gls_tract_append(w->run, reader, &measure);
        gls_tractogram_reader_close(reader);
        reader = NULL;
        if (!status) status = gls_tract_open_again(w->run, w->tracks, &reader);
    }
    if (!status) status = weights_choose_walk(w->weights, step, &range, gls_fixels_grid(w->fod.fixels));
    gls_sink sink = gls_weights_sink(w->weights);
    if (!status) status = gls_tract_append(w->run, reader, &sink);
    gls_tractogram_reader_close(reader);
    return status;
}

/* Callback of gls_weights_solve(): logs an iteration. Returns whether to go on. */
static bool go_on(void *user, uint64_t iteration, double cost)
{
    const gls_tract_run *run = user;
    gls_log(GLS_LOG_DETAIL, "iteration %" PRIu64 ": cost %.9g", iteration, cost);
    return !run->go_on || run->go_on(NULL, 0);
}

/* Opens the devices and reads the first streamlines while the FODs are segmented. */
static gls_status begin(weighting *w, weight_devices *devices, gls_tractogram_reader **reader)
{
    gls_status status =
        gls_tract_open(w->run, w->tracks, false, reader); /* reports errors before the FODs are segmented */
    if (status) return status;
    gls_beside opening = {
        .name = "open devices", .work = open_devices, .user = devices, .at_once = omp_get_max_threads() == 1};
    status = gls_beside_begin(&opening);
    if (!status) status = gls_reader_ahead_start(*reader, BATCHES_AHEAD);
    if (!status) status = gls_fod_read(&w->source, &w->fod);
    return gls_beside_end(&opening, status);
}

/* Maps the streamlines to fixels and computes the weights. */
static gls_status solve(weighting *w)
{
    gls_tractogram_reader *reader = NULL;
    weight_devices opened = {.o = w->o};
    gls_status status = begin(w, &opened, &reader);
    gls_device_set *devices = &opened.set;
    if (!status) status = gls_weights_create(w->fod.fixels, &w->model, &w->weights);
    if (!status) status = gls_weights_set_mask(w->weights, w->fod.mask, w->fod.scale);
    if (!status) status = gls_weights_set_devices(w->weights, devices->device, devices->n);
    if (!status)
        status = map(w, reader);
    else
        gls_tractogram_reader_close(reader); /* map() closes the reader itself */
    if (!status) status = gls_weights_solve(w->weights, devices->device, devices->n, go_on, w->run);
    if (status == GLS_ERR_EMPTY && w->weights && gls_weights_get_result(w->weights)->excluded > 0)
        gls_error_set("%s; with --force the streamlines in these fixels %s", gls_last_error(),
                      w->o->model.method == GLS_WEIGHTS_SIFT ? "are kept" : "get weights of 1");
    if (!status) {
        gls_weights_log(w->weights);
    } else { /* destroy the weights before the devices that they use are closed */
        gls_weights_destroy(w->weights);
        w->weights = NULL;
    }
    gls_device_set_close(devices);
    return status;
}

/* Computes the weights from the signal. */
static gls_status solve_signal(weighting *w, const char *series)
{
    gls_status status = gls_tract_signal_solve(&w->signal, w->run, w->o, w->tracks, series);
    if (status) return status;
    w->value = w->signal.signal.weight;
    w->n = w->signal.signal.n_lines;
    w->grid = &w->signal.signal.rows.grid;
    w->column = GLS_DPS_COMMIT;
    w->area = w->grid->voxel_size[0] * w->grid->voxel_size[1] * w->grid->voxel_size[2];
    return GLS_OK;
}

/* Stores what solve() computed. */
static void take_result(weighting *w)
{
    w->value = gls_weights_get(w->weights, &w->n);
    w->grid = gls_fixels_grid(w->fod.fixels);
    w->column = GLS_DPS_WEIGHTS;
    /* the cross-section that a weight of 1 stands for in an FOD of density 1 */
    w->area = gls_weights_get_result(w->weights)->mu * w->grid->voxel_size[0] * w->grid->voxel_size[1] *
              w->grid->voxel_size[2];
}

/* Returns the n weights as cross-sections in mm2. From malloc; NULL: out of memory. */
static float *scale_weights(const weighting *w)
{
    float *to = malloc((w->n + 1) * sizeof *to);
    for (uint64_t i = 0; i < w->n && to; i++) to[i] = (float)((double)w->value[i] * w->area);
    return to;
}

/* Adds the result to a sidecar. */
static void describe(cJSON *root, const weighting *w)
{
    if (is_commit(w))
        gls_signal_describe(root, &w->signal.signal);
    else
        gls_weights_describe(root, w->weights);
}

/* Text that the column of weights carries, from malloc: everything that the result depends on, without names of
 * outputs, devices and times. NULL: out of memory. */
static char *describe_column(const weighting *w)
{
    /* options that do not change the weights */
    static const char *const elsewhere[] = {"output", "mu",     "csv",  "selection",
                                            "fixels", "device", "api",  "device_memory_MB",
                                            "ngpus",  "force",  "maps", "normalise_maps"};
    cJSON *root = cJSON_CreateObject();
    cJSON *parameters = cJSON_Duplicate(gls_json_at(w->run->root, "parameters"), true);
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        cJSON_DeleteItemFromObjectCaseSensitive(parameters, elsewhere[i]);
    cJSON_AddItemToObject(root, "parameters", parameters);
    describe(root, w);
    cJSON_DeleteItemFromObjectCaseSensitive(root, "seconds");
    cJSON_DeleteItemFromObjectCaseSensitive(gls_json_at(root, "counts"), "chunks");
    char *text = gls_json_print(root);
    cJSON_Delete(root);
    return text;
}

/* Warns of parts of the tractogram that its copy lacks. */
static void warn_of_lost(const weighting *w, const char *lost, const gls_filter_counts *valid)
{
    if (lost) {
        cJSON_AddStringToObject(w->run->root, "lost", lost);
        gls_log(GLS_LOG_WARNING, "%s: its format does not hold %s", w->output, lost);
    }
    gls_tract_warn_left_out(w->output, valid);
}

/* Copies the tractogram with its weights, or with --method sift only the streamlines that are kept. */
static gls_status write_tractogram(const weighting *w)
{
    gls_tractogram_reader *reader = NULL;
    gls_tractogram_writer *writer = NULL;
    gls_tractogram_options options = gls_tractogram_options_default();
    gls_tractogram_format format;
    gls_sink sink = {0}, next;
    float *scaled = w->o->units ? scale_weights(w) : NULL;
    if (w->o->units && !scaled) return gls_fail(GLS_ERR_MEMORY, "out of memory for %" PRIu64 " weights", w->n);
    const float *value = scaled ? scaled : w->value;
    const gls_column columns[] = {
        {w->column, GLS_TYPE_FLOAT32, 1, value},
        {GLS_DPS_COEFFICIENTS, GLS_TYPE_FLOAT32, 1, w->weights ? gls_weights_get_coefficients(w->weights) : NULL},
    };
    /* --in-place: the file that is replaced is the input */
    options.overwrite = w->run->files.force || w->o->in_place;
    char *note = w->o->model.method == GLS_WEIGHTS_SIFT ? NULL : describe_column(w);
    gls_status status = gls_tractogram_format_parse(w->output, &format);
    if (!status) status = gls_tract_open_again(w->run, w->tracks, &reader);
    if (status) {
        free(scaled);
        free(note);
        return status;
    }
    const gls_tractogram_info *info = gls_tractogram_reader_info(reader);
    if (w->o->model.method != GLS_WEIGHTS_SIFT) { /* data of groups are valid only for all of their streamlines */
        options.dpg = info->dpg;
        options.n_dpg = info->n_dpg;
    }
    const gls_grid *grid = info->has_grid ? &info->grid : w->grid;
    status = gls_tractogram_writer_create(w->output, format, grid, &options, &writer);
    if (!status) {
        /* write the description as a file beside the column, inside the TRX file */
        gls_writer_join(writer, &w->run->files.group);
        gls_writer_note(writer, is_commit(w) ? "dps/" GLS_DPS_COMMIT ".json" : "dps/" GLS_DPS_WEIGHTS ".json", note);
        sink = gls_tractogram_writer_sink(writer);
    }
    next = sink;
    gls_filter_counts valid = {0};
    if (!status) status = gls_filter_valid_create(&valid, &next, &sink);
    for (size_t k = 0; k < (w->o->coeffs ? 2 : 1) && !status; k++) {
        next = sink;
        /* SIFT: keep streamlines whose weight is not 0; SIFT2: add weights and coefficients as columns */
        status = w->o->model.method == GLS_WEIGHTS_SIFT ? gls_filter_listed_create(value, w->n, NULL, &next, &sink)
                                                        : gls_filter_dps_create(&columns[k], w->n, &next, &sink);
    }
    if (!status) status = gls_tract_append(w->run, reader, &sink);
    if (!status) warn_of_lost(w, gls_tractogram_writer_lost(writer), &valid);
    /* all streamlines have been appended: finish only */
    status = gls_tract_pump(w->run, NULL, &sink, status);
    gls_tractogram_reader_close(reader);
    free(scaled);
    free(note);
    return status;
}

/* Writes the proportionality coefficient mu. */
static gls_status write_mu(const gls_weights *w, const char *path, bool overwrite, gls_output_group *group)
{
    gls_text text = {0};
    gls_text_printf(&text, "%.9g\n", gls_weights_get_result(w)->mu);
    return gls_text_write(&text, path, overwrite, group, GLS_OK);
}

/* Writes the selection of SIFT: 0 or 1 a line. */
static gls_status write_selection(const gls_weights *w, const char *path, bool overwrite, gls_output_group *group)
{
    uint64_t n;
    const float *value = gls_weights_get(w, &n);
    gls_text text = {0};
    for (uint64_t i = 0; i < n; i++) gls_text_puts(&text, value[i] != 0 ? "1\n" : "0\n");
    return gls_text_write(&text, path, overwrite, group, GLS_OK);
}

/* Writes weights and all other files that are asked for. */
static gls_status write_results(weighting *w)
{
    const gls_weights_cli *o = w->o;
    const bool force = w->run->files.force;
    gls_output_group *group = &w->run->files.group;
    gls_status status = is_text(w->output)
                            ? gls_weights_write_text(w->output, force, group, w->value, w->n, o->units ? w->area : 1,
                                                     o->units ? "weights by glslines, mm2" : "weights by glslines")
                            : write_tractogram(w);
    if (is_commit(w)) return status ? status : gls_tract_signal_write(&w->signal, w->run, o);
    if (!status && o->mu) status = write_mu(w->weights, o->mu, force, group);
    if (!status && o->csv) status = gls_weights_write_iterations(w->weights, o->csv, force, group);
    if (!status && o->selection) status = write_selection(w->weights, o->selection, force, group);
    return status || !o->fixels ? status : gls_weights_write_fixels(w->weights, w->fod.fixels, o->fixels, force, group);
}

/* Adds a checksum to the tractogram among the inputs, by which a report knows it, if it is a file that stays as it is.
 */
static void note_tracks(const weighting *w)
{
    cJSON *entry = cJSON_CreateObject();
    cJSON_AddStringToObject(entry, "path", w->tracks);
    if (w->o->in_place || gls_written_note(entry, w->tracks))
        cJSON_Delete(entry);
    else
        cJSON_ReplaceItemInArray(gls_json_at(w->run->root, "inputs"), 0, entry);
}

/* log_result() for --method commit. */
static void log_signal(const weighting *w)
{
    const gls_signal *s = &w->signal.signal;
    note_tracks(w);
    if (s->fit.why == GLS_SIGNAL_STOP_INFINITE)
        w->run->verdict = gls_fail(
            GLS_ERR_CONVERGENCE,
            "%s: is written, but the objective was not finite: its weights are those of the best iteration", w->output);
    describe(w->run->root, w);
    gls_tract_run_message(w->run, "%s: %zu weights, %zu above 0, objective %.6g to %.6g in %zu iterations (%s)",
                          w->output, s->n_lines, s->n_positive, s->fit.iteration[0].objective, s->fit.objective,
                          s->fit.iterations, gls_signal_stop_name(s->fit.why));
}

/* Adds the result to the sidecar, and sets message and verdict for the user. */
static void log_result(const weighting *w)
{
    if (is_commit(w)) {
        log_signal(w);
        return;
    }
    const gls_weights_result *r = gls_weights_get_result(w->weights);
    if (r->diverged)
        w->run->verdict = gls_fail(GLS_ERR_CONVERGENCE,
                                   "%s: is written, but did not converge: raise --reg-tikhonov or --reg-tv", w->output);
    describe(w->run->root, w);
    if (w->o->model.method == GLS_WEIGHTS_SIFT)
        gls_tract_run_message(w->run, "%s: %" PRIu64 " of %" PRIu64 " streamlines kept, mu %.6g, cost %.6g to %.6g",
                              w->output, r->kept, r->streamlines, r->mu, r->cost_first, r->cost_last);
    else
        gls_tract_run_message(w->run, "%s: %" PRIu64 " weights, mu %.6g, cost %.6g to %.6g", w->output, r->streamlines,
                              r->mu, r->cost_first, r->cost_last);
}

gls_status gls_tract_weigh(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    weighting w = {.run = run, .o = options, .tracks = file[0]};
    gls_transform transform = {.n = 0};
    (void)n;
    gls_status status = check(w.o);
    if (status) return status;
    w.output = w.o->in_place ? w.tracks : w.o->output;
    set_options(&w, file[1], &transform);
    status = name_files(&w);
    if (!status && is_commit(&w)) {
        status = gls_tract_signal_name(&w.signal, run, w.o, file[1]);
        if (!status) status = solve_signal(&w, file[1]);
    } else if (!status) {
        status = gls_chain_read(run, &w.o->transform, &transform);
        if (!status) status = solve(&w);
        if (!status) take_result(&w);
    }
    if (!status) status = write_results(&w);
    if (!status) log_result(&w);
    gls_weights_destroy(w.weights);
    gls_tract_signal_finish(&w.signal);
    gls_fod_finish(&w.fod);
    gls_transform_finish(&transform);
    return status;
}
