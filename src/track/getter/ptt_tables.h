/* The table of parallel transport tractography in the model buffer, and the shared memory that it needs. */
#ifndef GLS_TRACK_GETTER_PTT_TABLES_H
#define GLS_TRACK_GETTER_PTT_TABLES_H

#include "track/shader/kernel_inputs.h"

/* Adds TABLE_NEAREST, NEAREST_SIZE and NEAREST_WORDS: a square map from directions to the index of the nearest vertex,
 * two 16-bit entries in a word; first the hemisphere z >= 0, then, for spheres that are not antipodal, the other. A
 * direction (x, y, z) with x' = x / (|x| + |y| + |z|) and y' likewise, both negated for z < 0, lies at u = 1/2 + (x' +
 * y')/2, v = 1/2 + (x' - y')/2, in units of the side. index_of[v]: index of vertex v; NULL: v. */
void gls_ptt_table_nearest(gls_tables *tables, gls_define_list *defines, const gls_sphere *sphere,
                           const uint32_t *index_of);
/* Bytes of the table of gls_ptt_table_nearest(). */
uint64_t gls_ptt_table_bytes(bool antipodal);
/* Bytes of shared memory for one streamline, see glsl/getter/ptt_looped.glsl. quality: the parameter probe_quality. */
uint64_t gls_ptt_slot_bytes(int quality);

#endif
