/* What the host gives to kernels besides records: definitions, rows of source, tables of numbers. */
#ifndef GLS_TRACK_SHADER_KERNEL_INPUTS_H
#define GLS_TRACK_SHADER_KERNEL_INPUTS_H

#include <stddef.h>
#include <stdint.h>

#include <glslines/device.h>
#include <glslines/image.h>
#include <glslines/sphere.h>

#include "util/text.h"

/* --- What the host tells the sources of a kernel: definitions and the contents of slots, each with the reason for its
 * value, which a dump of the sources shows. */

/* Owns the texts; reasons are constants. Zeroed: empty. */
typedef struct gls_define_list {
    gls_define define[160];
    char *owned[160];
    size_t n;
    bool failed; /* memory or room ran out */
} gls_define_list;

void gls_define_int(gls_define_list *list, const char *name, int64_t value, const char *reason);
void gls_define_float(gls_define_list *list, const char *name, double value, const char *reason);
/* The text (from malloc; NULL counts as memory that ran out) as it is. */
void gls_define_text(gls_define_list *list, const char *name, char *text, const char *reason);
/* Fills a slot with text (from malloc; NULL counts as memory that ran out). */
void gls_define_slot(gls_define_list *list, const char *name, char *text, const char *reason);
/* Fills a slot with a file. */
void gls_define_file(gls_define_list *list, const char *name, const char *file, const char *reason);
/* Fills a slot with BASE_looped.glsl, whose loops any number of invocations can share, or BASE_unrolled.glsl, the same
 * written out for a single one. */
void gls_define_loops(gls_define_list *list, const char *name, const char *base, bool looped);
/* Back to the first n definitions. */
void gls_define_cut(gls_define_list *list, size_t n);
void gls_define_finish(gls_define_list *list);

/* A float literal of GLSL, with a decimal point or an exponent whatever the locale; returns text. */
const char *gls_glsl_float(double value, char text[40]);

/* --- Rows of source that the kernels of one invocation include: the numbers of a sphere and of its functions, as calls
 * of the kernel's macros. */

/* ODF of order sh_order on the sphere, by reflection orbits where the sphere has them. GLS_ERR_MEMORY. */
gls_status gls_rows_odf(gls_text *out, const gls_sphere *sphere, int sh_order);
/* TERM(class, j) for every coefficient: pp, mp, pm or mm by the signs of its basis function under x -> -x and y -> -y.
 */
gls_status gls_rows_orbit_terms(gls_text *out, int sh_order);
/* Local maxima: words of 32 vertices. */
void gls_rows_peaks(gls_text *out, const gls_sphere *sphere);
/* CONE(word) and VERTEX(v, bit) for all vertices in order. */
void gls_rows_vertices(gls_text *out, const gls_sphere *sphere);
/* AXIS(x, y, z) for each vertex, the last as LAST_AXIS. */
void gls_rows_axes(gls_text *out, const gls_sphere *sphere);

/* --- The model buffer of the kernels: tables one after the other, each with its offset as a definition. */

/* Zeroed: empty. */
typedef struct gls_tables {
    uint32_t *word;
    size_t n, capacity;
    size_t first_shared; /* where those of gls_table_shared() begin */
    bool failed;
    bool uniform; /* they become a uniform block instead of a storage block */
} gls_tables;

/* Room for n words of 0, whose offset is defined as name; NULL (and failed) if memory ran out. The pointer holds until
 * the next call. */
uint32_t *gls_table_add(gls_tables *tables, gls_define_list *defines, const char *name, size_t n);
/* The same, filled with floats. */
void gls_table_floats(gls_tables *tables, gls_define_list *defines, const char *name, const double *value, size_t n);
/* Room for n quads of words of 0, which the shader reads four words at a time; the offset is in quads. */
uint32_t *gls_table_quads(gls_tables *tables, gls_define_list *defines, const char *name, size_t n);
/* A row-major matrix in quads: four columns of the first row, the same of the second ... , then the next four. */
void gls_table_matrix(gls_tables *tables, gls_define_list *defines, const char *name, const double *value, size_t rows,
                      size_t columns);

/* MODEL_TABLES, TABLE_WORDS: what gls_table_shared() adds in between can be kept in shared memory as a whole; offsets
 * of its parts count from MODEL_TABLES. */
void gls_tables_begin_shared(gls_tables *tables, gls_define_list *defines);
uint32_t *gls_table_shared(gls_tables *tables, gls_define_list *defines, const char *name, size_t n);
void gls_tables_end_shared(gls_tables *tables, gls_define_list *defines);

/* MODEL_VERTICES, and with neighbours MODEL_NEIGHBOURS and NEIGHBOUR_QUADS: for each vertex in words of two. */
void gls_table_sphere(gls_tables *tables, gls_define_list *defines, const gls_sphere *sphere, bool neighbours);
/* N_ORBITS, and if the sphere's orbits are not known (0) MODEL_ODF, the whole matrix, else MODEL_ORBITS: the rows of it
 * for the first vertex of each orbit, in quads, and MODEL_MEMBERS, in quads: that vertex, and its mirror images under x
 * -> -x, y -> -y and both. */
gls_status gls_table_orbits(gls_tables *tables, gls_define_list *defines, const gls_sphere *sphere, int sh_order);
/* MODEL_CONE, CONE_WORDS: for each vertex the vertices within max_angle (degrees), as bits. */
void gls_table_cone(gls_tables *tables, gls_define_list *defines, const gls_sphere *sphere, double max_angle);
/* MODEL_CONE, dealt out: for each vertex a word for each lane, which has the bits of the stretch of at most 32 vertices
 * that the lane looks at. A stretch that would go beyond the last vertex begins earlier, without what is other lanes'.
 */
void gls_table_cone_of_lanes(gls_tables *tables, gls_define_list *defines, const gls_sphere *sphere, double max_angle,
                             uint32_t lanes, size_t stretch);

/* MODEL_START and START_GIVEN: the direction in which all seeds are to start, along the voxel axes. */
void gls_table_start(gls_tables *tables, gls_define_list *defines, const gls_grid *grid, const double world[3]);

/* Goes on to a multiple of four words, as uniform blocks have it. */
void gls_tables_fill_block(gls_tables *tables);
/* Uploads and frees the words. */
gls_status gls_tables_upload(gls_tables *tables, gls_device *device, gls_buffer **buffer);
void gls_tables_finish(gls_tables *tables);

#endif
