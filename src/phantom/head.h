/* Anatomy of the phantom's head: the tissue at any point, from signed distances (below 0 inside) to simple solids,
 * symmetric about the midline. */
#ifndef GLS_PHANTOM_HEAD_H
#define GLS_PHANTOM_HEAD_H

typedef enum phantom_tissue { PHANTOM_WHITE, PHANTOM_GREY, PHANTOM_CSF, PHANTOM_OUTSIDE } phantom_tissue;

/* Tissue at a point of the reference frame. *margin (may be NULL): approximate distance, in mm, to the nearest point
 * where the tissue may differ. */
phantom_tissue gls_phantom_tissue(const double p[3], double *margin);

#endif
