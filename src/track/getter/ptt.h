/* Direction getter ptt: parallel transport tractography (Aydogan and Shi 2021). */
#ifndef GLS_TRACK_GETTER_PTT_H
#define GLS_TRACK_GETTER_PTT_H

#include <glslines/sphere.h>

#include "track/shader/kernel_inputs.h"

/* Adds MODEL_NEAREST, NEAREST_SIZE and NEAREST_WORDS: a square map from directions to the index of the nearest vertex,
 * two 16-bit entries in a word; first the hemisphere z >= 0, then, for spheres that are not antipodal, z < 0. A
 * direction (x, y, z) with x' = x / (|x| + |y| + |z|) and y' likewise, both negated for z < 0, lies at u = 1/2 + (x' +
 * y')/2, v = 1/2 + (x' - y')/2, in units of the side. index_of[v]: index of vertex v; NULL: v. */
void gls_ptt_table_nearest(gls_tables *tables, gls_define_list *defines, const gls_sphere *sphere,
                           const uint32_t *index_of);

#endif
