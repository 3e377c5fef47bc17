/* Files that are packed, or that hold a tractogram in another form, as .tck.gz and .vtp do: they are unpacked to a file
 * without a name, which is then read in their place. */
#ifndef GLS_TRACTOGRAM_UNPACK_H
#define GLS_TRACTOGRAM_UNPACK_H

#include <glslines/common.h>
#include <glslines/tractogram.h>

/* How a file holds the tractogram that is read. */
typedef enum gls_packing {
    GLS_NOT_PACKED,
    GLS_PACKED_GZIP, /* compressed by gzip */
    GLS_PACKED_XML   /* VTK in XML */
} gls_packing;

/* Replaces the open file of the reader by a temporary one without a name, which holds what the file has packed. */
gls_status gls_reader_unpack(gls_tractogram_reader *reader, gls_packing packing);
/* Opens a file without a name in the folder for temporary files, TMPDIR or /tmp. path: of the file that it serves, for
 * the message. */
gls_status gls_scratch_open(const char *path, int *fd);

#endif
