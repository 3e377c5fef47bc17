/* Inputs of kernels besides records: definitions, rows of source, and tables of numbers. */
#ifndef GLS_TRACK_SHADER_KERNEL_INPUTS_H
#define GLS_TRACK_SHADER_KERNEL_INPUTS_H

#include <stddef.h>
#include <stdint.h>

#include <glslines/track.h>
#include <glslines/device.h>
#include <glslines/image.h>
#include <glslines/sphere.h>

#include "util/text.h"

/* --- Definitions and contents of slots, each with a reason that a dump of the sources shows. */

/* Definitions and contents of slots for kernels. The list owns their texts; names and reasons must be string constants.
 * A list of zeros is empty. */
typedef struct gls_define_list {
    gls_define define[160];
    char *owned[160];
    size_t n;
    bool failed; /* memory ran out, or the list is full */
} gls_define_list;

/* Defines `name` as an integer; the list keeps `name` and `reason` as pointers. */
void gls_define_int(gls_define_list *list, const char *name, int64_t value, const char *reason);
/* Defines `name` as a float literal, rounded to single precision. */
void gls_define_float(gls_define_list *list, const char *name, double value, const char *reason);
/* Defines `name` as this text. Takes ownership of `text`, which comes from malloc; NULL sets `failed`. */
void gls_define_text(gls_define_list *list, const char *name, char *text, const char *reason);
/* Fills a slot with this text. Takes ownership of `text`, which comes from malloc; NULL sets `failed`. */
void gls_define_slot(gls_define_list *list, const char *name, char *text, const char *reason);
/* Fills a slot with an #include of `file`. */
void gls_define_file(gls_define_list *list, const char *name, const char *file, const char *reason);
/* Fills a slot with BASE_looped.glsl, whose loops lanes can share, or with BASE_unrolled.glsl, the same code written
 * out for one invocation. */
void gls_define_loops(gls_define_list *list, const char *name, const char *base, bool looped);
/* Removes all but the first n definitions. */
void gls_define_cut(gls_define_list *list, size_t n);
/* Frees the texts and empties the list. */
void gls_define_finish(gls_define_list *list);

/* Formats a GLSL float literal, with a point or an exponent in any locale. Returns text. */
const char *gls_glsl_float(double value, char text[40]);

/* --- Generated shader source. Each row calls a macro that the kernel defines; its arguments are numbers of a sphere or
 * of spherical harmonics. All rows but those of gls_rows_orbit_terms() are for kernels with one invocation for each
 * streamline. */

/* Appends rows that compute the ODF of order sh_order on the sphere; uses reflection orbits where the sphere has them.
 * GLS_ERR_MEMORY. */
gls_status gls_rows_odf(gls_text *out, const gls_sphere *sphere, int sh_order);
/* Appends for every four coefficients a row QUAD(index of the four), a row TERM(class, j, component) for each
 * coefficient j of the four, and a row QUAD_END. class: pp, mp, pm or mm: whether the basis function of j keeps (p) or
 * changes (m) its sign under x -> -x, first letter, and under y -> -y. component: x, y, z or w, by the place of j among
 * the four. */
gls_status gls_rows_orbit_terms(gls_text *out, int sh_order);
/* Appends rows that find the vertices with local maxima, and store one bit for each vertex, 32 in a word. */
void gls_rows_peaks(gls_text *out, const gls_sphere *sphere);
/* Appends a row VERTEX(v, bit) for each vertex in order, and a row CONE(word) in front of every 32 of them. */
void gls_rows_vertices(gls_text *out, const gls_sphere *sphere);
/* Appends a row AXIS(x, y, z) for each vertex, LAST_AXIS(x, y, z) for the last one. */
void gls_rows_axes(gls_text *out, const gls_sphere *sphere);

/* --- The model buffer of kernels: tables one after the other; the offset of each is a definition. */

/* Tables that go into the model buffer. A struct of zeros is an empty list. */
typedef struct gls_tables {
    uint32_t *word;
    size_t n, capacity;
    bool failed;
    bool uniform; /* upload as a uniform block, not as a storage block */
} gls_tables;

/* Appends n words of 0 and defines `name` as their offset. Returns a pointer to them, valid until the next call; NULL,
 * with `failed` set, if memory ran out. */
uint32_t *gls_table_add(gls_tables *tables, gls_define_list *defines, const char *name, size_t n);
/* Appends n floats and defines `name` as their offset. */
void gls_table_floats(gls_tables *tables, gls_define_list *defines, const char *name, const double *value, size_t n);
/* Like gls_table_add(), for n quads of four words that shaders read at once; the offset is in quads. */
uint32_t *gls_table_quads(gls_tables *tables, gls_define_list *defines, const char *name, size_t n);
/* Appends a row-major matrix in quads: columns 0 to 3 of every row, then columns 4 to 7 of every row, and so on. */
void gls_table_matrix(gls_tables *tables, gls_define_list *defines, const char *name, const double *value, size_t rows,
                      size_t columns);

/* Adds MODEL_VERTICES; with `neighbours` also MODEL_NEIGHBOURS, two 16-bit indices in a word, and NEIGHBOUR_QUADS. */
void gls_table_sphere(gls_tables *tables, gls_define_list *defines, const gls_sphere *sphere, bool neighbours);
/* Adds N_ORBITS, the number of reflection orbits of the sphere if they cover it, else 0. If it is 0, adds MODEL_ODF,
 * the whole matrix from SH coefficients to amplitudes. Otherwise adds, in quads, MODEL_ORBITS, the matrix rows of the
 * first vertex of each orbit, and MODEL_MEMBERS, this vertex and its mirror images under x -> -x, y -> -y and both. */
gls_status gls_table_orbits(gls_tables *tables, gls_define_list *defines, const gls_sphere *sphere, int sh_order);

/* Adds START_GIVEN: 1 if seed_direction is given, 2 if each seed has a direction of its own, else 0; and MODEL_START,
 * the first along the voxel axes. */
void gls_table_start(gls_tables *tables, gls_define_list *defines, const gls_track_params *params,
                     const gls_track_input *input);

/* Appends zeros up to a multiple of four words. */
void gls_tables_fill_block(gls_tables *tables);
/* Creates *buffer with the words, and frees the tables. GLS_ERR_MEMORY if `failed` is set; the tables then stay. */
gls_status gls_tables_upload(gls_tables *tables, gls_device *device, gls_buffer **buffer);
/* Frees the words and empties the tables. */
void gls_tables_finish(gls_tables *tables);

#endif
