/* From files to the streamlines of a picture: a first pass counts and measures, a second one keeps. */
#ifndef GLS_RENDER_COLLECT_H
#define GLS_RENDER_COLLECT_H

#include <glslines/filters.h>

#include "render/plan.h"
#include "render/planes.h"

/* One file. */
typedef struct gls_source {
    const char *path;
    char name[64];           /* without folder and suffix */
    uint64_t total;          /* streamlines in it */
    gls_filter_counts valid; /* those whose points are finite */
    uint64_t candidates;     /* of the lengths that are wanted */
    uint32_t colour;
    bool is_shown;
} gls_source;

/* Counts the streamlines of a file; widens *box, which starts as *empty. */
gls_status gls_source_measure(gls_source *source, const gls_render_plan *plan, gls_box *box, bool *empty);
/* Appends those that are to be drawn, with points left out whose place the others tell within tolerance, mm. sampler:
 * of the image that gives colours, or NULL. */
gls_status gls_source_collect(const gls_source *source, const gls_render_plan *plan, const gls_sampler *sampler,
                              double tolerance, gls_scene *scene);
/* Gives every file its colour, by its name. */
void gls_sources_colour(gls_source *sources, size_t n, const gls_render_plan *plan);

#endif
