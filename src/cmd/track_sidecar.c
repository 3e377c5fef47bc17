#include "cmd/track_sidecar.h"

#include <cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cmd/message.h"
#include "cmd/shard.h"
#include "cmd/sidecar_json.h"

/* Keys of the draft BIDS extension for tractograms, for tools that look for them. */
static void add_bids(cJSON *root, const track_run *run)
{
    const track_options *o = run->options;
    cJSON_AddStringToObject(root, "TractographyClass", "local");
    cJSON_AddStringToObject(root, "TractographyMethod", o->dg == GLS_DG_DET ? "deterministic" : "probabilistic");
    cJSON_AddStringToObject(root, "StepSizeUnits", "mm");
    json_double(root, "StepSize", run->params.step_size);
    json_double(root, "AngleCurvature", o->max_angle);
    cJSON_AddStringToObject(root, "SeedingMethod", o->seeds_per_voxel > 0 ? "seedsPerVoxel" : "globalSeedNumber");
    json_uint(root, "SeedingNumberMethod", o->seeds_per_voxel > 0 ? o->seeds_per_voxel : track_total_seeds(run));
    json_uint(root, "Count", run->result.streamlines);
}

static void add_phantom(cJSON *root, const gls_phantom_params *p)
{
    cJSON *object = cJSON_AddObjectToObject(root, "phantom");
    cJSON *bvals = cJSON_AddArrayToObject(object, "bvals_s_per_mm2");
    for (int i = 0; i < p->n_shells; i++) json_append_double(bvals, p->bval[i]);
    json_uint(object, "directions_per_shell", (uint64_t)p->n_directions);
    json_uint(object, "b0_volumes", (uint64_t)p->n_b0);
    json_double(object, "snr", p->snr);
    json_uint(object, "seed", p->seed);
}

static void add_description(cJSON *root, const track_run *run)
{
    cJSON_AddStringToObject(root, "Description", "Whole-image tractogram made by glslines");
    add_bids(root, run);
    sidecar_add_software(root, run->arguments);
}

static void add_inputs(cJSON *root, const track_run *run)
{
    static const char *const rules[] = {[GLS_BVEC_FSL] = "fsl", [GLS_BVEC_IMAGE] = "image", [GLS_BVEC_WORLD] = "world"};
    const track_input *in = &run->input;
    cJSON *inputs = cJSON_AddObjectToObject(root, "inputs");
    for (int i = 0; i < TRACK_N_FILES; i++) sidecar_add_file(inputs, &in->file[i]);
    if (in->phantom) add_phantom(inputs, &in->phantom->params);
    sidecar_add_grid(root, in->grid);
    if (in->series.dwi)
        sidecar_add_gradients(root, &in->series, in->phantom ? "image" : rules[run->options->model.bvec_frame]);
    cJSON *masks = cJSON_AddObjectToObject(root, "voxels");
    json_uint(masks, "mask", in->mask_voxels);
    json_uint(masks, "seeds", in->seed_voxels);
}

/* Options that had no part in the result. */
static void drop_unused(cJSON *parameters, const track_run *run)
{
    static const char *const ptt[] = {
        "probe-length", "probe-radius", "probe-count", "probe-quality", "min-radius-of-curvature", "ptt-substep"};
    static const char *const boot[] = {"boot-retry", "boot-start"};
    static const char *const pick[] = {"odf-interpolation"};
    static const char *const fit[] = {"model", "sh-order", "shells", "sm-lambda", "min-signal"};
    static const char *const qball[] = {"sm-lambda", "min-signal"};
    static const char *const files[] = {"sh-basis", "sh-frame"};
    const track_options *o = run->options;
    const struct {
        bool unused;
        const char *const *names;
        size_t n;
    } sets[] = {
        {o->dg != GLS_DG_PTT, ptt, sizeof ptt / sizeof *ptt},
        {o->dg != GLS_DG_BOOT, boot, sizeof boot / sizeof *boot},
        {o->dg != GLS_DG_PROB && o->dg != GLS_DG_DET, pick, 1},
        {o->sh || o->odf, fit, sizeof fit / sizeof *fit},
        {o->model.model == MODEL_CSD, qball, sizeof qball / sizeof *qball},
        {!o->sh, files, o->odf ? 1 : sizeof files / sizeof *files},
    };
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++)
        for (size_t i = 0; i < sets[s].n && sets[s].unused; i++)
            sidecar_drop_option(parameters, run->command, sets[s].names[i]);
    if (o->dg == GLS_DG_PTT) sidecar_drop_option(parameters, run->command, "angular-weight");
    if (o->seeds_per_voxel > 0 || o->seeds) sidecar_drop_option(parameters, run->command, "nseeds");
    if (o->seeds_per_voxel == 0) sidecar_drop_option(parameters, run->command, "seeds-per-voxel");
    if (!o->seeds) sidecar_drop_option(parameters, run->command, "seed-space");
    if (o->chunk_size == 0) sidecar_drop_option(parameters, run->command, "chunk-size");
}

void track_sidecar_add_parameters(cJSON *root, const track_run *run)
{
    cJSON *parameters = cJSON_AddObjectToObject(root, "parameters");
    json_double(parameters, "step_size_mm", run->params.step_size);
    sidecar_add_options(parameters, run->command, run->options);
    drop_unused(parameters, run);
    if (run->options->dg == GLS_DG_PTT) {
        json_double(parameters, "probe_length_mm", run->params.probe_length);
        json_double(parameters, "probe_radius_mm", run->params.probe_radius);
        json_double(parameters, "ptt_substep_mm", run->params.ptt_substep);
        json_double(parameters, "min_radius_of_curvature_mm", 1 / gls_track_max_curvature(&run->params));
    }
}

/* What the directions come from. */
static void add_odf(cJSON *root, const track_run *run)
{
    const track_input *in = &run->input;
    const track_options *o = run->options;
    if (!o->sh && !o->odf) cmd_model_describe(root, &in->model);
    cJSON *odf = cJSON_AddObjectToObject(root, "odf");
    if (!in->odf) {
        cJSON_AddStringToObject(odf, "source", "bootstrap of the model");
        return;
    }
    cJSON_AddStringToObject(odf, "source", o->sh ? "sh" : o->odf ? "amplitudes" : "fit of the model");
    if (in->odf->is_sh) {
        cJSON_AddStringToObject(odf, "basis", model_basis_name(in->odf->basis));
        json_uint(odf, "sh_order", (uint64_t)in->odf->order);
        cJSON_AddBoolToObject(odf, "odd_degrees", in->odf->full);
    }
    cJSON_AddStringToObject(odf, "frame", gls_odf_frame_name(in->odf_frame));
    cJSON_AddStringToObject(odf, "negative_values", "raised to 0");
    cJSON_AddStringToObject(odf, "interpolated",
                            gls_track_interpolation(&run->params, in->odf) == GLS_ODF_INTERPOLATE_COEFFICIENTS
                                ? "coefficients"
                                : "amplitudes");
    if (in->odf->options.stop_map)
        json_double(odf, "zero_where_stop_map_is_below", in->odf->options.stop_threshold);
    else
        cJSON_AddNullToObject(odf, "zero_where_stop_map_is_below");
}

static void add_rest(cJSON *root, const track_run *run)
{
    static const char *const formats[] = {[GLS_FORMAT_TRX] = "trx", [GLS_FORMAT_TRK] = "trk", [GLS_FORMAT_TCK] = "tck"};
    const gls_sphere *used = run->input.odf ? run->input.odf->sphere : run->input.sphere;
    cJSON *sphere = cJSON_AddObjectToObject(root, "sphere");
    json_uint(sphere, "directions", used->n);
    cJSON_AddBoolToObject(sphere, "antipodal", used->antipodal);

    cJSON *rng = cJSON_AddObjectToObject(root, "rng");
    cJSON_AddStringToObject(rng, "algorithm", "Philox4x32-10");
    json_uint(rng, "rng_seed", run->options->rng_seed.value);
    json_uint(rng, "seed_seed", run->options->seed_seed.value);

    cJSON *output = cJSON_AddObjectToObject(root, "output");
    cJSON_AddStringToObject(output, "path", run->output);
    cJSON_AddStringToObject(output, "format", formats[run->format]);
    json_uint(output, "bytes", run->output_bytes);
}
static void add_result(cJSON *root, const track_run *run)
{
    const gls_track_result *r = &run->result;
    cJSON *device = cJSON_AddObjectToObject(root, "device");
    cJSON_AddStringToObject(device, "renderer", run->device->renderer);
    cJSON_AddStringToObject(device, "vendor", run->device->vendor);
    cJSON_AddStringToObject(device, "version", run->device->version);
    cJSON_AddStringToObject(device, "node", run->device->node);
    cJSON_AddBoolToObject(device, "software", run->device->software);
    cJSON_AddStringToObject(device, "mapping", gls_mapping_name(r->mapping));
    json_uint(device, "lanes", r->lanes);
    cJSON_AddStringToObject(device, "precision", r->float_textures ? "float" : "half");

    cJSON *counts = cJSON_AddObjectToObject(root, "counts");
    json_uint(counts, "seeds", r->seeds);
    json_uint(counts, "seeds_without_direction", r->seeds_without_direction);
    json_uint(counts, "directions", r->directions);
    json_uint(counts, "streamlines", r->streamlines);
    json_uint(counts, "points", r->points);
    json_uint(counts, "truncated", r->truncated);
    cJSON *rejected = cJSON_AddObjectToObject(counts, "rejected");
    for (int v = GLS_VERDICT_KEPT + 1; v < GLS_VERDICT_COUNT; v++)
        json_uint(rejected, gls_verdict_name((gls_verdict)v), r->verdicts[v]);
    cJSON *ends = cJSON_AddObjectToObject(counts, "half_streamline_ends");
    for (int e = 0; e < GLS_END_COUNT; e++) json_uint(ends, gls_end_name((gls_end)e), r->ends[e]);

    cJSON *lengths = cJSON_AddObjectToObject(root, "lengths");
    json_double(lengths, "mean_mm", r->mean_length);
    json_double(lengths, "median_mm", r->median_length);
    json_double(lengths, "min_mm", r->min_length);
    json_double(lengths, "max_mm", r->max_length);
    json_double(lengths, "mean_points", r->mean_points);
    json_double(lengths, "median_points", r->median_points);
    json_uint(lengths, "max_points", r->max_points);

    const char *const *warning;
    size_t n_warnings = cmd_message_warnings(&warning);
    cJSON *warnings = cJSON_AddArrayToObject(root, "warnings");
    for (size_t i = 0; i < n_warnings; i++) cJSON_AddItemToArray(warnings, cJSON_CreateString(warning[i]));
}

/* What a run without --shard does not have, so that leaving it out is all that differs. */
static void add_shard(cJSON *root, const gls_shard *shard)
{
    char text[32];
    cJSON *object = cJSON_AddObjectToObject(root, "shard");
    json_uint(object, "index", shard->index);
    json_uint(object, "count", shard->count);
    json_uint(object, "first_seed", shard->first_seed);
    json_uint(object, "seeds", shard->n_seeds);
    json_uint(object, "total_seeds", shard->total_seeds);
    snprintf(text, sizeof text, "%016" PRIx64, shard->parameters);
    cJSON_AddStringToObject(object, "parameters_hash", text);
    snprintf(text, sizeof text, "%016" PRIx64, shard->inputs);
    cJSON_AddStringToObject(object, "inputs_hash", text);
}

/* To the microsecond: more digits of a time say nothing. */
static void add_seconds(cJSON *object, const char *key, double seconds)
{
    json_double(object, key, round(1e6 * seconds) / 1e6);
}

/* What one of the devices did. */
static void add_share(cJSON *devices, const gls_device_info *device, const gls_track_share *share)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "renderer", device->renderer);
    cJSON_AddStringToObject(object, "node", device->node);
    json_uint(object, "seeds", share->seeds);
    json_uint(object, "streamlines", share->streamlines);
    json_uint(object, "batches", share->batches);
    json_uint(object, "resumes", share->resumes);
    json_uint(object, "halvings", share->halvings);
    cJSON_AddBoolToObject(object, "failed", share->failed);
    add_seconds(object, "seconds", share->seconds);
    cJSON_AddItemToArray(devices, object);
}

/* What differs between two runs that write the same tractogram: apart from the rest, so that the rest can be compared.
 */
static void add_run(cJSON *root, const track_run *run)
{
    const gls_track_result *r = &run->result;
    char date[64];
    struct tm utc;
    cJSON *block = cJSON_AddObjectToObject(root, "run");
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&run->started, &utc));
    cJSON_AddStringToObject(block, "started", date);
    json_uint(block, "batches", r->batches);
    json_uint(block, "batch_seeds", r->batch_seeds);
    cJSON *devices = cJSON_AddArrayToObject(block, "devices");
    for (size_t i = 0; i < run->devices.n; i++)
        add_share(devices, gls_device_get_info(run->devices.device[i]), &run->share[i]);

    cJSON *seconds = cJSON_AddObjectToObject(root, "seconds");
    add_seconds(seconds, "read", run->input.seconds_read);
    add_seconds(seconds, "fit", run->input.seconds_fit);
    add_seconds(seconds, "upload", run->seconds_upload);
    add_seconds(seconds, "track", run->seconds_track);
    add_seconds(seconds, "write", run->seconds_write);
    add_seconds(seconds, "total", run->seconds_total);
    cJSON *parts = cJSON_AddObjectToObject(seconds, "parts");
    add_seconds(parts, "compile", r->seconds_compile);
    add_seconds(parts, "initial", r->seconds_initial);
    add_seconds(parts, "scan", r->seconds_scan);
    add_seconds(parts, "track", r->seconds_track);
    add_seconds(parts, "gather", r->seconds_gather);
    add_seconds(parts, "readback", r->seconds_readback);
    add_seconds(parts, "wait_for_writer", r->seconds_sink);
}

char *track_sidecar_text(const track_run *run)
{
    cJSON *root = cJSON_CreateObject();
    if (!root) return NULL;
    add_description(root, run);
    add_inputs(root, run);
    track_sidecar_add_parameters(root, run);
    add_odf(root, run);
    add_rest(root, run);
    add_result(root, run);
    add_run(root, run);
    if (run->shard.count > 0) add_shard(root, &run->shard);
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    return text;
}
