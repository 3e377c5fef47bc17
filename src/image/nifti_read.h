/* Reads images: NIfTI here, as a single file or a .hdr/.img pair, compressed or not; MRtrix3's formats by mif.c. */
#ifndef GLS_IMAGE_NIFTI_READ_H
#define GLS_IMAGE_NIFTI_READ_H

#include <glslines/common.h>
#include <glslines/image.h>

/* Like gls_image_read(), but also reads NIfTI images of five dimensions, the fifth of which is 3: vectors, as DIPY
 * writes peaks. The volumes become x, y and z of the first vector, then of the second. */
gls_status gls_image_read_vectors(const char *path, gls_image **image);
/* Like gls_image_read_vectors(), but also reads up to GLS_FIELDS_MAX fields of vectors, one behind the other, from an
 * image whose fourth dimension is 3: transforms in both directions, as DIPY and MRtrix3 write them. *n_fields: their
 * number, the size of the fifth dimension; 1: the image has no such dimension, or has vectors along it. */
gls_status gls_image_read_fields(const char *path, size_t *n_fields, gls_image **image);
/* Reads an image of one volume whose `data` are labels, int32_t in place of float. */
gls_status gls_image_read_as_labels(const char *path, gls_image **image);
/* Like gls_image_read(), without its warning. *rounded: set to true if float has rounded a whole number; else kept. */
gls_status gls_image_read_rounded(const char *path, gls_image_kind kind, gls_image **image, bool *rounded);
/* The warning of gls_image_read() that float has rounded whole numbers of an image. */
void gls_image_warn_rounded(const char *path);
/* Path of the other file of a .hdr/.img pair, existing or not, from malloc. NULL: the name is not one of a pair, or out
 * of memory. */
char *gls_nifti_pair(const char *path);
/* Reads the header alone: an image with its grid and number of volumes, whose `data` are NULL. */
gls_status gls_image_read_header(const char *path, gls_image_kind kind, gls_image **image);

#endif
