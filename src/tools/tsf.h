/* Writes track scalar files of MRtrix3: one number for each point, in the layout of a TCK file. */
#ifndef GLS_TOOLS_TSF_H
#define GLS_TOOLS_TSF_H

#include <glslines/common.h>
#include <glslines/streamlines.h>

#include "record/tract_run.h"

/* Makes a sink that writes a component of a dpv column as a track scalar file of MRtrix3, in the group of the run.
 * stamp: timestamp of the TCK file that the scalars belong to; NULL: that file is being written, too. Values that are
 * not finite become 0, with a warning, because NaN and infinity separate streamlines in this format. */
gls_status gls_tract_tsf_create(gls_tract_run *run, const char *path, const char *stamp, const char *column,
                                uint32_t component, gls_sink *sink);

#endif
