/* Responses written together with other files. */
#ifndef GLS_DWI_RESPONSE_FILE_H
#define GLS_DWI_RESPONSE_FILE_H

#include "util/output.h"
#include <glslines/msmt.h>

/* gls_response_write() as part of a group, unless that is NULL; an existing file is an error unless overwrite. */
gls_status gls_response_write_grouped(const char *path, bool overwrite, gls_output_group *group,
                                      const gls_response *response);
/* gls_tissue_response_write() likewise. */
gls_status gls_tissue_response_write_grouped(const char *path, bool overwrite, gls_output_group *group,
                                             const gls_tissue_response *response);

#endif
