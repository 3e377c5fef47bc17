/* The parameters of a run as data, for its sidecar, its identity and the manual; and which defaults a run has. */
#ifndef GLS_RECORD_RUN_PARAMS_H
#define GLS_RECORD_RUN_PARAMS_H

#include <cJSON.h>

#include <glslines/workflow.h>

#include "track/track_params.h"
#include "util/option.h"

/* --- Rows of glslines/params.def. */

/* The options of a run as the command line has them: options of the library, and options of the program alone. */
typedef struct gls_run_options {
    /* options of the library */
    gls_job_options job;
    /* files; NULL: none. json: "" for standard output */
    const char *report, *picture, *trace, *json;
    /* true: --dry-run, make only the plan */
    bool dry_run;
} gls_run_options;

/* All rows of params.def; a row without a name ends them. Offsets count from the start of gls_run_options, which begins
 * with the gls_job_options. */
typedef gls_option gls_param;
extern const gls_option gls_params[];
/* Index of each row in gls_params. ROW_field is for code that treats one option specially. */
enum {
#define GLS_PARAM(owner, group, type, field, ...) ROW_##field,
#include <glslines/params.def>
#undef GLS_PARAM
    GLS_N_PARAMS
};

/* Options with the defaults of params.def, without the defaults by preset and getter of record/defaults.def. */
gls_job_options gls_job_options_bare(void);

/* Whether a run with these options, which ask for this method, uses the parameter. */
bool gls_param_is_used(const gls_param *param, const gls_method *method, const gls_job_options *options);

/* Whether the value of an option that takes a file is "auto": what the file would hold is made by the run. NULL: no. */
bool gls_is_auto(const char *value);

/* Adds the value of an option. options: the struct in which the option's offset lies. */
void gls_option_add(cJSON *object, const gls_option *option, const void *options);
/* Adds an entry for each row of the library, null if the run does not use the parameter, and the step size in mm; with
 * --dg ptt also the lengths of ptt. mm: parameters of the tracker with lengths in mm. */
void gls_params_add(cJSON *object, const gls_job_options *options, const gls_method *method,
                    const gls_track_params *mm);
/* Like gls_params_add() for the rows of gls_model_options. */
void gls_params_add_model(cJSON *object, const gls_model_options *options, bool has_model);
/* Removes from two objects of gls_params_add() what is no part of the identity. Returns the first key under which they
 * differ; NULL: none. */
const char *gls_params_difference(cJSON *a, cJSON *b);
/* Fills in *hash: a hash of the values of all options on which the result depends, but not of paths of files. */
gls_status gls_params_identity(const gls_job_options *options, const gls_method *method, const gls_track_params *mm,
                               uint64_t *hash);

/* The parameters of the tracker with all lengths in mm, for data on this grid. */
gls_track_params gls_params_in_mm(const gls_job_options *options, const gls_grid *grid);

/* GLS_ERR_ARGUMENT if a given option of a model is for another model, or has no effect beside another given one. */
gls_status gls_model_require(const gls_model_options *options, const char *const *given);

/* Default options of a model. */
gls_model_options gls_model_options_default(gls_model_kind model);

/* --- Defaults: rows of defaults.def, by preset, direction getter and model. */

/* Whether the one shell of the series, if it has one, decides model and getter: options leave both to the data, or
 * name its getter alone. given: names of the given options. */
bool gls_default_is_of_shell(const gls_job_options *options, const char *const *given);

/* Writes the defaults of an option by getter: "45 degrees with boot, ifod2; 25 degrees with prob". Leaves out getters
 * that do not use the option. Writes only the value if the first getter uses it and all that do have one value. */
void gls_default_text(const char *name, char *text, size_t size);

/* A preset, as messages and the manual describe it. */
typedef struct gls_preset_info {
    const char *name, *source; /* source: where the values come from, in words */
    const char *differs;       /* how results still differ from the program of the preset, in words; NULL: nothing */
} gls_preset_info;
/* Name, source and differences of a preset. preset: a gls_preset. */
const gls_preset_info *gls_preset_get(int preset);

enum { GLS_MAX_DEFAULTS = 32 };

/* A default in use, with its reason. */
typedef struct gls_default {
    const gls_param *param;
    const char *reason; /* why the value is the default; each row of defaults.def says it */
} gls_default;
/* Stores in held[] the rows of defaults.def that the run uses and whose values these options have, at most
 * GLS_MAX_DEFAULTS. Returns their number. */
size_t gls_defaults_held(const gls_job_options *options, const gls_method *method, gls_default held[GLS_MAX_DEFAULTS]);
/* Names of the parameters on which the result depends and whose values differ from the defaults of this preset, getter
 * and model. Files, and a preset other than "default", always count as different. An array; the caller frees it. */
cJSON *gls_defaults_changed(const gls_job_options *options, const gls_method *method);
/* Writes a line such as "--max-angle 25 degrees (as DIPY)". */
void gls_default_line(const gls_default *held, const gls_job_options *options, char *line, size_t size);
/* Whether this is the default of --model or of --dg. */
bool gls_default_is_of_method(const gls_default *held);
/* Why the model is the default, from defaults.def. NULL: it is not the default, or an option gives the directions in
 * place of a model. */
const char *gls_default_model_reason(const gls_job_options *options, const gls_method *method);
/* Why the direction getter is the default. NULL: it is not the default. */
const char *gls_default_getter_reason(const gls_job_options *options, const gls_method *method);
/* Logs as information the getter with the reason for it, the model likewise if the run fits one, and how results differ
 * from the program of the preset. Logs the other defaults as details. */
void gls_defaults_log(const gls_job_options *options, const gls_method *method);

#endif
