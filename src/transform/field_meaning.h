/* Decides what the three numbers of each voxel of a field mean, positions or displacements, because files seldom say
 * it. */
#ifndef GLS_TRANSFORM_FIELD_MEANING_H
#define GLS_TRANSFORM_FIELD_MEANING_H

#include <glslines/image.h>

typedef enum gls_field_meaning {
    GLS_FIELD_POSITIONS,     /* where a voxel's centre goes, mm */
    GLS_FIELD_DISPLACEMENTS, /* how far it goes, mm */
    GLS_FIELD_UNCLEAR        /* the values may be either */
} gls_field_meaning;

/* Judges an image of three volumes by its values. Positions grow with the position of the voxel about as fast as it
 * does, in any direction; displacements do not. Voxels that are not finite or all 0 are left out. */
gls_field_meaning gls_field_judge(const gls_image *field);
/* Whether positions lie nearer to FSL's coordinates of their voxels than to their place in the world: FSL's files of
 * positions look like those of MRtrix3, and this distinguishes them where both images have about one place in the
 * world.
 */
bool gls_field_is_fsl(const gls_image *field);
/* GLS_OK if the values of a field move points no farther than images of a body lie apart. place: the map of a voxel to
 * its own position, from which positions are measured; NULL: the values are displacements. has_gaps: voxels without a
 * value are NaN, as in MRtrix3; in other formats a number that is not finite is damage, which splines and flows spread.
 * Else GLS_ERR_INPUT: the file `path` is damaged, marks voxels without values by numbers, or was read as another format
 * than it is. */
gls_status gls_field_check_lengths(const gls_image *field, const double place[3][4], bool has_gaps, const char *path);
/* GLS_OK unless the field holds displacements. path: its file, for the message, which says how to make positions. */
gls_status gls_field_require_positions(const gls_image *field, const char *path);

#endif
