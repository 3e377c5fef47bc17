/* The table of parallel transport tractography in the model buffer. */
#ifndef GLS_TRACK_GETTER_PTT_TABLES_H
#define GLS_TRACK_GETTER_PTT_TABLES_H

#include "track/shader/kernel_inputs.h"

/* TABLE_NEAREST, NEAREST_SIZE, NEAREST_WORDS: map of the hemisphere z >= 0, and for spheres that are not antipodal then
 * of the other, seen from its side, to the place of the nearest vertex, two 16-bit entries a word. The cell of
 * direction d: u, v = 1/2 + (x' + y')/2, 1/2 + (x' - y')/2 of the map's side, x' and y' being x and y over |x| + |y| +
 * |z|, with their signs turned for z < 0. place: NULL where vertex v has place v. */
void gls_ptt_table_nearest(gls_tables *tables, gls_define_list *defines, const gls_sphere *sphere,
                           const uint32_t *place);
/* Bytes of this table, and of shared memory that a streamline takes, see glsl/getter/ptt_looped.glsl. */
uint64_t gls_ptt_table_bytes(bool antipodal);
uint64_t gls_ptt_slot_bytes(int quality);

#endif
