/* Images of MRtrix: .mif, .mif.gz, and .mih with a file of values. */
#ifndef GLS_IMAGE_MIF_H
#define GLS_IMAGE_MIF_H

#include "image/values.h"

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
