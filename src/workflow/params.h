/* The parameters of a run as data: for its sidecar, for its identity, and for documentation. */
#ifndef GLS_WORKFLOW_PARAMS_H
#define GLS_WORKFLOW_PARAMS_H

#include <cJSON.h>

#include <glslines/workflow.h>

#include "track/params.h"
#include "util/format.h"

/* A row of glslines/params.def. */
typedef struct gls_param {
    const char *name, *unit; /* unit NULL: none */
    const char *choices;     /* NULL: no choice */
    gls_range range;         /* of numbers; of a length in mm */
    gls_param_role role;
    gls_param_user user;
    bool of_fit;               /* of the fit of a model */
    bool of_model, of_command; /* a member of gls_model_options; not in gls_job_options at all */
} gls_param;

size_t gls_params_count(void);
const gls_param *gls_params_get(size_t i);
/* NULL: there is none of this name. */
const gls_param *gls_params_find(const char *name);
/* "max-angle" in degrees -> "max_angle_degrees" */
void gls_param_key(const gls_param *param, char *key, size_t size);

/* The defaults of the rows alone, those of GPUStreamlines: without what workflow/defaults.def has by preset and getter.
 */
gls_job_options gls_job_options_bare(void);

/* Whether a parameter had a part in the result of these options. */
bool gls_param_is_used(const gls_param *param, const gls_job_options *options);

/* Whether seeds lie on an interface that is made from the tissue, not read from a file. */
bool gls_gmwmi_is_made(const char *seed_gmwmi);

/* The entry of a row, of gls_job_options. */
void gls_param_add(cJSON *object, const gls_param *param, const gls_job_options *options);
/* An entry for each row, null where it had no part; mm: the parameters of the tracker, lengths in mm. */
void gls_params_add(cJSON *object, const gls_job_options *options, const gls_track_params *mm);
/* The rows of gls_model_options alone. */
void gls_params_add_model(cJSON *object, const gls_model_options *options);
/* Leaves in such an object what the result depends on, but for the contents of files. */
void gls_params_keep_identity(cJSON *object);
/* A hash of what the result depends on; without memory GLS_ERR_MEMORY. */
gls_status gls_params_identity(const gls_job_options *options, const gls_track_params *mm, uint64_t *hash);

/* The parameters of the tracker with every length in mm, for data on such a grid. */
gls_track_params gls_params_in_mm(const gls_job_options *options, const gls_grid *grid);

/* Defaults of a model, and the axes that its sh_frame stands for. */
gls_model_options gls_model_options_default(gls_model_kind model);
gls_bvec_frame gls_model_frame(const gls_model_options *options);
/* The option that gives the directions, "sh", "odf" or "peaks", in place of a model; NULL: none. */
const char *gls_directions_option(const gls_job_options *options);
/* Whether the direction getter follows peaks. */
bool gls_along_peaks(const gls_job_options *options);
const char *gls_csd_rule_name(gls_csd_rule rule);
/* The file of csd_directions; NULL: it is none. */
const char *gls_csd_directions_file(const gls_model_options *options);
#define GLS_DIRECTIONS_HINT " (--csd-directions takes the name of a built-in sphere, such as symmetric362, or a file)"
/* "tournier07" and so on. */
const char *gls_basis_name(gls_sh_basis basis);
const char *gls_model_name(gls_model_kind model);
/* sh_order, or what stands for 0. */
int gls_model_order(const gls_model_options *options);
/* Whether a device is to fit the model. */
bool gls_fit_on_device(const gls_model_options *options);
const char *gls_getter_name(gls_direction_getter dg);
/* What the range checks of the command line cannot know. */
gls_status gls_model_options_check(const gls_model_options *options);

#endif
