/* Image files: reads and writes NIfTI and MIF; streams of bytes, voxel values, grids. */
#ifndef GLS_IMAGE_FORMATS_H
#define GLS_IMAGE_FORMATS_H

#include <glslines/image.h>
#include <glslines/labels.h>
#include <glslines/type.h>

#include "util/file.h"
#include "util/output_file.h"

/* --- Voxel values: from the types in files to float, or to labels. */

/* How a file stores the values of voxels. */
typedef struct gls_values {
    int datatype;        /* a NIFTI_TYPE_... code */
    size_t bytes;        /* size of one value */
    bool swapped;        /* true: the byte order differs from this machine's */
    double slope, inter; /* a voxel has the value slope * stored + inter */
    bool labels;         /* true: values become int32_t, GLS_NO_LABEL where they are no labels; false: float */
} gls_values;

/* The number that stands for a value that is no label, see gls_labels_read(). */
#define GLS_NO_LABEL (-1)

/* --- Streams: read the bytes of a file, and decompress them if they are gzip. */

typedef struct gls_stream gls_stream;

#define GLS_FIELDS_MAX 4 /* largest number of fields of vectors in one image of five dimensions */

/* --- Images of MRtrix3: .mif, .mif.gz, and .mih with a separate file of values. */

/* Axes of an image: three of space, and the volumes. */
#define GLS_MIF_AXES 4

/* --- Images that are written: NIfTI or MIF, as the name says, compressed if it ends in .gz. */

/* The bytes of a file in front of its values. */
typedef struct gls_image_header {
    size_t bytes; /* a multiple of the size of a value */
    unsigned char data[1536];
} gls_image_header;

/* Words for the description of an image whose vectors lie along the voxel axes. */
#define GLS_ALONG_VOXELS "vectors along the voxel axes"

#endif
