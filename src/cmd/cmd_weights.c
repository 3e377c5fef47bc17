/* glslines weights: how many fibres each streamline of a tractogram stands for. */
#include <cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/filters.h>

#include "cmd/commands.h"
#include "cmd/fod_options.h"
#include "cmd/interrupt.h"
#include "cmd/message.h"
#include "cmd/tract_files.h"
#include "util/status.h"
#include "workflow/output.h"
#include "workflow/weight_files.h"

typedef struct weight_options {
    cmd_common common;
    tract_input input;
    gls_fod_options fod;
    gls_weights_options model;
    int basis, frame, method, single_visit, unmapped, units, min_iters, max_iters, api, ngpus;
    double min_factor, max_factor, step_size;
    const char *device, *output, *mu, *csv, *selection, *fixels;
    bool coeffs, force;
} weight_options;

#define FIELD(f) .offset = offsetof(weight_options, f)
#define NUMBER(group_, name_, field, low, high, help_)                                                             \
    {                                                                                                              \
        .group = group_, .name = name_, .type = CMD_DOUBLE, .metavar = "X", .min = low, .max = high, FIELD(field), \
        .help = help_                                                                                              \
    }
#define COUNT(group_, name_, field, low, high, help_)                                                           \
    {                                                                                                           \
        .group = group_, .name = name_, .type = CMD_INT, .metavar = "N", .min = low, .max = high, FIELD(field), \
        .help = help_                                                                                           \
    }
#define CHOICE(group_, name_, field, choices_, help_)                                                        \
    {                                                                                                        \
        .group = group_, .name = name_, .type = CMD_CHOICE, .choices = choices_, FIELD(field), .help = help_ \
    }
#define FLAG(group_, name_, field, help_)                                             \
    {                                                                                 \
        .group = group_, .name = name_, .type = CMD_FLAG, FIELD(field), .help = help_ \
    }
#define NAME(group_, name_, field, metavar_, default_, help_)                                  \
    {                                                                                          \
        .group = group_, .name = name_, .type = CMD_STRING, .metavar = metavar_, FIELD(field), \
        .default_text = default_, .help = help_                                                \
    }

static const cmd_option table[] = {
    CHOICE("Method", "method", method, "sift2|linear|sift",
           "sift2: weights by optimisation. linear: their estimate in one pass. sift: a selection of streamlines."),
    NUMBER("Method", "reg-tikhonov", model.reg_tikhonov, 0, 1e30, "Strength of the pull of weights towards 1."),
    NUMBER("Method", "reg-tv", model.reg_tv, 0, 1e30,
           "Strength of the pull of weights towards those of the other streamlines of the same fixels."),
    NUMBER("Method", "min-td-frac", model.min_td_frac, 0, 1,
           "Fixels with a smaller share of their density in streamlines are excluded."),
    COUNT("Method", "min-iters", min_iters, 0, 1000000, "Iterations at least."),
    COUNT("Method", "max-iters", max_iters, 0, 1000000, "Iterations at most."),
    NUMBER("Method", "min-coeff", model.min_coeff, -INFINITY, 0, "Smallest logarithm of a weight; below, it is 0."),
    NUMBER("Method", "max-coeff", model.max_coeff, 0, INFINITY, "Largest logarithm of a weight."),
    NUMBER("Method", "min-factor", min_factor, 0, 1, "Smallest weight, in place of --min-coeff."),
    NUMBER("Method", "max-factor", max_factor, 1, INFINITY, "Largest weight, in place of --max-coeff."),
    {.group = "Method",
     .name = "max-coeff-step",
     .type = CMD_DOUBLE,
     .metavar = "X",
     .min = 0,
     .min_open = true,
     .max = 1000,
     FIELD(model.max_coeff_step),
     .help = "Largest change of a logarithm in an iteration."},
    NUMBER("Method", "min-cf-decrease", model.min_cf_decrease, 0, 1,
           "Ends when an iteration lowers the cost by less than this share of the first cost."),
    CHOICE("Method", "single-visit", single_visit, "exclude|keep",
           "Fixels that one streamline alone touches. keep: as tcksift2 3.0.3, later ones exclude them."),
    FLAG("Method", "remove-untracked", model.remove_untracked, "Leave fixels without streamlines out of the model."),
    NUMBER("Method", "fd-threshold", model.fd_threshold, 0, 1e30,
           "Leave fixels of this density or less out of the model; 0: none."),
    FLAG("Method", "fd-scale-gm", fod.fd_scale_gm, "With --act: less density where there is grey matter."),
    CHOICE("Method", "unmapped", unmapped, "0|1", "Weight of streamlines that touch no fixel."),
    {.group = "Selection",
     .name = "term-number",
     .type = CMD_UINT64,
     .metavar = "N",
     .min = 1,
     .max = 4294967295.0,
     FIELD(model.term_number),
     .default_text = "while the cost falls",
     .help = "With --method sift: streamlines to keep."},
    NUMBER("Selection", "term-ratio", model.term_ratio, 0, 1e30,
           "With --method sift: relative decrease of the cost for each relative decrease of length, at least."),
    NUMBER("Selection", "term-mu", model.term_mu, 0, 1e30, "With --method sift: ends at this mu; 0: at none."),
    FOD_OPTIONS(weight_options, fod, basis, frame),
#define CMD_OWNER weight_options
#define ROW TRACT_INPUT_ROW
#include "workflow/tracts/input.def"
#undef ROW
    {.group = "Input",
     .name = "step-size",
     .type = CMD_DOUBLE,
     .metavar = "L",
     .unit = "mm",
     .min = 0,
     .min_open = true,
     .max = 1000,
     FIELD(step_size),
     .default_text = "the key step_size of a TCK file, or the largest distance",
     .help = "Distance between points, from which follows how finely streamlines are mapped."},
    {.group = "Output",
     .name = "output",
     .letter = 'o',
     .type = CMD_STRING,
     .metavar = "OUT",
     FIELD(output),
     .default_text = "",
     .help = "Needed. .txt or .csv: a number for each streamline, as MRtrix3 reads them. .trx or .trk: the tractogram "
             "with a column sift2_weights; with --method sift also .tck: the streamlines that are kept."},
    CHOICE("Output", "units", units, "factor|area",
           "Of text files. factor: how many streamlines each stands for. area: times mu and the volume of a voxel, "
           "mm2 for each unit of fibre density."),
    FLAG("Output", "coeffs", coeffs, "Also a column sift2_coefficients, the logarithms of the weights."),
    NAME("Output", "mu", mu, "FILE", "none", "Text file for mu, the density for each mm of streamline in a voxel."),
    NAME("Output", "csv", csv, "FILE", "none", "Cost and spread of the weights in each iteration."),
    NAME("Output", "selection", selection, "FILE", "none", "With --method sift: 1 or 0 for each streamline."),
    NAME("Output", "fixels", fixels, "DIR", "none", "Fixel directory with densities before and after."),
    FLAG("Output", "force", force, "Overwrite existing output files; go on where all fixels are excluded."),
    NAME("Device", "device", device, "NAME[,NAME]", NULL,
         "As for 'glslines track', or cpu. auto: a GPU where there is one, else the CPU."),
    CHOICE("Device", "api", api, GLS_GRAPHICS_CHOICES, "OpenGL or OpenGL ES."),
    COUNT("Device", "ngpus", ngpus, 1, GLS_TRACKER_MAX_DEVICES, "Devices of that name that share the work."),
    {.name = NULL},
};

static void set_defaults(void *values)
{
    weight_options *o = values;
    *o = (weight_options){.basis = GLS_SH_TOURNIER07, .unmapped = 1, .device = "auto", .ngpus = 1};
    o->fod.fixel = gls_fixel_options_default();
    o->model = gls_weights_options_default();
    o->min_iters = (int)o->model.min_iters;
    o->max_iters = (int)o->model.max_iters;
    o->max_factor = INFINITY;
}

/* What the table cannot check; returns an exit code, the message printed. */
static int check(const cmd_command *command, weight_options *o, const cmd_arguments *arguments)
{
    static const char *const sift2_only[] = {"csv", "coeffs", "reg-tv", "reg-tikhonov", "min-coeff", "max-coeff"};
    static const char *const sift_only[] = {"selection", "term-number", "term-ratio", "term-mu"};
    if (arguments->n_positionals != 2)
        return cmd_error(CMD_EXIT_USAGE, "weights: takes TRACKS and SH, got %d arguments", arguments->n_positionals);
    if (!o->output) return cmd_error(CMD_EXIT_USAGE, "weights: needs --output OUT");
    for (size_t i = 0; i < 2; i++)
        if (cmd_options_given(command, arguments, i ? "max-coeff" : "min-coeff") &&
            cmd_options_given(command, arguments, i ? "max-factor" : "min-factor"))
            return cmd_error(CMD_EXIT_USAGE, "--%s-coeff and --%s-factor exclude each other", i ? "max" : "min",
                             i ? "max" : "min");
    for (size_t i = 0; i < sizeof sift2_only / sizeof *sift2_only && o->method != GLS_WEIGHTS_SIFT2; i++)
        if (cmd_options_given(command, arguments, sift2_only[i]))
            return cmd_error(CMD_EXIT_USAGE, "--%s: only --method sift2 has it", sift2_only[i]);
    for (size_t i = 0; i < sizeof sift_only / sizeof *sift_only && o->method != GLS_WEIGHTS_SIFT; i++)
        if (cmd_options_given(command, arguments, sift_only[i]))
            return cmd_error(CMD_EXIT_USAGE, "--%s: only --method sift has it", sift_only[i]);
    if (o->min_factor > 0) o->model.min_coeff = log(o->min_factor);
    if (isfinite(o->max_factor)) o->model.max_coeff = log(o->max_factor);
    o->model.method = (gls_weights_method)o->method;
    o->model.min_iters = (uint32_t)o->min_iters;
    o->model.max_iters = (uint32_t)o->max_iters;
    o->model.keep_single = o->single_visit == 1;
    o->model.unmapped = o->unmapped;
    o->model.statistics = o->csv != NULL;
    o->model.force = o->force;
    o->fod.sh = arguments->positional[1];
    o->fod.basis = (gls_sh_basis)o->basis;
    o->fod.frame = (gls_frame)o->frame;
    return CMD_EXIT_OK;
}

static bool is_text(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".txt") == 0 || strcmp(dot, ".csv") == 0);
}

/* The tractogram once more: with its weights, or those of its streamlines that are kept. */
static gls_status write_tractogram(const weight_options *o, const char *tracks, const gls_weights *w,
                                   const gls_fixels *fixels)
{
    gls_tractogram_reader *reader = NULL;
    gls_tractogram_writer *writer = NULL;
    gls_tractogram_options options = gls_tractogram_options_default();
    gls_tractogram_format format;
    gls_sink sink = {0}, next;
    uint64_t n;
    const float *value = gls_weights_get(w, &n);
    const gls_column columns[] = {
        {GLS_DPS_WEIGHTS, GLS_TYPE_FLOAT32, 1, value},
        {GLS_DPS_COEFFICIENTS, GLS_TYPE_FLOAT32, 1, gls_weights_get_coefficients(w)},
    };
    options.overwrite = o->force;
    gls_status status = gls_tractogram_format_parse(o->output, &format);
    if (!status) status = tract_open(&o->input, tracks, false, &reader);
    if (status) return status;
    const gls_tractogram_info *info = gls_tractogram_reader_info(reader);
    status = gls_tractogram_writer_create(o->output, format, info->has_grid ? &info->grid : gls_fixels_grid(fixels),
                                          &options, &writer);
    if (!status) sink = gls_tractogram_writer_sink(writer);
    next = sink;
    if (!status) status = gls_filter_valid_create(NULL, &next, &sink);
    for (size_t k = 0; k < (o->coeffs ? 2 : 1) && !status; k++) {
        next = sink;
        status = o->method == GLS_WEIGHTS_SIFT ? gls_filter_listed_create(value, n, NULL, &next, &sink)
                                               : gls_filter_dps_create(&columns[k], n, &next, &sink);
    }
    if (!status) status = tract_pump(reader, &sink, o->output);
    if (!status)
        status = gls_sink_finish(&sink);
    else
        gls_sink_abort(&sink);
    gls_tractogram_reader_close(reader);
    return status;
}

static gls_status write_results(const weight_options *o, const char *tracks, const gls_weights *w,
                                const gls_fixels *fixels)
{
    uint64_t n;
    const float *value = gls_weights_get(w, &n);
    const double *side = gls_fixels_grid(fixels)->voxel_size;
    double area = gls_weights_get_result(w)->mu * side[0] * side[1] * side[2];
    gls_status status = is_text(o->output)
                            ? gls_weights_write_text(o->output, o->force, NULL, value, n, o->units ? area : 1,
                                                     o->units ? "weights by glslines, mm2" : "weights by glslines")
                            : write_tractogram(o, tracks, w, fixels);
    if (!status && o->mu) status = gls_weights_write_mu(w, o->mu, o->force);
    if (!status && o->csv) status = gls_weights_write_iterations(w, o->csv, o->force);
    if (!status && o->selection) status = gls_weights_write_selection(w, o->selection, o->force);
    return status || !o->fixels ? status : gls_weights_write_fixels(w, fixels, o->fixels, o->force);
}

/* Maps all streamlines. */
static gls_status map(const weight_options *o, const char *tracks, const gls_fod *fod, gls_weights *w)
{
    gls_tractogram_reader *reader = NULL;
    gls_step_range range = {0};
    gls_status status = tract_open(&o->input, tracks, false, &reader);
    double step = o->step_size > 0 ? o->step_size : status ? 0 : gls_header_step(gls_tractogram_reader_info(reader));
    if (!status && step == 0) {
        gls_sink measure = gls_step_range_sink(&range);
        status = tract_pump(reader, &measure, o->output);
        gls_tractogram_reader_close(reader);
        reader = NULL;
        if (!status) status = tract_open(&o->input, tracks, false, &reader);
    }
    if (!status) status = gls_weights_choose_walk(w, step, &range, gls_fixels_grid(fod->fixels));
    gls_sink sink = gls_weights_sink(w);
    if (!status) status = tract_pump(reader, &sink, o->output);
    gls_tractogram_reader_close(reader);
    return status;
}

static bool go_on(void *user, uint64_t iteration, double cost)
{
    (void)user;
    cmd_detail("iteration %" PRIu64 ": cost %.9g", iteration, cost);
    return !cmd_interrupted();
}

static gls_status work(const weight_options *o, const char *tracks, gls_fod *fod, gls_weights **w)
{
    gls_tractogram_reader *reader = NULL;
    gls_device_set devices = {.n = 0};
    gls_status status = tract_open(&o->input, tracks, false, &reader); /* told before the FODs are segmented */
    gls_tractogram_reader_close(reader);
    if (!status) status = gls_weights_open_devices(o->device, o->ngpus, (gls_graphics)o->api, &devices);
    if (!status) status = gls_fod_read(&o->fod, fod);
    if (!status) status = gls_weights_create(fod->fixels, &o->model, w);
    if (!status) status = gls_weights_set_mask(*w, fod->mask, fod->scale);
    if (!status) status = map(o, tracks, fod, *w);
    if (!status) status = gls_weights_solve(*w, devices.device, devices.n, go_on, NULL);
    gls_device_set_close(&devices);
    if (!status) gls_weights_tell(*w);
    return status ? status : write_results(o, tracks, *w, fod->fixels);
}

static int run_weights(const cmd_command *command, void *values, const cmd_arguments *arguments)
{
    weight_options *o = values;
    gls_fod fod = {0};
    gls_weights *w = NULL;
    char *sidecar = NULL;
    int code = check(command, o, arguments);
    if (code) return code;
    const char *tracks = arguments->positional[0];
    const char *inputs[] = {tracks, o->fod.sh, o->fod.act, o->fod.proc_mask, o->input.reference};
    const char *others[] = {o->mu, o->csv, o->selection};
    gls_tractogram_format format;
    gls_status status = is_text(o->output) ? GLS_OK : gls_tractogram_format_parse(o->output, &format);
    if (!status && !is_text(o->output) && format == GLS_FORMAT_TCK && o->method != GLS_WEIGHTS_SIFT)
        status = gls_fail(GLS_ERR_ARGUMENT, "%s: TCK files hold no weights: take .txt or .trx", o->output);
    if (!status) status = tract_output_check(o->output, o->force, inputs, 5, &sidecar);
    for (size_t i = 0; i < 3 && !status; i++)
        if (others[i]) status = gls_place_check(others[i], o->force, inputs, 5, (const char *[]){o->output}, 1);
    if (!status) {
        cmd_interrupt_catch();
        status = work(o, tracks, &fod, &w);
        cmd_interrupt_release();
    }
    if (!status) {
        const gls_weights_result *r = gls_weights_get_result(w);
        cJSON *root =
            tract_sidecar_begin("Weights of streamlines by glslines", command, values, arguments, inputs, 5, o->output);
        gls_weights_describe(root, w);
        status = tract_sidecar_write(sidecar, o->force, root);
        if (o->method == GLS_WEIGHTS_SIFT)
            cmd_info("%s: %" PRIu64 " of %" PRIu64 " streamlines kept, mu %.6g, cost %.6g to %.6g", o->output, r->kept,
                     r->streamlines, r->mu, r->cost_first, r->cost_last);
        else
            cmd_info("%s: %" PRIu64 " weights, mu %.6g, cost %.6g to %.6g", o->output, r->streamlines, r->mu,
                     r->cost_first, r->cost_last);
    }
    gls_weights_destroy(w);
    gls_fod_finish(&fod);
    free(sidecar);
    return status ? cmd_error_status(status) : CMD_EXIT_OK;
}

static const char *const positionals[] = {
    "TRACKS", "Tractogram: TRX (file or folder), TRK, TCK or VTK.",
    "SH",     "FODs as spherical harmonics of even order up to 16, NIfTI: those that were tracked.",
    NULL,
};

static const char *const examples[] = {
    "Weights for MRtrix3's -tck_weights_in:",
    "glslines weights tracks.tck sub01_sh.nii.gz -o sift2.txt --act 5tt.nii.gz --mu mu.txt",
    "Within a TRX file:",
    "glslines weights tracks.trx sub01_sh.nii.gz -o weighted.trx",
    "A connectome of them:",
    "glslines connectome weighted.trx parcels.nii.gz connectome.csv --weights dps:sift2_weights",
    "A selection of 100,000 streamlines:",
    "glslines weights tracks.tck sub01_sh.nii.gz -o selected.tck --method sift --term-number 100000",
    NULL,
};

const cmd_command cmd_weights = {
    .name = "weights",
    .synopsis = "TRACKS SH --output OUT [options]",
    .summary = "Weight streamlines by fibre density: SIFT2, SIFT",
    .description = "Fits the density of streamlines in each fixel to that of the fibre orientation distributions. "
                   "Options, defaults and results are those of tcksift2 and tcksift. The same bytes for any number of "
                   "threads and devices.",
    .positionals = positionals,
    .max_positionals = 2,
    .options = table,
    .examples = examples,
    .values_size = sizeof(weight_options),
    .set_defaults = set_defaults,
    .run = run_weights,
};
