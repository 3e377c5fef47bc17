/* Writes images, plain or compressed, in the format that their name asks for: NIfTI or MRtrix3's MIF. */
#ifndef GLS_IMAGE_IMAGE_WRITE_H
#define GLS_IMAGE_IMAGE_WRITE_H

#include <glslines/common.h>
#include <glslines/image.h>
#include <glslines/type.h>

#include "util/output_file.h"

/* Whether the name has a suffix of images that are written: .nii, .nii.gz, .mif or .mif.gz. */
bool gls_image_is_output(const char *path);
/* Writes volumes. type: uint8, int32, uint32, float32 or float64; the values are stored as they are. what: a few words
 * for the header's description; NULL: only the name of the program. */
gls_status gls_image_write_values(const char *path, bool overwrite, gls_output_group *group, const gls_grid *grid,
                                  const char *what, size_t n_volumes, gls_type type, const void *data);
/* Whether glslines wrote the image with these words in its header. false also if it cannot be read. */
bool gls_image_is_along_voxels(const char *path);
/* Writes an image file from its bytes, header and voxels. */
gls_status gls_image_write_bytes(const char *path, bool overwrite, gls_output_group *group, const void *data,
                                 size_t bytes);
/* Like gls_image_write(), but as part of a group unless group is NULL. An existing file is an error unless
 * overwrite. */
gls_status gls_image_write_grouped(const char *path, bool overwrite, gls_output_group *group, const gls_image *image,
                                   gls_image_type type);

#endif
