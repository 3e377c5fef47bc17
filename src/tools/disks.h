/* Points of bundles by disks, the parts of a bundle around the nodes of a line (BUAN, Chandio et al. 2020). */
#ifndef GLS_TOOLS_DISKS_H
#define GLS_TOOLS_DISKS_H

#include <glslines/bundles.h>
#include <glslines/sample.h>

#include "record/tract_run.h"
#include "transform/transform.h"

/* The images that are sampled, and the disks. All is borrowed. */
typedef struct gls_disks {
    gls_tract_run *run;
    const char *tracks; /* the tractogram, which is read again */
    const gls_bundles *bundles;
    const gls_image *const *image; /* images of one or more volumes */
    const char *const *name; /* column name of each image; further volumes of an image get _1, _2 ... behind its name */
    size_t n_images;
    /* how images are read at points */
    gls_sample_options sampling;
    uint32_t n;                 /* disks of a bundle */
    const double (*node)[3];    /* n nodes for each bundle, mm; NaN: the bundle has no disks */
    const gls_transform *space; /* brings points to the space of the nodes */
    bool alike;                 /* points of a disk count alike, not by their distances from the node */
    const char *models; /* whose nodes these are; NULL: those of the bundles themselves. Points that lie far from them
                           are warned of */
} gls_disks;

/* Writes a row for each point of each streamline of a bundle, with its disk, from 1 on. */
gls_status gls_disks_write(const gls_disks *disks, const char *path);
/* Averages the values of the points of each disk. *out: values bundle by bundle, volume by volume, n for each; from
 * malloc. NaN: no point of the disk has a value. */
gls_status gls_disks_average(const gls_disks *disks, gls_profile_node **out);

#endif
