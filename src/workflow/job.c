/* The run of tracking: checks the options, reads and fits the inputs, tracks, and writes all outputs. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/formats.h"
#include "track/engine/visitor_kernel.h"
#include "track/run/journal.h"
#include "track/track_params.h"
#include "tractogram/writers.h"
#include "util/clock.h"
#include "util/numbers.h"
#include "util/output_file.h"
#include "util/status.h"
#include "workflow/device_checks.h"
#include "workflow/job.h"
#include "workflow/job_inputs.h"
#include "workflow/run.h"
#include "workflow/run_params.h"
#include "workflow/run_shards.h"
#include "workflow/sidecar.h"

/* Fails unless files are given or the phantom is asked for. It is not the default, so that an empty list of files in a
 * script does not give a tractogram of the phantom. */
static gls_status check_source(const gls_job_options *o)
{
    bool files = o->dwi || gls_directions_option(o);
    if (o->dwi && o->phantom)
        return gls_fail(GLS_ERR_ARGUMENT, "--phantom: is tracked instead of input files, such as %s", o->dwi);
    if (files || o->phantom) return GLS_OK;
    return gls_fail(GLS_ERR_ARGUMENT, "track: no input files; usage: glslines track DWI [BVAL BVEC [MASK [ROI]]] "
                                      "[options], or --sh, --odf, --peaks, --bedpostx or --phantom (built in) instead "
                                      "of DWI");
}

/* Checks the combination of images: a series, ODFs, both, or the phantom. */
static gls_status check_inputs(const gls_job_options *o)
{
    /* odf: the option that gives directions, NULL without one */
    const char *odf = gls_directions_option(o);
    if (odf && o->phantom)
        return gls_fail(GLS_ERR_ARGUMENT, "--phantom and --%s are both inputs of a run: leave one of them out", odf);
    if ((o->bval != NULL) != (o->bvec != NULL) || (o->bval && !o->dwi))
        return gls_fail(GLS_ERR_ARGUMENT, "bval and bvec belong together, and to a series dwi");
    /* one source of directions at a time */
    if (o->sh && o->odf) return gls_fail(GLS_ERR_ARGUMENT, "--sh and --odf exclude each other");
    if (o->peaks.n > 0 && (o->sh || o->odf))
        return gls_fail(GLS_ERR_ARGUMENT, "--peaks and --%s exclude each other", odf);
    /* only getters along peaks, or those that need no directions, take --peaks */
    if (o->peaks.n > 0 && !gls_along_peaks(o) && gls_getter_source_of(o->track.dg) != GLS_FROM_NOTHING)
        return gls_fail(GLS_ERR_ARGUMENT, "--dg %s: cannot use --peaks: take --dg fact, eudx or bedpost",
                        gls_getter_name(o->track.dg));
    if (o->bedpostx && (o->sh || o->odf || o->peaks.n > 0))
        return gls_fail(GLS_ERR_ARGUMENT, "--bedpostx and --%s exclude each other", odf);
    if (o->bedpostx && !gls_getter_has(o->track.dg, GLS_FOR_FIBRES) &&
        gls_getter_source_of(o->track.dg) != GLS_FROM_NOTHING)
        return gls_fail(GLS_ERR_ARGUMENT, "--dg %s: cannot use --bedpostx: take --dg bedpost",
                        gls_getter_name(o->track.dg));
    if (o->peaks_values.n > 0 && o->peaks.n == 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--peaks-values: needs --peaks FILE");
    if (o->peaks.n > GLS_MAX_PEAK_FILES || o->peaks_values.n > GLS_MAX_PEAK_FILES)
        return gls_fail(GLS_ERR_ARGUMENT, "--%s: is given %d times, %d at most: join the volumes in one file",
                        o->peaks.n > GLS_MAX_PEAK_FILES ? "peaks" : "peaks-values",
                        o->peaks.n > GLS_MAX_PEAK_FILES ? o->peaks.n : o->peaks_values.n, GLS_MAX_PEAK_FILES);
    /* whether seeds and ends are known without a map of FA */
    bool places = o->roi || gls_seeds_need_no_region(o),
         tissue_alone = gls_tissue_file(o) && o->track.stop_threshold < 0;
    /* streamlines must end, and seeds must lie, somewhere */
    if (odf && !o->dwi && !o->fa && !tissue_alone && !gls_getter_ends_itself(o->track.dg))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--%s: --dg %s ends streamlines by a map of FA: add --fa FILE%s, or the series that it is "
                        "fitted to: DWI BVAL BVEC",
                        odf, gls_getter_name(o->track.dg),
                        o->sh ? ", or take --dg ifod2 (or ifod1, sdstream), which ends them by the FODs and needs none"
                              : "");
    if (odf && !o->dwi && !places && !o->fa)
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "--%s: needs seeds: --roi FILE, --seeds FILE, --seed-sphere x,y,z,r%s, or --fa FILE, where it is "
            "above 0.2",
            odf, gls_tissue_file(o) ? ", --seed-gmwmi auto" : "");
    if (o->odf && gls_sphere_is_built_in(o->sphere))
        return gls_fail(GLS_ERR_ARGUMENT, "--odf: needs --sphere FILE, the directions of its volumes");
    if (odf && !o->dwi && o->cache_dir) return gls_fail(GLS_ERR_ARGUMENT, "--cache-dir: nothing is fitted");
    return gls_anatomy_check(o);
}

/* Checks that the getter can use the model and has the parameters that are given. */
static gls_status check_getter(const gls_job_options *o)
{
    /* getters differ in their source: residuals of the signal, tensors of the series, ODFs */
    const gls_track_params *t = &o->track;
    if (gls_getter_source_of(t->dg) == GLS_FROM_QBALL && (o->sh || o->odf))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--dg boot: cannot use --%s: the bootstrap draws from the residuals of the measured signal; "
                        "take --dg prob, det or ptt%s",
                        o->sh ? "sh" : "odf", o->sh ? ", or ifod2" : "");
    if (gls_getter_source_of(t->dg) == GLS_FROM_SERIES && (o->sh || o->odf || !(o->dwi || o->phantom)))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--dg %s: fits tensors to the measured signal: give the series, DWI BVAL BVEC%s%s",
                        gls_getter_name(t->dg), o->sh || o->odf ? ", without --" : "",
                        o->sh    ? "sh"
                        : o->odf ? "odf"
                                 : "");
    if (gls_getter_source_of(t->dg) == GLS_FROM_QBALL && o->model.model > GLS_MODEL_CSA)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--dg boot: cannot use --model %s: the bootstrap refits the signal at every step, for which "
                        "the model must be linear (opdt, csa); take --dg ifod2, prob, det or ptt",
                        gls_model_name(o->model.model));
    /* options that only some getters have */
    if (!gls_getter_has(t->dg, GLS_FOR_VERTICES) && t->angular_weight > 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--angular-weight: only --dg boot, prob and det have it");
    if (gls_getter_ends_itself(t->dg) && gls_needs_odf(o) && o->odf)
        return gls_fail(GLS_ERR_ARGUMENT, "--dg %s: cannot use --odf: it needs spherical harmonics (--sh or a model)",
                        gls_getter_name(t->dg));
    if (!gls_getter_has(t->dg, GLS_FOR_PROB_DET) && t->odf_interpolation != GLS_ODF_INTERPOLATE_AUTO)
        return gls_fail(GLS_ERR_ARGUMENT, "--odf-interpolation: only --dg prob and det have it");
    if (o->odf && t->odf_interpolation == GLS_ODF_INTERPOLATE_COEFFICIENTS)
        return gls_fail(GLS_ERR_ARGUMENT, "--odf-interpolation coefficients: --odf gives amplitudes");
    if (t->probe_count == 1 && t->probe_radius > 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--probe-radius: needs --probe-count of at least 2");
    /* both in mm only here; lengths in voxels are compared once the voxel size is known */
    if (t->max_length >= 0 && t->min_length > t->max_length)
        return gls_fail(GLS_ERR_ARGUMENT, "--min-length: %g mm is more than --max-length %g mm", t->min_length,
                        t->max_length);
    if (o->distance_correction &&
        !(o->fdt_paths || o->fdt_network || o->fdt_matrix1 || o->fdt_matrix2 || o->fdt_matrix3))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--distance-correction: needs --fdt-paths, --fdt-network or --fdt-matrix1 to 3");
    return GLS_OK;
}

/* Checks all that needs options alone, before any file is opened. */
static gls_status check_options(const gls_job_options *o)
{
    GLS_REQUIRE(o->sphere && o->device);
    GLS_REQUIRE(o->ngpus >= 1 && o->ngpus <= GLS_TRACKER_MAX_DEVICES);
    gls_status status = check_inputs(o);
    if (!status) status = check_getter(o);
    if (!status) status = gls_model_options_check(&o->model);
    return status ? status : check_source(o);
}

/* Restricts the seeds to those of the shard, and computes the identity for shards and for the journal. Call it after
 * the seeds are made. */
static gls_status identify_seeds(gls_job *job)
{
    gls_status status = gls_shard_restrict(&job->shard, job->inputs.seeds, job->options.track.select);
    return status || (!job->journal && job->shard.count == 0) ? status : gls_job_identify(job);
}

/* Sets the index and count of the shard. Its seeds follow when the seeds are known. */
static gls_status init_shard(gls_job *job)
{
    if (!job->options.shard) return GLS_OK;
    if (job->options.fail_if_empty)
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "--fail-if-empty: a shard may be empty where the whole is not; 'glslines merge' has this option");
    return gls_shard_choose(job->options.shard, &job->shard);
}

gls_status gls_job_create(const gls_job_options *options, const gls_monitor *monitor, gls_job **out)
{
    GLS_REQUIRE_SIZE(options);
    GLS_REQUIRE(out);
    gls_job *job = calloc(1, sizeof *job);
    if (!job) return gls_no_memory();
    job->started = time(NULL);
    gls_run_begin(&job->run, false);
    job->options = job->options_given = options ? *options : gls_job_options_default();
    if (monitor) job->monitor = *monitor;
    gls_status status = check_options(&job->options);
    /* order: cheap checks first, then names, then the files themselves */
    if (!status) gls_defaults_log(&job->options_given);
    if (!status) status = gls_job_choose_format(job);
    if (!status && job->options.dwi && !job->options.bval) {
        status = gls_series_find_table(job->options.dwi, &job->bval, &job->bvec);
        job->options.bval = job->bval;
        job->options.bvec = job->bvec;
    }
    /* tables of one file use the scanner axes */
    if (job->options.bvec && !gls_table_path(job->options.bvec)) job->options.model.bvec_frame = GLS_BVEC_WORLD;
    if (!status) status = init_shard(job);
    if (!status) status = gls_job_name_tractogram(job);
    if (!status) status = gls_sinks_take(job);
    if (!status) status = gls_job_name_inputs(job);
    if (!status) status = gls_job_name_outputs(job);
    /* with --skip-existing outputs may exist; gls_job_find_done() checks them later */
    if (!status && !job->options.skip_existing) status = gls_job_check_outputs(job);
    if (!status) status = gls_job_inputs_init(&job->inputs, &job->options);
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

gls_status gls_job_open(gls_job *job)
{
    GLS_REQUIRE(job && job->devices.n == 0);
    const gls_job_options *o = &job->options;
    gls_status status = gls_device_set_open(&job->devices, o->device, (size_t)o->ngpus, o->api);
    if (status) return status;
    job->device = gls_device_get_info(job->devices.device[0]);
    status = gls_job_memory_check(&job->inputs, o->memory_limit);
    if (!status) status = gls_job_inputs_read(&job->inputs, o);
    if (status) return status;
    /* AUTO was decided by the gradient table: from here on options have the model in use */
    if (gls_fits_model(o)) {
        job->options.model.model = job->inputs.model.kind;
        job->options.model.sh_order = job->inputs.model.order;
    }
    job->result.seconds_read = job->inputs.seconds_read;
    job->params = gls_params_in_mm(o, job->inputs.grid);
    /* lengths and cutoffs as they are used, for the sidecar */
    if (o->track.step_size < 0) {
        job->options.track.step_size = job->params.step_size;
        job->options.in_mm.step_size = true;
    }
    job->options.track.fod_cutoff = gls_track_cutoff(&job->params);
    job->options.track.seed_cutoff = gls_track_seed_cutoff(&job->params);
    if (o->track.fod_power == 0) job->options.track.fod_power = 1.0 / o->track.ifod_samples;
    job->options.track.min_length = job->params.min_length;
    job->options.track.max_length = job->params.max_length;
    if (job->params.min_length > job->params.max_length)
        return gls_fail(GLS_ERR_ARGUMENT, "--min-length: %g mm is more than --max-length %g mm", job->params.min_length,
                        job->params.max_length);
    /* a mapping that `glslines devices --check` found to be fastest on this device */
    if (job->params.mapping == GLS_MAPPING_AUTO && job->devices.n == 1)
        job->params.mapping = gls_checked_mapping_of(job->device, &job->params, o->model.sh_order);
    if (job->inputs.seeds) status = identify_seeds(job);
    if (!status) gls_advise_of_masks(job);
    if (!status) status = gls_sinks_prepare(job);
    if (!status) status = gls_job_hash_others(job);
    if (!status && o->skip_existing) status = gls_job_find_done(job);
    return status || job->result.skipped ? status : gls_job_memory_plan(job);
}

gls_status gls_job_plan(gls_job *job, gls_track_memory *memory)
{
    GLS_REQUIRE(job && memory && job->devices.n > 0);
    gls_status status = gls_job_inputs_plan(&job->inputs, &job->options);
    if (status) return status;
    gls_track_input input = gls_job_inputs_tracker_input(&job->inputs, &job->options);
    return gls_track_plan_memory(job->device, job->devices.n, &job->params, &input, memory);
}

gls_status gls_job_fit(gls_job *job)
{
    GLS_REQUIRE(job && job->devices.n > 0);
    /* seeds that come from a seed region made by the fit are restricted only afterwards */
    bool restricted = job->inputs.seeds;
    gls_status status = gls_job_inputs_fit(&job->inputs, &job->options, &job->monitor);
    if (!status && !restricted) status = identify_seeds(job);
    if (!status) gls_advise_of_fit(job);
    const double start = gls_clock_seconds();
    if (!status) gls_advise_of_axes(job);
    (void)gls_trace_phase("check axes", start, 0);
    if (!status) gls_job_memory_release(job);
    job->result.seconds_fit = job->inputs.seconds_fit;
    return status;
}

/* The monitor to which track_step() reports, and the tracker whose progress it reports. */
typedef struct watcher {
    /* reports progress to the caller */
    const gls_monitor *monitor;
    /* borrowed */
    const gls_tracker *tracker;
} watcher;

/* Reports progress to the monitor. Returns false if the monitor asks to stop. */
static bool track_step(void *user, uint64_t seeds_done, uint64_t seeds_total, uint64_t streamlines, uint64_t points)
{
    const watcher *w = user;
    gls_progress progress = {.phase = GLS_PHASE_TRACK,
                             .done = seeds_done,
                             .total = seeds_total,
                             .streamlines = streamlines,
                             .points = points};
    gls_tracker_get_verdicts(w->tracker, progress.verdicts);
    return gls_monitor_step(w->monitor, &progress);
}

/* Passes streamlines on and measures the time. Runs on a thread of the tracker. */
typedef struct outlet {
    /* where the streamlines go */
    const gls_sink *sink;
    /* lengths are measured from points */
    bool measures;
    /* summed over all streamlines */
    gls_run_lengths lengths;
    /* time that the sinks took, s */
    double seconds;
    char error[GLS_MESSAGE_BYTES]; /* message of a failure; last errors belong to a thread, so the text is copied where
                                      it arises */
} outlet;

/* Appends one batch of streamlines to the sink, and measures lengths if counts of steps do not give them. */
static gls_status deliver(void *user, const gls_streamlines *streamlines)
{
    outlet *o = user;
    double start = gls_clock_seconds();
    gls_status status = o->measures ? gls_run_lengths_add(&o->lengths, streamlines) : GLS_OK;
    if (!status) status = gls_sink_append(o->sink, streamlines);
    if (status) snprintf(o->error, sizeof o->error, "%s", gls_last_error());
    o->seconds += gls_clock_seconds() - start;
    return status;
}

/* Tracks all seeds into a sink. Only sink->append is called. */
static gls_status track(gls_job *job, gls_tracker *tracker, const gls_sink *sink, gls_journal *journal, bool ends_alone)
{
    const gls_track_extras extras = {
        .journal = journal, .visited = job->sinks.counts_visits ? &job->sinks.visited : NULL, .ends_alone = ends_alone};
    outlet o = {.sink = sink, .measures = !ends_alone && gls_lengths_need_points(&job->options)};
    watcher w = {&job->monitor, tracker};
    double start = gls_clock_seconds();
    gls_status status =
        gls_tracker_run_journaled(tracker, job->inputs.seeds, &(gls_sink){.append = deliver, .user = &o}, &extras,
                                  track_step, &w, &job->result.track);
    job->result.seconds_track = gls_trace_phase("track", start, 0);
    job->result.seconds_write = o.seconds;
    if (!status) gls_run_lengths_get(&o.lengths, &job->result.track);
    gls_run_lengths_finish(&o.lengths);
    for (size_t i = 0; i < job->devices.n; i++) job->share[i] = gls_tracker_get_share(tracker, i);
    /* a signal may come when all work is done already */
    if (!status && gls_monitor_cancelled(&job->monitor, GLS_PHASE_TRACK)) status = GLS_ERR_CANCELLED;
    /* the message arose on a thread of the tracker */
    if (status && status != GLS_ERR_CANCELLED && *o.error) gls_fail(status, "%s", o.error);
    return status;
}

/* Writes all outputs except the sidecar, in the group. */
static gls_status track_into_files(gls_job *job, gls_tracker *tracker, gls_journal *journal)
{
    gls_tractogram_writer *writer = NULL;
    gls_sink sink = {0};
    gls_status status = job->no_tractogram ? GLS_OK : gls_job_create_writer(job, &writer);
    if (status) return status;
    if (writer) {
        gls_writer_join(writer, &job->run.group);
        sink = gls_tractogram_writer_sink(writer);
    }
    status = gls_sinks_open(job, &sink);
    /* nobody reads points: the device need not send them */
    const bool ends_alone = !status && !writer && !journal && !gls_sinks_need_points(job);
    if (!status) status = track(job, tracker, &sink, journal, ends_alone);
    /* A shard of a selection does not know which of its streamlines will count. */
    if (writer && job->params.select == 0) writer->n_begun = job->result.track.directions;
    if (!status) status = gls_sinks_complete(job, writer);
    if (status) {
        gls_sink_abort(&sink);
        if (status == GLS_ERR_CANCELLED)
            gls_fail(status, "interrupted: %s was not written%s", job->output,
                     journal ? "; the same command goes on with it" : "");
        return status;
    }
    double start = gls_clock_seconds();
    /* from here on a failure of a sink leaves no file, since none has its final name */
    status = gls_sink_finish(&sink);
    if (!status) status = gls_sinks_write(job);
    job->result.seconds_write += gls_trace_phase("finish outputs", start, 0);
    if (!status) job->result.output_bytes = gls_output_size(&job->run.group.output[0]);
    return status;
}

/* Writes all files or none. Opens the sidecar before the work, so that a name that cannot be written is reported early.
 */
static gls_status write_results(gls_job *job, gls_tracker *tracker)
{
    gls_output sidecar = GLS_OUTPUT_NONE;
    /* the name is taken early; the text follows at the end */
    gls_journal *journal = NULL;
    gls_status status = gls_resume_open(job, &journal);
    if (!status && job->run.sidecar) status = gls_track_sidecar_begin(job, &sidecar);
    if (!status) status = track_into_files(job, tracker, journal);
    if (!status && job->mask)
        status = gls_image_write_grouped(job->mask, job->run.force, &job->run.group, job->inputs.mask, GLS_IMAGE_UINT8);
    if (!status) gls_advise_of_lengths(job);
    if (!status && job->run.sidecar) status = gls_job_note_outputs(job);
    job->result.seconds_total = gls_clock_seconds() - job->run.begun;
    /* again, since another run may have taken the name meanwhile */
    if (!status && job->run.sidecar) status = gls_track_sidecar_begin(job, &sidecar);
    if (!status && job->run.sidecar) {
        char *text = gls_track_sidecar_text(job);
        status = gls_sidecar_finish(&sidecar, job->run.sidecar, text);
        free(text);
    }
    /* after a crash from here on, the next run knows that all outputs are complete */
    if (!status) status = gls_resume_complete(job, journal);
    if (!status) status = gls_output_group_commit(&job->run.group);
    if (job->sidecar_moved) job->result.sidecar = job->sidecar_second;
    gls_journal_close(journal, !status);
    gls_output_discard(&sidecar);
    gls_output_group_discard(&job->run.group);
    return status;
}

/* Makes the tracker on all devices of the run. */
static gls_status create_tracker(gls_job *job, gls_tracker **tracker)
{
    gls_track_input input = gls_job_inputs_tracker_input(&job->inputs, &job->options);
    double start = gls_clock_seconds();
    /* so that the driver compiles the kernel of the density map early */
    for (size_t i = 0; i < job->devices.n && job->options.density; i++)
        gls_visitor_announce(job->devices.device[i], job->inputs.grid);
    gls_status status = gls_tracker_create_group(job->devices.device, job->devices.n, &job->params, &input, tracker);
    job->result.seconds_upload = gls_trace_phase("upload", start, 0);
    return status;
}

gls_status gls_job_track(gls_job *job)
{
    gls_tracker *tracker = NULL;
    GLS_REQUIRE(job && job->inputs.stop_map);
    gls_status status = create_tracker(job, &tracker);
    if (!status) {
        gls_monitor_begin(&job->monitor, GLS_PHASE_TRACK);
        status = write_results(job, tracker);
        /* Within the phase, so that a cancelled run has complete outputs. */
        gls_tracker_destroy(tracker);
        gls_monitor_end(&job->monitor, GLS_PHASE_TRACK);
    }
    if (!status) gls_job_explain_empty(job);
    return status;
}

gls_status gls_job_track_to(gls_job *job, const gls_sink *sink)
{
    gls_tracker *tracker = NULL;
    GLS_REQUIRE(job && sink && sink->append && job->inputs.stop_map);
    gls_status status = create_tracker(job, &tracker);
    if (!status) {
        gls_monitor_begin(&job->monitor, GLS_PHASE_TRACK);
        status = track(job, tracker, sink, NULL, false);
        gls_monitor_end(&job->monitor, GLS_PHASE_TRACK);
        if (status == GLS_ERR_CANCELLED) gls_fail(status, "interrupted");
    }
    gls_tracker_destroy(tracker);
    job->result.seconds_total = gls_clock_seconds() - job->run.begun;
    return status;
}

const gls_job_result *gls_job_get_result(const gls_job *job)
{
    return &job->result;
}

void gls_job_destroy(gls_job *job)
{
    if (!job) return;
    gls_device_set_close(&job->devices);
    gls_job_inputs_finish(&job->inputs);
    gls_sinks_finish(job);
    gls_run_end(&job->run);
    cJSON_Delete(job->written);
    free(job->bval);
    free(job->bvec);
    free(job->output);
    free(job->sidecar_second);
    free(job->mask);
    free(job->journal);
    free(job);
}

gls_status gls_track_files(const gls_job_options *options, const gls_monitor *monitor, gls_job_result *result)
{
    GLS_REQUIRE_SIZE(options);
    gls_job *job = NULL;
    gls_status status = gls_job_create(options, monitor, &job);
    if (!status) status = gls_job_open(job);
    bool skipped = !status && job->result.skipped;
    if (!status && !skipped) status = gls_job_fit(job);
    if (!status && !skipped) status = gls_job_track(job);
    if (!status && result) {
        /* the paths belong to the job, which ends here */
        *result = job->result;
        result->output = result->sidecar = NULL;
    }
    if (!status && job->options.fail_if_empty && job->result.track.streamlines == 0)
        status = gls_fail(GLS_ERR_EMPTY, "%s: no streamline, and --fail-if-empty was given", job->output);
    gls_job_destroy(job);
    return status;
}
