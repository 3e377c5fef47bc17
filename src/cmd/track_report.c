#include "cmd/track_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/message.h"
#include "util/format.h"
#include "util/parse.h"
#include "workflow/defaults.h"
#include "workflow/params.h"

const char *cmd_device_mapping(const gls_device_info *device, gls_mapping asked, uint32_t *lanes)
{
    if (asked == GLS_MAPPING_AUTO) asked = gls_mapping_auto(device);
    *lanes = gls_mapping_lanes(asked, device);
    return gls_mapping_name(asked);
}

static void print_model(const gls_job *job, const track_options *o)
{
    if (o->sh)
        printf("ODFs        %s, %s basis\n", o->sh, gls_basis_name((gls_sh_basis)o->model.sh_basis));
    else if (o->odf)
        printf("ODFs        %s, amplitudes\n", o->odf);
    else
        printf("model       %s, order %d", gls_model_name(job->study.model.kind), job->study.model.order);
    if (o->sh || o->odf) return;
    if (job->study.model.bval > 0) printf(", shell of b = %g s/mm2", job->study.model.bval);
    printf("\n");
}

static void print_tissue(const gls_job *job, const track_options *o)
{
    char word[8];
    printf("tissue      %s, rule %s\n", o->act ? o->act : o->pve_wm,
           gls_choice_word(GLS_TISSUE_RULE_CHOICES, (int)gls_tissue_get_rule(job->study.tissue), word, sizeof word));
}

static void print_probe(const gls_track_params *p)
{
    printf("probe       %.6g mm long, %d samples and its start, ", p->probe_length, p->probe_quality);
    if (p->probe_count > 1)
        printf("%d threads at %.6g mm", p->probe_count, p->probe_radius);
    else
        printf("1 thread");
    printf("; radius of curvature at least %.6g mm; short steps of %.6g mm\n", 1 / gls_track_max_curvature(p),
           p->ptt_substep);
}

static void print_memory(const gls_track_memory *m)
{
    char total[32], volume[32], map[32], tables[32], buffers[32], host[32];
    printf("memory      %s on each device: volume of %u channels %s, stop map %s, tables %s, buffers %s\n",
           gls_format_bytes(m->device_bytes, total, sizeof total), m->volume_channels,
           gls_format_bytes(m->volume_bytes, volume, sizeof volume),
           gls_format_bytes(m->stop_map_bytes, map, sizeof map),
           gls_format_bytes(m->table_bytes, tables, sizeof tables),
           gls_format_bytes(m->buffer_bytes, buffers, sizeof buffers));
    printf("            at most %s of the host beside the images, for any number of seeds\n",
           gls_format_bytes(m->host_bytes, host, sizeof host));
}

static void print_defaults(const gls_job *job)
{
    gls_default held[GLS_MAX_DEFAULTS];
    size_t n = gls_defaults_held(&job->options_given, held);
    char line[256];
    if (job->options_given.preset != GLS_PRESET_DEFAULT)
        printf("preset      %s: %s\n", gls_preset_get((int)job->options_given.preset)->name,
               gls_preset_get((int)job->options_given.preset)->source);
    for (size_t i = 0; i < n; i++) {
        gls_default_line(&held[i], &job->options_given, line, sizeof line);
        printf("default     %s\n", line);
    }
}

void track_print_plan(const gls_job *job, const track_options *o, const gls_track_memory *memory)
{
    const gls_study *in = &job->study;
    const gls_grid *grid = in->grid;
    char count[32], batch[32], voxels[32], axes[4];
    uint64_t seeds = in->seeds ? gls_seeds_count(in->seeds) : o->nseeds,
             largest = seeds < memory->batch_seeds ? seeds : memory->batch_seeds;
    uint32_t lanes;
    const char *mapping = cmd_device_mapping(job->device, (gls_mapping)o->mapping, &lanes);
    gls_grid_axis_codes(grid, axes);
    printf("grid        %d x %d x %d voxels, %.4g x %.4g x %.4g mm, axes %s, determinant %+.6g\n", grid->dim[0],
           grid->dim[1], grid->dim[2], grid->voxel_size[0], grid->voxel_size[1], grid->voxel_size[2], axes,
           gls_grid_determinant(grid));
    if (in->series.dwi)
        printf("volumes     %zu, %zu of them b0\n", in->series.dwi->n_volumes, in->series.gradients->n_b0);
    for (size_t i = 0; i < in->series.n_shells; i++)
        printf("shell       b = %.6g s/mm2: %zu volumes\n", in->series.shell[i].bval, in->series.shell[i].n);
    printf("mask        %s voxels%s\n", gls_format_count(in->mask_voxels, voxels, sizeof voxels),
           in->mask_made ? ", made from the series" : "");
    if (gls_regions_bits(in->regions, GLS_REGION_MASK))
        printf("            streamlines end before their first point in a voxel outside it\n");
    printf("seeds       %s", gls_format_count(seeds, count, sizeof count));
    if (!in->seeds)
        printf(" in a region that is made from the fit\n");
    else if (o->seeds)
        printf(" from %s\n", o->seeds);
    else
        printf(" in %s voxels\n", gls_format_count(in->seed_voxels, voxels, sizeof voxels));
    if (job->shard.count > 0)
        printf("shard       %u of %u, of %s seeds\n", job->shard.index, job->shard.count,
               gls_format_count(job->shard.total_seeds, count, sizeof count));
    print_model(job, o);
    if (in->tissue) print_tissue(job, o);
    bool ends_itself = gls_getter_ends_itself((gls_direction_getter)o->dg);
    if ((o->fa || !ends_itself) && o->stop_threshold >= 0)
        printf("stop map    %s, threshold %g\n", o->fa ? o->fa : "FA of a tensor fit", o->stop_threshold);
    if (ends_itself) printf("cutoff      FOD amplitudes below %g\n", o->fod_cutoff);
    for (size_t i = 0; i < gls_regions_count(in->regions); i++) {
        gls_region_info region = gls_regions_get(in->regions, i);
        if (region.role == GLS_REGION_MASK) continue;
        printf("region      %s %s", gls_region_role_name(region.role), region.text);
        if (region.voxels) printf(", %s voxels", gls_format_count(region.voxels, count, sizeof count));
        printf("\n");
    }
    const gls_sphere *sphere = in->odf ? in->odf->sphere : in->sphere;
    printf("sphere      %s, %zu directions%s\n", o->sphere, sphere->n, sphere->antipodal ? " (antipodal pairs)" : "");
    printf("direction   %s, step %.6g mm, at most %g degrees\n", gls_getter_name((gls_direction_getter)o->dg),
           job->params.step_size, o->max_angle);
    if (o->dg == GLS_DG_PTT) print_probe(&job->params);
    printf("length      %g to %g mm\n", job->params.min_length, job->params.max_length);
    print_defaults(job);
    for (size_t i = 0; i < job->devices.n; i++) {
        const gls_device_info *device = gls_device_get_info(job->devices.device[i]);
        printf("device      %s, %s\n", device->renderer, device->version);
    }
    printf("mapping     %s, %u %s per streamline\n", mapping, lanes, lanes == 1 ? "invocation" : "invocations");
    printf("batch       at most %s seeds, %s batches or more\n", gls_format_count(largest, batch, sizeof batch),
           gls_format_count(largest ? (seeds + largest - 1) / largest : 0, count, sizeof count));
    print_memory(memory);
    printf("output      %s\n", job->output);
    if (job->sidecar) printf("sidecar     %s\n", job->sidecar);
}

/* Include regions that nothing reached are the likeliest reason for few streamlines. */
static void warn_of_regions(const gls_job *job)
{
    const gls_regions *regions = job->study.regions;
    for (size_t i = 0; i < gls_regions_count(regions); i++) {
        gls_region_info region = gls_regions_get(regions, i);
        bool needed = region.role == GLS_REGION_INCLUDE || region.role == GLS_REGION_INCLUDE_ORDERED;
        if (needed && job->result.track.met[region.bit] == 0)
            cmd_warn("--%s %s: no streamline met it", gls_region_role_name(region.role), region.text);
    }
}

/* By reason; those of regions and tissue only where there are some. */
static void print_rejected(const gls_track_result *r)
{
    static const char *const reason[GLS_VERDICT_COUNT] = {[GLS_VERDICT_SINGLE_POINT] = "of a single point",
                                                          [GLS_VERDICT_TOO_SHORT] = "too short",
                                                          [GLS_VERDICT_EXCLUDED] = "in exclude regions",
                                                          [GLS_VERDICT_MISSED_INCLUDE] = "without all include regions",
                                                          [GLS_VERDICT_POOR_END] = "with a bad end",
                                                          [GLS_VERDICT_TOO_LONG] = "too long",
                                                          [GLS_VERDICT_NO_WHITE_MATTER] = "without white matter",
                                                          [GLS_VERDICT_WRONG_ORDER] = "in another order",
                                                          [GLS_VERDICT_WRONG_ENDS] = "with ends elsewhere"};
    char line[512] = "", a[32];
    size_t used = 0;
    for (int v = GLS_VERDICT_SINGLE_POINT; v < GLS_VERDICT_COUNT && used < sizeof line; v++) {
        if (v > GLS_VERDICT_TOO_SHORT && r->verdicts[v] == 0) continue;
        used += (size_t)snprintf(line + used, sizeof line - used, "%s%s %s", used ? ", " : "",
                                 gls_format_count(r->verdicts[v], a, sizeof a), reason[v]);
    }
    cmd_info("rejected     %s: %s", gls_format_count(r->directions - r->streamlines, a, sizeof a), line);
}

static void warn_of_selection(const gls_job *job)
{
    const gls_track_result *r = &job->result.track;
    if (r->streamlines < job->params.select)
        cmd_warn("--select %" PRIu64 ": %" PRIu64 " seeds gave %" PRIu64 " streamlines, %.3g %% of those begun",
                 job->params.select, r->seeds, r->streamlines,
                 100 * (double)r->streamlines / (double)(r->directions + !r->directions));
}

static void summary_counts(const gls_track_result *r)
{
    char a[32], b[32];
    cmd_info("seeds        %s, %s of them without a direction", gls_format_count(r->seeds, a, sizeof a),
             gls_format_count(r->seeds_without_direction, b, sizeof b));
    if (r->seeds_rejected > 0)
        cmd_info("             %s of them rejected by regions or tissue",
                 gls_format_count(r->seeds_rejected, a, sizeof a));
    cmd_info("directions   %s", gls_format_count(r->directions, a, sizeof a));
    if (r->retries > 0) cmd_info("retries      %s", gls_format_count(r->retries, a, sizeof a));
    cmd_info("streamlines  %s, %s of them cut at the largest length", gls_format_count(r->streamlines, a, sizeof a),
             gls_format_count(r->truncated, b, sizeof b));
    cmd_info("points       %s", gls_format_count(r->points, a, sizeof a));
    char line[1024];
    print_rejected(r);
    size_t used = 0;
    for (int e = 0; e < GLS_END_COUNT && used < sizeof line; e++)
        if (e <= GLS_END_MAX_LENGTH || r->ends[e] > 0)
            used += (size_t)snprintf(line + used, sizeof line - used, "%s%s %s", e ? ", " : "",
                                     gls_end_name((gls_end)e), gls_format_count(r->ends[e], a, sizeof a));
    for (char *c = line; *c; c++)
        if (*c == '_') *c = ' ';
    cmd_info("half ends    %s", line);
}

void track_print_summary(const gls_job *job)
{
    const gls_job_result *j = &job->result;
    const gls_track_result *r = &j->track;
    char a[32], b[32], c[32], d[32], e[32], f[32], g[32];
    summary_counts(r);
    if (r->streamlines > 0)
        cmd_info("length       mean %.2f mm, median %.2f mm, max %.2f mm; mean %.1f points, median %.1f, max %" PRIu64,
                 r->mean_length, r->median_length, r->max_length, r->mean_points, r->median_points, r->max_points);
    cmd_info("time         read %s, fit %s, upload %s, track %s, write %s, total %s",
             gls_format_duration(j->seconds_read, a, sizeof a), gls_format_duration(j->seconds_fit, b, sizeof b),
             gls_format_duration(j->seconds_upload, c, sizeof c), gls_format_duration(j->seconds_track, d, sizeof d),
             gls_format_duration(j->seconds_write, e, sizeof e), gls_format_duration(j->seconds_total, f, sizeof f));
    cmd_detail("phases       compile %s, directions %s, prefix sum %s, streamlines %s, gather %s, read back %s, wait "
               "for the writer %s",
               gls_format_duration(r->seconds_compile, a, sizeof a),
               gls_format_duration(r->seconds_initial, b, sizeof b), gls_format_duration(r->seconds_scan, c, sizeof c),
               gls_format_duration(r->seconds_track, d, sizeof d), gls_format_duration(r->seconds_gather, e, sizeof e),
               gls_format_duration(r->seconds_readback, f, sizeof f),
               gls_format_duration(r->seconds_sink, g, sizeof g));
    for (size_t i = 0; i < job->devices.n && job->devices.n > 1; i++)
        cmd_info("share        device %zu: %s seeds, %s streamlines in %" PRIu64 " batches, %s%s", i + 1,
                 gls_format_count(job->share[i].seeds, a, sizeof a),
                 gls_format_count(job->share[i].streamlines, b, sizeof b), job->share[i].batches,
                 gls_format_duration(job->share[i].seconds, c, sizeof c), job->share[i].failed ? "; it failed" : "");
    cmd_detail("batches      %" PRIu64 " of at most %" PRIu64 " seeds; %s for the longest work at a time", r->batches,
               r->batch_seeds, gls_format_duration(r->seconds_longest, a, sizeof a));
    cmd_info("speed        %spoints/s, %sstreamlines/s",
             gls_format_rate(j->seconds_track > 0 ? (double)r->points / j->seconds_track : 0, a, sizeof a),
             gls_format_rate(j->seconds_track > 0 ? (double)r->streamlines / j->seconds_track : 0, b, sizeof b));
    cmd_info("device       %s, %s; %u %s per streamline", job->device->renderer, job->device->version, r->lanes,
             r->lanes == 1 ? "invocation" : "invocations");
    cmd_info("output       %s, %s%s%s", job->output, gls_format_bytes(j->output_bytes, a, sizeof a),
             job->sidecar ? "; sidecar " : "", job->sidecar ? job->sidecar : "");
    warn_of_regions(job);
    warn_of_selection(job);
}
