/* Chains of transforms that options of commands name. */
#ifndef GLS_TOOLS_CHAIN_H
#define GLS_TOOLS_CHAIN_H

#include "tools/tract_results.h"
#include "transform/transform.h"

/* Notes all files of a chain as inputs of the run. */
gls_status gls_chain_note(gls_tract_run *run, const gls_strings *files);
/* Reads a chain, which has no step if there are no files, and adds its steps to those of the sidecar. Call
 * gls_transform_finish() even after a failure. */
gls_status gls_chain_read(gls_tract_run *run, const gls_strings *files, gls_transform *transform);

#endif
