/* An atlas of bundles, made of the bundles of several subjects: the subjects are brought to one place, and of what most
 * of them share one streamline each is kept. */
#ifndef GLS_GEOMETRY_GROUP_ATLAS_H
#define GLS_GEOMETRY_GROUP_ATLAS_H

#include <glslines/slr.h>
#include <glslines/streamlines.h>

typedef struct gls_group_options {
    gls_slr_type type; /* by which subjects are registered; 0: they lie at one place already */
    double threshold;  /* mm, of the clusters, of each of which one streamline is kept */
    double min_share;  /* share of the subjects with the bundle that a cluster must have, 0 to 1 */
    uint64_t seed;
} gls_group_options;

/* A streamline of a subject. */
typedef struct gls_group_line {
    uint32_t bundle;   /* number of its bundle */
    uint32_t subjects; /* subjects in its cluster; 0: it is not in the atlas */
    uint32_t size;     /* streamlines in its cluster */
} gls_group_line;

/* A bundle of the atlas. */
typedef struct gls_group_bundle {
    const char *name;
    uint32_t subjects;    /* that have it */
    uint64_t streamlines; /* of these subjects */
    uint64_t kept;        /* streamlines in the atlas */
    double threshold; /* mm within which 95 % of a subject's streamlines have one of the other subjects in the atlas, 4
                         to 12 */
} gls_group_bundle;

typedef struct gls_group gls_group;

/* Begins with subjects that have no streamlines. */
gls_status gls_group_create(const gls_group_options *options, size_t n_subjects, gls_group **group);
/* Frees `group`, which may be NULL. */
void gls_group_destroy(gls_group *group);
/* Sets *sink to one that receives a bundle of a subject. Bundles of a subject come one after the other. */
gls_status gls_group_sink(gls_group *group, size_t subject, const char *bundle, gls_sink *sink);
/* Makes the atlas, after all bundles of all subjects. *rounds: of the registration. before, after: mean distance of the
 * subjects that were paired in the first and in the last round, mm2; NaN without registration. */
gls_status gls_group_complete(gls_group *group, uint32_t *rounds, double *before, double *after);
/* The matrix that moves a subject to the atlas, and its streamlines in the order in which they came. */
void gls_group_map(const gls_group *group, size_t subject, double map[3][4]);
const gls_group_line *gls_group_lines(const gls_group *group, size_t subject);
/* Number of bundles, and one of them. */
size_t gls_group_bundles(const gls_group *group);
gls_group_bundle gls_group_bundle_get(const gls_group *group, size_t k);

#endif
