/* Chains of transforms that options of commands name. */
#ifndef GLS_TOOLS_CHAIN_H
#define GLS_TOOLS_CHAIN_H

#include <cJSON.h>

#include "tools/tract_results.h"
#include "transform/transform.h"

/* Notes all files of a chain as inputs of the run. */
gls_status gls_chain_note(gls_tract_run *run, const gls_strings *files);
/* Reads a chain, which has no step if there are no files, and adds its steps to those of the sidecar. Call
 * gls_transform_finish() even after a failure. */
gls_status gls_chain_read(gls_tract_run *run, const gls_strings *files, gls_transform *transform);

/* Adds the grids of both images of a registration to its sidecar, by which gls_chain_check_sides() knows them. */
void gls_chain_describe_grids(const gls_grid *fixed, const gls_grid *moving, cJSON *root);
/* GLS_ERR_INPUT: the first transform is of `glslines register`, whose sidecar says that the images are the other way
 * round: `fixed` is its moving image, and `moving` its fixed one. moving NULL: not known. in: the input, for the
 * message. */
gls_status gls_chain_check_sides(const gls_strings *files, const gls_grid *fixed, const gls_grid *moving,
                                 const char *in);

#endif
