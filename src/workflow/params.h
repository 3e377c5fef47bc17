/* The parameters of a run as data: for its sidecar, for its identity, and for documentation. */
#ifndef GLS_WORKFLOW_PARAMS_H
#define GLS_WORKFLOW_PARAMS_H

#include <cJSON.h>

#include <glslines/workflow.h>

#include "track/track_params.h"
#include "util/option.h"

/* The options of a run as the command line has them: what the library is told, and what the program alone does. */
typedef struct gls_run_options {
    gls_job_options job;
    const char *report, *picture, *trace, *json;
    bool dry_run;
} gls_run_options;

/* The rows of glslines/params.def; offsets are those of gls_run_options, and so of gls_job_options. */
typedef gls_option gls_param;
extern const gls_option gls_params[];
size_t gls_params_count(void);
const gls_param *gls_params_get(size_t i);
/* NULL: there is none of this name. */
const gls_param *gls_params_find(const char *name);

/* The defaults of the rows alone, those of GPUStreamlines: without what workflow/defaults.def has by preset and getter.
 */
gls_job_options gls_job_options_bare(void);

/* Whether a parameter had a part in the result of these options. */
bool gls_param_is_used(const gls_param *param, const gls_job_options *options);

/* Whether seeds lie on an interface that is made from the tissue, not read from a file. */
bool gls_gmwmi_is_made(const char *seed_gmwmi);

/* The entry of an option whose struct is options. */
void gls_option_add(cJSON *object, const gls_option *option, const void *options);
/* The same of a row, of gls_job_options; none where the program alone has it. */
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
/* The first file of tissue; NULL: none is given. */
const char *gls_tissue_file(const gls_job_options *options);
/* What the direction getter needs: peaks, given or of ODFs; ODFs, if only for their peaks, given or of a model; the
 * series on the device; a model that is fitted. */
bool gls_along_peaks(const gls_job_options *options);
bool gls_needs_odf(const gls_job_options *options);
bool gls_needs_series(const gls_job_options *options);
bool gls_fits_model(const gls_job_options *options);
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
