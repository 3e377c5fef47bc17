/* Answers from the options of a model: names, order, shells, axes, and whether they go together. */
#ifndef GLS_DWI_MODEL_OPTIONS_H
#define GLS_DWI_MODEL_OPTIONS_H

#include <glslines/glslines.h>
#include <glslines/workflow.h>

/* Name of a model in options and sidecars, such as "csd". */
const char *gls_model_name(gls_model_kind model);
/* Name of a rule of CSD in options and sidecars. */
const char *gls_csd_rule_name(gls_csd_rule rule);
/* sh_order, or the default order of the model if sh_order is 0. */
int gls_model_order(const gls_model_options *options);
/* Number of weighted shells that --shells names. *bval: the b-value of the first; unchanged if there is none. */
size_t gls_model_shells(const gls_model_options *options, double *bval);
/* Fails with GLS_ERR_ARGUMENT: a model of one shell has n of them. */
gls_status gls_model_too_many_shells(size_t n);
/* Checks what the ranges of single options cannot express: which options go together. */
gls_status gls_model_options_check(const gls_model_options *options);
/* Name of a basis in options and sidecars, such as "tournier07". */
const char *gls_basis_name(gls_sh_basis basis);
/* Axes along which a file has its SH coefficients: sh_frame, or the axes that belong to the basis if sh_frame is
 * GLS_FRAME_AUTO. */
gls_bvec_frame gls_model_frame(const gls_model_options *options);
/* Whether the options ask for a fit on a device. */
bool gls_fit_on_device(const gls_model_options *options);
/* The value of csd_directions if it names a file; NULL otherwise. */
const char *gls_csd_directions_file(const gls_model_options *options);
#define GLS_DIRECTIONS_HINT " (--csd-directions takes the name of a built-in sphere, such as symmetric362, or a file)"

#endif
