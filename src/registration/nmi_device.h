/* Joint histograms of two images on a device, for many maps at once. */
#ifndef GLS_REGISTRATION_NMI_DEVICE_H
#define GLS_REGISTRATION_NMI_DEVICE_H

#include <glslines/device.h>

/* Bins of each image. Histograms of 63 fit into the 16 KiB that OpenGL ES promises to a work group. */
#define GLS_NMI_BINS 63
/* Cells of a joint histogram: a row for each bin of the fixed image. The value of the moving image is shared between
 * two bins, so there is one more of them. */
#define GLS_NMI_CELLS (GLS_NMI_BINS * (GLS_NMI_BINS + 1))

/* One of two images, whose samples look at the values of the other one. */
typedef struct gls_nmi_image {
    int32_t dim[3], size[3]; /* voxels that hold samples, and voxels that hold values */
    const uint32_t *sample;  /* NULL: this image is not sampled. A sample of each voxel: its bin, or GLS_NMI_BINS if it
                                does not count; then its place along x, y and z from the centre of its voxel, in 256ths,
                                plus 128. One byte each, the bin lowest */
    const float *value;      /* NULL: no samples look at this image. Values in bins */
    const uint8_t *mask;     /* which values count */
} gls_nmi_image;

typedef struct gls_nmi_device gls_nmi_device;

/* Compiles the kernel. The device must outlive what is made; gls_nmi_device_destroy() frees it, and accepts NULL. */
gls_status gls_nmi_device_create(gls_device *device, gls_nmi_device **made);
void gls_nmi_device_destroy(gls_nmi_device *d);
/* Copies two images to the device, in place of those before. */
gls_status gls_nmi_device_fill(gls_nmi_device *d, const gls_nmi_image image[2]);
/* Adds to n histograms, each of GLS_NMI_CELLS, one for each map from voxels of the samples of image `from` to voxels of
 * the values of the other one. */
gls_status gls_nmi_device_add(gls_nmi_device *d, int from, const double (*map)[3][4], size_t n, uint64_t *histogram);

#endif
