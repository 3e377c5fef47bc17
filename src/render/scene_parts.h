/* Contents of a picture: cameras, streamlines, slices, and the options that choose them. */
#ifndef GLS_RENDER_SCENE_PARTS_H
#define GLS_RENDER_SCENE_PARTS_H

#include <math.h>

#include <glslines/gradients.h>
#include <glslines/image.h>
#include <glslines/render.h>
#include <glslines/sh.h>
#include <glslines/streamlines.h>

#include "render/drawing.h"

/* --- Views: orthographic cameras, and the boxes that they show. */

/* Number of samples in a pixel along each axis. */
#define GLS_SAMPLES 2

/* A camera. right, up, toward: unit vectors in the world; right x up = toward. */
typedef struct gls_camera {
    /* unit vectors to the right and up in the picture */
    double right[3], up[3];
    double toward[3]; /* unit vector from the object to the viewer */
    double centre[3]; /* world mm, at the middle of the picture */
    double scale;     /* pixels for each mm */
    uint32_t width, height;
    double low[3], high[3]; /* world mm: everything outside this box is cut off */
} gls_camera;

/* A box in the world, mm. */
typedef struct gls_box {
    /* smallest and largest coordinates, world mm */
    double low[3], high[3];
} gls_box;

/* --- Scene: the streamlines of a picture in memory, with a colour for each point. */

/* Largest number of columns that a scene keeps: of lines and groups together, and of points. */
#define GLS_MAX_COLUMNS 32
#define GLS_MAX_POINT_COLUMNS 4

/* Objects of a scene to which the rows of a column belong. */
typedef enum gls_column_of {
    GLS_OF_LINES,  /* a number for each line */
    GLS_OF_GROUP,  /* 1 for members of the group, 0 for other lines */
    GLS_OF_POINTS, /* a number for each point */
} gls_column_of;

/* A column with one number for each line or for each point. */
typedef struct gls_line_column {
    /* name of the column or group */
    char name[64];
    /* whether its numbers belong to lines, to a group or to points */
    gls_column_of of;
    /* n_lines or n_points numbers */
    float *value;
} gls_line_column;

/* The streamlines of a picture in memory, owned. */
typedef struct gls_scene {
    /* streamlines and their points */
    size_t n_lines, n_points;
    uint64_t *offset;  /* n_lines + 1 elements */
    float (*point)[3]; /* world mm */
    uint32_t *colour;  /* one for each point: red, green << 8, blue << 16 */
    float *value;      /* one for each point if colours come from a colour map, else NULL */
    /* lines and points for which memory is allocated */
    size_t line_room, point_room;
    gls_line_column *column; /* columns of the first file: of lines and groups, then of points */
    size_t n_columns;
} gls_scene;

/* Sources of the colour of streamlines. */
typedef enum gls_colouring {
    GLS_COLOUR_DIRECTION, /* direction at each point */
    GLS_COLOUR_END,       /* direction between the two ends */
    GLS_COLOUR_LENGTH,
    GLS_COLOUR_BUNDLE, /* one colour for each file */
    GLS_COLOUR_GROUPS, /* one colour for each group; a member of several groups has the colour of the first by name */
    GLS_COLOUR_GROUP,
    GLS_COLOUR_DPS,
    GLS_COLOUR_DPV,
    GLS_COLOUR_MAP, /* values of an image */
    GLS_COLOUR_PLAIN
} gls_colouring;

/* A colour for a name of a bundle or a group. */
typedef struct gls_named_colour {
    /* the name, cut after 63 bytes */
    char name[64];
    /* red, green << 8, blue << 16 */
    uint32_t colour;
    uint64_t total; /* for a group: number of its streamlines with finite points and the wanted lengths */
} gls_named_colour;

struct gls_sampler;

/* How to colour the streamlines of one file; borrowed while its sink is in use. */
typedef struct gls_paint {
    /* rule for colours */
    gls_colouring colouring;
    const char *name;                  /* name of a group or column */
    uint32_t colour;                   /* for GLS_COLOUR_PLAIN, _BUNDLE, and members of the group of _GROUP */
    const struct gls_sampler *sampler; /* image that gives colours, for GLS_COLOUR_MAP */
    const gls_named_colour *group;     /* colours of groups, for GLS_COLOUR_GROUPS */
    size_t n_groups;
} gls_paint;

/* Where a sink appends streamlines, and in which colours. */
typedef struct gls_painting {
    /* the scene to which streamlines are added; borrowed */
    gls_scene *scene;
    /* how streamlines of this file are coloured; borrowed */
    const gls_paint *paint;
} gls_painting;

/* --- Planes: slices of an image behind and between streamlines. */

/* An image sampled linearly in the world; NAN outside. */
typedef struct gls_sampler {
    const gls_image *image; /* image whose volume 0 is used */
    /* world mm to voxels */
    double to_voxel[3][4];
} gls_sampler;

/* Range of image values, shown from black to white. */
typedef struct gls_window {
    /* values that are black and white */
    double low, high;
} gls_window;

/* --- Glyphs: ODFs on slices, from spherical harmonics. */

typedef struct gls_glyphs gls_glyphs;

/* The planes of a view, and what is drawn on them. */
typedef struct gls_planes {
    const gls_sampler *sampler; /* the image shown on the planes; NULL: none */
    const gls_glyphs *glyphs;   /* ODFs shown on the planes; NULL: none */
    gls_window window;
    double at[3];           /* world mm: planes x = at[0], y = at[1], z = at[2] */
    bool shown[3];          /* whether the plane across each axis is drawn */
    bool is_behind;         /* true: the planes are drawn behind all streamlines, whatever their depth */
    double low[3], high[3]; /* world mm: limits of the planes */
} gls_planes;

/* Depth of a point in the picture plane through the centre of a view. It is so large that all depths are positive. */
#define GLS_DEPTH_CENTRE (INT64_C(1) << 26)

/* Depth of a point in a view, in sixteenths of a sample: the larger, the nearer to the viewer. Limited so that it is
 * positive and fits into 32 bits. */
static inline int64_t gls_depth_of(const gls_camera *c, const double world[3])
{
    double d = 0;
    for (int a = 0; a < 3; a++) d += (world[a] - c->centre[a]) * c->toward[a];
    const double z = d * c->scale * GLS_SAMPLES * 16, most = (double)(GLS_DEPTH_CENTRE / 2);
    return GLS_DEPTH_CENTRE + llround(fmin(fmax(z, -most), most));
}

/* --- Plan: the options of gls_render_files(), read and checked. */

/* Largest number of views of a picture, and largest number of colours in a file of colours. */
#define GLS_MAX_TILES 128
#define GLS_MAX_NAMED 256

/* One view of the picture. */
typedef struct gls_tile {
    char name[24]; /* name of the view, written on the picture; on a slab its position is written */
    /* camera of the view; the studio sets its scale and its cuts */
    gls_camera camera;
    int slab_axis;     /* world axis across which the slab lies; -1: no slab */
    int slab, n_slabs; /* index of the slab among the slabs along this axis, and their number */
    double slab_mm;    /* thickness of the slab, mm; 0: two voxels of the image, or 4 mm without an image */
} gls_tile;

/* The options of a picture, checked and translated. */
typedef struct gls_render_plan {
    /* borrowed */
    const gls_render_options *options;
    /* views and slabs in the order of the picture */
    gls_tile tile[GLS_MAX_TILES];
    /* number of elements of `tile` */
    size_t n_tiles;
    uint32_t width, height; /* size of a tile */
    /* views in a row */
    uint32_t columns;
    int n_slabs; /* number of slabs of all tiles */
    gls_colouring colouring;
    const char *name; /* name of the group or column, or path of the map */
    /* GLS_COLOUR_PLAIN: the colour of all streamlines */
    uint32_t colour;
    /* what fills a view */
    enum { GLS_FIT_AUTO, GLS_FIT_IMAGE, GLS_FIT_STREAMLINES, GLS_FIT_MM } fit;
    /* GLS_FIT_MM: mm along the shorter side of a view */
    double fit_mm;
    /* position of the slices: at the centre, none, or at the positions of --planes */
    enum { GLS_PLANES_CENTRE, GLS_PLANES_NONE, GLS_PLANES_AT } planes;
    /* GLS_PLANES_AT: world mm */
    double planes_at[3];
    uint32_t background; /* colour with alpha */
    uint32_t ink;        /* colour of labels, with alpha */
    /* direction of the view oblique, degrees */
    double azimuth, elevation;
    /* colours of bundles or groups by name, from the file of --colors; owned */
    gls_named_colour *named;
    /* number of elements of `named` */
    size_t n_named;
} gls_render_plan;

#endif
