/* Tractogram files, written as a stream: memory does not grow with the number of streamlines. */
#ifndef GLSLINES_TRACTOGRAM_H
#define GLSLINES_TRACTOGRAM_H

#include <glslines/image.h>
#include <glslines/shard.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gls_tractogram_format { GLS_FORMAT_TRX, GLS_FORMAT_TRK, GLS_FORMAT_TCK } gls_tractogram_format;

/* By suffix (.trx .trk .tck, any case); GLS_ERR_ARGUMENT with the list for another. */
GLS_API gls_status gls_tractogram_format_parse(const char *path, gls_tractogram_format *format);

typedef struct gls_tractogram_options {
    bool half_precision; /* TRX positions as float16; default false: float32 */
    bool overwrite;      /* default false: an existing file is GLS_ERR_OUTPUT */
    const char *const
        *header_lines; /* "key: value" lines for the TCK header, NULL-terminated, no colon in a value, none of the keys
                        * datatype, file, count, total_count; NULL: none. Borrowed during create */
    const gls_shard *shard; /* what part of a run this is, noted in the file for gls_tractogram_merge(); NULL: the
                               whole. Borrowed during create */
} gls_tractogram_options;
GLS_API gls_tractogram_options gls_tractogram_options_default(void);

/* A run of streamlines in output order. Positions are in the space given by gls_tractogram_space(): world mm (RAS+,
 * voxel-centre origin) for TRX and TCK, corner-origin voxel mm for TRK. Borrowed by append. */
typedef struct gls_streamlines {
    size_t n;               /* streamlines */
    const uint64_t *offset; /* n + 1: first point of each, offset[0] = 0, offset[n] = number of points */
    const float (*point)[3];
    const uint32_t *seed_index; /* n, or NULL: global index of the seed. TRX: dps "seed_index"; TRK: a property, as
                                   float, exact up to 2^24; not in TCK */
    const float (*seed)[3]; /* n, or NULL: position of the seed in the same space as the points. TRX: dps "seeds", world
                             * mm; TRK: property "seeds" of three values, converted to world mm, since readers (nibabel,
                             * DIPY) hand properties on as they are while they move points to world space; not in TCK */
} gls_streamlines;

typedef struct gls_tractogram_writer gls_tractogram_writer;

/* The map from voxel coordinates (centres at integers) to the space in which gls_streamlines of this format are given.
 */
GLS_API void gls_tractogram_space(gls_tractogram_format format, const gls_grid *grid, double voxel_to_space[3][4]);

/* Opens a file without a name (where the file system has none, under a temporary one) beside path; nothing appears
 * under path before finish. GLS_ERR_OUTPUT names the path and the reason. GLS_ERR_UNSUPPORTED: more voxels along an
 * axis than the format can say (TRK 32767, TRX 65535). */
GLS_API gls_status gls_tractogram_writer_create(const char *path, gls_tractogram_format format, const gls_grid *grid,
                                                const gls_tractogram_options *options, gls_tractogram_writer **writer);
/* Appends in order. GLS_ERR_OUTPUT: full disk and the like. GLS_ERR_ARGUMENT: a streamline without points, a point that
 * is not finite, seeds for some streamlines only. GLS_ERR_UNSUPPORTED: a limit of the format (TRK 2^31 - 1 streamlines,
 * TRX 2^32 - 1; float16 65504 mm). After a failure append and finish repeat it. */
GLS_API gls_status gls_tractogram_writer_append(gls_tractogram_writer *writer, const gls_streamlines *streamlines);
/* Completes headers, moves the file to its name, frees the writer. On failure nothing is left behind; the writer is
 * freed all the same. */
GLS_API gls_status gls_tractogram_writer_finish(gls_tractogram_writer *writer);
/* Removes the temporary files and frees the writer. Accepts NULL. */
GLS_API void gls_tractogram_writer_abort(gls_tractogram_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
