/* Image files: bytes, voxel values, NIfTI, MRtrix. */
#ifndef GLS_IMAGE_FORMATS_H
#define GLS_IMAGE_FORMATS_H

#include <glslines/image.h>
#include <glslines/type.h>

#include "util/file.h"
#include "util/output_file.h"

/* --- Inside of <glslines/image.h>. */

/* As gls_image_create() for a grid from gls_grid_init(); without zeroed the contents are undefined. */
gls_status gls_image_allocate(const gls_grid *grid, size_t n_volumes, bool zeroed, gls_image **image);

/* Whether gls_grid_require_equal() takes them for equal without a warning. */
bool gls_grid_same(const gls_grid *a, const gls_grid *b);
/* If the grid of the image differs from this one in the order and the directions of its axes alone, replaces it by an
 * image on this grid, with the same values in the same places of the world; else leaves it as it is. */
gls_status gls_image_reorient(gls_image **image, const char *name, const gls_grid *grid);

/* --- Voxel values as they lie in files, to and from float. */

/* How values lie in a NIfTI file. */
typedef struct gls_values {
    int datatype; /* a NIFTI_TYPE_ code */
    size_t bytes; /* of one value */
    bool swapped; /* byte order is not this machine's */
    double slope, inter;
} gls_values;

/* Bytes of one value of a real numeric type, 0 for any other code. */
size_t gls_values_bytes(int datatype);
/* Whether reading is copying. */
bool gls_values_plain(const gls_values *values);
/* n values; in is aligned for the type and may be overwritten. */
void gls_values_read(const gls_values *values, void *in, size_t n, float *out);

/* Bytes of one written value. */
size_t gls_image_type_bytes(gls_image_type type);
/* n values; integers round half to even and saturate, NaN becomes 0. */
void gls_values_write(gls_image_type type, const float *in, size_t n, void *out);

/* --- Bytes of a file, unpacked on the way if they are gzip, and the way back. */

typedef struct gls_stream gls_stream;

/* gzip is recognised by its first bytes, not by the name. GLS_ERR_INPUT names the file. */
gls_status gls_stream_open(const char *path, gls_stream **stream);
/* For a reader that opens the file more than once: GLS_ERR_INPUT for pipes and devices. */
gls_status gls_stream_open_regular(const char *path, gls_stream **stream);
void gls_stream_close(gls_stream *stream);
/* Reads the next bytes; *got is smaller only at the end of the data. Damaged or cut gzip data are GLS_ERR_INPUT. */
gls_status gls_stream_read(gls_stream *stream, void *data, size_t bytes, size_t *got);
/* Reads on to the end of gzip data, unless that is far behind the values, so that their checksum is verified. */
gls_status gls_stream_verify(gls_stream *stream);
/* No more bytes than this can come from the start of the file to its end: a bound against headers that promise too
 * much. */
uint64_t gls_stream_bound(const gls_stream *stream);
/* The descriptor of a plain regular file, to be used with pread() alone; -1 for gzip data and pipes. */
int gls_stream_fd(const gls_stream *stream);

/* Fills a buffer with bytes first .. first + bytes - 1 of the data to be packed; called from several threads. */
typedef void (*gls_pack_fill)(void *user, uint64_t first, size_t bytes, void *buffer);

/* Appends total bytes to output as one gzip member, packed in parallel. */
gls_status gls_gzip_write(gls_output *output, uint64_t total, int level, gls_pack_fill fill, void *user);

/* --- NIfTI headers. */

/* What reading the voxels needs to know. */
typedef struct gls_nifti_header {
    gls_grid grid;
    size_t n_volumes;
    gls_values values;
    bool single_file; /* voxels follow in the same file */
    uint64_t offset;  /* of the first voxel */
    uint64_t bytes;   /* of all voxels */
} gls_nifti_header;

/* The other file of a .hdr/.img pair, whether it is there or not, from malloc; NULL: the name is not one of a pair, or
 * memory ran out. */
char *gls_nifti_pair(const char *path);

/* Reads and checks the header at the start of the stream; *used is the number of bytes taken from it. Messages name
 * path. */
gls_status gls_nifti_read_header(gls_stream *stream, const char *path, gls_nifti_header *header, uint64_t *used);

/* Writes volumes of uint8, int32, uint32, float32 or float64 values as they are, otherwise as
 * gls_image_write_grouped(). what: a word or two for the header's description; NULL: the program alone. */
gls_status gls_nifti_write(const char *path, bool overwrite, gls_output_group *group, const gls_grid *grid,
                           const char *what, size_t n_volumes, gls_type type, const void *data);
/* A file of these bytes, header and voxels, packed if its name ends in .gz. */
gls_status gls_nifti_write_bytes(const char *path, bool overwrite, gls_output_group *group, const void *data,
                                 size_t bytes);
/* gls_image_write() as part of a group, unless that is NULL; an existing file is an error unless overwrite. */
gls_status gls_image_write_grouped(const char *path, bool overwrite, gls_output_group *group, const gls_image *image,
                                   gls_image_type type);

/* --- Voxel values from a stream. */

/* The values of header, which come next in the stream, converted to out; then the stream's checksum is verified. path
 * is for messages. */
gls_status gls_nifti_read_stream(gls_stream *stream, const char *path, const gls_nifti_header *header, float *out);

/* --- Images of MRtrix: .mif, .mif.gz, and .mih with a file of values. */

#define GLS_MIF_AXES 4

/* How values lie in the file besides the types that NIfTI has. */
typedef enum gls_mif_coding { GLS_MIF_VALUES, GLS_MIF_FLOAT16, GLS_MIF_BITS } gls_mif_coding;

typedef struct gls_mif_header {
    gls_grid grid; /* of the axes as they are stored: the fastest in the file is the first */
    size_t n_volumes;
    int volumes_rank;    /* how many of the three axes are faster in the file than the volumes */
    bool volumes_turned; /* the last volume comes first */
    gls_mif_coding coding;
    gls_values values; /* of GLS_MIF_VALUES; slope and inter of all */
    char *file;        /* of the values, NULL: the same */
    uint64_t offset, bytes;
    double (*scheme)[4]; /* gradient table: x y z along the scanner axes, b; NULL: none */
    size_t n_scheme;
} gls_mif_header;

/* By the suffix. */
bool gls_mif_is_name(const char *path);
/* GLS_ERR_INPUT names the file and what is wrong; GLS_ERR_UNSUPPORTED: complex values, several files. */
gls_status gls_mif_read_header(const char *path, gls_mif_header *header);
void gls_mif_header_finish(gls_mif_header *header);
/* An image as gls_image_read() gives it. */
gls_status gls_mif_read(const char *path, gls_image_kind kind, gls_image **image);

#endif
