/* The table of bundle profiles. */
#ifndef GLS_TRACTS_PROFILE_TABLE_H
#define GLS_TRACTS_PROFILE_TABLE_H

#include <glslines/bundles.h>
#include <glslines/sample.h>

#include "util/output_file.h"

/* How a table of profiles is written. */
typedef struct gls_profile_table {
    const gls_image *const *image; /* images of one or more volumes */
    const char *const *name; /* column name of each image; further volumes of an image get _1, _2 ... behind its name */
    size_t n_images;
    /* how images are read at nodes */
    gls_sample_options sampling;
    /* how streamlines are averaged */
    gls_profile_weights weights;
    /* stats: also the standard deviation and the number of values at each node, and the node's position; tidy: one
     * value in each row; set one of the two at most */
    bool stats, tidy;
    /* values of all bundles, bundle by bundle, volume by volume, and their nodes, world mm; NULL: both are computed
     * from the nodes of streamlines */
    const gls_profile_node *given;
    const double (*core)[3];
    bool *nowhere; /* for each image: set to whether its first volume has no value along any bundle; NULL: warn
                    * instead */
} gls_profile_table;

/* Writes the profiles of complete bundles that keep their nodes, to a .csv or .tsv file in the group. */
gls_status gls_profile_table_write(const gls_profile_table *table, const gls_bundles *bundles, uint32_t nodes,
                                   const char *path, bool overwrite, gls_output_group *group);

/* Name of a column or group from a path: "dir/fa.nii.gz" -> "fa". From malloc. */
char *gls_profile_column(const char *path);

#endif
