/* Reads tractograms for a picture: a first pass counts and measures streamlines, a second pass keeps those that are
 * drawn. */
#ifndef GLS_RENDER_COLLECT_H
#define GLS_RENDER_COLLECT_H

#include <glslines/common.h>
#include <glslines/streamlines.h>

#include "render/scene_parts.h"
#include "render/studio_parts.h"

/* Counts the streamlines of a file, and widens *box by those with finite points and the wanted lengths. *empty: the box
 * has no point yet. */
gls_status gls_source_measure(gls_source *source, const gls_render_plan *plan, gls_box *box, bool *empty);
/* Appends to the scene the streamlines that are drawn. Leaves out points where a streamline moves by no more than the
 * tolerance, mm. sampler: samples the image that gives colours; used for GLS_COLOUR_MAP only. */
gls_status gls_source_collect(const gls_source *source, const gls_render_plan *plan, const gls_sampler *sampler,
                              double tolerance, gls_scene *scene);
/* Sends all streamlines with finite points and the wanted lengths to a sink, and finishes the sink; after a failure
 * aborts it. */
gls_status gls_source_pour(const gls_source *source, const gls_render_plan *plan, gls_sink *sink);
/* Gives every file and every group a colour: that of its name in --colors, else one by its rank among the names. */
void gls_sources_colour(gls_source *sources, size_t n, const gls_render_plan *plan);

#endif
