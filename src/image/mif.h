/* Reads the values of MRtrix images, which may be stored in any order of axes. */
#ifndef GLS_IMAGE_MIF_H
#define GLS_IMAGE_MIF_H

#include <glslines/common.h>
#include <glslines/image.h>

/* Reads an image, like gls_image_read_rounded(), or with `labels` like gls_image_read_as_labels(); unless n_fields is
 * NULL, one of several fields of vectors, too, as gls_image_read_fields() does. */
gls_status gls_mif_read(const char *path, gls_image_kind kind, bool labels, size_t *n_fields, gls_image **image,
                        bool *rounded);

#endif
