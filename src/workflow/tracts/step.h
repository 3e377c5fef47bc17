/* The step that a tractogram states: how far apart its points are. */
#ifndef GLS_WORKFLOW_TRACTS_STEP_H
#define GLS_WORKFLOW_TRACTS_STEP_H

#include <glslines/tractogram.h>

/* mm; `otherwise` where there is none. Only headers of TCK files have it, as output_step_size or step_size. */
double gls_tract_step(const gls_tractogram_info *info, double otherwise);

#endif
