/* Images of labels, such as an atlas. Labels are integers from the file on, because float32, the type of images, holds
 * whole numbers exactly only up to 16777216. Since 0.2.0. */
#ifndef GLSLINES_LABELS_H
#define GLSLINES_LABELS_H

#include <glslines/image.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Largest label. */
#define GLS_LABEL_MAX INT32_MAX

/* A volume of labels; data[(z * dim[1] + y) * dim[0] + x]. */
typedef struct gls_labels {
    gls_grid grid;
    int32_t *data;   /* labels from 0 to GLS_LABEL_MAX; 0: no region */
    bool is_wrapped; /* data belong to the caller of gls_labels_wrap() */
} gls_labels;

/* Reads an image of one volume, in a format of gls_image_read(). GLS_ERR_INPUT names the file: a value is not a whole
 * number from 0 to GLS_LABEL_MAX, or is so large that the type of the file does not hold all whole numbers up to it:
 * from 16777216 on in float32, from 2048 on in float16. */
GLS_API gls_status gls_labels_read(const char *path, gls_labels **labels);
/* Makes an image of labels that the caller owns, in the order of gls_labels.data. They are not copied, must outlive the
 * image, and are not changed. */
GLS_API gls_status gls_labels_wrap(const gls_grid *grid, int32_t *data, gls_labels **labels);
/* Writes an image of labels as int32, in a format of gls_image_write(). The file appears under its name only when
 * complete; an existing file is replaced. GLS_ERR_OUTPUT names the file. */
GLS_API gls_status gls_labels_write(const char *path, const gls_labels *labels);
/* Frees `labels`, which may be NULL. */
GLS_API void gls_labels_destroy(gls_labels *labels);

#ifdef __cplusplus
}
#endif
#endif
