/* Labels of segmentations by the tables that BIDS keeps beside them. */
#ifndef GLS_WORKFLOW_DATASET_LABELS_H
#define GLS_WORKFLOW_DATASET_LABELS_H

#include <glslines/common.h>

enum { GLS_BIDS_MAX_LABELS = 16 };

typedef struct gls_bids_labels {
    int value[GLS_BIDS_MAX_LABELS], n;
} gls_bids_labels;

/* The numbers of white matter by the table dseg.tsv (columns index and name) that holds for a segmentation in this
 * folder below root, by inheritance; none without a table. */
gls_status gls_bids_white_matter(const char *root, const char *folder, const char *image, gls_bids_labels *labels);

#endif
