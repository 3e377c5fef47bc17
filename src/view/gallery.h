/* Images of the window: those whose slices pages show, and their values at a place. */
#ifndef GLS_VIEW_GALLERY_H
#define GLS_VIEW_GALLERY_H

#include <stddef.h>

#include <cJSON.h>
#include <glslines/image.h>
#include <glslines/labels.h>

#include "render/planes.h"
#include "transform/transform.h"
#include "view/messages.h"

/* Largest number of images of a window. */
#define GLS_VIEW_IMAGES 8

/* An image of one volume. */
typedef struct gls_view_image {
    const char *name;       /* for pages; borrowed */
    const char *path;       /* as the user named it, borrowed; NULL: it was read by another part of the program */
    const gls_image *image; /* borrowed, or `read` */
    gls_image *read;        /* owned; NULL: none */
} gls_view_image;

/* Largest number of glyphs that are sent: 1.2 MB. */
#define GLS_VIEW_GLYPHS_SHOWN 1000

/* The images. All zero: there are none. */
typedef struct gls_view_gallery {
    gls_view_image image[GLS_VIEW_IMAGES];
    size_t n;
    gls_glyphs *glyphs; /* of ODFs; NULL: none */
    const char *odf;    /* file of the ODFs, borrowed; NULL: none */
} gls_view_gallery;

/* Reads an image, of a series the first volume, and brings it to the space of the streamlines. GLS_ERR_ARGUMENT: there
 * are GLS_VIEW_IMAGES of them already. */
gls_status gls_view_gallery_read(gls_view_gallery *gallery, const char *path, const gls_transform *space);
/* Adds an image that was read before; image and name are borrowed. */
void gls_view_gallery_add(gls_view_gallery *gallery, const gls_image *image, const char *name);
/* Reads ODFs as an image of spherical harmonics. */
gls_status gls_view_gallery_odf(gls_view_gallery *gallery, const char *path, gls_sh_basis basis, gls_frame frame);
/* Appends JSON with the number of glyphs of a part of a slice, then, to bytes, gls_view_answer_head() of kind 4 and
 * their number: u16 rings, u16 meridians, f32 length in mm of the amplitude 1; for each glyph f32 centre[3] in mm, f32
 * largest amplitude; for each glyph u8 amplitudes of its mesh, in 255ths of the largest one. GLS_ERR_ARGUMENT: there
 * are no ODFs. */
gls_status gls_view_gallery_glyphs(const gls_view_gallery *gallery, const gls_view_request *request, gls_text *json,
                                   gls_text *bytes);
/* Adds to an object "images": for each image its name and its window, [low, high], as --image-range of 'glslines
 * render' has it by default, and whether it has values below 0; "box" of all images, and of labels, which may be NULL:
 * {"low": [x, y, z], "extent": [x, y, z]}, mm; and "maps", the colour maps, 33 colours of 0 to 255 each: {"name": ...,
 * "colours": [r, g, b, r, ...]}. */
gls_status gls_view_gallery_describe(const gls_view_gallery *gallery, const gls_labels *labels, cJSON *root);
/* Adds to an answer "values": for each image {"voxel": [i, j, k], "value": v}, of the voxel that holds a place in world
 * mm; null where the place lies outside; v is null if the value is not finite. */
void gls_view_gallery_values(const gls_view_gallery *gallery, const double place[3], cJSON *root);
/* Frees everything. */
void gls_view_gallery_close(gls_view_gallery *gallery);

#endif
