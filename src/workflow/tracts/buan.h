/* The table of BUAN: a row for each point of each streamline of a bundle, with the disk that it belongs to. */
#ifndef GLS_WORKFLOW_TRACTS_BUAN_H
#define GLS_WORKFLOW_TRACTS_BUAN_H

#include <glslines/bundles.h>

#include "workflow/tracts/job.h"

typedef struct gls_buan {
    const gls_image *const *image; /* of one volume or more each */
    const char *const *name;       /* of their columns; further volumes get _1, _2 ... */
    size_t n_images;
    gls_sample_options sampling;
    uint32_t disks; /* nodes of the bundles */
} gls_buan;

/* Reads the tractogram again: each point of a streamline of the complete bundles belongs to the disk, 1 .. disks, whose
 * node of the bundle's mean is nearest. */
gls_status gls_buan_write(const gls_buan *buan, const gls_bundles *bundles, gls_tract_job *job, const char *tracks,
                          const char *path);

#endif
