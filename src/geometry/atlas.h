/* The model bundles of an atlas, and where they lie. */
#ifndef GLS_GEOMETRY_ATLAS_H
#define GLS_GEOMETRY_ATLAS_H

#include <glslines/recognition.h>
#include <glslines/tractogram.h>

#include "transform/transform.h"

/* A model bundle. */
typedef struct gls_atlas_bundle {
    char *path;  /* file */
    char *group; /* group of a TRX file; NULL: all its streamlines */
    char *atlas; /* folder or file */
    char *name;
    double threshold; /* mm */
} gls_atlas_bundle;

/* The model bundles of all atlases. All zero: none. */
typedef struct gls_atlas {
    gls_atlas_bundle *bundle;
    size_t n;
} gls_atlas;

/* Lists the bundles of `path`: a folder of tractograms, named up to the first dot; a folder of such folders, each of
 * them an atlas; a TRX file whose groups are bundles; or another tractogram, a single bundle. In the order of names.
 * config: JSON of scilpy with names of files and thresholds in mm, other files are left out with a warning; NULL: all
 * have `threshold`. GLS_ERR_INPUT: there is no bundle. Call gls_atlas_finish() in any case. */
gls_status gls_atlas_list(const char *path, const char *config, double threshold, gls_atlas *atlas);
/* Reads the streamlines of one bundle into a sink, which it finishes, or aborts after a failure. map: as below. */
gls_status gls_atlas_read_bundle(const gls_atlas_bundle *bundle, const gls_tractogram_read_options *options,
                                 const double map[3][4], const gls_sink *sink);
/* Adds all bundles to a recognition. map: moves them, world mm; NULL: they stay. space: a transform from the space of
 * the recognition to that of the atlas, by whose inverse they are moved; NULL, or without a step: they stay. */
gls_status gls_atlas_read(const gls_atlas *atlas, const gls_tractogram_read_options *options, const double map[3][4],
                          const gls_transform *space, gls_recognition *recognition);
/* Warns, after the recognition is complete, of models that are empty or near nothing, of an atlas most of whose models
 * were moved as far as is allowed, and of one that seems to lie in another space. atlas, tracks: names for messages.
 * GLS_ERR_INPUT: all models are empty. */
gls_status gls_atlas_check(const gls_recognition *recognition, const char *atlas, const char *tracks);
/* Frees everything. */
void gls_atlas_finish(gls_atlas *atlas);

#endif
