/* NIfTI headers. */
#ifndef GLS_IMAGE_NIFTI_H
#define GLS_IMAGE_NIFTI_H

#include "image/stream.h"
#include "util/output.h"
#include "image/values.h"
#include <glslines/type.h>

/* What reading the voxels needs to know. */
typedef struct gls_nifti_header {
    gls_grid grid;
    size_t n_volumes;
    gls_values values;
    bool single_file; /* voxels follow in the same file */
    uint64_t offset;  /* of the first voxel */
    uint64_t bytes;   /* of all voxels */
} gls_nifti_header;

/* The other file of a .hdr/.img pair, whether it is there or not, from malloc; NULL: the name is not one of a pair, or
 * memory ran out. */
char *gls_nifti_pair(const char *path);

/* Reads and checks the header at the start of the stream; *used is the number of bytes taken from it. Messages name
 * path. */
gls_status gls_nifti_read_header(gls_stream *stream, const char *path, gls_nifti_header *header, uint64_t *used);

/* Writes volumes of uint8, int32, uint32, float32 or float64 values as they are, otherwise as
 * gls_image_write_grouped(). what: a word or two for the header's description; NULL: the program alone. */
gls_status gls_nifti_write(const char *path, bool overwrite, gls_output_group *group, const gls_grid *grid,
                           const char *what, size_t n_volumes, gls_type type, const void *data);
/* A file of these bytes, header and voxels, packed if its name ends in .gz. */
gls_status gls_nifti_write_bytes(const char *path, bool overwrite, gls_output_group *group, const void *data,
                                 size_t bytes);
/* gls_image_write() as part of a group, unless that is NULL; an existing file is an error unless overwrite. */
gls_status gls_image_write_grouped(const char *path, bool overwrite, gls_output_group *group, const gls_image *image,
                                   gls_image_type type);

#endif
