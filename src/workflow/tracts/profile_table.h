/* Tables of bundle profiles. */
#ifndef GLS_WORKFLOW_TRACTS_PROFILE_TABLE_H
#define GLS_WORKFLOW_TRACTS_PROFILE_TABLE_H

#include <glslines/bundles.h>

#include "util/output_file.h"

typedef struct gls_profile_table {
    const gls_image *const *image; /* of one volume or more each */
    const char *const *name;       /* of their columns; further volumes get _1, _2 ... */
    size_t n_images;
    gls_sample_options sampling;
    gls_profile_weights weights;
    bool stats, tidy;
    bool *nowhere; /* of each image: set where it has no number anywhere along the bundles; NULL: a warning */
} gls_profile_table;

/* Writes the profiles of complete bundles, which keep nodes, to a .csv or .tsv file in the group. */
gls_status gls_profile_table_write(const gls_profile_table *table, const gls_bundles *bundles, uint32_t nodes,
                                   const char *path, bool overwrite, gls_output_group *group);

/* "dir/fa.nii.gz" -> "fa"; from malloc. */
char *gls_profile_column(const char *path);

#endif
