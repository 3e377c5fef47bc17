/* Files of transforms. */
#ifndef GLS_TRANSFORM_TRANSFORM_WRITE_H
#define GLS_TRANSFORM_TRANSFORM_WRITE_H

#include <glslines/image.h>

#include "util/output_file.h"

/* Writes an affine map, fixed to moving points in RAS mm, as MRtrix3 reads it: four rows of numbers, and comments. */
gls_status gls_transform_write_matrix(const char *path, bool overwrite, gls_output_group *group,
                                      const double map[3][4]);
/* Writes an affine map as ITK and ANTs read it. */
gls_status gls_transform_write_itk(const char *path, bool overwrite, gls_output_group *group, const double map[3][4]);
/* Writes an affine map as FLIRT does: moving to fixed points, in FSL's coordinates of both grids. */
gls_status gls_transform_write_flirt(const char *path, bool overwrite, gls_output_group *group, const double map[3][4],
                                     const gls_grid *moving, const gls_grid *fixed);
/* Writes an affine map as AFNI does (.aff12.1D): one row of 12 numbers, LPS. */
gls_status gls_transform_write_afni(const char *path, bool overwrite, gls_output_group *group, const double map[3][4]);
/* Writes an affine map as FreeSurfer does (.lta, RAS to RAS), from the moving to the fixed grid. */
gls_status gls_transform_write_lta(const char *path, bool overwrite, gls_output_group *group, const double map[3][4],
                                   const gls_grid *moving, const gls_grid *fixed);
/* Writes an affine map as NiftyReg reads it: four rows of numbers alone, because it takes a comment for zeros. */
gls_status gls_transform_write_niftyreg(const char *path, bool overwrite, gls_output_group *group,
                                        const double map[3][4]);
/* Writes a field of displacements, three volumes in RAS mm, as ITK and ANTs read it: five dimensions, intent 1007, LPS;
 * or as NiftyReg reads it: RAS, and the name of the intent. The name of the file must end in .nii or .nii.gz. */
gls_status gls_transform_write_field(const char *path, bool overwrite, gls_output_group *group, const gls_image *field,
                                     bool niftyreg);

#endif
