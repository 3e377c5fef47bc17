/* Pictures of tractograms: streamlines as tubes, with slices of an image and ODFs as glyphs, seen from named sides,
 * drawn by compute shaders without a display. The same inputs and options give the same pixels on every device.
 *
 *     const char *files[] = {"tracks.trx"};
 *     gls_render_options options = gls_render_options_default();
 *     options.image = "fa.nii.gz";
 *     if (gls_render_files(files, 1, "tracks.png", &options, NULL) != GLS_OK)
 *         fprintf(stderr, "%s\n", gls_last_error());
 *
 * At the right of the picture lies the right of the body if the viewer stands above or behind, its left if he stands
 * below or in front, its back if he stands at the left, its front if he stands at the right. The letters at the borders
 * are computed from the camera. */
#ifndef GLSLINES_RENDER_H
#define GLSLINES_RENDER_H

#include <glslines/tractogram.h>
#include <glslines/workflow.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gls_render_style { GLS_RENDER_TUBES, GLS_RENDER_LINES } gls_render_style;
typedef enum gls_render_convention {
    GLS_RENDER_NEUROLOGICAL, /* slices as from above and behind: left is left */
    GLS_RENDER_RADIOLOGICAL  /* slices as from below and in front: left is right */
} gls_render_convention;

/* Texts are borrowed during gls_render_files(), NULL where not given, and mean what the options of `glslines render`
 * mean. */
typedef struct gls_render_options {
    size_t size;         /* size of this struct; set by gls_render_options_default() */
    const char *views;   /* superior inferior anterior posterior left right axial coronal sagittal oblique slab, with
                            commas. Default: with turn "posterior", else with odf "axial", else
                            "superior,posterior,left"; but slabs across three axes for a single tractogram with 10000
                            streamlines or more to draw, without tile, columns, turn, outline and odf */
    const char *slab;    /* AXIS:N[:MM],...; default "axial:12" */
    const char *oblique; /* AZIMUTH,ELEVATION, degrees; default "35,25" */
    const char *image; /* file behind the streamlines; default none, but the slabs that stand for `views` show the stop
                          map of the run, else the density of the streamlines */
    gls_numbers image_range;       /* values shown as black and as white; default none: 2nd and 98th percentile of
                                      the values that are not 0; black is at most 0 if there are values that are 0 or
                                      not finite */
    const char *planes;            /* X,Y,Z mm, "centre" or "none"; default "centre" */
    const char *color;             /* default "direction"; with several files "bundle" */
    const char *colors;            /* file with lines NAME #rrggbb; default none */
    int colormap;                  /* index in the list viridis cividis inferno grey redblue hot; default 0 */
    gls_numbers range;             /* values of the first and the last colour; default none: 2nd and 98th percentile */
    gls_render_style style;        /* default GLS_RENDER_TUBES */
    double radius;                 /* radius of tubes, mm, 0.01 .. 5; default 0.2 */
    double opacity;                /* opacity of each streamline, 0.01 .. 1; default 1 */
    double occlusion;              /* how much tubes in front darken what is behind, 0 .. 1; default 0.8 */
    uint64_t max_streamlines;      /* 1 .. 2^32 - 1, of each file, evenly spread; default 50000 */
    double min_length, max_length; /* mm; streamlines outside this range are not drawn; default 0, INFINITY */
    const char *tile;              /* WxH, size of a view in pixels, each 64 to 8192; default "800x800"; for slabs
                                      "400x400"; with odf, without views and turn, "1200x1200". The whole picture has
                                      at most 65535 pixels a side and 2^29 pixels in all */
    int columns;                   /* number of views in a row; default 0: all views, for slabs 4 */
    const char *fit;  /* "image", "streamlines" or the mm that the shorter side of a view shows, 0.001 .. 100000;
                         default: the first that is given of image, odf, mask of outline and streamlines */
    gls_numbers crop; /* X0 X1 Y0 Y1 Z0 Z1, mm: the box that is drawn; default none */
    gls_render_convention convention; /* default GLS_RENDER_NEUROLOGICAL */
    const char *background;           /* black, white, grey, #rrggbb or transparent; default "black" */
    bool no_labels;                   /* default false */
    const char *title;                /* default none */
    uint32_t turn;                    /* frames of a turn round the S axis, 8 .. 360; 0: a still picture; default 0 */
    uint32_t fps;                     /* frames per second of a turn, 1 .. 60; default 12 */
    bool frames;                      /* write a turn as a folder of pictures; default false: APNG */
    bool palette; /* store 256 colours, which reduces the file to a third of its size; not with turn or a transparent
                     background; default false */
    gls_tractogram_read_options read; /* how the tractograms are read */
    const char *device;               /* see gls_device_open(); default "auto" */
    gls_graphics api;                 /* graphics interface of the device; default GLS_GRAPHICS_AUTO */
    bool (*go_on)(void); /* called now and then; false: stop with GLS_ERR_CANCELLED; default NULL: not called */
    bool force;          /* overwrite; default false */
    bool fail_if_empty;  /* GLS_ERR_EMPTY if tractograms are given but no streamline is drawn; the picture is written;
                            default false */
    const gls_image *image_data; /* image behind the streamlines, used if `image` is NULL; default NULL */
    const char *odf; /* image of spherical harmonics, shown as glyphs on the slices; there may then be no tractogram.
                        Default none */
    gls_sh_basis sh_basis; /* basis of odf; default GLS_SH_TOURNIER07 */
    gls_frame sh_frame;    /* axes of odf; default GLS_FRAME_AUTO */
    const char *outline;   /* mask whose surface is drawn like glass, in all views but slabs; "density": the surface of
                              the streamlines' density; default none */
    const char *unit;      /* unit of the values of dps, dpv or map, for the legend; default none */
    gls_strings transform; /* FILE[,inverse] each: chain from the streamlines' space to that of image, of the mask of
                              outline and of the image of color; default none: they lie in the streamlines' space */
} gls_render_options;
GLS_API gls_render_options gls_render_options_default(void);

typedef struct gls_render_result {
    uint64_t shown, total;  /* shown: number of streamlines drawn; total: number in the files */
    uint64_t invalid;       /* streamlines left out because a point is not finite */
    double mm_per_pixel;    /* scale of the views */
    uint32_t width, height; /* size of the picture in pixels */
} gls_render_result;

/* Draws n tractograms into one PNG file. n may be 0 if odf or image is given. Warnings go to the log. result may be
 * NULL. */
GLS_API gls_status gls_render_files(const char *const *tractograms, size_t n, const char *output,
                                    const gls_render_options *options, gls_render_result *result);

#ifdef __cplusplus
}
#endif
#endif
