/* Headers of NIfTI images that are written: NIfTI-2 if a dimension is above 32767, else NIfTI-1. */
#ifndef GLS_IMAGE_NIFTI_WRITE_H
#define GLS_IMAGE_NIFTI_WRITE_H

#include <glslines/common.h>
#include <glslines/image.h>
#include <glslines/type.h>

#include "image/formats.h"

/* Makes the header of an image. what: a few words that describe it; NULL: only the name of the program. */
gls_status gls_nifti_make_header(const char *path, const gls_grid *grid, const char *what, size_t n_volumes,
                                 gls_type type, gls_image_header *header);

#endif
