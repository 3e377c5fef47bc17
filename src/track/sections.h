/* The model buffer of the kernels: tables one after the other, each with its offset as a definition. */
#ifndef GLS_TRACK_SECTIONS_H
#define GLS_TRACK_SECTIONS_H

#include <glslines/sphere.h>

#include "track/internal.h"

typedef struct gls_sections {
    uint32_t *word;
    size_t n, capacity;
    bool failed;
} gls_sections;

/* Room for n words, defined as name; NULL (and failed) if memory ran out. The pointer holds until the next call. */
uint32_t *gls_section(gls_sections *sections, gls_define_list *defines, const char *name, size_t n);
/* The same, filled with floats. */
void gls_section_floats(gls_sections *sections, gls_define_list *defines, const char *name, const double *value, size_t n);

/* MODEL_VERTICES, and for subgroups MODEL_NEIGHBOURS and MAX_NEIGHBOURS. */
void gls_section_sphere(gls_sections *sections, gls_define_list *defines, const gls_sphere *sphere, bool lanes);
/* MODEL_ODF: coefficient-major matrix from SH coefficients to the vertices. */
gls_status gls_section_odf(gls_sections *sections, gls_define_list *defines, const gls_sphere *sphere, int sh_order);
/* N_ORBITS, and if the sphere's orbits are known MODEL_ORBITS: the columns of that matrix for the first vertex of each orbit, and MODEL_MEMBERS: that vertex, and in two bits each
 * from bit 16 on how far behind it its mirror images lie under x -> -x, y -> -y and both. */
gls_status gls_section_orbits(gls_sections *sections, gls_define_list *defines, const gls_sphere *sphere, int sh_order);
/* MODEL_CONE, CONE_WORDS: for each vertex the vertices within max_angle (degrees), as bits. */
void gls_section_cone(gls_sections *sections, gls_define_list *defines, const gls_sphere *sphere, double max_angle);
/* MODEL_NEAREST, NEAREST_SIZE, NEAREST_WORDS: map of the hemisphere z >= 0, and for spheres that are not antipodal then of the other, seen from its side, to the slot of the
 * nearest vertex, two 16-bit entries a word. The cell of direction d: u, v = 1/2 + (x' + y')/2, 1/2 + (x' - y')/2 of the map's side, x' and y' being x and y over |x| + |y| + |z|,
 * with their signs turned for z < 0. slot: NULL where vertex v has slot v. */
void gls_section_nearest(gls_sections *sections, gls_define_list *defines, const gls_sphere *sphere, const uint32_t *slot);
/* MODEL_DISC, MODEL_FACES, N_DISC_VERTICES, N_DISC_FACES: the unit disc of curvatures; areas sum to area_sum. MODEL_ARCS: for each vertex of the disc
 * the direction of the bend (2 numbers), how far along and across an arc of that curvature has gone after step, and the cosine and sine of its turn. */
void gls_section_disc(gls_sections *sections, gls_define_list *defines, double area_sum, double max_curvature, double step);

/* Uploads and frees the words. */
gls_status gls_sections_upload(gls_sections *sections, gls_device *device, gls_buffer **buffer);
void gls_sections_finish(gls_sections *sections);

#endif
