/* Writes fixel directories, which MRtrix3 reads as fixel images. */
#ifndef GLS_WEIGHTS_FIXEL_FILES_H
#define GLS_WEIGHTS_FIXEL_FILES_H

#include <glslines/common.h>
#include <glslines/fixels.h>

#include "util/output_file.h"

/* Like gls_fixels_write(), with the files in `group`. */
gls_status gls_fixels_write_grouped(const gls_fixels *fixels, const char *directory, const gls_fixel_values *values,
                                    size_t n, bool overwrite, gls_output_group *group);

#endif
