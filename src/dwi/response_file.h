/* Reads and writes response functions as text: rows of zonal coefficients, one for each shell, as MRtrix3 writes them,
 * or one row with the eigenvalues of a tensor and S0. */
#ifndef GLS_DWI_RESPONSE_FILE_H
#define GLS_DWI_RESPONSE_FILE_H

#include <glslines/common.h>
#include <glslines/csd.h>

#include "util/output_file.h"

/* Like gls_response_write(), but as part of a group unless group is NULL. An existing file is an error unless
 * overwrite. */
gls_status gls_response_write_grouped(const char *path, bool overwrite, gls_output_group *group,
                                      const gls_response *response);

#endif
