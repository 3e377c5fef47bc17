/* Inside of images of labels: reading for a choice of labels, and the labels that occur. */
#ifndef GLS_IMAGE_LABELS_H
#define GLS_IMAGE_LABELS_H

#include <glslines/labels.h>

/* Makes an image of labels that are all 0. */
gls_status gls_labels_create(const gls_grid *grid, gls_labels **labels);
/* Like gls_labels_read(), but a value that is no label becomes GLS_NO_LABEL (image/formats.h): for a search of labels
 * that are known. */
gls_status gls_labels_read_known(const char *path, gls_labels **labels);
/* GLS_ERR_INPUT unless all values are labels. name: for the message. */
gls_status gls_labels_check(const gls_labels *labels, const char *name);
/* Fills in the n labels above 0 that occur, ascending. *label comes from malloc. GLS_ERR_MEMORY names the image. */
gls_status gls_labels_distinct(const gls_labels *labels, const char *name, int32_t **label, size_t *n);
/* Index of a label among n ascending ones; n: it is not there. */
size_t gls_labels_index(const int32_t *label, size_t n, int32_t wanted);

#endif
