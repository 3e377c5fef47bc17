/* Which defaults a run has: rows of defaults.def by preset, direction getter and model. */
#ifndef GLS_WORKFLOW_DEFAULTS_H
#define GLS_WORKFLOW_DEFAULTS_H

#include <cJSON.h>

#include <glslines/workflow.h>

#include "workflow/params.h"

/* The default of a parameter of GLS_BY_GETTER for each getter, in words: "25 degrees with prob, 60 with boot". */
void gls_default_text(const char *name, char *text, size_t size);

typedef struct gls_preset_info {
    const char *name, *source; /* of the values */
    const char *differs;       /* what of it the program does not do; NULL: nothing */
} gls_preset_info;
/* By gls_preset. */
const gls_preset_info *gls_preset_get(int preset);

enum { GLS_MAX_DEFAULTS = 32 };

/* A default that holds in a run, for people and sidecars. */
typedef struct gls_default {
    const gls_param *param;
    const char *reason;
} gls_default;
/* Those of the rows that fit the options and whose value they have; at most GLS_MAX_DEFAULTS. */
size_t gls_defaults_held(const gls_job_options *options, gls_default held[GLS_MAX_DEFAULTS]);
/* Keys of the parameters on which the result depends and whose values are not the defaults of this preset, getter and
 * model. */
cJSON *gls_defaults_changed(const gls_job_options *options);
/* "--max-angle 25 degrees (as DIPY)" */
void gls_default_line(const gls_default *held, const gls_job_options *options, char *line, size_t size);
/* Whether it is the model or the getter. */
bool gls_default_is_of_method(const gls_default *held);
/* Why a run has its model, and its direction getter: what its row says; NULL: it has another one than that row. */
const char *gls_default_model_reason(const gls_job_options *options);
const char *gls_default_getter_reason(const gls_job_options *options);
/* Tells everyone the model and the getter, and why, in the first line of a run, and what a preset does not do; the
 * others to those who ask for details. */
void gls_defaults_log(const gls_job_options *options);

#endif
