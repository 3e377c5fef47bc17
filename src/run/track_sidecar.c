/* The sidecar of a tractogram: everything needed to know how it was made. */

#include <cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "run/track_sidecar.h"
#include "dwi/fit_model.h"
#include "image/region_area.h"
#include "image/region_set.h"
#include "record/run_params.h"
#include "record/sidecar.h"
#include "run/anatomy.h"
#include "run/job_inputs_parts.h"
#include "run/job_parts.h"
#include "run/series_run.h"
#include "sinks/sink_table.h"
#include "track/getter/getter.h"
#include "track/getter/getters.h"
#include "util/json_text.h"

/* Adds the keys of the BIDS draft for tractograms. */
static void add_bids(cJSON *root, const gls_job *job)
{
    const gls_job_options *o = &job->options;
    cJSON_AddStringToObject(root, "TractographyClass", "local");
    cJSON_AddStringToObject(root, "TractographyMethod",
                            job->inputs.method.getter->deterministic && !(o->track.step_noise > 0) ? "deterministic"
                                                                                                   : "probabilistic");
    cJSON_AddStringToObject(root, "StepSizeUnits", "mm");
    gls_json_double(root, "StepSize", job->params.step_size);
    gls_json_double(root, "AngleCurvature", o->track.max_angle);
    cJSON_AddStringToObject(root, "SeedingMethod", o->seeds_per_voxel > 0 ? "seedsPerVoxel" : "globalSeedNumber");
    gls_json_uint(root, "SeedingNumberMethod", o->seeds_per_voxel > 0 ? o->seeds_per_voxel : gls_job_seeds(job));
    gls_json_uint(root, "Count", job->result.track.streamlines);
}

/* Adds the parameters of the built-in phantom in place of input files. */
static void add_phantom(cJSON *root, const gls_phantom_params *p)
{
    cJSON *object = cJSON_AddObjectToObject(root, "phantom");
    cJSON *bvals = cJSON_AddArrayToObject(object, "bvals_s_per_mm2");
    for (int i = 0; i < p->n_shells; i++) gls_json_append_double(bvals, p->bval[i]);
    gls_json_uint(object, "directions_per_shell", (uint64_t)p->n_directions);
    gls_json_uint(object, "b0_volumes", (uint64_t)p->n_b0);
    GLS_JSON_MEMBERS(object, p, snr, seed);
}

/* Adds the description, the keys of the BIDS draft, and the software. */
static void add_description(cJSON *root, const gls_job *job)
{
    cJSON_AddStringToObject(root, "Description", "Whole-image tractogram made by glslines");
    add_bids(root, job);
    gls_sidecar_add_software(root, job->options.argc, job->options.argv);
}

/* Adds input files, grid, gradient table and counts of voxels. */
static void add_inputs(cJSON *root, const gls_job *job)
{
    const gls_job_inputs *in = &job->inputs;
    cJSON *inputs = cJSON_AddObjectToObject(root, "inputs");
    for (int i = 0; i < GLS_FILE_N_FILES; i++) gls_sidecar_add_file(inputs, &in->file[i]);
    if (in->phantom) add_phantom(inputs, &in->phantom->params);
    char text[17];
    /* regions, tissue and inputs of sinks are not members of "inputs"; later runs compare their hash */
    if (job->other_inputs)
        cJSON_AddStringToObject(root, "other_inputs_xxh3_64", gls_hash_text(job->other_inputs, text));
    gls_sidecar_add_grid(root, in->grid);
    if (in->series.dwi) gls_sidecar_add_gradients(root, &in->series);
    cJSON *masks = cJSON_AddObjectToObject(root, "voxels");
    gls_json_uint(masks, "mask", in->mask_voxels);
    gls_json_uint(masks, "seeds", in->seed_voxels);
    /* what no file gave */
    cJSON *made = cJSON_AddObjectToObject(root, "made");
    gls_json_text(made, "mask", in->mask_made ? "from the series" : NULL);
    gls_json_text(made, "seed_region", in->region);
}

/* Adds the model, if one was fitted, and the source of directions. */
static void add_odf(cJSON *root, const gls_job *job)
{
    const gls_job_inputs *in = &job->inputs;
    const gls_job_options *o = &job->options;
    if (in->method.fits) gls_series_model_describe(root, &in->model);
    cJSON *odf = cJSON_AddObjectToObject(root, "odf");
    if (o->bedpostx) {
        cJSON_AddStringToObject(odf, "source", "bedpostx");
        gls_json_uint(odf, "samples", in->peak_samples);
        gls_json_uint(odf, "fibres", in->odf_image->n_volumes / 3 / in->peak_samples);
        return;
    }
    if (o->peaks.n > 0) {
        cJSON_AddStringToObject(odf, "source", "peaks");
        gls_json_uint(odf, "peaks_per_voxel", in->odf_image->n_volumes / 3);
        cJSON_AddStringToObject(odf, "frame", gls_odf_frame_name(gls_peaks_frame(o, 0)));
        return;
    }
    /* no ODFs: the source of directions follows from the getter */
    if (!in->odf) {
        static const char *const source[] = {[GLS_FROM_QBALL] = "bootstrap of the model",
                                             [GLS_FROM_SERIES] = "tensors of the series",
                                             [GLS_FROM_PEAKS] = "tensors of the series",
                                             [GLS_FROM_NOTHING] = "none"};
        cJSON_AddStringToObject(odf, "source", source[in->method.source]);
        return;
    }
    cJSON_AddStringToObject(odf, "source", o->sh ? "sh" : o->odf ? "amplitudes" : "fit of the model");
    if (in->odf->is_sh) {
        cJSON_AddStringToObject(odf, "basis", gls_basis_name(in->odf->basis));
        gls_json_uint(odf, "sh_order", (uint64_t)in->odf->order);
        cJSON_AddBoolToObject(odf, "odd_degrees", in->odf->full);
    }
    cJSON_AddStringToObject(odf, "frame", gls_odf_frame_name(in->odf_frame));
    cJSON_AddStringToObject(odf, "negative_values", "raised to 0");
    /* getters along peaks interpolate no ODFs */
    gls_json_text(odf, "interpolated",
                  in->peaks                                                                            ? NULL
                  : gls_track_interpolation(&job->params, in->odf) == GLS_ODF_INTERPOLATE_COEFFICIENTS ? "coefficients"
                                                                                                       : "amplitudes");
    if (in->peaks) gls_json_uint(odf, "peaks_per_voxel", in->peaks->n_volumes / 3);
    gls_json_double(odf, "zero_where_stop_map_is_below",
                    in->odf->options.stop_map ? in->odf->options.stop_threshold : NAN);
}

/* Adds sphere, random numbers and outputs. */
static void add_rest(cJSON *root, const gls_job *job)
{
    const gls_sphere *used = job->inputs.odf ? job->inputs.odf->sphere : job->inputs.sphere;
    const gls_getter *getter = job->inputs.method.getter;
    if (gls_getter_uses(getter, GLS_FOR_VERTICES) || gls_getter_uses(getter, GLS_FOR_PEAKS)) {
        cJSON *sphere = cJSON_AddObjectToObject(root, "sphere");
        gls_json_uint(sphere, "directions", used->n);
        cJSON_AddBoolToObject(sphere, "antipodal", used->antipodal);
    } else {
        cJSON_AddNullToObject(root, "sphere");
    }

    /* whether the run fitted a tensor, for `glslines cite` */
    cJSON_AddBoolToObject(root, "tensor_fit", job->inputs.model.fits_tensor);

    cJSON *rng = cJSON_AddObjectToObject(root, "rng");
    cJSON_AddStringToObject(rng, "algorithm", "Philox4x32-10");
    gls_json_uint(rng, "rng_seed", job->options.track.rng_seed);
    gls_json_uint(rng, "seed_seed", job->options.seed_seed);

    cJSON *output = cJSON_AddObjectToObject(root, "output");
    cJSON_AddStringToObject(output, "path", job->output);
    cJSON_AddStringToObject(output, "format", GLS_WORD(GLS_FORMAT_CHOICES, (int)job->format));
    gls_json_uint(output, "bytes", job->result.output_bytes);
    /* files that were written, with sizes and checksums, for --skip-existing */
    if (job->written) cJSON_AddItemToObject(root, GLS_SIDECAR_OUTPUTS, cJSON_Duplicate(job->written, true));
}

/* Adds the image of a region. Leaves out an image that was deleted meanwhile. */
static void add_region_file(cJSON *object, const gls_region_info *region)
{
    gls_region_text text;
    if (gls_region_text_parse(gls_region_role_name(region->role), region->text, &text) != GLS_OK) return;
    gls_input_file file = {.role = "image", .path = text.path};
    if (!gls_input_file_check(&file) && !gls_input_file_hash(&file)) gls_sidecar_add_file(object, &file);
    free(text.path);
}

/* Adds the preset, the reason for each default in use, and the parameters that differ from their defaults. */
static void add_defaults(cJSON *root, const gls_job_options *options, const gls_method *method)
{
    gls_default held[GLS_MAX_DEFAULTS];
    const gls_preset_info *preset = gls_preset_get((int)options->preset);
    size_t n = gls_defaults_held(options, method, held);
    char key[96];
    cJSON *object = cJSON_AddObjectToObject(root, "defaults");
    cJSON_AddStringToObject(object, "preset", preset->name);
    GLS_JSON_MEMBERS(object, preset, source, differs);
    cJSON *reasons = cJSON_AddObjectToObject(object, "reasons");
    for (size_t i = 0; i < n; i++) {
        gls_option_key(held[i].param, key, sizeof key);
        cJSON_AddStringToObject(reasons, key, held[i].reason);
    }
    cJSON_AddItemToObject(object, "changed", gls_defaults_changed(options, method));
}

/* Adds the regions of the run. */
static void add_regions(cJSON *root, const gls_regions *regions)
{
    cJSON *array = cJSON_AddArrayToObject(root, "regions");
    for (size_t i = 0; i < gls_regions_count(regions); i++) {
        gls_region_info region = gls_regions_get(regions, i);
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "role", gls_region_role_name(region.role));
        cJSON_AddStringToObject(object, "region", region.text);
        if (region.voxels)
            gls_json_uint(object, "voxels", region.voxels);
        else
            cJSON_AddNullToObject(object, "voxels");
        if (region.role != GLS_REGION_MASK) add_region_file(object, &region);
        cJSON_AddItemToArray(array, object);
    }
}

/* Adds how many streamlines met regions, for roles that look at all points: for some roles a number for each region
 * (include_1, include_2 ...), for the others one number for all regions of the role. */
static void add_met(cJSON *counts, const gls_job *job)
{
    const gls_regions *regions = job->inputs.regions;
    const uint64_t *met = job->result.track.met;
    cJSON *object = cJSON_AddObjectToObject(counts, "met");
    int n_of[GLS_REGION_ROLES] = {0};
    bool seen[GLS_REGION_MAX_BITS] = {false};
    for (size_t i = 0; i < gls_regions_count(regions); i++) {
        gls_region_info region = gls_regions_get(regions, i);
        char key[32];
        const gls_region_kind *kind = gls_region_kind_of(region.role);
        /* several regions of a role that are counted together share a bit */
        if (seen[region.bit] || kind->where != GLS_REGION_POINTS) continue;
        seen[region.bit] = true;
        if (kind->apart)
            snprintf(key, sizeof key, "%s_%d", kind->option, ++n_of[region.role]);
        else
            snprintf(key, sizeof key, "%s", kind->option);
        for (char *c = key; *c; c++)
            if (*c == '-') *c = '_';
        gls_json_uint(object, key, met[region.bit]);
    }
}

/* Adds the counts of particle filtering. */
static void add_filter(cJSON *counts, const gls_particle_counts *filter)
{
    cJSON *object = cJSON_AddObjectToObject(counts, "particle_filter");
    gls_json_uint(object, "streamlines_taken_back", filter->streamlines);
    gls_json_uint(object, "runs", filter->runs);
    gls_json_uint(object, "saved_by_a_particle", filter->runs - filter->lost);
    gls_json_uint(object, "no_particle_left", filter->lost);
    gls_json_uint(object, "trials_used_up", filter->exhausted);
}

/* Adds device, counts, lengths and warnings. */
static void add_result(cJSON *root, const gls_job *job)
{
    /* the first device; all devices with their shares stand under "run" */
    const gls_track_result *r = &job->result.track;
    cJSON *device = cJSON_AddObjectToObject(root, "device");
    GLS_JSON_MEMBERS(device, job->device, renderer, vendor, version, node, software);
    cJSON_AddStringToObject(device, "mapping", gls_mapping_name(r->mapping));
    gls_json_uint(device, "lanes", r->lanes);
    cJSON_AddStringToObject(device, "precision", r->precision == GLS_PRECISION_FLOAT ? "float" : "half");

    /* seeds lead to directions, and each direction to a streamline that is kept or rejected for one reason */
    cJSON *counts = cJSON_AddObjectToObject(root, "counts");
    GLS_JSON_MEMBERS(counts, r, seeds, seeds_without_direction, seeds_rejected, directions, retries, streamlines,
                     points, truncated);
    cJSON *rejected = cJSON_AddObjectToObject(counts, "rejected");
    for (int v = GLS_VERDICT_KEPT + 1; v < GLS_VERDICT_COUNT; v++)
        gls_json_uint(rejected, gls_verdict_name((gls_verdict)v), r->verdicts[v]);
    /* each half-streamline has its own reason to end */
    cJSON *ends = cJSON_AddObjectToObject(counts, "half_streamline_ends");
    for (int e = 0; e < GLS_END_COUNT; e++) gls_json_uint(ends, gls_end_name((gls_end)e), r->ends[e]);

    add_met(counts, job);
    if (job->params.pft) add_filter(counts, &r->filter);

    /* lengths of kept streamlines only */
    cJSON *lengths = cJSON_AddObjectToObject(root, "lengths");
    gls_json_double(lengths, "mean_mm", r->mean_length);
    gls_json_double(lengths, "median_mm", r->median_length);
    gls_json_double(lengths, "min_mm", r->min_length);
    gls_json_double(lengths, "max_mm", r->max_length);
    GLS_JSON_MEMBERS(lengths, r, mean_points, median_points, max_points);

    gls_sidecar_add_warnings(root, &job->run.warnings);
}

/* Adds the member "shard", which only runs with --shard have. */
static void add_shard(cJSON *root, const gls_shard *shard)
{
    char text[17];
    cJSON *object = cJSON_AddObjectToObject(root, "shard");
    GLS_JSON_MEMBERS(object, shard, index, count, first_seed);
    gls_json_uint(object, "seeds", shard->n_seeds);
    gls_json_uint(object, "total_seeds", shard->total_seeds);
    cJSON_AddStringToObject(object, "parameters_hash", gls_hash_text(shard->parameters, text));
    cJSON_AddStringToObject(object, "inputs_hash", gls_hash_text(shard->inputs, text));
}

/* Adds a time in seconds, rounded to the microsecond. */
static void add_seconds(cJSON *object, const char *key, double seconds)
{
    gls_json_double(object, key, round(1e6 * seconds) / 1e6);
}

/* Adds the member seconds_NAME of a result as NAME. */
#define ADD_SECONDS(object, from, name) add_seconds(object, #name, (from)->seconds_##name)

/* Adds the share of one device. */
static void add_share(cJSON *devices, const gls_device_info *device, const gls_track_share *share)
{
    cJSON *object = cJSON_CreateObject();
    GLS_JSON_MEMBERS(object, device, renderer, node);
    GLS_JSON_MEMBERS(object, share, seeds, streamlines, batches, resumes, halvings, failed);
    add_seconds(object, "seconds", share->seconds);
    cJSON_AddItemToArray(devices, object);
}

/* Adds what differs even if a run is repeated: "run" has start, batches and the work of each device, "seconds" has
 * times. */
static void add_run(cJSON *root, const gls_job *job)
{
    const gls_track_result *r = &job->result.track;
    char date[64];
    struct tm utc;
    cJSON *block = cJSON_AddObjectToObject(root, "run");
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&job->started, &utc));
    cJSON_AddStringToObject(block, "started", date);
    GLS_JSON_MEMBERS(block, r, batches, batch_seeds);
    cJSON *devices = cJSON_AddArrayToObject(block, "devices");
    for (size_t i = 0; i < job->devices.n; i++)
        add_share(devices, gls_device_get_info(job->devices.device[i]), &job->share[i]);

    /* wall times of the stages in seconds; "parts" are times within "track" */
    cJSON *seconds = cJSON_AddObjectToObject(root, "seconds");
    GLS_EACH(ADD_SECONDS, seconds, &job->result, read, fit, upload, track, write, total);
    cJSON *parts = cJSON_AddObjectToObject(seconds, "parts");
    GLS_EACH(ADD_SECONDS, parts, r, compile, initial, scan, track, gather, readback);
    add_seconds(parts, "wait_for_writer", r->seconds_sink);
}

char *gls_track_sidecar_text(const gls_job *job)
{
    cJSON *root = cJSON_CreateObject();
    if (!root) return NULL;
    add_description(root, job);
    add_inputs(root, job);
    gls_params_add(cJSON_AddObjectToObject(root, "parameters"), &job->options, &job->inputs.method, &job->params);
    add_defaults(root, &job->options_given, &job->inputs.method);
    add_odf(root, job);
    add_regions(root, job->inputs.regions);
    add_rest(root, job);
    add_result(root, job);
    gls_sinks_describe(&job->sinks, root);
    if (job->dynamic) gls_dynamic_seeds_describe(job->dynamic, cJSON_AddObjectToObject(root, "dynamic_seeds"));
    add_run(root, job);
    if (job->shard.count > 0) add_shard(root, &job->shard);
    char *text = gls_json_print(root);
    cJSON_Delete(root);
    return text;
}
