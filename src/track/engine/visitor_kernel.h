/* The kernel that counts the voxels that streamlines visit, while they are on the device: a map of density needs no
 * walk of the host but for the few streamlines whose way depends on rounding, so that it is the same map. */
#ifndef GLS_TRACK_ENGINE_VISITOR_KERNEL_H
#define GLS_TRACK_ENGINE_VISITOR_KERNEL_H

#include <glslines/image.h>

#include "gpu/objects.h"
#include "track/shader/layout.h"

typedef struct gls_visitor {
    gls_kernel *kernel;
    gls_buffer *uniforms, *words; /* NULL: it is not there */
    gls_fetch *fetch;
    bool failed;
} gls_visitor;

/* Whether it pays with this device and grid; GLSLINES_MAP=device or host decides it otherwise. */
bool gls_visitor_pays(const gls_device_info *device, const gls_grid *grid);
/* Lets the driver begin with the kernel. */
void gls_visitor_announce(gls_device *device, const gls_grid *grid);
/* Makes what n_lines lines at a time need, unless it is there, or does not pay. A device without memory for it, or
 * whose compiler refuses the kernel, goes without. in_flight: counts come to the host while the device does other
 * things. */
void gls_visitor_create(gls_visitor *visitor, gls_device *device, const gls_grid *grid, uint32_t n_lines,
                        bool in_flight);
void gls_visitor_finish(gls_visitor *visitor);
/* The kernel and its parameters: bindings 0 gls_placed_record, 1 points, 2 words, see visit.comp. room: points, 0:
 * none. */
gls_status gls_visitor_load(gls_device *device, gls_kernel **kernel);
gls_visit_uniforms gls_visitor_uniforms(const gls_grid *grid, uint32_t n_lines, uint32_t room);
/* Words that the kernel has then. */
size_t gls_visitor_words(const gls_grid *grid, uint32_t n_lines, uint32_t room);
/* A room for n_lines lines that holds those few that are left to the host. */
uint32_t gls_visitor_capacity(uint32_t n_lines);

#endif
