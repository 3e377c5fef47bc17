/* The streamlines of a picture in memory: points, and a colour for each. */
#ifndef GLS_RENDER_SCENE_H
#define GLS_RENDER_SCENE_H

#include <glslines/streamlines.h>

#include "render/colour.h"

typedef struct gls_scene {
    size_t n_lines, n_points;
    uint64_t *offset;  /* n_lines + 1 */
    float (*point)[3]; /* world mm */
    uint32_t *colour;  /* of each point: red, green << 8, blue << 16 */
    float *value;      /* of each point, where colours come from a colour map, else NULL */
    size_t line_room, point_room;
} gls_scene;

/* What streamlines get their colours from. */
typedef enum gls_colouring {
    GLS_COLOUR_DIRECTION, /* of the streamline at each point */
    GLS_COLOUR_END,       /* of the line between its ends */
    GLS_COLOUR_LENGTH,
    GLS_COLOUR_BUNDLE, /* one colour a file */
    GLS_COLOUR_GROUP,
    GLS_COLOUR_DPS,
    GLS_COLOUR_DPV,
    GLS_COLOUR_MAP, /* an image */
    GLS_COLOUR_PLAIN
} gls_colouring;

struct gls_sampler;
/* How the streamlines of one file are coloured; borrowed while its sink is in use. */
typedef struct gls_paint {
    gls_colouring colouring;
    const char *name;                  /* of a group or a column */
    uint32_t colour;                   /* PLAIN, BUNDLE, members of a GROUP */
    const struct gls_sampler *sampler; /* MAP */
} gls_paint;

typedef struct gls_painting {
    gls_scene *scene;
    const gls_paint *paint;
} gls_painting;
/* Appends what it gets to the scene; painting is borrowed, finish and abort do nothing. */
gls_sink gls_scene_sink(gls_painting *painting);
/* Colours from values: those up to low get the first colour of the map, those from high on the last. Values that are no
 * number become grey. */
void gls_scene_colour(gls_scene *scene, gls_colormap map, double low, double high);
/* The values below which the shares low and high of the scene's values lie; 0 and 1 where there are none. */
gls_status gls_scene_percentiles(const gls_scene *scene, double low, double high, double range[2]);
void gls_scene_finish(gls_scene *scene);

#endif
