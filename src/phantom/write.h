/* Writes the files of a phantom, and describes them in words; writes phantoms as a BIDS data set of derivatives, in the
 * form of preprocessing pipelines, for `glslines bids`. */
#ifndef GLS_PHANTOM_WRITE_H
#define GLS_PHANTOM_WRITE_H

#include <glslines/common.h>
#include <glslines/phantom.h>

/* Describes, for people, the files that gls_phantom_write() wrote to this directory. From malloc; NULL: out of
 * memory. */
char *gls_phantom_text(const gls_phantom *phantom, const char *directory);
/* Writes a phantom for each entry of the list "LABEL[/SESSION],...": in DIR/sub-LABEL[/ses-SESSION]/dwi the series,
 * gradient tables of FSL and MRtrix3, brain mask and sidecars; in DIR/sub-LABEL/anat, once for each subject, fractions
 * of white matter, grey matter and CSF. Also writes the description of the data set. Entry k of the list, counted from
 * 0, has the seed of params plus k. *n: number of phantoms. GLS_ERR_ARGUMENT: an invalid label. GLS_ERR_OUTPUT: a file
 * exists and overwrite is false. */
gls_status gls_phantom_write_bids(const gls_phantom_params *params, const char *directory, const char *labels,
                                  bool overwrite, size_t *n);

#endif
