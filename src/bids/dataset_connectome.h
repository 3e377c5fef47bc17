/* Connectomes of a data set: one for each tractogram and atlas, with the names that BIDS proposes for matrices; and the
 * tables of all of them. */
#ifndef GLS_BIDS_DATASET_CONNECTOME_H
#define GLS_BIDS_DATASET_CONNECTOME_H

#include <glslines/common.h>

#include "bids/dataset.h"
#include "bids/dataset_anatomy.h"

/* Writes connectomes_seg-ATLAS.tsv in the output for each atlas: a line for each connectome and pair of regions whose
 * value is not 0; with `wide` also connectomes_seg-ATLAS_wide.tsv, a line for each connectome and a column for each
 * pair, and connectomes_seg-ATLAS_list.txt, their names relative to the output. *n: number of atlases. GLS_ERR_INPUT: a
 * file that is no matrix, or has other regions than others of its atlas.
 */
gls_status gls_dataset_connectomes(const gls_dataset_options *options, size_t *n);
/* Writes a connectome for each atlas from the tractogram of a unit: STEM_seg-ATLAS_relmat.tsv with its sidecar, and
 * STEM_seg-ATLAS_nodes.tsv; also for the labels of the anatomy, if it has any. weights: as for `glslines connectome`,
 * or NULL. Leaves a connectome from the same inputs as it is unless force is set. GLS_ERR_OUTPUT: an output would
 * replace a file of another program. */
gls_status gls_dataset_connect(const gls_dataset_options *options, const gls_dataset_unit *unit,
                               const gls_dataset_anatomy *anatomy, const char *tractogram, const char *stem,
                               const char *weights);

#endif
