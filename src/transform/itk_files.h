/* Transforms of ITK and ANTs. */
#ifndef GLS_TRANSFORM_ITK_FILES_H
#define GLS_TRANSFORM_ITK_FILES_H

#include "transform/transform.h"

/* Whether a file is a matrix of MATLAB 4, as ANTs writes its affine maps. */
bool gls_itk_is_matlab(const char *data, size_t n);
/* Makes the map of an affine transform from a file in memory, text or MATLAB 4, with a NUL behind it. */
gls_status gls_itk_read_affine(const char *path, const char *data, size_t n, double map[3][4]);
/* Appends the steps of a transform in HDF5 (.h5), which may be composed of several. */
gls_status gls_itk_read_composite(const gls_transform_source *source, gls_transform *transform);

#endif
