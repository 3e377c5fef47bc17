/* Draws the pictures of a report. */
#ifndef GLS_RENDER_REPORT_DRAW_H
#define GLS_RENDER_REPORT_DRAW_H

#include <glslines/common.h>

#include "render/drawing.h"
#include "render/report_parts.h"

/* Stores a canvas in *picture as the bytes of a PNG file. */
gls_status gls_report_encode(const gls_canvas *canvas, gls_report_picture *picture);
/* Draws the pictures of the tractogram, and keeps the streamlines of the 3-D view. */
gls_status gls_report_draw(gls_report *report);

#endif
