/* Reorients FODs that are brought to another space. */
#ifndef GLS_DWI_FOD_TURN_H
#define GLS_DWI_FOD_TURN_H

#include <glslines/image.h>

#include "transform/transform.h"

/* How a transform changes the size of FODs. */
typedef enum gls_modulation {
    GLS_MODULATE_NONE,
    GLS_MODULATE_FOD,     /* by the change of cross-section across each direction, which keeps the number of fibres */
    GLS_MODULATE_JACOBIAN /* by the change of volume */
} gls_modulation;

/* Number of directions from which turned FODs are made. */
#define GLS_FOD_TURN_DIRECTIONS 300

/* Turns FODs that gls_image_resample() has brought to a grid: coefficients of MRtrix3's basis of order 2 to 8 along the
 * scanner axes. An FOD is a sum of apodised deltas along GLS_FOD_TURN_DIRECTIONS directions; each delta goes to the
 * direction J^-1 d, J the derivative of the transform. Voxels whose first coefficient is not above 0, or where J is not
 * known, stay as they are. name: of the image, for messages. */
gls_status gls_fod_turn(gls_image *fod, const char *name, const gls_transform *transform, gls_modulation modulation);

#endif
