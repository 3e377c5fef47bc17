/* Output files of a run of tracking: their names, the checks before writing, and the writer of the tractogram. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tractogram/writers.h"
#include "util/numbers.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"
#include "workflow/job.h"
#include "workflow/job_inputs.h"
#include "workflow/run.h"
#include "workflow/run_params.h"
#include "workflow/run_shards.h"
#include "workflow/sidecar.h"

/* Name of an output of this shard. Frees path. */
static char *shard_name(char *path, const gls_shard *shard)
{
    if (!path || shard->count == 0) return path;
    char *name = gls_shard_name(path, shard);
    free(path);
    return name;
}

gls_status gls_job_choose_format(gls_job *job)
{
    const gls_job_options *o = &job->options;
    job->format = o->format;
    if (o->output && o->output_prefix)
        return gls_fail(GLS_ERR_ARGUMENT, "--output and --output-prefix exclude each other");
    job->no_tractogram = o->output && strcmp(o->output, "none") == 0;
    /* the suffix of --output decides on the format, else --format */
    gls_status status =
        o->output && !job->no_tractogram ? gls_tractogram_format_parse(o->output, &job->format) : GLS_OK;
    job->options.format = job->format;
    if (!status && o->output_precision == GLS_PRECISION_HALF && job->format != GLS_FORMAT_TRX)
        status = gls_fail(GLS_ERR_ARGUMENT, "--output-precision half: only TRX files have it");
    return status;
}

gls_status gls_job_options_inputs(const gls_job_options *o, gls_inputs *inputs)
{
    gls_input_file file[GLS_FILE_N_FILES];
    /* options of regions, each a list of texts */
    const gls_strings *regions[] = {
#define GLS_REGION_ROW(symbol, value, field, ...) &o->field,
#include <glslines/regions.def>
    };
    gls_status status = GLS_OK;
    gls_job_inputs_files(o, file);
    /* images and tables, then files of regions */
    for (size_t i = 0; i < GLS_FILE_N_FILES && !status; i++) status = gls_inputs_add(inputs, file[i].path);
    for (size_t i = 0; i < sizeof regions / sizeof *regions && !status; i++)
        status = gls_inputs_add_all(inputs, (const char *const *)regions[i]->value, (size_t)regions[i]->n);
    return status;
}

gls_status gls_job_name_inputs(gls_job *job)
{
    gls_status status = gls_job_options_inputs(&job->options, &job->run.inputs);
    return status ? status : gls_sinks_name_inputs(job);
}

size_t gls_job_files(const gls_job *job, gls_job_file file[GLS_JOB_FILES])
{
    size_t n = 0;
    if (!job->no_tractogram) file[n++] = (gls_job_file){"tractogram", job->output};
    for (size_t i = 0; i < job->sinks.n; i++) {
        /* sinks without a file of their own add to the tractogram */
        const gls_run_sink *sink = &job->sinks.sink[i];
        if (sink->output) file[n++] = (gls_job_file){sink->kind->role, sink->output};
    }
    if (job->mask) file[n++] = (gls_job_file){"write_mask", job->mask};
    return n;
}

/* Name of the journal of --resume, from malloc; NULL: out of memory. */
static char *journal_name(const char *output)
{
    char *name = NULL;
    return asprintf(&name, "%s.resume", output) < 0 ? NULL : name;
}

/* Whether the file at path was written by a run that was complete, by its journal, but was killed before it removed the
 * journal. */
static bool is_journals_own(const char *journal, const char *path)
{
    gls_journal_file file[GLS_JOURNAL_MAX_FILES];
    struct stat info;
    size_t n = journal && stat(path, &info) == 0 ? gls_journal_files(journal, file) : 0;
    for (size_t i = 0; i < n; i++)
        if (file[i].device == (uint64_t)info.st_dev && file[i].inode == (uint64_t)info.st_ino) return true;
    return false;
}

/* Stores the paths of all outputs, with the sidecar, and returns their number. */
static size_t list_paths(const gls_job *job, const char *path[GLS_JOB_FILES + 1])
{
    gls_job_file file[GLS_JOB_FILES];
    const size_t n = gls_job_files(job, file);
    for (size_t i = 0; i < n; i++) path[i] = file[i].path;
    path[n] = job->run.sidecar;
    return job->run.sidecar ? n + 1 : n;
}

/* Whether at least one output exists, and all that exist were written by a run of the journal. */
static bool are_own(const gls_job *job)
{
    const char *path[GLS_JOB_FILES + 1];
    const size_t n = list_paths(job, path);
    bool any = false;
    /* without a journal nothing is known of earlier files */
    for (size_t i = 0; i < n && job->journal; i++) {
        if (access(path[i], F_OK) != 0) continue;
        if (!is_journals_own(job->journal, path[i])) return false;
        any = true;
    }
    return any;
}

gls_status gls_job_name_tractogram(gls_job *job)
{
    const gls_job_options *o = &job->options;
    char word[8];
    if (job->no_tractogram) return GLS_OK;
    if (o->output)
        job->output = strdup(o->output);
    else if (asprintf(&job->output, "%s.%s", o->output_prefix ? o->output_prefix : "tracks",
                      gls_choice_word(GLS_FORMAT_CHOICES, (int)job->format, word, sizeof word)) < 0)
        job->output = NULL;
    job->output = shard_name(job->output, &job->shard);
    return job->output ? GLS_OK : gls_no_memory();
}

gls_status gls_job_name_outputs(gls_job *job)
{
    const gls_job_options *o = &job->options;
    bool none = o->sidecar && strcmp(o->sidecar, "none") == 0;
    gls_status status = GLS_OK;
    gls_job_file file[GLS_JOB_FILES];
    if (gls_job_files(job, file) == 0)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--output none: nothing would be written: add an option that names a file, such as --density "
                        "FILE; 'glslines help track' lists them under Output");
    /* without a tractogram, the first other output gives its name to sidecar and journal */
    if (!job->output) job->output = strdup(file[0].path);
    if (!job->output) return gls_no_memory();
    /* --sidecar none: no sidecar; else a name, or that of the output */
    if (!none) {
        job->run.sidecar = o->sidecar ? shard_name(strdup(o->sidecar), &job->shard) : gls_sidecar_name(job->output);
        if (!job->run.sidecar) return gls_no_memory();
        if (strcmp(job->run.sidecar, job->output) == 0)
            return gls_fail(GLS_ERR_ARGUMENT, "--sidecar: %s is the output itself", job->run.sidecar);
    }
    if (o->write_mask) status = gls_image_name_check(o->write_mask);
    if (status) return status;
    if (o->write_mask && !(job->mask = shard_name(strdup(o->write_mask), &job->shard))) return gls_no_memory();
    if (o->resume && !(job->journal = journal_name(job->output))) return gls_no_memory();
    /* files of a run that was killed while files got their names may be replaced without --force */
    job->run.force = o->force || are_own(job);
    return GLS_OK;
}

gls_status gls_job_check_outputs(gls_job *job)
{
    const char *path[GLS_JOB_FILES + 1];
    const size_t n = list_paths(job, path);
    gls_status status = GLS_OK;
    for (size_t i = 0; i < n && !status; i++) {
        /* the default name of a sidecar may be that of another tractogram's sidecar */
        if (path[i] == job->run.sidecar && !job->options.sidecar) status = gls_sidecar_check_free(path[i]);
        if (!status) status = gls_run_writes(&job->run, path[i]);
    }
    return status ? status : gls_run_rewrites(&job->run, job->journal);
}

gls_status gls_job_check_beside(const gls_job *job, const char *path)
{
    const char *others[GLS_JOB_FILES + 1];
    const size_t n = list_paths(job, others);
    /* paths of this run count as taken */
    return gls_place_check(path, job->run.force, &job->run.inputs, others, n);
}

gls_status gls_job_create_writer(const gls_job *job, gls_tractogram_writer **writer)
{
    const gls_track_params *p = &job->params;
    /* such getters end by the amplitude of the FOD */
    bool fod = gls_getter_ends_itself(p->dg);
    /* lines of a TCK header in the words of MRtrix3, which tckinfo shows */
    char line[12][96];
    const char *lines[13] = {NULL};
    int n = 0;
    snprintf(line[n++], sizeof *line, "software: glslines %s", gls_version());
    snprintf(line[n++], sizeof *line, "method: %s", gls_getter_name(p->dg));
    gls_snprintf(line[n++], sizeof *line, "step_size: %.9g", p->step_size);
    gls_snprintf(line[n++], sizeof *line, "max_angle: %.9g", p->max_angle);
    /* MRtrix3's header field threshold is an amplitude of the FOD */
    if (fod)
        gls_snprintf(line[n++], sizeof *line, "threshold: %.9g", p->fod_cutoff);
    else
        gls_snprintf(line[n++], sizeof *line, "stop_map_threshold: %.9g", p->stop_threshold);
    gls_snprintf(line[n++], sizeof *line, "min_dist: %.9g", p->min_length);
    gls_snprintf(line[n++], sizeof *line, "max_dist: %.9g", p->max_length);
    snprintf(line[n++], sizeof *line, "max_num_seeds: %" PRIu64, gls_job_seeds(job));
    if (p->select > 0) snprintf(line[n++], sizeof *line, "max_num_tracks: %" PRIu64, p->select);
    if (p->seed_unidirectional) snprintf(line[n++], sizeof *line, "unidirectional: 1");
    snprintf(line[n++], sizeof *line, "rng_seed: %" PRIu64, p->rng_seed);
    for (int i = 0; i < n; i++) lines[i] = line[i];
    gls_tractogram_options options = gls_tractogram_options_default();
    options.precision = job->options.output_precision;
    options.overwrite = job->run.force;
    options.header_lines = lines;
    if (job->shard.count > 0) options.shard = &job->shard;
    return gls_tractogram_writer_create(job->output, job->format, job->inputs.grid, &options, writer);
}
