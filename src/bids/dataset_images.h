/* Makes the mask and the seed region of a series on its grid: from images on any grid, or the seed region from FA. */
#ifndef GLS_BIDS_DATASET_IMAGES_H
#define GLS_BIDS_DATASET_IMAGES_H

#include <glslines/common.h>
#include <glslines/image.h>
#include <glslines/workflow.h>

#include "bids/dataset.h"

/* Makes two images with values 0 and 1 on the grid of the series: the brain mask, and the seed region. */
gls_status gls_dataset_images(const gls_dataset_options *options, const gls_dataset_unit *unit,
                              const gls_model_options *model, gls_image **mask, gls_image **seeds);

#endif
