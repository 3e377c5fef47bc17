/* Responses of tissues in several shells: their text files, and whether they fit a series. */
#ifndef GLS_DWI_TISSUE_RESPONSE_H
#define GLS_DWI_TISSUE_RESPONSE_H

#include <glslines/common.h>
#include <glslines/msmt.h>

#include "util/output_file.h"

/* Like gls_tissue_response_write(), but as part of a group unless group is NULL. An existing file is an error unless
 * overwrite. */
gls_status gls_tissue_response_write_grouped(const char *path, bool overwrite, gls_output_group *group,
                                             const gls_tissue_response *response);

#endif
