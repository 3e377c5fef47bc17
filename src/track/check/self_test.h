/* The test that the first run on an unknown renderer makes. */
#ifndef GLS_TRACK_CHECK_SELF_TEST_H
#define GLS_TRACK_CHECK_SELF_TEST_H

#include <glslines/track.h>

/* Fills in *mapping: the mapping to use for these parameters and this order. GLS_MAPPING_AUTO on a known renderer, and
 * for seedtest, which makes no step. Otherwise the mapping that an earlier check found, or the first one that now
 * tracks the scene correctly, which is kept. GLS_ERR_DEVICE: no mapping tracks it correctly. */
gls_status gls_self_test(gls_device *device, const gls_track_params *params, int sh_order, gls_mapping *mapping);

#endif
