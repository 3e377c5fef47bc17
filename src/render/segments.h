/* From streamlines in world space to segments on a strip of a picture. */
#ifndef GLS_RENDER_SEGMENTS_H
#define GLS_RENDER_SEGMENTS_H

#include "render/layout.h"
#include "render/scene.h"
#include "render/view.h"

/* Longest piece, samples: numbers of the kernel stay within 32 bits. */
#define GLS_SEGMENT_MOST 64

typedef struct gls_strip {
    int64_t first; /* row of samples of the picture that is the strip's row 0; may be negative */
    uint32_t rows;
    double radius; /* samples */
} gls_strip;

/* Takes n records; a failure ends the work. */
typedef gls_status (*gls_segment_taker)(void *user, const gls_segment_record *record, uint32_t n);

/* Cuts all streamlines to the camera's box and to the strip, and hands on their segments in parcels of `room` at most,
 * for which buffer has place. */
gls_status gls_segments_make(const gls_scene *scene, const gls_camera *camera, const gls_strip *strip,
                             gls_segment_record *buffer, uint32_t room, gls_segment_taker take, void *user);

#endif
