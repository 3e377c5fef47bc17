#include "workflow/job_outputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tractogram/tractogram.h"
#include "util/parse.h"
#include "util/status.h"
#include "workflow/checked.h"
#include "workflow/output.h"
#include "workflow/params.h"
#include "workflow/resume.h"
#include "workflow/shard.h"
#include "workflow/sidecar.h"

/* The name of this part of an output; frees path. */
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
    job->maps_alone = o->output && strcmp(o->output, "none") == 0;
    gls_status status = o->output && !job->maps_alone ? gls_tractogram_format_parse(o->output, &job->format) : GLS_OK;
    if (!status && o->output_precision == GLS_PRECISION_HALF && job->format != GLS_FORMAT_TRX)
        status = gls_fail(GLS_ERR_ARGUMENT, "--output-precision half: only TRX files have it");
    return status;
}

/* A place that can be written and holds none of the inputs. */
static gls_status check_place(const gls_job *job, const char *path, const char *const *others, size_t n_others)
{
    const gls_job_options *o = &job->options;
    const char *inputs[24 + GLS_MAPS_MAX_IMAGES + 8 * GLS_MAX_STRINGS] = {o->dwi,
                                                                          gls_table_path(o->bval),
                                                                          gls_table_path(o->bvec),
                                                                          o->mask,
                                                                          o->roi,
                                                                          o->fa,
                                                                          o->sh,
                                                                          o->odf,
                                                                          o->model.response,
                                                                          o->seeds,
                                                                          gls_sphere_is_built_in(o->sphere) ? NULL
                                                                                                            : o->sphere,
                                                                          gls_csd_directions_file(&o->model),
                                                                          o->model.response_wm,
                                                                          o->model.response_gm,
                                                                          o->model.response_csf,
                                                                          o->act,
                                                                          o->pve_wm,
                                                                          o->pve_gm,
                                                                          o->pve_csf,
                                                                          o->pve_sgm,
                                                                          o->seed_rejection,
                                                                          o->seed_gmwmi};
    const gls_strings *regions[] = {&o->include,         &o->exclude,     &o->tracking_mask,     &o->stop_at,
                                    &o->include_ordered, &o->include_end, &o->include_both_ends, &o->exclude_end};
    size_t n = 22 + gls_maps_inputs(&job->maps, inputs + 22);
    for (size_t i = 0; i < sizeof regions / sizeof *regions; i++)
        for (int k = 0; k < regions[i]->n; k++) inputs[n++] = regions[i]->value[k];
    return gls_place_check(path, job->overwrite || path == job->journal, inputs, n, others, n_others);
}

gls_status gls_job_name_outputs(gls_job *job)
{
    const gls_job_options *o = &job->options;
    bool none = o->sidecar && strcmp(o->sidecar, "none") == 0;
    char word[8];
    const char *others[7];
    size_t n_maps = gls_maps_outputs(&job->maps, others), n_others = 0;
    if (job->maps_alone && n_maps == 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--output none: needs --density, --connectome or --profile");
    if (job->maps_alone)
        job->output = strdup(others[0]);
    else if (o->output)
        job->output = strdup(o->output);
    else if (asprintf(&job->output, "%s.%s", o->output_prefix ? o->output_prefix : "tracks",
                      gls_choice_word(GLS_FORMAT_CHOICES, (int)job->format, word, sizeof word)) < 0)
        job->output = NULL;
    if (!job->maps_alone) job->output = shard_name(job->output, &job->shard);
    if (!job->output) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    if (!none) {
        job->sidecar = o->sidecar ? shard_name(strdup(o->sidecar), &job->shard) : gls_sidecar_name(job->output);
        if (!job->sidecar) return gls_fail(GLS_ERR_MEMORY, "out of memory");
        if (strcmp(job->sidecar, job->output) == 0)
            return gls_fail(GLS_ERR_ARGUMENT, "--sidecar: %s is the tractogram itself", job->sidecar);
    }
    if (o->weights && !job->maps_alone && job->format != GLS_FORMAT_TRX &&
        asprintf(&job->maps.weights, "%.*s_weights.txt", (int)strlen(job->output) - 4, job->output) < 0)
        return gls_fail(GLS_ERR_MEMORY, "out of memory");
    if (o->resume && !(job->journal = gls_resume_name(job->output))) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    job->overwrite = o->force || gls_resume_is_own(job->journal, job->output);
    gls_status status = check_place(job, job->output, NULL, 0);
    const char *map[3];
    gls_maps_outputs(&job->maps, map);
    others[n_others++] = job->output;
    if (!status && job->sidecar) status = check_place(job, job->sidecar, others, n_others);
    if (job->sidecar) others[n_others++] = job->sidecar;
    if (!status && o->write_mask) status = check_place(job, o->write_mask, others, n_others);
    if (o->write_mask) others[n_others++] = o->write_mask;
    if (!status && job->maps.weights) status = check_place(job, job->maps.weights, others, n_others);
    if (job->maps.weights) others[n_others++] = job->maps.weights;
    for (size_t i = job->maps_alone ? 1 : 0; i < n_maps && !status; i++) {
        status = check_place(job, map[i], others, n_others);
        others[n_others++] = map[i];
    }
    return status || !job->journal ? status : check_place(job, job->journal, others, n_others);
}
