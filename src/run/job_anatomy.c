/* The anatomy of --t1: tissue, and labels of --atlas, in the space of the series. What an earlier run kept is taken;
 * else the run makes it once all of its options, inputs and outputs have been checked, because this takes minutes. */
#include "run/job_anatomy.h"

#include <stdlib.h>
#include <string.h>

#include "anat/anat_kept.h"
#include "run/job_parts.h"
#include "util/file.h"
#include "util/numbers.h"
#include "util/status.h"

void gls_job_anatomy_finish(gls_job_anatomy *a)
{
    free(a->memory);
    free(a->labels);
}

gls_status gls_job_anatomy_init(const gls_job_options *o, gls_job_anatomy *a)
{
    const char *part[4] = {NULL};
    size_t n = 0;
    *a = (gls_job_anatomy){.sources = {.t1 = o->t1,
                                       .dwi = o->dwi,
                                       .bval = o->bval,
                                       .bvec = o->bvec,
                                       .dwi_mask = o->mask,
                                       .boundary = o->boundary}};
    if (!o->atlas) return GLS_OK;
    a->memory = strdup(o->atlas);
    char *rest = a->memory;
    for (const char *next; rest && (next = gls_names_next(&rest, ',')); n++)
        if (n < 4) part[n] = *next ? next : NULL;
    if (!part[0] || !part[1] || n > 4)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--atlas %s: needs TEMPLATE,LABELS, TEMPLATE,LABELS,MASK or "
                        "TEMPLATE,LABELS,MASK,NAMES",
                        o->atlas);
    if (gls_asprintf(&a->labels, "%s%s%s", part[1], part[3] ? "," : "", part[3] ? part[3] : "") < 0)
        return gls_no_memory();
    a->sources.fixed = part[0];
    a->sources.fixed_mask = part[2];
    a->sources.labels = a->labels;
    return GLS_OK;
}

const char *gls_job_anatomy_device(const gls_job_options *o)
{
    return strchr(o->device, ',') ? "auto" : o->device;
}

gls_status gls_job_anatomy_inputs(const gls_job_options *o, gls_inputs *inputs)
{
    char *path[GLS_ANAT_MAX_FILES];
    size_t n = 0;
    gls_job_anatomy a;
    gls_status status = gls_job_anatomy_init(o, &a);
    if (!status) status = gls_anat_sources_list(&a.sources, path, &n);
    if (!status) status = gls_inputs_add_all(inputs, (const char *const *)path, n);
    for (size_t i = 0; i < n; i++) free(path[i]);
    gls_job_anatomy_finish(&a);
    return status;
}

static bool go_on(void *user)
{
    return !gls_monitor_cancelled(user, GLS_PHASE_FIT);
}

gls_status gls_job_anatomy_find(gls_job *job)
{
    gls_job_options *o = &job->options;
    gls_job_anatomy a;
    bool kept = false;
    gls_status status = gls_job_anatomy_init(o, &a);
    if (!status) status = gls_anat_find(&a.sources, o->cache_dir, &job->anatomy, &kept);
    gls_job_anatomy_finish(&a);
    const char *labels = job->anatomy.path[GLS_ANAT_LABELS];
    for (int k = 0; k < o->connectome.n && labels && !status; k++) {
        if (strncmp(o->connectome.value[k], "atlas:", 6) != 0) continue;
        if (gls_asprintf(&job->connectome[k], "%s%s", labels, o->connectome.value[k] + 5) < 0) return gls_no_memory();
        o->connectome.value[k] = job->connectome[k];
    }
    if (kept)
        o->act = job->anatomy.path[GLS_ANAT_FIVE];
    else
        job->sinks.awaited = labels;
    return status;
}

gls_status gls_job_anatomy_make(gls_job *job)
{
    gls_job_options *o = &job->options;
    const gls_anat_inputs how = {
        .device = gls_job_anatomy_device(o), .graphics = o->api, .go_on = {go_on, &job->monitor}};
    gls_input_file *file = &job->inputs.file[GLS_FILE_ACT];
    gls_job_anatomy a;
    job->sinks.awaited = NULL;
    gls_anat_names_finish(&job->anatomy);
    gls_status status = gls_job_anatomy_init(o, &a);
    if (!status) status = gls_anat_keep(&a.sources, &how, o->cache_dir, &job->anatomy);
    gls_job_anatomy_finish(&a);
    if (status) return status;
    file->path = o->act = job->anatomy.path[GLS_ANAT_FIVE];
    status = gls_input_file_check(file);
    return status ? status : gls_input_file_hash(file);
}
