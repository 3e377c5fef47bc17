/* Renderers of which nothing is known track the known scene first, in the mapping that a run would have: once, since
 * what came out is kept. */
#ifndef GLS_WORKFLOW_SELF_TEST_H
#define GLS_WORKFLOW_SELF_TEST_H

#include <glslines/track.h>

/* The mapping to take on this device for a getter with a model of an order: GLS_MAPPING_AUTO on a renderer that is
 * known, else the first that tracks right. GLS_ERR_DEVICE: none does. */
gls_status gls_self_test_mapping(gls_device *device, gls_direction_getter dg, int sh_order, gls_mapping *mapping);

#endif
