/* Headers of MRtrix images: lines "key: value" between "mrtrix image" and "END". */
#ifndef GLS_IMAGE_MIF_HEADER_H
#define GLS_IMAGE_MIF_HEADER_H

#include <glslines/common.h>
#include <glslines/image.h>

#include "image/formats.h"

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
    int fifth; /* size of a fifth axis, of several fields of vectors, which counts among the volumes; 1: none */
    double linear[2][3][4]; /* keys linear1 and linear2 of a field of both directions */
    int n_linear[2];        /* rows that each has */
} gls_mif_header;

/* Whether the name has a suffix of MRtrix images. */
bool gls_mif_is_name(const char *path);
/* Reads and checks a header. GLS_ERR_INPUT names the file and the error. GLS_ERR_UNSUPPORTED: complex values, several
 * files of values, or a size above 1 along a fifth or later axis, unless it is one of fields. */
gls_status gls_mif_read_header(const char *path, gls_mif_header *header);
/* Frees what the header holds. */
void gls_mif_header_finish(gls_mif_header *header);

#endif
