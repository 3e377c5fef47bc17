/* Makes a run of tracking: checks its options, and names its inputs and outputs. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/job_create.h"
#include "gpu/devices.h"
#include "image/region_area.h"
#include "record/output_name.h"
#include "record/run.h"
#include "record/run_params.h"
#include "record/sidecar.h"
#include "run/anatomy.h"
#include "run/job_anatomy.h"
#include "run/job_inputs.h"
#include "run/job_inputs_parts.h"
#include "run/job_parts.h"
#include "run/shard_seeds.h"
#include "sinks/sink_table.h"
#include "sinks/sinks.h"
#include "track/getter/getters.h"
#include "track/run/journal.h"
#include "transform/transform.h"
#include "weights/fod.h"
#include "util/file.h"
#include "util/numbers.h"

/* In a shard, returns the path of the shard's output, from malloc, and frees `path`. If the run is no shard (count 0),
 * or path is NULL, returns `path` itself. */
static char *shard_name(char *path, const gls_shard *shard)
{
    if (!path || shard->count == 0) return path;
    char *name = gls_shard_name(path, shard);
    free(path);
    return name;
}

/* Takes the format of the tractogram from the name of --output, or from the option for it. GLS_ERR_ARGUMENT: options
 * that exclude each other, or half precision in a format without it. */
static gls_status choose_format(gls_job *job)
{
    const gls_job_options *o = &job->options;
    job->format = o->format;
    if (o->output && o->output_prefix)
        return gls_fail(GLS_ERR_ARGUMENT, "--output and --output-prefix exclude each other: leave out one of them");
    job->no_tractogram = o->output && strcmp(o->output, "none") == 0;
    gls_status status =
        o->output && !job->no_tractogram ? gls_tractogram_format_parse(o->output, &job->format) : GLS_OK;
    job->options.format = job->format;
    if (!status && o->output_precision == GLS_PRECISION_HALF && job->format != GLS_FORMAT_TRX)
        status = gls_fail(GLS_ERR_ARGUMENT, "--output-precision half: needs TRX as the format of the output");
    return status;
}

gls_status gls_job_options_inputs(const gls_job_options *o, gls_inputs *inputs)
{
    gls_input_file file[GLS_FILE_N_FILES];
    gls_status status = GLS_OK;
    gls_job_inputs_files(o, file);
    for (size_t i = 0; i < GLS_FILE_N_FILES && !status; i++) status = gls_inputs_add(inputs, file[i].path);
    if (!status) status = gls_inputs_add_chain(inputs, &o->transform);
    if (!status && o->t1) status = gls_job_anatomy_inputs(o, inputs);
#define GLS_REGION_ROW(symbol, number, field, ...) \
    if (!status) status = gls_inputs_add_all(inputs, (const char *const *)o->field.value, (size_t)o->field.n);
#include <glslines/regions.def>
    return status;
}

/* Checks the regions, so that a fault in their texts or a missing file ends the run before any work. */
static gls_status check_regions(const gls_job_options *o)
{
    gls_status status = GLS_OK;
#define GLS_REGION_ROW(symbol, number, field, option, ...) \
    for (int k = 0; k < o->field.n && !status; k++) status = gls_region_text_check(option, o->field.value[k]);
#include <glslines/regions.def>
    return status;
}

/* Stores the paths of all outputs and of the sidecar, if there is one. Returns their number. */
static size_t list_paths(const gls_job *job, const char *path[GLS_JOB_FILES + 1])
{
    for (size_t i = 0; i < job->n_files; i++) path[i] = job->file[i].path;
    path[job->n_files] = job->run.sidecar;
    return job->n_files + (job->run.sidecar ? 1 : 0);
}

/* Whether at least one output exists, and the journal names each existing output: a run wrote them and was killed
 * before it removed its journal. */
static bool are_own(const gls_job *job)
{
    const char *path[GLS_JOB_FILES + 1];
    gls_journal_file file[GLS_JOURNAL_MAX_FILES];
    const size_t n = list_paths(job, path), n_noted = job->journal ? gls_journal_files(job->journal, file) : 0;
    struct stat info;
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        if (stat(path[i], &info) != 0) continue;
        while (k < n_noted && (file[k].device != (uint64_t)info.st_dev || file[k].inode != (uint64_t)info.st_ino)) k++;
        if (k == n_noted) return false;
        any = true;
    }
    return any;
}

/* Sets job->output to the path of the tractogram. Leaves it NULL if no tractogram is written. */
static gls_status name_tractogram(gls_job *job)
{
    const gls_job_options *o = &job->options;
    char suffix[16];
    gls_status status = GLS_OK;
    if (job->no_tractogram) return GLS_OK;
    gls_snprintf(suffix, sizeof suffix, ".%s", GLS_WORD(GLS_FORMAT_CHOICES, (int)job->format));
    if (o->output)
        job->output = strdup(o->output);
    else
        status = gls_run_join(o->output_prefix ? o->output_prefix : "tracks", suffix, &job->output);
    if (status) return status;
    job->output = shard_name(job->output, &job->shard);
    return job->output ? GLS_OK : gls_no_memory();
}

/* Adds the file of a sink. */
static void add_file(gls_job *job, const gls_run_sink *sink)
{
    gls_job_file *file = &job->file[job->n_files++];
    int n = 1;
    for (const gls_run_sink *before = job->sinks.sink; before < sink; before++)
        n += before->output && strcmp(before->kind->role, sink->kind->role) == 0;
    file->path = sink->output;
    snprintf(file->role, sizeof file->role, "%s", sink->kind->role);
    if (n > 1) snprintf(file->role, sizeof file->role, "%s_%d", sink->kind->role, n);
}

/* Lists the output files, and names the sidecar, the mask and the journal. Decides whether existing outputs may be
 * replaced. Fails if the run writes no file. */
static gls_status name_outputs(gls_job *job)
{
    const gls_job_options *o = &job->options;
    bool none = o->sidecar && strcmp(o->sidecar, "none") == 0;
    gls_status status = GLS_OK;
    if (!job->no_tractogram) job->file[job->n_files++] = (gls_job_file){"tractogram", job->output};
    for (size_t i = 0; i < job->sinks.n; i++) {
        const gls_run_sink *sink = &job->sinks.sink[i];
        if (sink->output) add_file(job, sink);
    }
    if (job->n_files == 0)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--output none: nothing would be written: add an option that writes a result, such as "
                        "--density FILE; 'glslines help track' lists these options under Output");
    if (!job->output) job->output = strdup(job->file[0].path);
    if (!job->output) return gls_no_memory();
    if (!none) {
        job->run.sidecar = o->sidecar ? shard_name(strdup(o->sidecar), &job->shard) : gls_sidecar_name(job->output);
        if (!job->run.sidecar) return gls_no_memory();
    }
    if (o->write_mask) status = gls_image_name_check(o->write_mask);
    if (status) return status;
    if (o->write_mask) {
        job->mask = shard_name(strdup(o->write_mask), &job->shard);
        if (!job->mask) return gls_no_memory();
        job->file[job->n_files++] = (gls_job_file){"write_mask", job->mask};
    }
    if (o->resume && gls_asprintf(&job->journal, "%s.resume", job->output) < 0) return gls_no_memory();
    job->run.force = o->force || are_own(job);
    return GLS_OK;
}

/* Checks the files beside the outputs, and adds them to the outputs of the run. */
static gls_status check_extras(gls_job *job)
{
    gls_status status = GLS_OK;
    for (size_t i = 0; i < GLS_JOB_EXTRAS && !status; i++) status = gls_run_writes(&job->run, job->extra[i]);
    return status;
}

gls_status gls_job_check_outputs(gls_job *job)
{
    const char *path[GLS_JOB_FILES + 1];
    const size_t n = list_paths(job, path);
    gls_status status = GLS_OK;
    for (size_t i = 0; i < n && !status; i++) {
        if (path[i] == job->run.sidecar && !job->options.sidecar) status = gls_sidecar_check_free(path[i]);
        if (!status) status = gls_run_writes(&job->run, path[i]);
    }
    if (!status) status = gls_run_rewrites(&job->run, job->journal);
    return status ? status : check_extras(job);
}

gls_status gls_job_add_extras(gls_job *job, const char *const *path)
{
    for (size_t i = 0; i < GLS_JOB_EXTRAS; i++) {
        if (!path[i] || !*path[i]) continue;
        job->extra[i] = strdup(path[i]);
        if (!job->extra[i]) return gls_no_memory();
    }
    return job->options.skip_existing ? GLS_OK : check_extras(job);
}

/* Checks that no output is an input, and that no two outputs that do not exist yet have one name. Existing outputs may
 * be the same file, as in a store that keeps equal files once. */
static gls_status check_names(const gls_job *job)
{
    const char *path[GLS_JOB_FILES + 1];
    gls_status status = GLS_OK;
    for (size_t i = 0, n = list_paths(job, path); i < n && !status; i++) {
        status = gls_inputs_check(&job->run.inputs, path[i]);
        if (!status && access(path[i], F_OK) != 0) status = gls_file_differs(path[i], path, i);
    }
    return status;
}

/* --- The options. */

/* Fails unless files are given or the phantom is asked for. The phantom is no default, so that an empty list of files
 * in a script does not give a tractogram of the phantom. */
static gls_status check_source(const gls_job_options *o, const gls_method *m)
{
    bool files = o->dwi || m->given || m->masks_alone;
    if (o->dwi && o->phantom)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--phantom cannot be used with input files, such as %s: leave out one or the other", o->dwi);
    if (files || o->phantom) return GLS_OK;
    return gls_fail(GLS_ERR_ARGUMENT, "track: no input files; usage: glslines track DWI [BVAL BVEC [MASK [ROI]]] "
                                      "[options], or --sh, --odf, --peaks, --bedpostx or --phantom (built in) instead "
                                      "of DWI; --mask or --roi is enough for --dg nulldist1, nulldist2 and seedtest");
}

/* Checks the combination of inputs (a series, ODFs, peaks, samples, masks alone, the phantom), and that the run has a
 * stop map and seeds where these do not come from a series. */
static gls_status check_inputs(const gls_job_options *o, const gls_method *m)
{
    const char *odf = m->masks_alone ? "mask" : m->given;
    if (odf && o->phantom)
        return gls_fail(GLS_ERR_ARGUMENT, "--phantom and --%s are both inputs of a run: leave one of them out", odf);
    if ((o->bval != NULL) != (o->bvec != NULL) || (o->bval && !o->dwi))
        return gls_fail(GLS_ERR_ARGUMENT, "BVAL and BVEC: give both, and the series DWI to which they belong");
    if (o->sh && o->odf) return gls_fail(GLS_ERR_ARGUMENT, "--sh and --odf exclude each other: leave out one of them");
    if (o->peaks.n > 0 && (o->sh || o->odf))
        return gls_fail(GLS_ERR_ARGUMENT, "--peaks and --%s exclude each other: leave out one of them", odf);
    if (o->peaks.n > 0 && !m->peaks && m->source != GLS_FROM_NOTHING)
        return gls_fail(GLS_ERR_ARGUMENT, "--dg %s: cannot use --peaks: take --dg fact, eudx or bedpost",
                        m->getter->name);
    if (o->bedpostx && (o->sh || o->odf || o->peaks.n > 0))
        return gls_fail(GLS_ERR_ARGUMENT, "--bedpostx and --%s exclude each other: leave out one of them", odf);
    if (o->bedpostx && !gls_getter_uses(m->getter, GLS_FOR_bedpost) && m->source != GLS_FROM_NOTHING)
        return gls_fail(GLS_ERR_ARGUMENT, "--dg %s: cannot use --bedpostx: take --dg bedpost", m->getter->name);
    if (o->peaks_values.n > 0 && o->peaks.n == 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--peaks-values: needs --peaks FILE");
    if (o->peaks.n > GLS_MAX_PEAK_FILES || o->peaks_values.n > GLS_MAX_PEAK_FILES)
        return gls_fail(GLS_ERR_ARGUMENT, "--%s: got %d files, but reads %d at most: join their volumes in one file",
                        o->peaks.n > GLS_MAX_PEAK_FILES ? "peaks" : "peaks-values",
                        o->peaks.n > GLS_MAX_PEAK_FILES ? o->peaks.n : o->peaks_values.n, GLS_MAX_PEAK_FILES);
    bool places = o->roi || gls_seeds_place(o), tissue_alone = m->tissue && o->track.stop_threshold < 0;
    if (odf && !o->dwi && !o->fa && !tissue_alone && !m->getter->own_end)
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "--%s: --dg %s ends streamlines by a map of FA: add --fa FILE, or DWI BVAL BVEC, to which FA is fitted%s",
            odf, m->getter->name,
            o->sh ? "; or take --dg ifod2, ifod1 or sdstream, which end streamlines by the FODs and need no FA" : "");
    if (odf && !o->dwi && !places && !o->fa)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--%s: needs seeds: give --roi FILE, --seeds FILE, --seed-sphere x,y,z,r%s, or --fa FILE, "
                        "which puts seeds where FA is above 0.2",
                        odf, m->tissue ? ", --seed-gmwmi auto" : "");
    if (o->odf && gls_sphere_is_built_in(o->sphere))
        return gls_fail(GLS_ERR_ARGUMENT, "--odf: needs --sphere FILE, which has a direction for each volume of ODFs");
    if (odf && !o->dwi && o->cache_dir)
        return gls_fail(GLS_ERR_ARGUMENT, "--cache-dir: has no effect in a run that fits nothing: leave it out");
    return GLS_OK;
}

/* Checks that the getter can use the model and the inputs, and has the parameters that the options set. Also checks
 * limits of length, and options that need an --fdt-... option. */
static gls_status check_getter(const gls_job_options *o, const gls_method *m)
{
    const gls_track_params *t = &o->track;
    const char *odf = m->given;
    if (m->source == GLS_FROM_QBALL && odf)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--dg boot: cannot use --%s: the bootstrap draws from the residuals of the measured signal; "
                        "take --dg prob, det or ptt%s",
                        odf, o->sh ? ", or ifod2" : "");
    if (m->source == GLS_FROM_SERIES && (odf || !(o->dwi || o->phantom)))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--dg %s: fits tensors to the measured signal: give the series, DWI BVAL BVEC%s%s",
                        m->getter->name, odf ? ", without --" : "", odf ? odf : "");
    if (m->source == GLS_FROM_QBALL && o->model.model > GLS_MODEL_CSA)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--dg boot: cannot use --model %s: the bootstrap refits the signal at every step, for which "
                        "the model must be linear (opdt, csa); take --dg ifod2, prob, det or ptt",
                        gls_model_name(o->model.model));
    gls_status status = gls_track_params_check_getter(t);
    if (status) return status;
    if (m->getter->own_end && m->odf && o->odf)
        return gls_fail(GLS_ERR_ARGUMENT, "--dg %s: cannot use amplitudes (--odf): give --sh FILE, or DWI BVAL BVEC",
                        m->getter->name);
    if (o->odf && t->odf_interpolation == GLS_ODF_INTERPOLATE_COEFFICIENTS)
        return gls_fail(GLS_ERR_ARGUMENT, "--odf-interpolation coefficients: not with --odf, which gives amplitudes");
    if (t->probe_count == 1 && t->probe_radius > 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--probe-radius: needs --probe-count of at least 2");
    if (t->max_length >= 0 && t->min_length > t->max_length)
        return gls_fail(GLS_ERR_ARGUMENT, "--min-length: %g mm is more than --max-length %g mm", t->min_length,
                        t->max_length);
    return GLS_OK;
}

/* Checks combinations of options for tissue, and of options that need tissue. */
static gls_status check_tissue(const gls_job_options *o, const gls_method *m)
{
    /* tissue: whether any source of tissue is given, so that tissue decides where streamlines end */
    bool fractions = o->pve_wm || o->pve_gm || o->pve_csf, maps = o->map_include || o->map_exclude,
         tissue = fractions || maps || m->tissue;
    const gls_track_params *t = &o->track;
    /* a run has one of three sources of tissue: an image of five tissues, maps of partial volumes, or maps that include
     * and exclude ends */
    if (o->act && (fractions || o->pve_sgm))
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "--act and --pve-wm, --pve-gm, --pve-csf or --pve-sgm exclude each other: leave out --act or these");
    if (maps && (o->act || fractions || o->pve_sgm))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--map-include or --map-exclude cannot be used with %s, another source of tissue: leave out "
                        "one of the sources",
                        o->act ? "--act" : "the options --pve-...");
    if (maps && !(o->map_include && o->map_exclude))
        return gls_fail(GLS_ERR_ARGUMENT, "--map-include and --map-exclude: both are needed");
    if (maps && o->act_rule == GLS_TISSUE_RULE_ACT)
        return gls_fail(GLS_ERR_ARGUMENT, "--map-include and --map-exclude: need --act-rule cmc or pve");
    if (o->t1 && (o->act || fractions || maps || o->pve_sgm))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--t1 and another source of tissue exclude each other: leave out one of them");
    if (o->t1 && !o->dwi) return gls_fail(GLS_ERR_ARGUMENT, "--t1: needs the series, DWI BVAL BVEC");
    if (o->t1 && o->transform.n > 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--t1: its tissue lies in the space of DWI, so --transform cannot bring it");
    if (o->atlas && !o->t1) return gls_fail(GLS_ERR_ARGUMENT, "--atlas: needs --t1 FILE");
    if (o->boundary && !o->t1) return gls_fail(GLS_ERR_ARGUMENT, "--boundary: needs --t1 FILE");
    if (fractions && !(o->pve_wm && o->pve_gm && o->pve_csf))
        return gls_fail(GLS_ERR_ARGUMENT, "--pve-wm, --pve-gm and --pve-csf: all three are needed");
    if (o->pve_sgm && !fractions)
        return gls_fail(GLS_ERR_ARGUMENT, "--pve-sgm: needs --pve-wm, --pve-gm and --pve-csf");
    /* the first option given that has no meaning without tissue; NULL: none */
    const char *lone = t->pft                               ? "pft"
                       : o->act_rule != GLS_TISSUE_RULE_ACT ? "act-rule"
                       : t->backtrack                       ? "backtrack"
                       : t->crop_at_gmwmi                   ? "crop-at-gmwmi"
                       : t->keep_all_ends                   ? "keep-all-ends"
                       : o->seed_gmwmi                      ? "seed-gmwmi"
                                                            : NULL;
    if (lone && !tissue)
        return gls_fail(GLS_ERR_ARGUMENT, "--%s: needs --act FILE, or --pve-wm, --pve-gm and --pve-csf%s", lone,
                        t->pft || o->act_rule != GLS_TISSUE_RULE_ACT ? ", or --map-include and --map-exclude" : "");
    /* only rule ACT has cropping and backtracking, only CMC and PVE have particle filtering */
    if (t->pft && o->act_rule == GLS_TISSUE_RULE_ACT)
        return gls_fail(GLS_ERR_ARGUMENT, "--pft cannot be used with --act-rule act: give --act-rule cmc or pve");
    if (o->act_rule != GLS_TISSUE_RULE_ACT && (t->crop_at_gmwmi || t->backtrack))
        return gls_fail(GLS_ERR_ARGUMENT, "--%s: needs --act-rule act", t->backtrack ? "backtrack" : "crop-at-gmwmi");
    if (t->backtrack && t->keep_all_ends)
        return gls_fail(GLS_ERR_ARGUMENT, "--backtrack and --%s exclude each other: leave out one of them",
                        m->getter->one_point ? "dg seedtest" : "keep-all-ends");
    if (t->pft && o->stop_leaving.n > 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--pft and --stop-leaving exclude each other: leave out one of them");
    gls_status status = gls_track_tissue_check(t, tissue);
    if (status) return status;
    if (tissue && o->mask_stop == GLS_MASK_STOP_INTERPOLATED && t->stop_threshold < 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--mask-stop interpolated: if tissue is given, this needs --fa-threshold, "
                                          "without which tissue alone ends streamlines");
    return GLS_OK;
}

/* Checks --seed-dynamic, which decides itself where streamlines start, and computes one round after the other. */
static gls_status check_dynamic(const gls_job_options *o, const gls_method *m)
{
    const char *other = o->shard ? "shard" : o->seed_direction.n > 0 ? "seed-direction" : o->roi ? "roi" : NULL;
    if (other)
        return gls_fail(GLS_ERR_ARGUMENT, "--%s and --seed-dynamic exclude each other: leave out one of them", other);
    if (o->track.select == 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--seed-dynamic: needs --select N, the number of streamlines for which "
                                          "densities are compared");
    if (gls_is_auto(o->seed_dynamic) && !gls_fod_is_tracked(o, m))
        return gls_fail(GLS_ERR_ARGUMENT, "--seed-dynamic auto: needs fibre orientation distributions that are "
                                          "tracked: give --model msmt or csd, --sh FILE, or --seed-dynamic FILE");
    return GLS_OK;
}

/* Checks the options for seeds: at most one source of seeds, a valid --seed-direction, and whether --nseeds, --select
 * and --shard fit together. */
static gls_status check_seeds(const gls_job_options *o, const gls_method *m)
{
    /* options that place seeds, of which a run may have one */
    const char *given[] = {o->seeds ? "seeds" : NULL,
                           o->seeds_per_voxel > 0 ? "seeds-per-voxel" : NULL,
                           o->seed_sphere ? "seed-sphere" : NULL,
                           o->seed_rejection ? "seed-rejection" : NULL,
                           o->seed_gmwmi ? "seed-gmwmi" : NULL,
                           o->seed_dynamic ? "seed-dynamic" : NULL,
                           o->seed_grid > 0 ? "seed-grid" : NULL};
    const char *first = NULL;
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        if (first && given[i])
            return gls_fail(GLS_ERR_ARGUMENT, "--%s and --%s exclude each other: leave out one of them", first,
                            given[i]);
        if (given[i]) first = given[i];
    }
    if (o->seed_dynamic) {
        gls_status status = check_dynamic(o, m);
        if (status) return status;
    }
    /* counted: --nseeds sets the number of seeds */
    bool counted = m->seeds == GLS_SEEDS_COUNTED;
    if (counted && o->nseeds == 0 && o->track.select == 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--nseeds 0: needs --select N, which ends the run");
    const gls_numbers *d = &o->seed_direction;
    if (d->n != 0 && (d->n != 3 || (d->value[0] == 0 && d->value[1] == 0 && d->value[2] == 0)))
        return gls_fail(GLS_ERR_ARGUMENT, "--seed-direction: needs three numbers x,y,z that are not all 0");
    if (o->shard && counted && o->nseeds == 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--nseeds 0 cannot be used with --shard, which divides the seeds: give "
                                          "--nseeds N, the number of all seeds");
    return GLS_OK;
}

/* Checks combinations of options of regions. */
static gls_status check_region_roles(const gls_job_options *o)
{
    if (o->include_ordered.n > 0 && !o->track.seed_unidirectional)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--include-ordered: needs --seed-unidirectional: without it a streamline has no first end");
    if (o->track.stop_at_all && o->include.n + o->include_any.n == 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--stop: needs --include or --include-any, the regions to be met");
    return GLS_OK;
}

/* Checks the options before any file is opened. */
static gls_status check_options(const gls_job_options *o, const gls_method *m)
{
    GLS_REQUIRE(o->sphere && o->device && o->ngpus >= 1 && o->ngpus <= GLS_TRACKER_MAX_DEVICES);
    gls_status status = gls_device_names_check(o->device);
    if (!status) status = check_inputs(o, m);
    if (!status) status = check_tissue(o, m);
    if (!status && o->transform_mask && (o->transform.n == 0 || !o->mask))
        status = gls_fail(GLS_ERR_ARGUMENT, "--transform-mask: needs --transform, and a brain mask");
    if (!status && o->transform.n > 0 && !gls_reads_anatomy(o))
        status =
            gls_fail(GLS_ERR_ARGUMENT,
                     "--transform: there is no image to bring: needs a seed mask (--roi), a region, tissue (--act), "
                     "labels, rules of bundles, an image of --sample or --profile, or --mask with --transform-mask");
    if (!status) status = check_seeds(o, m);
    if (!status) status = check_region_roles(o);
    if (!status) status = check_getter(o, m);
    if (!status) status = gls_model_options_check(&o->model);
    return status ? status : check_source(o, m);
}

/* Sets the index and count of the shard from --shard. gls_shard_restrict() sets its seeds later. */
static gls_status init_shard(gls_job *job)
{
    if (!job->options.shard) return GLS_OK;
    if (job->options.fail_if_empty)
        return gls_fail(GLS_ERR_ARGUMENT, "--fail-if-empty: not with --shard, because a shard may be empty where the "
                                          "whole run is not; give this option to 'glslines merge'");
    return gls_shard_choose(job->options.shard, &job->shard);
}

/* Makes the sinks that the options ask for, and names their files. */
static gls_status take_results(gls_job *job)
{
    job->sinks.run = &job->run;
    job->sinks.options = &job->options;
    job->sinks.method = &job->inputs.method;
    job->sinks.shard = &job->shard;
    job->sinks.output = job->output;
    job->sinks.no_tractogram = job->no_tractogram;
    job->sinks.writes_trx = gls_job_writes_trx(job);
    return gls_sinks_take(&job->sinks);
}

gls_status gls_job_create(const gls_job_options *options, const gls_monitor *monitor, gls_job **out)
{
    GLS_REQUIRE_SIZE(options);
    GLS_REQUIRE(out);
    gls_job *job = calloc(1, sizeof *job);
    if (!job) return gls_no_memory();
    job->started = time(NULL);
    gls_run_begin(&job->run, false);
    gls_job_options *o = &job->options;
    *o = options ? *options : gls_job_options_default();
    if (monitor) job->monitor = *monitor;
    gls_status status = o->given ? gls_job_options_complete(o, o->given) : gls_options_check_values(gls_params, o);
    job->options_given = *o;
    for (const gls_param *p = gls_params; p->name && !status; p++)
        if (p->owner == GLS_OF_JOB) status = gls_option_outputs_check(p, o);
    if (o->t1 && !o->roi && !gls_seeds_place(o) && gls_method_of(o).seeds == GLS_SEEDS_COUNTED) o->seed_gmwmi = "auto";
    if (!status) job->inputs.method = gls_method_of(o);
    if (!status) status = check_options(o, &job->inputs.method);
    if (!status) gls_defaults_log(&job->options_given, &job->inputs.method);
    if (!status) status = choose_format(job);
    if (!status && o->dwi && !o->bval) {
        status = gls_input_file_check(&(gls_input_file){.path = o->dwi});
        if (!status) status = gls_series_find_table(o->dwi, NULL, &job->bval, &job->bvec);
        o->bval = job->bval;
        o->bvec = job->bvec;
    }
    /* a gradient table in one file, or in the image itself, uses the scanner axes */
    if (o->bvec && !gls_table_path(o->bvec)) o->model.bvec_frame = GLS_BVEC_WORLD;
    if (!status && o->t1) status = gls_job_anatomy_find(job);
    if (!status) status = init_shard(job);
    if (!status) status = name_tractogram(job);
    if (!status) status = take_results(job);
    if (!status) status = check_regions(o);
    if (!status) status = gls_job_options_inputs(o, &job->run.inputs);
    if (!status) status = gls_sinks_name_inputs(&job->sinks);
    if (!status) status = name_outputs(job);
    if (!status) status = o->skip_existing ? check_names(job) : gls_job_check_outputs(job);
    if (!status) status = gls_job_inputs_init(&job->inputs, job->inputs.method, o);
    job->inputs.wants_fa = job->sinks.wants_fa;
    if (status) {
        gls_job_destroy(job);
        return status;
    }
    job->result.output = job->output;
    job->result.sidecar = job->run.sidecar;
    *out = job;
    return GLS_OK;
}

void gls_job_destroy(gls_job *job)
{
    if (!job) return;
    /* end the sinks first, because a thread of a sink may still read the inputs */
    gls_sinks_finish(&job->sinks);
    gls_dynamic_seeds_destroy(job->dynamic);
    gls_tracker_destroy(job->tracker);
    gls_device_set_close(&job->devices);
    gls_job_inputs_finish(&job->inputs);
    gls_run_end(&job->run);
    for (int k = 0; k < GLS_JOB_EXTRAS; k++) free(job->extra[k]);
    cJSON_Delete(job->written);
    free(job->bval);
    free(job->bvec);
    gls_anat_names_finish(&job->anatomy);
    for (int k = 0; k < GLS_MAX_STRINGS; k++) free(job->connectome[k]);
    free(job->output);
    free(job->sidecar_second);
    free(job->mask);
    free(job->journal);
    free(job);
}
