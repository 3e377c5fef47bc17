/* Reads and checks the options of a picture. */
#ifndef GLS_RENDER_PICTURE_PLAN_H
#define GLS_RENDER_PICTURE_PLAN_H

#include <glslines/common.h>
#include <glslines/render.h>

#include "render/scene_parts.h"

/* Makes the plan for n files. GLS_ERR_ARGUMENT names the option that is wrong. */
gls_status gls_render_plan_make(const gls_render_options *options, size_t n, gls_render_plan *plan);
/* Replaces the views of a plan by the slabs of --slab or, by default, slabs across three axes, because streamlines in
 * great number hide each other. If the options set views, tile, columns, turn or outline, leaves the plan as it is, and
 * *sliced is false. */
gls_status gls_render_plan_slice(gls_render_plan *plan, bool *sliced);
/* Frees what the plan owns. Accepts a zeroed plan. */
void gls_render_plan_finish(gls_render_plan *plan);

#endif
