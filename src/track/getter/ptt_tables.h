/* The tables of parallel transport tractography in the model buffer. */
#ifndef GLS_TRACK_GETTER_PTT_TABLES_H
#define GLS_TRACK_GETTER_PTT_TABLES_H

#include "track/shader/tables.h"

/* TABLE_NEAREST, NEAREST_SIZE, NEAREST_WORDS: map of the hemisphere z >= 0, and for spheres that are not antipodal then
 * of the other, seen from its side, to the place of the nearest vertex, two 16-bit entries a word. The cell of
 * direction d: u, v = 1/2 + (x' + y')/2, 1/2 + (x' - y')/2 of the map's side, x' and y' being x and y over |x| + |y| +
 * |z|, with their signs turned for z < 0. place: NULL where vertex v has place v. */
void gls_ptt_table_nearest(gls_tables *tables, gls_define_list *defines, const gls_sphere *sphere,
                           const uint32_t *place);
typedef struct gls_probe {
    int quality, first_sample;
    bool bends;                 /* their directions are wanted, too */
    double step, max_curvature; /* mm, 1/mm; the curvature on the disc's rim */
} gls_probe;
/* N_DISC_VERTICES, N_DISC_FACES: the unit disc of curvatures. TABLE_FACES: eight planes, for each face its corners (8
 * bits each), its area (areas sum to area_sum), the first corner and the edges from there to the others. TABLE_ARCS:
 * for samples first_sample .. quality, a step apart, of the arc of each vertex how far it has gone and where it points
 * in its first frame (and its bend), see glsl/getter/ptt.glsl. */
void gls_ptt_table_disc(gls_tables *tables, gls_define_list *defines, double area_sum, const gls_probe *probe);
/* Bytes of these tables, several: for probes of several threads; and of shared memory that a streamline takes, see
 * glsl/getter/ptt_looped.glsl. */
uint64_t gls_ptt_table_bytes(bool antipodal, int quality, bool several);
uint64_t gls_ptt_slot_bytes(int quality);

#endif
