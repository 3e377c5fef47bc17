/* The model buffer of the kernels: tables one after the other, each with its offset as a definition. */
#ifndef GLS_TRACK_ENGINE_SECTIONS_H
#define GLS_TRACK_ENGINE_SECTIONS_H

#include <glslines/sphere.h>

#include "track/internal.h"

typedef struct gls_sections {
    uint32_t *word;
    size_t n, capacity;
    size_t tables; /* where those begin */
    bool failed;
    bool uniform; /* they become a uniform block instead of a storage block */
} gls_sections;

/* Room for n words, defined as name; NULL (and failed) if memory ran out. The pointer holds until the next call. */
uint32_t *gls_section(gls_sections *sections, gls_define_list *defines, const char *name, size_t n);
/* The same, filled with floats. */
void gls_section_floats(gls_sections *sections, gls_define_list *defines, const char *name, const double *value,
                        size_t n);

/* MODEL_VERTICES, and with neighbours MODEL_NEIGHBOURS and MAX_NEIGHBOURS. */
void gls_section_sphere(gls_sections *sections, gls_define_list *defines, const gls_sphere *sphere, bool neighbours);
/* MODEL_ODF: coefficient-major matrix from SH coefficients to the vertices. */
gls_status gls_section_odf(gls_sections *sections, gls_define_list *defines, const gls_sphere *sphere, int sh_order);
/* N_ORBITS, and if the sphere's orbits are not known (0) MODEL_ODF, else MODEL_ORBITS: the columns of that matrix for
 * the first vertex of each orbit, and MODEL_MEMBERS: that vertex, and in two bits each from bit 16 on how far behind it
 * its mirror images lie under x -> -x, y -> -y and both. */
gls_status gls_section_orbits(gls_sections *sections, gls_define_list *defines, const gls_sphere *sphere, int sh_order);
/* MODEL_CONE, CONE_WORDS: for each vertex the vertices within max_angle (degrees), as bits. */
void gls_section_cone(gls_sections *sections, gls_define_list *defines, const gls_sphere *sphere, double max_angle);
/* MODEL_TABLES, TABLE_WORDS: what is added in between can be kept in shared memory as a whole; its parts are counted
 * from MODEL_TABLES. */
void gls_section_tables_begin(gls_sections *sections, gls_define_list *defines);
void gls_section_tables_end(gls_sections *sections, gls_define_list *defines);
/* TABLE_NEAREST, NEAREST_SIZE, NEAREST_WORDS: map of the hemisphere z >= 0, and for spheres that are not antipodal then
 * of the other, seen from its side, to the slot of the nearest vertex, two 16-bit entries a word. The cell of direction
 * d: u, v = 1/2 + (x' + y')/2, 1/2 + (x' - y')/2 of the map's side, x' and y' being x and y over |x| + |y| + |z|, with
 * their signs turned for z < 0. slot: NULL where vertex v has slot v. */
void gls_section_nearest(gls_sections *sections, gls_define_list *defines, const gls_sphere *sphere,
                         const uint32_t *slot);
typedef struct gls_probe {
    int quality, first_sample;
    bool bends;                 /* their directions are wanted, too */
    double step, max_curvature; /* mm, 1/mm; the curvature on the disc's rim */
} gls_probe;
/* N_DISC_VERTICES, N_DISC_FACES: the unit disc of curvatures. TABLE_FACES: eight planes, for each face its corners (8
 * bits each), its area (areas sum to area_sum), the first corner and the edges from there to the others. TABLE_ARCS:
 * for samples first_sample .. quality, a step apart, of the arc of each vertex how far it has gone and where it points
 * in its first frame (and its bend), see dg_ptt.glsl. */
void gls_section_disc(gls_sections *sections, gls_define_list *defines, double area_sum, const gls_probe *probe);
/* Bytes of these tables, several: for probes of several threads; and of shared memory that a streamline takes in the
 * subgroup mapping, see glsl/getter/ptt_looped.glsl. */
uint64_t gls_section_ptt_bytes(bool antipodal, int quality, bool several);
uint64_t gls_section_ptt_slot_bytes(int quality);

/* Goes on to a multiple of four words, as uniform blocks have it. */
void gls_sections_fill_block(gls_sections *sections);
/* Uploads and frees the words. */
gls_status gls_sections_upload(gls_sections *sections, gls_device *device, gls_buffer **buffer);
void gls_sections_finish(gls_sections *sections);

#endif
