/* Headers of MRtrix3's images that are written: .mif and .mif.gz, values behind the header, volumes slowest. */
#ifndef GLS_IMAGE_MIF_WRITE_H
#define GLS_IMAGE_MIF_WRITE_H

#include <glslines/common.h>
#include <glslines/image.h>
#include <glslines/type.h>

#include "image/formats.h"

gls_status gls_mif_make_header(const char *path, const gls_grid *grid, const char *what, size_t n_volumes,
                               gls_type type, gls_image_header *header);

#endif
