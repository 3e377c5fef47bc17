/* A small scene whose streamlines are known whatever way a device rounds. The check of devices tracks it, and so does
 * the first run on a renderer that glslines does not know. */
#ifndef GLS_TRACK_CHECK_KNOWN_SCENE_H
#define GLS_TRACK_CHECK_KNOWN_SCENE_H

#include <glslines/phantom.h>
#include <glslines/tissue.h>
#include <glslines/track.h>

#include "track/check/known_lines.h"

/* A getter with a model of one order, or particle filtering. Each variant has kernels of its own. */
typedef struct gls_known_variant {
    const char *name; /* such as "boot4" or "boot8" (getter and order), "ifod2" or "pft" */
    gls_direction_getter dg;
    /* order of the spherical harmonics, 4 or 8; boot, prob and det have kernels for each */
    int sh_order;
    /* true: particle filtering instead of plain tracking */
    bool pft;
} gls_known_variant;
extern const gls_known_variant gls_known_variants[GLS_KNOWN_VARIANTS];

/* A small scene and everything that is needed to track it. Owned. */
typedef struct gls_known_scene {
    /* index in gls_known_variants */
    size_t variant;
    /* phantom from which the images come */
    gls_phantom *phantom;
    /* sh and peaks are NULL where the variant does not need them, and so are qball, odf and tissue below; stop_map and
     * sphere are always set */
    gls_image *stop_map, *sh, *peaks;
    /* q-ball model for the bootstrap */
    gls_qball *qball;
    /* directions of the ODFs */
    gls_sphere *sphere;
    /* ODFs that are tracked */
    gls_odf_source *odf;
    /* tissue that ends streamlines */
    gls_tissue *tissue;
    gls_seeds *seeds; /* seeds of the known lines */
    gls_track_params params;
    /* points to the members above */
    gls_track_input input;
} gls_known_scene;
/* Makes the scene of a variant. Call gls_known_scene_finish() also after a failure. */
gls_status gls_known_scene_create(size_t variant, gls_known_scene *scene);
/* Frees the scene. */
void gls_known_scene_finish(gls_known_scene *scene);

/* Result of comparing streamlines that arrive in the order of seeds. Before the comparison set only `scene`. */
typedef struct gls_known_comparison {
    /* the scene that is tracked */
    const gls_known_scene *scene;
    size_t next;           /* position in the known lines */
    size_t same;           /* number of half-streamlines that agree with the known half-streamlines */
    _Atomic uint32_t seen; /* 1 + index of the seed of the last streamline; 0: none yet */
} gls_known_comparison;
/* The append function of a sink. comparison: a gls_known_comparison. */
gls_status gls_known_compare(void *comparison, const gls_streamlines *found);
/* Index of the seed among the n points of a streamline; n: no point is the seed. */
size_t gls_known_find_seed(const gls_known_scene *scene, uint32_t seed, const float (*point)[3], size_t n);
/* Number of known half-streamlines of the seeds with indices below `seeds` that have at least one certain point. */
size_t gls_known_halves(const gls_known_scene *scene, uint64_t seeds);
/* Whether enough half-streamlines agree: `same` of `halves` known ones. The known points stayed the same under every
 * rounding that was tried, so few half-streamlines may differ. */
bool gls_known_fits(size_t same, size_t halves);

#endif
