/* Voxel values from a stream. */
#ifndef GLS_IMAGE_NIFTI_STREAM_H
#define GLS_IMAGE_NIFTI_STREAM_H

#include "image/nifti.h"

/* The values of header, which come next in the stream, converted to out; then the stream's checksum is verified. path
 * is for messages. */
gls_status gls_nifti_read_stream(gls_stream *stream, const char *path, const gls_nifti_header *header, float *out);

#endif
