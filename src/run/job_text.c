/* Text about a run: what is known before tracking, as text and as JSON, and the result. */
#include <cJSON.h>
#include <inttypes.h>
#include <stdio.h>

#include "run/job_text.h"
#include "image/region_set.h"
#include "record/run_params.h"
#include "record/sidecar.h"
#include "run/anatomy.h"
#include "run/job_inputs_parts.h"
#include "run/job_parts.h"
#include "track/getter/getters.h"
#include "util/json_text.h"

#define MIB ((uint64_t)1 << 20)
#define STEP UINT64_C(50) /* MiB */

/* Memory to request from a scheduler, MiB: a sixth more than the estimate, raised to the next multiple of 50, because
 * schedulers kill a job that takes more than it requested. */
static uint64_t memory_request(const gls_job *job)
{
    uint64_t mib = (job->memory_bytes + job->memory_bytes / 6) / MIB;
    return (mib / STEP + 1) * STEP;
}

/* Prints a label and a name. */
static void print_name(gls_text *text, const char *what, const char *name)
{
    gls_text_printf(text, "%-11s ", what);
    gls_text_show(text, name);
}

/* Prints the source of directions, and the model with the reason for it. */
static void print_model(gls_text *text, const gls_job *job)
{
    const gls_job_options *o = &job->options;
    if (o->sh || o->odf) print_name(text, "ODFs", o->sh ? o->sh : o->odf);
    if (o->sh)
        gls_text_printf(text, ", %s basis\n", gls_basis_name((gls_sh_basis)o->model.sh_basis));
    else if (o->odf)
        gls_text_printf(text, ", amplitudes\n");
    if (o->bedpostx) {
        print_name(text, "samples", o->bedpostx);
        gls_text_printf(text, ", %u of %zu fibre(s)\n", job->inputs.peak_samples,
                        /* three volumes for each fibre of a sample */
                        job->inputs.odf_image->n_volumes / 3 / job->inputs.peak_samples);
    }
    for (int i = 0; i < o->peaks.n; i++) {
        print_name(text, "peaks", o->peaks.value[i]);
        gls_text_printf(text, ", %s axes\n", gls_odf_frame_name(gls_peaks_frame(o, i)));
    }
    if (!job->inputs.method.fits) return;
    gls_text_printf(text, "model       %s", gls_model_name(job->inputs.model.kind));
    if (job->inputs.model.kind == GLS_MODEL_CSD)
        gls_text_printf(text, ", rule %s", gls_csd_rule_name(o->model.csd_rule));
    gls_text_printf(text, ", order %d", job->inputs.model.order);
    if (job->inputs.model.bval > 0) gls_text_printf(text, ", shell of b = %g s/mm2", job->inputs.model.bval);
    const char *reason = gls_default_model_reason(&job->options_given, &job->inputs.method);
    if (reason) gls_text_printf(text, " (--model: %s)", reason);
    gls_text_printf(text, "\n");
}

/* Prints the tissue image and the rule by which it ends streamlines. */
static void print_tissue(gls_text *text, const gls_job *job)
{
    print_name(text, "tissue", job->inputs.method.tissue);
    gls_text_printf(text, ", rule %s", GLS_WORD(GLS_TISSUE_RULE_CHOICES, (int)gls_tissue_get_rule(job->inputs.tissue)));
    if (gls_awaits_anatomy(&job->options)) {
        gls_text_puts(text, "; made before the fit, and kept as\n            ");
        gls_text_show(text, job->anatomy.path[GLS_ANAT_FIVE]);
        if (job->undecided)
            gls_text_puts(text,
                          ";\n            --skip-existing then compares this run with the one that made the outputs");
    }
    gls_text_puts(text, "\n");
}

/* Prints the parameters of parallel transport in mm. */
static void print_probe(gls_text *text, const gls_track_params *p)
{
    gls_text_printf(text, "probe       %.6g mm long, %d samples and its start, ", p->probe_length, p->probe_quality);
    if (p->probe_count > 1)
        gls_text_printf(text, "%d parallel curves at %.6g mm", p->probe_count, p->probe_radius);
    else
        gls_text_printf(text, "1 curve");
    gls_text_printf(text, "; radius of curvature at least %.6g mm; short steps of %.6g mm\n",
                    1 / gls_track_max_curvature(p), p->ptt_substep);
}

/* Prints the memory of a device and of the host, and what to request from a scheduler. */
static void print_memory(gls_text *text, const gls_track_memory *m, uint64_t request_mib)
{
    gls_text_printf(text,
                    "memory      %s on each device: volume of %u channels %s, stop map %s, tables %s, buffers %s\n",
                    GLS_BYTES(m->device_bytes), m->volume_channels, GLS_BYTES(m->volume_bytes),
                    GLS_BYTES(m->stop_map_bytes), GLS_BYTES(m->table_bytes), GLS_BYTES(m->buffer_bytes));
    gls_text_printf(text, "            at most %s of the host beside the images, for any number of seeds\n",
                    GLS_BYTES(m->host_bytes));
    gls_text_printf(text, "            request %" PRIu64 " MiB for this run (Slurm: --mem=%" PRIu64 "M)\n", request_mib,
                    request_mib);
}

/* Prints the preset and the defaults in use, except of model and getter, with the option that changes each. */
static void print_defaults(gls_text *text, const gls_job *job)
{
    gls_default held[GLS_MAX_DEFAULTS];
    const gls_preset_info *preset = gls_preset_get((int)job->options_given.preset);
    size_t n = gls_defaults_held(&job->options_given, &job->inputs.method, held);
    char line[256];
    if (job->options_given.preset != GLS_PRESET_DEFAULT)
        gls_text_printf(text, "preset      %s: %s\n", preset->name, preset->source);
    for (size_t i = 0; i < n; i++) {
        if (gls_default_is_of_method(&held[i])) continue; /* printed with the model and the getter */
        gls_default_line(&held[i], &job->options_given, line, sizeof line);
        gls_text_printf(text, "default     %s\n", line);
    }
}

/* Prints the number of seeds and where they lie. */
static void print_seeds(gls_text *text, const gls_job *job, uint64_t seeds)
{
    const char *place = gls_seeds_place(&job->options);
    gls_text_printf(text, "seeds       %s", GLS_COUNT(seeds));
    if (!job->inputs.seeds && !place) {
        gls_text_puts(text, " in a region that is made from the fit");
    } else if (place) {
        gls_text_puts(text, job->options.seeds ? " from " : " in ");
        gls_text_show(text, place);
    } else {
        gls_text_printf(text, " in %s voxels", GLS_COUNT(job->inputs.seed_voxels));
    }
    gls_text_puts(text, "\n");
}

/* Prints the regions that the user gave; the mask has its own line. */
static void print_regions(gls_text *text, const gls_regions *regions)
{
    for (size_t i = 0; i < gls_regions_count(regions); i++) {
        gls_region_info region = gls_regions_get(regions, i);
        if (region.role == GLS_REGION_MASK) continue;
        gls_text_printf(text, "region      %s ", gls_region_role_name(region.role));
        gls_text_show(text, region.text);
        if (region.voxels) gls_text_printf(text, ", %s voxels", GLS_COUNT(region.voxels));
        gls_text_puts(text, "\n");
    }
}

/* Prints the whole plan: inputs, choices, devices, memory, and the first output with its sidecar. */
static void print_plan(gls_text *text, const gls_job *job, const gls_track_memory *memory)
{
    const gls_job_options *o = &job->options;
    const gls_job_inputs *in = &job->inputs;
    const gls_method *m = &in->method;
    const gls_grid *grid = in->grid;
    char axes[4];
    /* seeds of a run whose list is not made yet are known by their number only */
    uint64_t seeds = in->seeds ? gls_seeds_count(in->seeds) : o->nseeds,
             largest = seeds < memory->batch_seeds ? seeds : memory->batch_seeds;
    const gls_mapping asked = (gls_mapping)o->track.mapping,
                      mapping = asked == GLS_MAPPING_AUTO ? gls_mapping_auto(job->device) : asked;
    gls_grid_axis_codes(grid, axes);
    gls_text_printf(text, "grid        %d x %d x %d voxels, %.4g x %.4g x %.4g mm, axes %s, determinant %+.6g\n",
                    grid->dim[0], grid->dim[1], grid->dim[2], grid->voxel_size[0], grid->voxel_size[1],
                    grid->voxel_size[2], axes, gls_grid_determinant(grid));
    /* the series and its shells, if the run has one */
    if (in->series.dwi)
        gls_text_printf(text, "volumes     %zu, %zu of them b0\n", in->series.dwi->n_volumes,
                        in->series.gradients->n_b0);
    for (size_t i = 0; i < in->series.n_shells; i++)
        gls_text_printf(text, "shell       b = %.6g s/mm2: %zu volumes\n", in->series.shell[i].bval,
                        in->series.shell[i].n);
    gls_text_printf(text, "mask        %s voxels%s\n", GLS_COUNT(in->mask_voxels),
                    in->mask_made ? ", made from the series" : "");
    if (gls_regions_bits(in->regions, GLS_REGION_MASK))
        gls_text_printf(text, "            streamlines end before their first point in a voxel outside it\n");
    print_seeds(text, job, seeds);
    if (job->shard.count > 0)
        gls_text_printf(text, "shard       %u of %u, of %s seeds\n", job->shard.index, job->shard.count,
                        GLS_COUNT(job->shard.total_seeds));
    print_model(text, job);
    if (in->tissue) print_tissue(text, job);
    if (m->stop_map) {
        print_name(text, "stop map", o->fa ? o->fa : "FA of a tensor fit");
        gls_text_printf(text, ", threshold %g\n", o->track.stop_threshold);
    }
    if (gls_getter_uses(m->getter, GLS_FOR_CUTOFF))
        gls_text_printf(text, "cutoff      %s below %g\n",
                        o->bedpostx               ? "fibres of fractions"
                        : m->series || m->tensors ? "FA of the tensor"
                        : m->peaks                ? "peaks of amplitudes"
                                                  : "FOD amplitudes",
                        o->track.fod_cutoff);
    print_regions(text, in->regions);
    /* with --peaks or --bedpostx, directions do not come from the sphere */
    const gls_sphere *sphere = in->odf ? in->odf->sphere : in->sphere;
    if (sphere && o->peaks.n == 0 && !o->bedpostx) {
        print_name(text, "sphere", o->sphere);
        gls_text_printf(text, ", %zu directions%s\n", sphere->n, sphere->antipodal ? " (antipodal pairs)" : "");
    }
    const char *reason = gls_default_getter_reason(&job->options_given, &job->inputs.method);
    gls_text_printf(text, "direction   %s%s%s%s%s, step %.6g mm, at most %g degrees\n", m->getter->name,
                    m->tensors ? " along the main axes of tensors" : "", reason ? " (--dg: " : "", reason ? reason : "",
                    reason ? ")" : "", job->params.step_size, o->track.max_angle);
    if (gls_getter_uses(m->getter, GLS_FOR_ptt)) print_probe(text, &job->params);
    gls_text_printf(text, "length      %g to %g mm\n", job->params.min_length, job->params.max_length);
    print_defaults(text, job);
    /* the devices, and how the work is cut into pieces */
    for (size_t i = 0; i < job->devices.n; i++) {
        const gls_device_info *device = gls_device_get_info(job->devices.device[i]);
        gls_text_printf(text, "device      %s, %s\n", device->renderer, device->version);
    }
    const uint32_t lanes = gls_mapping_lanes(mapping, job->device);
    gls_text_printf(text, "mapping     %s, %u %s per streamline\n", gls_mapping_name(mapping), lanes,
                    lanes == 1 ? "invocation" : "invocations");
    gls_text_printf(text, "batch       at most %s seeds, %s batches or more\n", GLS_COUNT(largest),
                    /* a lower bound, since short batches may follow; --select may end the run earlier */
                    GLS_COUNT(largest ? (seeds + largest - 1) / largest : 0));
    print_memory(text, memory, memory_request(job));
    print_name(text, "output", job->output);
    gls_text_puts(text, "\n");
    if (!job->run.sidecar) return;
    print_name(text, "sidecar", job->run.sidecar);
    gls_text_puts(text, "\n");
}

char *gls_job_plan_text(const gls_job *job, const gls_track_memory *memory)
{
    gls_text text = {0};
    print_plan(&text, job, memory);
    return gls_text_take(&text);
}

/* Warns of include regions that no streamline reached, the most frequent reason for few streamlines. */
static void warn_of_regions(const gls_job *job)
{
    const gls_regions *regions = job->inputs.regions;
    for (size_t i = 0; i < gls_regions_count(regions); i++) {
        gls_region_info region = gls_regions_get(regions, i);
        const gls_region_kind *kind = gls_region_kind_of(region.role);
        const bool wanted = kind->needed || region.role == GLS_REGION_INCLUDE_ANY;
        if (!wanted || kind->where != GLS_REGION_POINTS || job->result.track.met[region.bit] > 0) continue;
        gls_log(GLS_LOG_WARNING, "--%s %s: no streamline met it", gls_region_role_name(region.role), region.text);
    }
}

/* Logs counts of rejected streamlines by reason. */
static void print_rejected(const gls_track_result *r)
{
    char line[512] = "";
    size_t used = 0;
    for (int v = GLS_VERDICT_SINGLE_POINT; v < GLS_VERDICT_COUNT && used < sizeof line; v++) {
        /* list single points and short streamlines always, and other reasons only if they occurred */
        if (v > GLS_VERDICT_TOO_SHORT && r->verdicts[v] == 0) continue;
        used += (size_t)snprintf(line + used, sizeof line - used, "%s%s %s", used ? ", " : "",
                                 GLS_COUNT(r->verdicts[v]), gls_verdict_words((gls_verdict)v));
    }
    gls_log(GLS_LOG_INFO, "rejected     %s: %s", GLS_COUNT(r->directions - r->streamlines), line);
}

/* Warns if all seeds together gave fewer streamlines than --select asks for. A shard has only part of the seeds and
 * does not warn. */
static void warn_of_selection(const gls_job *job)
{
    const gls_track_result *r = &job->result.track;
    if (r->streamlines < job->params.select && job->shard.count == 0)
        gls_log(GLS_LOG_WARNING,
                "--select %" PRIu64 ": %" PRIu64 " seeds gave %" PRIu64 " streamlines, %.3g %% of those begun",
                job->params.select, r->seeds, r->streamlines,
                /* the second addend makes the divisor 1 where there are no directions */
                100 * (double)r->streamlines / (double)(r->directions + !r->directions));
}

/* Logs the counts of particle filtering. */
static void summary_filter(const gls_particle_counts *f)
{
    gls_log(GLS_LOG_INFO,
            "particles    %s streamlines with a bad end, %s searches by particles; %s searches found a way on, %s none",
            GLS_COUNT(f->streamlines), GLS_COUNT(f->runs), GLS_COUNT(f->runs - f->lost), GLS_COUNT(f->lost));
}

/* Logs counts of seeds, streamlines, points and rejections, and at what half-streamlines ended. */
static void summary_counts(const gls_track_result *r)
{
    gls_log(GLS_LOG_INFO, "seeds        %s, %s of them without a direction", GLS_COUNT(r->seeds),
            GLS_COUNT(r->seeds_without_direction));
    if (r->seeds_rejected > 0)
        gls_log(GLS_LOG_INFO, "             %s of them rejected by regions or tissue", GLS_COUNT(r->seeds_rejected));
    gls_log(GLS_LOG_INFO, "directions   %s (streamlines begun)", GLS_COUNT(r->directions));
    if (r->retries > 0) gls_log(GLS_LOG_INFO, "retries      %s", GLS_COUNT(r->retries));
    gls_log(GLS_LOG_INFO, "streamlines  %s, %s of them truncated at --max-length", GLS_COUNT(r->streamlines),
            GLS_COUNT(r->truncated));
    gls_log(GLS_LOG_INFO, "points       %s", GLS_COUNT(r->points));
    if (r->filter.runs > 0) summary_filter(&r->filter);
    char line[1024];
    print_rejected(r);
    size_t used = 0;
    for (int e = 0; e < GLS_END_COUNT && used < sizeof line; e++)
        /* list common ends always, and ends by regions and tissue only if they occurred */
        if (e <= GLS_END_MAX_LENGTH || r->ends[e] > 0)
            used += (size_t)snprintf(line + used, sizeof line - used, "%s%s %s", e ? ", " : "",
                                     gls_end_name((gls_end)e), GLS_COUNT(r->ends[e]));
    for (char *c = line; *c; c++)
        if (*c == '_') *c = ' ';
    gls_log(GLS_LOG_INFO, "ends         %s (two for each streamline begun)", line);
}

void gls_job_log_result(const gls_job *job)
{
    const gls_job_result *j = &job->result;
    const gls_track_result *r = &j->track;
    summary_counts(r);
    if (r->streamlines > 0)
        gls_log(GLS_LOG_INFO,
                "length       mean %.2f mm, median %.2f mm, max %.2f mm; mean %.1f points, median %.1f, max %" PRIu64,
                r->mean_length, r->median_length, r->max_length, r->mean_points, r->median_points, r->max_points);
    gls_log(GLS_LOG_INFO, "time         read %s, fit %s, upload %s, track %s, write %s, total %s",
            GLS_DURATION(j->seconds_read), GLS_DURATION(j->seconds_fit), GLS_DURATION(j->seconds_upload),
            GLS_DURATION(j->seconds_track), GLS_DURATION(j->seconds_write), GLS_DURATION(j->seconds_total));
    /* times of the phases on the device, and of waiting, for -v */
    gls_log(GLS_LOG_DETAIL,
            "phases       compile %s, directions %s, prefix sum %s, streamlines %s, gather %s, read back %s, wait "
            "for the writer %s",
            GLS_DURATION(r->seconds_compile), GLS_DURATION(r->seconds_initial), GLS_DURATION(r->seconds_scan),
            GLS_DURATION(r->seconds_track), GLS_DURATION(r->seconds_gather), GLS_DURATION(r->seconds_readback),
            GLS_DURATION(r->seconds_sink));
    /* write a line for each device if there are several */
    for (size_t i = 0; i < job->devices.n && job->devices.n > 1; i++)
        gls_log(GLS_LOG_INFO, "share        device %zu: %s seeds, %s streamlines in %" PRIu64 " batches, %s%s", i + 1,
                GLS_COUNT(job->share[i].seeds), GLS_COUNT(job->share[i].streamlines), job->share[i].batches,
                GLS_DURATION(job->share[i].seconds), job->share[i].failed ? "; it failed" : "");
    gls_log(GLS_LOG_DETAIL, "batches      %" PRIu64 " of at most %" PRIu64 " seeds; %s for the longest work at a time",
            r->batches, r->batch_seeds, GLS_DURATION(r->seconds_longest));
    /* rates are over the time of tracking, without reading, fit and writing at the end */
    gls_log(GLS_LOG_INFO, "speed        %spoints/s, %sstreamlines/s",
            GLS_RATE(j->seconds_track > 0 ? (double)r->points / j->seconds_track : 0),
            GLS_RATE(j->seconds_track > 0 ? (double)r->streamlines / j->seconds_track : 0));
    gls_log(GLS_LOG_INFO, "device       %s, %s; %u %s per streamline", job->device->renderer, job->device->version,
            r->lanes, r->lanes == 1 ? "invocation" : "invocations");
    gls_log(GLS_LOG_INFO, "output       %s, %s%s%s", job->output, GLS_BYTES(j->output_bytes),
            j->sidecar ? "; sidecar " : "", j->sidecar ? j->sidecar : "");
    warn_of_regions(job);
    warn_of_selection(job);
}

/* --- The plan of a run: what it would do, and the memory to request for it. */

/* Adds how much memory a job should request from a scheduler, and the estimates from which this follows. */
static void add_memory(cJSON *root, const gls_job *job, const gls_track_memory *m)
{
    cJSON *memory = cJSON_AddObjectToObject(root, "memory");
    gls_json_uint(memory, "request_mib", memory_request(job));
    gls_json_uint(memory, "host_bytes", job->memory_bytes);
    gls_json_uint(memory, "device_bytes", m->device_bytes);
    cJSON_AddBoolToObject(memory, "device_memory_is_the_hosts", job->shared_memory);
    GLS_JSON_MEMBERS(root, m, batch_seeds, lanes);
}

/* Adds the devices of the run, in their order. */
static void add_devices(cJSON *root, const gls_job *job)
{
    cJSON *array = cJSON_AddArrayToObject(root, "devices");
    for (size_t i = 0; i < job->devices.n; i++) {
        const gls_device_info *info = gls_device_get_info(job->devices.device[i]);
        cJSON *device = cJSON_CreateObject();
        GLS_JSON_MEMBERS(device, info, renderer, version, node, software);
        cJSON_AddItemToArray(array, device);
    }
}

char *gls_job_plan_json(const gls_job *job, const gls_track_memory *memory)
{
    const gls_job_inputs *in = &job->inputs;
    cJSON *root = cJSON_CreateObject(), *inputs, *voxels;
    if (!root) return NULL;
    gls_sidecar_add_software(root, job->options.argc, job->options.argv);
    inputs = cJSON_AddObjectToObject(root, "inputs");
    for (int i = 0; i < GLS_FILE_N_FILES; i++) gls_sidecar_add_file(inputs, &in->file[i]);
    gls_sidecar_add_grid(root, in->grid);
    voxels = cJSON_AddObjectToObject(root, "voxels");
    gls_json_uint(voxels, "mask", in->mask_voxels);
    if (in->roi)
        gls_json_uint(voxels, "seeds", in->seed_voxels);
    else
        cJSON_AddNullToObject(voxels, "seeds");
    gls_json_uint(root, "seeds", gls_job_seeds(job));
    gls_params_add(cJSON_AddObjectToObject(root, "parameters"), &job->options, &job->inputs.method, &job->params);
    add_devices(root, job);
    add_memory(root, job, memory);
    if (job->options.t1) {
        cJSON *anatomy = cJSON_AddObjectToObject(root, "anatomy");
        gls_json_text(anatomy, "tissue", job->anatomy.path[GLS_ANAT_FIVE]);
        cJSON_AddBoolToObject(anatomy, "is_made", gls_awaits_anatomy(&job->options));
    }
    cJSON *output = cJSON_AddObjectToObject(root, "output");
    gls_json_text(output, "path", job->output);
    gls_json_text(output, "sidecar", job->run.sidecar);
    gls_sidecar_add_warnings(root, &job->run.warnings);
    char *text = gls_json_print(root);
    cJSON_Delete(root);
    return text;
}
