/* Joint histograms of two images on a device, for many maps at once. */
#ifndef GLS_REGISTRATION_NMI_DEVICE_H
#define GLS_REGISTRATION_NMI_DEVICE_H

#include <glslines/device.h>

/* Bins of each image. Histograms of 63 fit into the 16 KiB that OpenGL ES promises to a work group. */
#define GLS_NMI_BINS 63
/* Cells of a joint histogram: a row for each bin of the fixed image. The value of the moving image is shared between
 * two bins, so there is one more of them. */
#define GLS_NMI_CELLS (GLS_NMI_BINS * (GLS_NMI_BINS + 1))

/* The two images, on grids of dim and size voxels. */
typedef struct gls_nmi_images {
    int32_t dim[3], size[3];
    uint32_t *sample; /* a sample of each voxel of the fixed image: its bin, or GLS_NMI_BINS if it does not count; then
                         its place along x, y and z from the centre of its voxel, in 256ths, plus 128. One byte each,
                         the bin lowest */
    float *value;     /* values of the moving image, in bins */
    const uint8_t *mask; /* mask of the moving image */
} gls_nmi_images;

typedef struct gls_nmi_device gls_nmi_device;

/* Compiles the kernel. The device must outlive what is made; gls_nmi_device_destroy() frees it, and accepts NULL. */
gls_status gls_nmi_device_create(gls_device *device, gls_nmi_device **made);
void gls_nmi_device_destroy(gls_nmi_device *d);
/* Copies two images to the device, in place of those before. */
gls_status gls_nmi_device_fill(gls_nmi_device *d, const gls_nmi_images *images);
/* Adds to n histograms, each of GLS_NMI_CELLS, one for each map from voxels of the fixed to voxels of the moving
 * image. */
gls_status gls_nmi_device_add(gls_nmi_device *d, const double (*map)[3][4], size_t n, uint64_t *histogram);

#endif
