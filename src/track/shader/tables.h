/* The model buffer of the kernels: tables one after the other, each with its offset as a definition. */
#ifndef GLS_TRACK_SHADER_TABLES_H
#define GLS_TRACK_SHADER_TABLES_H

#include <glslines/image.h>
#include <glslines/sphere.h>

#include "track/shader/defines.h"

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
