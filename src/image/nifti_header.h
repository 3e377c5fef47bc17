/* Reads and checks headers of NIfTI-1 and NIfTI-2, and converts voxel values from the types in files to float. */
#ifndef GLS_IMAGE_NIFTI_HEADER_H
#define GLS_IMAGE_NIFTI_HEADER_H

#include <glslines/common.h>
#include <glslines/image.h>

#include "image/formats.h"

/* Converts n values to float or int32_t. in: the values as the file has them, aligned for their type; their memory may
 * be overwritten. out: n elements. Returns whether float has rounded a whole number of 32 or 64 bits. */
bool gls_values_read(const gls_values *values, void *in, size_t n, void *out);
/* The label that a value is, or GLS_NO_LABEL. below: the type that stores it holds all whole numbers below this one
 * exactly. Where scaling has rounded a value below 16777216, the whole number nearest to it counts. */
int32_t gls_label_of(double value, bool scaled, double below);

/* Contents of a NIfTI header that a reader of the voxels needs. */
typedef struct gls_nifti_header {
    gls_grid grid;
    size_t n_volumes;
    int fifth; /* the fifth dimension. 1: there is none. 3: volumes are x of all vectors, then y, then z. Other numbers,
                  to GLS_FIELDS_MAX: that many fields, the volumes of each being x, y and z */
    gls_values values;
    bool single_file; /* true: the voxels are in the same file as the header */
    uint64_t offset;  /* position of the first voxel, in bytes */
    uint64_t bytes;   /* size of all voxels */
} gls_nifti_header;

/* Reads and checks the header at the start of the stream. *used: number of bytes read from the stream. path: for
 * messages. */
gls_status gls_nifti_read_header(gls_stream *stream, const char *path, gls_nifti_header *header, uint64_t *used);

#endif
