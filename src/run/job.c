/* The run of tracking: reads and fits the inputs, tracks, and writes all outputs. */
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "dwi/coherence.h"
#include "dwi/fit_tissues.h"
#include "image/image_write.h"
#include "record/run.h"
#include "record/run_params.h"
#include "record/sidecar.h"
#include "run/advice.h"
#include "run/anatomy.h"
#include "run/job.h"
#include "run/job_anatomy.h"
#include "run/job_inputs.h"
#include "run/job_inputs_parts.h"
#include "run/job_memory.h"
#include "run/job_parts.h"
#include "run/run_identity.h"
#include "run/shard_seeds.h"
#include "run/track_sidecar.h"
#include "sinks/lengths.h"
#include "sinks/sink_table.h"
#include "track/check/checked.h"
#include "track/run/journal.h"
#include "track/tracker.h"
#include "transform/bring.h"
#include "tractogram/tractogram.h"
#include "tractogram/writers.h"
#include "util/clock.h"
#include "util/threads.h"

/* Restricts the seeds, which exist, to those of the shard. Computes the run's hashes if it has a shard or a journal. */
static gls_status identify_seeds(gls_job *job)
{
    gls_status status = gls_shard_restrict(&job->shard, job->inputs.seeds, job->options.track.select);
    return status || (!job->journal && job->shard.count == 0) ? status : gls_job_identify(job);
}

/* Passes the results of the fit to the sinks, and starts their tasks that run while the tracker is made. */
static gls_status begin_results(gls_job *job)
{
    job->sinks.fod = job->options.sh ? job->inputs.odf_image : job->inputs.model.sh;
    job->sinks.scalar = gls_job_inputs_scalar(&job->inputs);
    job->sinks.seed_mask = job->inputs.roi; /* of --roi, of the phantom, or made by the fit; NULL: not needed */
    job->sinks.devices = &job->devices;
    return gls_sinks_begin(&job->sinks);
}

/* Opens the devices of the run. */
static gls_status open_devices(void *user)
{
    gls_job *job = user;
    const gls_job_options *o = &job->options;
    return gls_device_set_open(&job->devices, o->device, (size_t)o->ngpus, o->api);
}

/* Decides what depends on the inputs: the model that is fitted, and the parameters of the tracker, in mm. */
static gls_status settle_params(gls_job *job)
{
    const gls_job_options *o = &job->options;
    job->device = gls_device_get_info(job->devices.device[0]);
    /* the inputs decide --model auto and --normalise: from here on the options name what is in use */
    if (job->inputs.method.fits) {
        job->options.model.model = job->inputs.model.kind;
        job->options.model.sh_order = job->inputs.model.order;
        if (job->inputs.model.kind == GLS_MODEL_MSMT)
            job->options.model.normalise = gls_tissues_are_normalised(&o->model, job->inputs.mask_voxels);
    }
    job->params = gls_params_in_mm(o, job->inputs.grid);
    /* replace lengths and cutoffs that the user left open by the values in use, for the sidecar */
    if (o->track.step_size < 0) {
        job->options.track.step_size = job->params.step_size;
        job->options.in_mm.step_size = true;
    }
    if (job->inputs.method.tensors && o->track.fod_cutoff < 0)
        job->params.fod_cutoff = job->inputs.method.getter->fa_cutoff;
    job->params.seed_cutoff = job->options.track.seed_cutoff = gls_track_seed_cutoff(&job->params);
    job->params.fod_cutoff = job->options.track.fod_cutoff = gls_track_cutoff(&job->params);
    if (o->track.fod_power < 0) job->options.track.fod_power = 1.0 / o->track.ifod_samples;
    job->options.track.min_length = job->params.min_length;
    job->options.track.max_length = job->params.max_length;
    if (job->params.min_length > job->params.max_length)
        return gls_fail(GLS_ERR_ARGUMENT, "--min-length: %g mm is more than --max-length %g mm", job->params.min_length,
                        job->params.max_length);
    /* take the mapping that `glslines devices --check` found to be fastest on this device, if it was run */
    if (job->params.mapping == GLS_MAPPING_AUTO && job->devices.n == 1)
        job->params.mapping = gls_checked_mapping_of(job->device, &job->params, o->model.sh_order);
    return GLS_OK;
}

gls_status gls_job_open(gls_job *job)
{
    GLS_REQUIRE(job && job->devices.n == 0);
    const gls_job_options *o = &job->options;
    /* the tissue is one of the inputs by which --skip-existing knows an equal run */
    if (o->skip_existing && gls_awaits_anatomy(o) && gls_job_outputs_exist(job)) {
        job->undecided = job->plans;
        const gls_status made = job->plans ? GLS_OK : gls_job_anatomy_make(job);
        if (made) return made;
    }
    gls_beside opening = {.name = "open devices", .work = open_devices, .user = job, .logs_first = true};
    /* a device that cannot be opened ends the run before more than 256 MiB are read */
    uint64_t bytes = 0;
    for (int i = 0; i < GLS_FILE_N_FILES; i++) bytes += job->inputs.file[i].bytes;
    opening.at_once = bytes > UINT64_C(256) << 20;
    gls_status status = gls_beside_begin(&opening);
    if (!status) status = gls_job_memory_check(&job->inputs, o);
    if (!status) status = gls_job_inputs_read(&job->inputs, o);
    status = gls_beside_end(&opening, status);
    if (status) return status;
    job->result.seconds_read = job->inputs.seconds_read;
    status = settle_params(job);
    if (status) return status;
    if (job->inputs.seeds) status = identify_seeds(job);
    if (!status) gls_advise_of_masks(job);
    job->sinks.grid = job->inputs.grid;
    job->sinks.step_size = job->params.step_size;
    job->sinks.transform = &job->inputs.space;
    if (!status) status = gls_sinks_prepare(&job->sinks);
    if (!status && !gls_awaits_anatomy(o)) status = gls_job_hash_others(job);
    if (!status && o->skip_existing && !job->undecided) status = gls_job_find_done(job);
    return status || job->result.skipped ? status : gls_job_memory_plan(job);
}

gls_status gls_job_plan(gls_job *job, gls_track_memory *memory)
{
    GLS_REQUIRE(job && memory && job->devices.n > 0);
    gls_status status = gls_job_inputs_plan(&job->inputs, &job->options);
    if (status) return status;
    gls_track_input input = gls_job_inputs_tracker_input(&job->inputs);
    return gls_track_plan_memory(job->device, job->devices.n, &job->params, &input, memory);
}

/* Makes the anatomy, and does what gls_job_open() left until it is there. */
static gls_status take_anatomy(gls_job *job)
{
    gls_job_inputs *in = &job->inputs;
    gls_status status = gls_job_anatomy_make(job);
    gls_tissue_destroy(in->tissue);
    in->tissue = NULL;
    if (!status) status = gls_job_inputs_read_tissue(in, &job->options);
    if (!status && !in->seeds && gls_seeds_place(&job->options)) {
        status = gls_job_inputs_make_seeds(in, &job->options);
        if (!status) status = gls_job_inputs_check_tracking_mask(in);
    }
    if (!status) status = gls_sinks_prepare(&job->sinks);
    return status ? status : gls_job_hash_others(job);
}

gls_status gls_job_fit(gls_job *job)
{
    GLS_REQUIRE(job && job->devices.n > 0);
    const bool restricted = job->inputs.seeds; /* to the shard; false: the fit makes the seeds */
    gls_status status = gls_awaits_anatomy(&job->options) ? take_anatomy(job) : GLS_OK;
    if (!status) status = gls_job_inputs_fit(&job->inputs, &job->options, &job->monitor);
    if (!status && !restricted) status = identify_seeds(job);
    if (!status) gls_advise_of_fit(job);
    if (!status) gls_job_memory_release(job);
    job->result.seconds_fit = job->inputs.seconds_fit;
    return status;
}

/* The monitor to which track_step() reports, and the tracker whose progress it reports. */
typedef struct watcher {
    const gls_monitor *monitor;
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

/* State of deliver(), which passes streamlines on and measures the time, on a thread of the tracker. */
typedef struct outlet {
    /* the sink that receives the streamlines */
    const gls_sink *sink;
    /* true: lengths of streamlines are measured from their points */
    bool measures;
    gls_dynamic_seeds *dynamic; /* maps the streamlines, too; NULL: none */
    /* summed over all streamlines */
    gls_run_lengths lengths;
    /* time that the sinks took, s */
    double seconds;
    char error[GLS_MESSAGE_BYTES]; /* message of a failure, copied because each thread has its own last error */
} outlet;

/* Appends one batch of streamlines to the sink, and measures lengths if counts of steps do not give them. */
static gls_status deliver(void *user, const gls_streamlines *streamlines)
{
    outlet *o = user;
    double start = gls_clock_seconds();
    gls_status status = o->measures ? gls_run_lengths_add(&o->lengths, streamlines) : GLS_OK;
    if (!status && o->dynamic) status = gls_dynamic_seeds_append(o->dynamic, streamlines);
    if (!status) status = gls_sink_append(o->sink, streamlines);
    if (status) snprintf(o->error, sizeof o->error, "%s", gls_last_error());
    o->seconds += gls_clock_seconds() - start;
    return status;
}

/* Tracks all seeds into a sink. Only sink->append is called. ends_alone: the sink reads only the first and last points
 * of streamlines. */
static gls_status track(gls_job *job, gls_tracker *tracker, const gls_sink *sink, gls_journal *journal, bool ends_alone)
{
    const gls_track_extras extras = {.journal = journal,
                                     .visited = job->sinks.counts_visits ? &job->sinks.visited : NULL,
                                     .ends_alone = ends_alone,
                                     .next_round = job->dynamic ? gls_dynamic_seeds_draw : NULL,
                                     .round_user = job->dynamic};
    outlet o = {.sink = sink,
                .dynamic = job->dynamic,
                .measures = !ends_alone && gls_lengths_need_points(&job->options, &job->inputs.method)};
    watcher w = {&job->monitor, tracker};
    double start = gls_clock_seconds();
    gls_status status =
        gls_tracker_run_journaled(tracker, job->inputs.seeds, &(gls_sink){.append = deliver, .user = &o}, &extras,
                                  track_step, &w, &job->result.track);
    if (!status && job->dynamic) status = gls_dynamic_seeds_end(job->dynamic);
    job->result.seconds_track = gls_trace_phase("track", start, 0);
    job->result.seconds_write = o.seconds;
    if (!status) gls_run_lengths_get(&o.lengths, &job->result.track);
    gls_run_lengths_finish(&o.lengths);
    for (size_t i = 0; i < job->devices.n; i++) job->share[i] = gls_tracker_get_share(tracker, i);
    /* a signal that came after the last step cancels, too */
    if (!status && gls_monitor_cancelled(&job->monitor, GLS_PHASE_TRACK)) status = GLS_ERR_CANCELLED;
    /* the error arose on a thread of the tracker: make its message the last error of this thread */
    if (status && status != GLS_ERR_CANCELLED && *o.error) gls_error_set("%s", o.error);
    return status;
}

/* Lines of the header of a TCK file. */
typedef struct header_lines {
    char line[16][96];
    /* the lines, and NULL behind the last */
    const char *lines[17];
    size_t n;
} header_lines;

/* Adds a line. */
__attribute__((format(printf, 2, 3))) static void add_line(header_lines *h, const char *format, ...)
{
    va_list args;
    assert(h->n < sizeof h->line / sizeof *h->line);
    va_start(args, format);
    gls_vsnprintf(h->line[h->n], sizeof *h->line, format, args);
    va_end(args);
    h->lines[h->n] = h->line[h->n];
    h->n++;
}

/* Makes the writer of the tractogram. The header of a TCK file has the values that were used, by MRtrix3's names. */
static gls_status create_writer(const gls_job *job, gls_tractogram_writer **writer)
{
    const gls_track_params *p = &job->params;
    const gls_method *m = &job->inputs.method;
    header_lines h = {.n = 0};
    add_line(&h, "software: glslines %s", gls_version());
    add_line(&h, "method: %s", gls_getter_name(p->dg));
    add_line(&h, "step_size: %.9g", p->step_size);
    add_line(&h, "max_angle: %.9g", p->max_angle);
    /* the field `threshold` in a header of MRtrix3 is an amplitude of the FOD; 0 of prob and det: there is none */
    if (gls_param_is_used(&gls_params[ROW_fod_cutoff], m, &job->options) && (p->fod_cutoff > 0 || m->getter->own_end))
        add_line(&h, "threshold: %.9g", p->fod_cutoff);
    if (m->stop_map) add_line(&h, "stop_map_threshold: %.9g", p->stop_threshold);
    add_line(&h, "min_dist: %.9g", p->min_length);
    add_line(&h, "max_dist: %.9g", p->max_length);
    add_line(&h, "max_num_seeds: %" PRIu64, gls_job_seeds(job));
    if (p->select > 0) add_line(&h, "max_num_tracks: %" PRIu64, p->select);
    if (p->seed_unidirectional) add_line(&h, "unidirectional: 1");
    add_line(&h, "rng_seed: %" PRIu64, p->rng_seed);
    gls_tractogram_options options = gls_tractogram_options_default();
    options.precision = job->options.output_precision;
    options.overwrite = job->run.force;
    options.header_lines = h.lines;
    if (job->shard.count > 0) options.shard = &job->shard;
    return gls_tractogram_writer_create(job->output, job->format, job->inputs.grid, &options, writer);
}

/* Tracks, and writes the tractogram and the outputs of the sinks in the output group of the run. */
static gls_status track_into_files(gls_job *job, gls_tracker *tracker, gls_journal *journal)
{
    gls_tractogram_writer *writer = NULL;
    gls_sink sink = {0};
    gls_status status = job->no_tractogram ? GLS_OK : create_writer(job, &writer);
    if (status) return status;
    if (writer) {
        gls_writer_join(writer, &job->run.group);
        sink = gls_tractogram_writer_sink(writer);
    }
    status = gls_sinks_open(&job->sinks, &sink);
    const bool ends_alone = !status && !writer && !journal && !job->dynamic &&
                            !gls_sinks_need_points(&job->sinks, &job->inputs.stop_map->grid);
    if (!status) status = track(job, tracker, &sink, journal, ends_alone);
    /* record the number of streamlines begun; not with --select, because a merge of shards cannot find it then */
    if (writer && job->params.select == 0) writer->n_begun = job->result.track.directions;
    if (!status) status = gls_sinks_complete(&job->sinks, writer);
    if (status) {
        gls_sink_abort(&sink);
        if (status == GLS_ERR_CANCELLED)
            gls_error_set("interrupted: %s was not written%s", job->output,
                          journal ? "; to continue this run, give the same command again" : "");
        return status;
    }
    double start = gls_clock_seconds();
    /* a failure of a sink still leaves no file, because no file has its final name yet */
    status = gls_sink_finish(&sink);
    if (!status) status = gls_sinks_write(&job->sinks);
    job->result.seconds_write += gls_trace_phase("finish outputs", start, 0);
    if (!status) job->result.output_bytes = gls_output_size(&job->run.group.output[0]);
    return status;
}

/* --- --resume: a run continues where a killed run ended. The journal lies beside the output until the outputs have
 * their final names. */

/* Opens or begins the journal of the run; without --resume leaves *journal as it is. Warns if the journal was begun on
 * another device. GLS_ERR_OUTPUT: another run has made an output meanwhile. */
static gls_status open_journal(const gls_job *job, gls_journal **journal)
{
    char identity[256], origin[256];
    const gls_device_info *d = job->device;
    if (!job->journal) return GLS_OK;
    /* the journal holds raw structs, so their size and the version belong to the identity */
    snprintf(identity, sizeof identity,
             "parameters=%016" PRIx64 " inputs=%016" PRIx64 " shard=%" PRIu32 "/%" PRIu32 " seeds=%" PRIu64
             " records=%zu version=%.100s",
             job->shard.parameters, job->shard.inputs, job->shard.index, job->shard.count,
             gls_seeds_count(job->inputs.seeds), sizeof(gls_outcome), gls_version());
    snprintf(origin, sizeof origin, "%.100s, %.100s", d->renderer, d->version);
    gls_status status = gls_journal_open(job->journal, identity, origin, job->options.force, journal);
    if (!status && strcmp(gls_journal_origin(*journal), origin) != 0)
        gls_log(GLS_LOG_WARNING,
                "%s: was begun on another device (%s): the remaining streamlines may differ by rounding", job->journal,
                gls_journal_origin(*journal));
    /* a run beside this one may have made the outputs, and removed its journal, since they were checked */
    for (size_t i = 0; i < job->n_files && !status; i++)
        status = gls_place_check(job->file[i].path, job->run.force, NULL, NULL, 0);
    if (status && *journal) {
        gls_journal_close(*journal, gls_journal_is_empty(*journal));
        *journal = NULL;
    }
    return status;
}

_Static_assert(GLS_JOB_FILES + 1 <= GLS_JOURNAL_MAX_FILES, "a journal notes all files of a run and its sidecar");

/* Records in the journal that the outputs are complete, before they get their final names. */
static gls_status complete_journal(const gls_job *job, gls_journal *journal)
{
    const gls_output_group *group = &job->run.group;
    gls_journal_file file[GLS_JOURNAL_MAX_FILES];
    struct stat info;
    size_t n = 0;
    if (!journal) return GLS_OK;
    /* device and inode stay the same when the file gets its final name */
    for (size_t i = 0; i < group->n && n < GLS_JOURNAL_MAX_FILES; i++)
        if (fstat(group->output[i].fd, &info) == 0)
            file[n++] = (gls_journal_file){.device = (uint64_t)info.st_dev, .inode = (uint64_t)info.st_ino};
    return gls_journal_complete(journal, file, n);
}

/* --- The outputs. */

/* Offers a second name for the sidecar, since another run may take the first one before the files get their names. */
static gls_status offer_second(gls_job *job, gls_output *sidecar)
{
    if (job->options.sidecar || job->run.force) return GLS_OK;
    if (!job->sidecar_second) job->sidecar_second = gls_sidecar_second_name(job->output);
    if (!job->sidecar_second) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", job->output);
    return gls_output_offer(sidecar, job->sidecar_second, &job->sidecar_moved);
}

/* Opens the sidecar in the output group. A second call does nothing unless another run took the name meanwhile; then it
 * opens the sidecar under a new name. */
static gls_status begin_sidecar(gls_job *job, gls_output *sidecar)
{
    /* choose the default name again: another run may have taken the first choice (x.json for x.trx) meanwhile */
    char *name = job->options.sidecar ? NULL : gls_sidecar_name(job->output);
    if (name) {
        free(job->run.sidecar);
        job->result.sidecar = job->run.sidecar = name;
    }
    /* the sidecar is open under this name already */
    if (sidecar->path && strcmp(sidecar->path, job->run.sidecar) == 0) return GLS_OK;
    gls_output_discard(sidecar);
    gls_status status = gls_output_create(job->run.sidecar, job->run.force, sidecar);
    sidecar->group = &job->run.group;
    return status ? status : offer_second(job, sidecar);
}

/* Writes all files or none. Opens the sidecar before the work, to report early that its name cannot be written. */
static gls_status write_results(gls_job *job, gls_tracker *tracker)
{
    gls_output sidecar = GLS_OUTPUT_NONE;
    gls_journal *journal = NULL;
    gls_status status = open_journal(job, &journal);
    if (!status && job->run.sidecar) status = begin_sidecar(job, &sidecar);
    if (!status) status = track_into_files(job, tracker, journal);
    if (!status && job->mask)
        status = gls_image_write_grouped(job->mask, job->run.force, &job->run.group, job->inputs.mask, GLS_IMAGE_UINT8);
    if (!status) gls_advise_of_lengths(job);
    if (!status && job->run.sidecar) status = gls_job_note_outputs(job);
    job->result.seconds_total = gls_clock_seconds() - job->run.begun;
    /* if another run has taken the sidecar's name meanwhile, open it again under a new name */
    if (!status && job->run.sidecar) status = begin_sidecar(job, &sidecar);
    if (!status && job->run.sidecar) {
        char *text = gls_track_sidecar_text(job);
        status = gls_sidecar_finish(&sidecar, job->run.sidecar, text);
        free(text);
    }
    /* after a crash from here on, the next run knows that all outputs are complete */
    if (!status) status = complete_journal(job, journal);
    if (!status) status = gls_run_commit(&job->run, NULL);
    if (job->sidecar_moved) job->result.sidecar = job->sidecar_second;
    gls_journal_close(journal, !status);
    gls_output_discard(&sidecar);
    gls_output_group_discard(&job->run.group);
    return status;
}

/* Checks the axes of ODFs and peaks, but not of the phantom, which are known. */
static gls_status check_axes(void *user)
{
    gls_job *job = user;
    const gls_job_inputs *in = &job->inputs;
    const gls_job_options *o = &job->options;
    const char *file = o->sh ? o->sh : o->bedpostx ? o->bedpostx : o->peaks.value[0];
    if (!in->phantom && !job->axes_checked && (in->odf || in->method.peaks))
        gls_coherence_advise(in->odf, in->peaks ? in->peaks : in->odf_image, in->peak_samples, in->odf_frame, in->mask,
                             file);
    job->axes_checked = true;
    return GLS_OK;
}

/* Segments the FODs of --seed-dynamic into fixels, and draws the first round of seeds. */
static gls_status begin_dynamic(void *user)
{
    gls_job *job = user;
    const gls_job_options *o = &job->options;
    const gls_image *tracked = o->sh ? job->inputs.odf_image : job->inputs.model.sh;
    gls_fod_options source = gls_fod_options_of_run(o, &job->inputs.space);
    gls_fod fod = {0};
    if (!o->seed_dynamic || job->dynamic) return GLS_OK;
    source.all_voxels = true;
    if (!gls_is_auto(o->seed_dynamic)) {
        source.sh = o->seed_dynamic;
        source.basis = o->model.sh_basis;
        source.frame = o->model.sh_frame;
    }
    gls_status status =
        gls_is_auto(o->seed_dynamic) ? gls_fod_segment(&source, tracked, &fod) : gls_fod_read(&source, &fod);
    const gls_dynamic_options options = {.device = job->devices.device[0],
                                         .device_bytes = gls_job_seeds_device_bytes(job),
                                         .grid = job->inputs.grid,
                                         .tissue = job->inputs.tissue,
                                         .seeds = job->inputs.seeds,
                                         .step_size = job->params.step_size,
                                         .select = job->params.select,
                                         .rng_seed = o->seed_seed,
                                         .round_seeds = o->dynamic_batch};
    if (!status) status = gls_dynamic_seeds_create(&fod, &options, &job->dynamic);
    gls_fod_finish(&fod);
    return status;
}

/* Makes the tracker on all devices of the run. */
static gls_status create_tracker(gls_job *job, gls_tracker **tracker)
{
    gls_track_input input = gls_job_inputs_tracker_input(&job->inputs);
    if (job->params.select == 0 && job->devices.n == 1) input.n_seeds = gls_job_seeds(job);
    gls_beside dynamic = {.name = "segment FODs", .work = begin_dynamic, .user = job, .logs_first = true};
    gls_beside axes = {.name = "check axes", .work = check_axes, .user = job, .logs_first = true};
    double start = gls_clock_seconds();
    gls_beside_begin(&axes);
    gls_beside_begin(&dynamic);
    /* let the driver compile the kernel that counts visits early */
    for (size_t i = 0; i < job->devices.n && job->sinks.wants_visits; i++)
        gls_visitor_announce(job->devices.device[i], job->inputs.grid);
    gls_status status = gls_tracker_create_group(job->devices.device, job->devices.n, &job->params, &input, tracker);
    status = gls_beside_end(&dynamic, gls_beside_end(&axes, status));
    job->result.seconds_upload = gls_trace_phase("upload", start, 0);
    return status;
}

gls_status gls_job_track(gls_job *job)
{
    gls_tracker *tracker = NULL;
    GLS_REQUIRE(job && job->inputs.stop_map);
    gls_status status = begin_results(job);
    if (!status) status = create_tracker(job, &tracker);
    if (!status && job->sinks.wants_visits) gls_tracker_expect_visits(tracker);
    if (!status) {
        gls_monitor_begin(&job->monitor, GLS_PHASE_TRACK);
        status = write_results(job, tracker);
        /* destroy the tracker before the phase ends: within a phase a signal does not end the program */
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
        if (status == GLS_ERR_CANCELLED) gls_error_set("interrupted");
    }
    gls_tracker_destroy(tracker);
    job->result.seconds_total = gls_clock_seconds() - job->run.begun;
    return status;
}

/* Tracks from other seeds than those of the job, which it takes. */
static gls_status track_from(gls_job *job, gls_seeds *seeds, const gls_monitor *monitor, const gls_sink *sink)
{
    gls_seeds_destroy(job->inputs.seeds);
    job->inputs.seeds = seeds;
    job->monitor = *monitor;
    return track(job, job->tracker, sink, NULL, false);
}

gls_status gls_job_track_sphere(gls_job *job, const double sphere[4], uint64_t nseeds, uint64_t seed,
                                const gls_monitor *monitor, const gls_sink *sink)
{
    gls_seeds *seeds = NULL;
    GLS_REQUIRE(job && monitor && sink && sink->append && job->inputs.stop_map);
    gls_status status = job->tracker ? GLS_OK : create_tracker(job, &job->tracker);
    if (!status) status = gls_seeds_create_sphere(sphere, sphere[3], job->inputs.grid, nseeds, seed, &seeds);
    return status ? status : track_from(job, seeds, monitor, sink);
}

gls_status gls_job_track_weights(gls_job *job, gls_image *weights, const char *name, uint64_t nseeds, uint64_t seed,
                                 const gls_monitor *monitor, const gls_sink *sink)
{
    gls_seeds *seeds = NULL;
    GLS_REQUIRE(job && weights && monitor && sink && sink->append && job->inputs.stop_map);
    gls_status status = job->tracker ? GLS_OK : create_tracker(job, &job->tracker);
    if (!status) status = gls_image_bring(&weights, &job->inputs.space, GLS_RESAMPLE_LINEAR, 0, name);
    if (!status) status = gls_seeds_create_weighted(weights, name, job->inputs.grid, nseeds, seed, &seeds);
    gls_image_destroy(weights);
    return status ? status : track_from(job, seeds, monitor, sink);
}

gls_status gls_job_take(gls_job *job, gls_job *from)
{
    gls_job_inputs *in = &job->inputs;
    GLS_REQUIRE(job->devices.n == 0 && from->devices.n > 0 && from->inputs.stop_map);
    const gls_job_inputs own = *in;
    *in = from->inputs;
    in->method = own.method;
    /* the paths that the other job found are freed with it */
    memcpy(in->file, own.file, sizeof in->file);
    if (in->model.series) in->model.series = &in->series;
    job->devices = from->devices;
    job->axes_checked = from->axes_checked;
    gls_status status = settle_params(job);
    if (status) {
        *in = own;
        job->devices = (gls_device_set){.n = 0};
        return status;
    }
    /* the tracker borrows the inputs */
    gls_tracker_destroy(from->tracker);
    from->tracker = NULL;
    from->inputs = own;
    from->devices = (gls_device_set){.n = 0};
    return GLS_OK;
}

gls_status gls_job_stop_at(gls_job *job, const gls_job_stop *stop, size_t n)
{
    gls_job_inputs *in = &job->inputs;
    gls_tracker_destroy(job->tracker);
    job->tracker = NULL;
    gls_regions_destroy(in->regions);
    in->regions = NULL;
    in->stop = stop;
    in->n_stops = n;
    gls_status status = gls_job_inputs_read_regions(in, &job->options);
    in->stop = NULL;
    in->n_stops = 0;
    return status;
}

const gls_job_result *gls_job_get_result(const gls_job *job)
{
    return &job->result;
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
        status = gls_fail(GLS_ERR_EMPTY, "%s: has no streamline (--fail-if-empty)", job->output);
    gls_job_destroy(job);
    return status;
}
