/* Image files: reads and writes NIfTI and MIF; streams of bytes, voxel values, grids. */
#ifndef GLS_IMAGE_FORMATS_H
#define GLS_IMAGE_FORMATS_H

#include <glslines/image.h>
#include <glslines/labels.h>
#include <glslines/type.h>

#include "util/file.h"
#include "util/output_file.h"

/* --- Images in memory. */

/* Allocates an image, like gls_image_create(), on a grid from gls_grid_init(). zeroed = false leaves the values
 * undefined. */
gls_status gls_image_allocate(const gls_grid *grid, size_t n_volumes, bool zeroed, gls_image **image);

/* Converts a direction along the axes of the world to a unit vector along the voxel axes. Returns false, and zeros, if
 * the direction is 0. */
bool gls_grid_direction(const gls_grid *grid, const double world[3], double along[3]);
/* Whether two grids are the same, so that gls_grid_require_equal() accepts them without a warning. */
bool gls_grid_same(const gls_grid *a, const gls_grid *b);
/* If the image's grid differs from `grid` only in the order and directions of its axes, replaces the image by one on
 * `grid` that has the same values at the same world positions. Otherwise leaves the image as it is. name: name of the
 * image for messages. */
gls_status gls_image_reorient(gls_image **image, const char *name, const gls_grid *grid);
/* Which positions of an image count. */
typedef struct gls_image_choice {
    bool interpolated;    /* true: take values between voxels, where voxels outside are 0; else of the nearest voxel */
    float above;          /* a position counts if its value is above this limit; unused with labels */
    const int32_t *label; /* a position counts if its nearest voxel has one of these values; NULL: no labels */
    size_t n_labels;
} gls_image_choice;
/* Reads an image of one volume and of any grid, and makes an image on `grid` that is 1 where the centre of a voxel
 * counts, else 0. */
gls_status gls_image_choose(const char *path, const gls_image_choice *choice, const gls_grid *grid, gls_image **chosen);

/* Requires one volume for GLS_IMAGE_3D, and two or more for GLS_IMAGE_4D. GLS_ERR_INPUT names the file. */
gls_status gls_image_kind_check(const char *path, gls_image_kind kind, const gls_grid *grid, size_t n_volumes);
/* Reads an image of one volume onto `grid`: as by gls_image_reorient(), and then its grid must be equal to `grid`.
 * name_of_grid: the file with that grid, for messages. */
gls_status gls_image_read_on_grid(const gls_grid *grid, const char *name_of_grid, const char *path, gls_image **image);
/* Reads a mask, whose voxels above 0 count, onto `grid`: as gls_image_read_on_grid() where the grids are equal; else
 * the mask is resampled to `grid` by the nearest voxel, with a warning. GLS_ERR_INPUT: less than half of its volume
 * would be left. */
gls_status gls_image_read_mask(const gls_grid *grid, const char *name_of_grid, const char *path, gls_image **mask);
/* Like gls_image_read(), but also reads NIfTI images of five dimensions, the fifth of which is 3: vectors, as DIPY
 * writes peaks. The volumes become x, y and z of the first vector, then of the second. */
gls_status gls_image_read_vectors(const char *path, gls_image **image);
/* Reads the grid of an image. */
gls_status gls_grid_read(const char *path, gls_grid *grid);
/* Fills in *count: number of voxels above 0. GLS_ERR_INPUT if there are none; name and kind are for the message. */
gls_status gls_image_count_voxels(const gls_image *image, const char *name, const char *kind, uint64_t *count);
/* Returns GLS_ERR_INPUT if every value is 0 or not finite. what: the word for what is missing in the message, such as
 * "peak". */
gls_status gls_image_require_values(const gls_image *image, const char *name, const char *what);

/* --- Voxel values: from the types in files to float, or to labels. */

/* How a file stores the values of voxels. */
typedef struct gls_values {
    int datatype;        /* a NIFTI_TYPE_... code */
    size_t bytes;        /* size of one value */
    bool swapped;        /* true: the byte order differs from this machine's */
    double slope, inter; /* a voxel has the value slope * stored + inter */
    bool labels;         /* true: values become int32_t, GLS_NO_LABEL where they are no labels; false: float */
} gls_values;

/* Converts n values to float or int32_t. in: the values as the file has them, aligned for their type; their memory may
 * be overwritten. out: n elements. */
void gls_values_read(const gls_values *values, void *in, size_t n, void *out);

/* The number that stands for a value that is no label, see gls_labels_read(). */
#define GLS_NO_LABEL (-1)
/* The label that a value is, or GLS_NO_LABEL. below: the type that stores it holds all whole numbers below this one
 * exactly. Where scaling has rounded a value below 16777216, the whole number nearest to it counts. */
int32_t gls_label_of(double value, bool scaled, double below);
/* Reads an image of one volume whose `data` are labels, int32_t in place of float. */
gls_status gls_image_read_as_labels(const char *path, gls_image **image);
/* Reads the header alone: an image with its grid and number of volumes, whose `data` are NULL. */
gls_status gls_image_read_header(const char *path, gls_image_kind kind, gls_image **image);

/* --- Streams: read the bytes of a file, and decompress them if they are gzip. */

typedef struct gls_stream gls_stream;

/* Opens a file for reading. gzip is recognised by its first bytes, not by the name. GLS_ERR_INPUT names the file. */
gls_status gls_stream_open(const char *path, gls_stream **stream);
/* Like gls_stream_open(), for a reader that opens the file more than once. GLS_ERR_INPUT for pipes and devices. */
gls_status gls_stream_open_regular(const char *path, gls_stream **stream);
/* Closes the stream and frees it. Accepts NULL. */
void gls_stream_close(gls_stream *stream);
/* Reads the next bytes; *got is smaller than bytes only at the end of the data. GLS_ERR_INPUT: damaged or truncated
 * gzip data. */
gls_status gls_stream_read(gls_stream *stream, void *data, size_t bytes, size_t *got);
/* Reads on to the end of gzip data, at most 16 MiB, to verify their checksum. Does nothing for data that are not
 * compressed. */
gls_status gls_stream_verify(gls_stream *stream);
/* Upper bound of the number of uncompressed bytes in the whole file; UINT64_MAX for pipes. Before you allocate memory,
 * compare the size that a header states with this bound. */
uint64_t gls_stream_bound(const gls_stream *stream);
/* Descriptor of a regular file that is not compressed, for pread() only; -1 for gzip data and pipes. */
int gls_stream_fd(const gls_stream *stream);

/* Pieces of a gzip member in a regular file, which several threads unpack. */
typedef struct gls_gzip_pieces gls_gzip_pieces;

/* Prepares to read a member whose deflate data begin at position `place` of the file. skipped: number of unpacked bytes
 * at the start that reading leaves out. Returns NULL if memory runs out. */
gls_gzip_pieces *gls_gzip_pieces_create(const gls_input *input, uint64_t place, uint64_t skipped, int n_threads);
/* Accepts NULL. */
void gls_gzip_pieces_destroy(gls_gzip_pieces *pieces);
/* Reads the next unpacked bytes. *got is smaller than `bytes` only at the end of the member; its checksum is then
 * correct, and *end is the position in the file behind it. Returns false if the data behind the first *got bytes are
 * damaged, or cannot be unpacked in pieces. */
bool gls_gzip_pieces_read(gls_gzip_pieces *pieces, void *data, size_t bytes, size_t *got, uint64_t *end);

/* --- NIfTI. */

/* Contents of a NIfTI header that a reader of the voxels needs. */
typedef struct gls_nifti_header {
    gls_grid grid;
    size_t n_volumes;
    bool vectors; /* true: the fifth dimension is 3; x of all vectors comes first, then y, then z */
    gls_values values;
    bool single_file; /* true: the voxels are in the same file as the header */
    uint64_t offset;  /* position of the first voxel, in bytes */
    uint64_t bytes;   /* size of all voxels */
} gls_nifti_header;

/* Path of the other file of a .hdr/.img pair, existing or not, from malloc. NULL: the name is not one of a pair, or out
 * of memory. */
char *gls_nifti_pair(const char *path);

/* Reads and checks the header at the start of the stream. *used: number of bytes read from the stream. path: for
 * messages. */
gls_status gls_nifti_read_header(gls_stream *stream, const char *path, gls_nifti_header *header, uint64_t *used);

/* --- Images of MRtrix3: .mif, .mif.gz, and .mih with a separate file of values. */

/* Axes of an image: three of space, and the volumes. */
#define GLS_MIF_AXES 4

/* How values are stored: GLS_MIF_VALUES as in NIfTI files, or in one of two types that NIfTI does not have. */
typedef enum gls_mif_coding { GLS_MIF_VALUES, GLS_MIF_FLOAT16, GLS_MIF_BITS } gls_mif_coding;

/* Contents of the header of a .mif. Free with gls_mif_header_finish(). */
typedef struct gls_mif_header {
    gls_grid grid; /* grid whose first axis is the axis of space that is fastest in the file, and so on */
    size_t n_volumes;
    int volumes_rank;    /* rank of the axis of volumes among the axes in the file, from 0, the fastest, to 3 */
    bool volumes_turned; /* true: the last volume is stored first */
    gls_mif_coding coding;
    gls_values values; /* slope and inter hold for all codings, swapped not for GLS_MIF_BITS, datatype only for
                          GLS_MIF_VALUES */
    char *file;        /* path of the file of the values; NULL: the values are in the file of the header */
    uint64_t offset, bytes;
    double (*scheme)[4]; /* gradient table of n_scheme rows: x y z along the scanner axes, b; NULL: none */
    size_t n_scheme;
} gls_mif_header;

/* Whether the name has a suffix of MRtrix images. */
bool gls_mif_is_name(const char *path);
/* Reads and checks a header. GLS_ERR_INPUT names the file and the error. GLS_ERR_UNSUPPORTED: complex values, several
 * files of values, or a size above 1 along a fifth or later axis. */
gls_status gls_mif_read_header(const char *path, gls_mif_header *header);
/* Frees what the header holds. */
void gls_mif_header_finish(gls_mif_header *header);
/* Reads an image, like gls_image_read(), or with `labels` like gls_image_read_as_labels(). */
gls_status gls_mif_read(const char *path, gls_image_kind kind, bool labels, gls_image **image);

/* --- Images that are written: NIfTI or MIF, as the name says, compressed if it ends in .gz. */

/* The bytes of a file in front of its values. */
typedef struct gls_image_header {
    size_t bytes; /* a multiple of the size of a value */
    unsigned char data[1536];
} gls_image_header;

/* Makes the header of an image. what: a few words that describe it; NULL: only the name of the program. */
gls_status gls_nifti_make_header(const char *path, const gls_grid *grid, const char *what, size_t n_volumes,
                                 gls_type type, gls_image_header *header);
gls_status gls_mif_make_header(const char *path, const gls_grid *grid, const char *what, size_t n_volumes,
                               gls_type type, gls_image_header *header);

/* Whether the name has a suffix of images that are written: .nii, .nii.gz, .mif or .mif.gz. */
bool gls_image_is_output(const char *path);
/* Length of a path without the suffix of an image: .nii, .nii.gz, .mif or a similar one. */
size_t gls_image_stem(const char *path);
/* Writes volumes. type: uint8, int32, uint32, float32 or float64; the values are stored as they are. what: a few words
 * for the header's description; NULL: only the name of the program. */
gls_status gls_image_write_values(const char *path, bool overwrite, gls_output_group *group, const gls_grid *grid,
                                  const char *what, size_t n_volumes, gls_type type, const void *data);
/* Words for the description of an image whose vectors lie along the voxel axes. */
#define GLS_ALONG_VOXELS "vectors along the voxel axes"
/* Whether glslines wrote the image with these words in its header. false also if it cannot be read. */
bool gls_image_is_along_voxels(const char *path);
/* Writes an image file from its bytes, header and voxels. */
gls_status gls_image_write_bytes(const char *path, bool overwrite, gls_output_group *group, const void *data,
                                 size_t bytes);
/* Like gls_image_write(), but as part of a group unless group is NULL. An existing file is an error unless
 * overwrite. */
gls_status gls_image_write_grouped(const char *path, bool overwrite, gls_output_group *group, const gls_image *image,
                                   gls_image_type type);

#endif
