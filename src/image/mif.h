/* Reads the values of MRtrix images, which may be stored in any order of axes. */
#ifndef GLS_IMAGE_MIF_H
#define GLS_IMAGE_MIF_H

#include <glslines/common.h>
#include <glslines/image.h>

/* Reads an image, like gls_image_read_rounded(), or with `labels` like gls_image_read_as_labels(); with `fields` one of
 * several fields of vectors, too. */
gls_status gls_mif_read(const char *path, gls_image_kind kind, bool labels, bool fields, gls_image **image,
                        bool *rounded);

#endif
