/* Voxel values as they lie in files, to and from float. */
#ifndef GLS_IMAGE_VALUES_H
#define GLS_IMAGE_VALUES_H

#include <glslines/image.h>

/* How values lie in a NIfTI file. */
typedef struct gls_values {
    int datatype; /* a NIFTI_TYPE_ code */
    size_t bytes; /* of one value */
    bool swapped; /* byte order is not this machine's */
    double slope, inter;
} gls_values;

/* Bytes of one value of a real numeric type, 0 for any other code. */
size_t gls_values_bytes(int datatype);
/* Whether reading is copying. */
bool gls_values_plain(const gls_values *values);
/* n values; in is aligned for the type and may be overwritten. */
void gls_values_read(const gls_values *values, void *in, size_t n, float *out);

/* Bytes of one written value. */
size_t gls_image_type_bytes(gls_image_type type);
/* n values; integers round half to even and saturate, NaN becomes 0. */
void gls_values_write(gls_image_type type, const float *in, size_t n, void *out);

#endif
