/* The datasets of HDF5 files that are small enough to be held in memory. A part of the format is enough for transforms:
 * superblocks 0 to 3; groups as tables of symbols or as links in their headers; datasets of 32- and 64-bit numbers,
 * whole or in chunks, packed by gzip or not; texts of fixed and of variable length. Everything else is refused by name.
 */
#ifndef GLS_TRANSFORM_HDF5_H
#define GLS_TRANSFORM_HDF5_H

#include <stdint.h>

#include <glslines/common.h>

/* A file in memory. */
typedef struct gls_hdf5 gls_hdf5;

/* Reads a file into memory. GLS_ERR_INPUT: it is none of HDF5, or is damaged. The other functions fail so, too: for
 * damage that the file shows, and before they allocate memory for a size that it cannot have. */
gls_status gls_hdf5_open(const char *path, gls_hdf5 **file);
/* Frees `file`, which may be NULL. */
void gls_hdf5_close(gls_hdf5 *file);
/* Finds what a path such as "TransformGroup/1" leads to. *header: its place in the file; 0: there is none. Fails where
 * a group is stored in a way that is not read. */
gls_status gls_hdf5_find(gls_hdf5 *file, const char *name, uint64_t *header);
/* Counts the members of a group. */
gls_status gls_hdf5_count(gls_hdf5 *file, uint64_t group, size_t *n);
/* Reads all numbers of a dataset. *value comes from malloc; NULL after a failure, and where there is no number. */
gls_status gls_hdf5_numbers(gls_hdf5 *file, uint64_t header, double **value, size_t *n);
/* Reads the first text of a dataset, cut to size - 1 bytes. */
gls_status gls_hdf5_text(gls_hdf5 *file, uint64_t header, char *text, size_t size);

#endif
