/* The anatomy of --t1 and --atlas, which a run makes or takes from the cache. */
#ifndef GLS_RUN_JOB_ANATOMY_H
#define GLS_RUN_JOB_ANATOMY_H

#include <glslines/common.h>
#include <glslines/workflow.h>

#include "anat/anat_files.h"
#include "record/inputs.h"

/* The sources of an anatomy. Parts of --atlas are cut from `memory`. */
typedef struct gls_job_anatomy {
    gls_anat_sources sources;
    char *memory, *labels;
} gls_job_anatomy;

/* Names the sources from --t1, --atlas, the series and its mask. GLS_ERR_ARGUMENT: --atlas has other parts than it must
 * have. Call gls_job_anatomy_finish() also after a failure. */
gls_status gls_job_anatomy_init(const gls_job_options *options, gls_job_anatomy *anatomy);
void gls_job_anatomy_finish(gls_job_anatomy *anatomy);
/* The device that registers, of those that the options name. */
const char *gls_job_anatomy_device(const gls_job_options *options);

/* Adds the files of --t1 and --atlas to the inputs. */
gls_status gls_job_anatomy_inputs(const gls_job_options *options, gls_inputs *inputs);
/* Names the files of the anatomy: the labels in place of the word atlas in --connectome; and if they are kept, the
 * tissue in place of --act. */
gls_status gls_job_anatomy_find(gls_job *job);
/* Makes an anatomy that is not kept. gls_awaits_anatomy() is false then. */
gls_status gls_job_anatomy_make(gls_job *job);

#endif
