/* The kernel that counts visited voxels while the streamlines are on the device. A density map then needs the host only
 * for the few streamlines whose voxels depend on rounding, and is the same map. */
#ifndef GLS_TRACK_ENGINE_VISITOR_KERNEL_H
#define GLS_TRACK_ENGINE_VISITOR_KERNEL_H

#include <glslines/image.h>

#include "gpu/objects.h"
#include "track/shader/layout.h"

/* The kernel and its buffers on one device. failed: the device cannot count voxels, and the host does. */
typedef struct gls_visitor {
    gls_kernel *kernel;
    gls_buffer *uniforms, *words; /* NULL: not created */
    gls_fetch *fetch;
    bool failed;
} gls_visitor;

/* Whether counting on the device is possible and pays with this grid. The variable GLSLINES_MAP, for tests: "host"
 * gives false; "device" gives true wherever counting is possible, even if it does not pay. */
bool gls_visitor_pays(const gls_device_info *device, const gls_grid *grid);
/* If counting on the device pays, announces the kernel to the driver, which then compiles it early. */
void gls_visitor_announce(gls_device *device, const gls_grid *grid);
/* Creates kernel and buffers for n_lines lines at a time, unless they exist or gls_visitor_pays() is false. If the
 * device lacks memory or its compiler refuses the kernel, the host counts instead. in_flight: transfer counts while the
 * device works on. */
void gls_visitor_create(gls_visitor *visitor, gls_device *device, const gls_grid *grid, uint32_t n_lines,
                        bool in_flight);
/* Destroys kernel, buffers and fetch of the visitor. */
void gls_visitor_finish(gls_visitor *visitor);
/* Loads the kernel. Its bindings are 0 gls_placed_record, 1 points, 2 words, see glsl/kernel/visit.comp. */
gls_status gls_visitor_load(gls_device *device, gls_kernel **kernel);
/* Parameters of the kernel. room: number of points that the words can hold for streamlines left to the host; 0: send no
 * points. */
gls_visit_uniforms gls_visitor_uniforms(const gls_grid *grid, uint32_t n_lines, uint32_t room);
/* Number of words that binding 2 needs for these arguments. */
size_t gls_visitor_words(const gls_grid *grid, uint32_t n_lines, uint32_t room);
/* Number of points to reserve for those of n_lines streamlines that are left to the host. */
uint32_t gls_visitor_capacity(uint32_t n_lines);

#endif
