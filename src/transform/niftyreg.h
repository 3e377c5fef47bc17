/* Transforms of NiftyReg whose file does not hold where each voxel goes: control points of splines, and velocities. */
#ifndef GLS_TRANSFORM_NIFTYREG_H
#define GLS_TRANSFORM_NIFTYREG_H

#include "transform/transform.h"

/* Content of a file, the first parameter of its intent. */
enum gls_niftyreg_kind {
    GLS_NIFTYREG_POSITIONS,          /* reg_transform -def */
    GLS_NIFTYREG_DISPLACEMENTS,      /* reg_transform -disp */
    GLS_NIFTYREG_CONTROL_POINTS,     /* reg_f3d: positions of the control points of a cubic B-spline */
    GLS_NIFTYREG_FLOW,               /* reg_transform -flow: positions plus a velocity */
    GLS_NIFTYREG_FLOW_DISPLACEMENTS, /* a velocity alone, which no program of NiftyReg reads */
    GLS_NIFTYREG_VELOCITY_POINTS,    /* reg_f3d -vel: control points of a velocity */
    GLS_NIFTYREG_LINEAR_POINTS       /* control points of a linear spline, which no program of NiftyReg writes */
};

/* Whether the kind has control points, so that its file says nothing of the grid of the reference image. */
bool gls_niftyreg_has_points(int kind);
/* Replaces the field of a step, which holds how far control points or velocities move their own place, by what
 * reg_transform -def makes of it on the grid of the reference image, as displacements. path: the file, for the affine
 * maps behind its header. squarings: the second parameter of its intent, how often the flow is composed with itself;
 * negative: backward; 0: as often as the velocity needs. */
gls_status gls_niftyreg_spread(gls_transform_step *step, const char *path, int kind, double squarings,
                               const gls_grid *grid);

#endif
