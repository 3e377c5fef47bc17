/* Tractogram files of any program, read and written as streams: memory does not grow with the number of streamlines. */
#ifndef GLSLINES_TRACTOGRAM_H
#define GLSLINES_TRACTOGRAM_H

#include <glslines/image.h>
#include <glslines/shard.h>
#include <glslines/streamlines.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Formats: value, suffix of their files, name, and the bytes with which files begin. VTK: legacy polydata; written as
 * version 4.2, BINARY, SPACE=RAS. */
/* clang-format off */
#define GLS_TRACTOGRAM_FORMATS(ROW)              \
    ROW(GLS_FORMAT_TRX, trx, TRX, "PK")            \
    ROW(GLS_FORMAT_TRK, trk, TRK, "TRACK")         \
    ROW(GLS_FORMAT_TCK, tck, TCK, "mrtrix tracks") \
    ROW(GLS_FORMAT_VTK, vtk, VTK, "# vtk DataFile")
/* clang-format on */
#define GLS_FORMAT_VALUE(value, ...) value,
typedef enum gls_tractogram_format { GLS_TRACTOGRAM_FORMATS(GLS_FORMAT_VALUE) } gls_tractogram_format;

/* Format by suffix (.trx .trk .tck .vtk, any case). GLS_ERR_ARGUMENT, with the list of suffixes, for another one. */
GLS_API gls_status gls_tractogram_format_parse(const char *path, gls_tractogram_format *format);
/* Name of a format: "TRX" ... */
GLS_API const char *gls_tractogram_format_name(gls_tractogram_format format);

/* Data of a whole group: one row. Only TRX stores data of groups (dpg). */
typedef struct gls_group_data {
    const char *group;
    gls_column column;
} gls_group_data;

typedef struct gls_tractogram_options {
    size_t size;             /* size of this struct, set by the default function */
    gls_precision precision; /* precision of positions in TRX; default GLS_PRECISION_FLOAT */
    bool overwrite;          /* default false: an existing file is GLS_ERR_OUTPUT */
    const char *const
        *header_lines; /* "key: value" lines for the TCK header, NULL-terminated, no colon in a value, no key datatype,
                        * file, count, total_count, timestamp, glslines_shard; NULL: none. Borrowed during create */
    const gls_shard *shard; /* which part of a run the file is, noted in the file for gls_tractogram_merge(); NULL: the
                               whole run. Borrowed during create */
    const gls_group_data *dpg; /* TRX: data of groups, n_dpg of them; the groups must come with the streamlines.
                                  Borrowed until the writer is finished */
    size_t n_dpg;
} gls_tractogram_options;
GLS_API gls_tractogram_options gls_tractogram_options_default(void);

typedef struct gls_tractogram_writer gls_tractogram_writer;

/* Creates a writer. Until gls_tractogram_writer_finish() gives the file the name `path`, it lies in the same folder
 * without a name (with a temporary name on file systems that require one). grid: grid of the image to which the
 * streamlines belong; TCK does not store it. GLS_ERR_OUTPUT names the path and the reason. GLS_ERR_UNSUPPORTED: the
 * grid has more voxels along an axis than the format can store (TRK 32767, TRX 65535). */
GLS_API gls_status gls_tractogram_writer_create(const char *path, gls_tractogram_format format, const gls_grid *grid,
                                                const gls_tractogram_options *options, gls_tractogram_writer **writer);
/* Appends a block of streamlines, points in world mm. All blocks must have the columns and groups of the first one. TRX
 * stores all columns (dps, dpv) and groups. TRK stores columns as float32 properties and scalars, ten of each at most;
 * a name and the number of its components share 20 bytes; a float32 column "seeds" keeps its world mm. A further
 * property "group" of TRK is the number, from 1, of the first group of the streamline, 0 if it is in none. VTK stores
 * dps and dpv, TCK no columns. gls_tractogram_writer_lost() lists what is not stored. GLS_ERR_OUTPUT: the file cannot
 * be written, such as on a full disk. GLS_ERR_ARGUMENT: a streamline without points, a point that is not finite, other
 * columns than before, a name that TRX cannot hold (empty, with a dot or slash, over 100 bytes). GLS_ERR_UNSUPPORTED: a
 * limit of the format (TRK 2^31 - 1 streamlines, TRX 2^32 - 1, VTK 2^31 - 1 points; float16 65504 mm). After a failure,
 * append and finish return the same error. */
GLS_API gls_status gls_tractogram_writer_append(gls_tractogram_writer *writer, const gls_streamlines *streamlines);
/* Adds a column with a row for each streamline, after all streamlines were appended; up to 4 columns, borrowed until
 * the writer is finished. Only TRX stores it. GLS_ERR_ARGUMENT: there are 4 such columns, or a column has this name
 * already. */
GLS_API gls_status gls_tractogram_writer_add_dps(gls_tractogram_writer *writer, const gls_column *column);
/* Lists what the format cannot store of the streamlines so far, e.g. "dpv fa, group AF_L, dpg AF_L/n_flipped"; NULL:
 * nothing is lost. Valid until the next call for this writer. */
GLS_API const char *gls_tractogram_writer_lost(const gls_tractogram_writer *writer);
/* Completes headers, gives the file its name, and frees the writer. A failure leaves nothing behind and frees the
 * writer, too. */
GLS_API gls_status gls_tractogram_writer_finish(gls_tractogram_writer *writer);
/* Removes the temporary files and frees the writer. Accepts NULL. */
GLS_API void gls_tractogram_writer_abort(gls_tractogram_writer *writer);
/* Returns the writer as a sink, which owns the writer. */
GLS_API gls_sink gls_tractogram_writer_sink(gls_tractogram_writer *writer);

/* Axes of VTK files that do not state them (SPACE=RAS or SPACE=LPS in the second line). */
typedef enum gls_vtk_space {
    GLS_VTK_SPACE_STATED, /* the default: files that do not state their axes are refused */
    GLS_VTK_SPACE_RAS,
    GLS_VTK_SPACE_LPS
} gls_vtk_space;

typedef struct gls_tractogram_read_options {
    size_t size;               /* size of this struct, set by the default function */
    const gls_grid *reference; /* TRK files without an affine (version 1, and some of version 2): the grid of the image
                                  to which they belong; borrowed during open. Default NULL: such files are refused */
    gls_vtk_space vtk_space;   /* default GLS_VTK_SPACE_STATED */
    bool recover;              /* TCK: leave out a truncated last streamline, with a warning; default false: an error */
    bool allow_invalid; /* hand on points that are not finite; default false: an error that names the streamline */
    bool quiet;         /* true: give no warnings, for a file that was read before; default false */
} gls_tractogram_read_options;
GLS_API gls_tractogram_read_options gls_tractogram_read_options_default(void);

typedef struct gls_header_field {
    const char *key, *value;
} gls_header_field;

/* Contents of a header, known before streamlines are read. */
typedef struct gls_tractogram_info {
    gls_tractogram_format format;
    int version;    /* TRK: 1 to 3; VTK: 10 * major + minor of the file's version, 0 for XML; else 0 */
    uint64_t bytes; /* size of the file, unpacked; of a TRX folder, of its arrays */
    bool has_grid;  /* true for TRX and TRK */
    gls_grid grid;
    bool counts_streamlines, counts_points; /* whether the header states n_streamlines and n_points */
    uint64_t n_streamlines,
        n_points; /* TCK and TRK: as the header states them, which may be wrong; reading warns then, at the end */
    gls_type position_type; /* type of the coordinates in the file: float16, float32, float64 */
    bool is_packed;         /* TRX: deflated arrays; other formats: a file compressed by gzip */
    /* Names, types and components of the columns; data is NULL. */
    size_t n_dps, n_dpv, n_groups;
    const gls_column *dps, *dpv, *group;
    const uint64_t *group_size; /* number of members of each of the n_groups groups */
    size_t n_dpg;
    const gls_group_data *dpg; /* data of groups, with their values */
    size_t n_header;
    const gls_header_field *header; /* keys of the header that the fields above do not hold: TCK, TRX (values that are
                                       no text as JSON), VTK ("title"). Repeated keys are joined by newlines */
} gls_tractogram_info;

typedef struct gls_tractogram_reader gls_tractogram_reader;

/* Opens a tractogram and reads its header. The format is known by the content, not by the suffix:
 * TRX: a ZIP archive, stored or deflated, or a folder; positions of float16, float32, float64; offsets of uint32 or
 *     uint64, with or without the last offset; dps, dpv of any type, groups, dpg.
 * TRK: versions 1 to 3, both byte orders; scalars become dpv, properties dps, all float32. Where the voxel order
 *     contradicts the affine, axes are permuted and flipped as nibabel does it, and a warning says so.
 * TCK: Float32 and Float64 of both byte orders, data in the same file or in another one.
 * VTK: legacy POLYDATA of lines, ASCII or BINARY; POINT_DATA and CELL_DATA of scalars and fields become dpv and dps.
 *     The points of its lines have to follow each other, as all known programs write them. Also XML (.vtp): one piece,
 *     arrays as text, base64 or raw, packed by zlib or not.
 * Files compressed by gzip, and XML, are unpacked to a temporary file without a name in the folder TMPDIR, else /tmp.
 * Memory: the streamlines of one call of gls_tractogram_reader_next(), and one bit a streamline for each group. Only
 * one thread at a time may use a reader. GLS_ERR_INPUT names the file and its fault. options may be NULL. */
GLS_API gls_status gls_tractogram_reader_open(const char *path, const gls_tractogram_read_options *options,
                                              gls_tractogram_reader **reader);
/* Contents of the header; valid until the reader is closed. */
GLS_API const gls_tractogram_info *gls_tractogram_reader_info(const gls_tractogram_reader *reader);
/* Reads the next streamlines, at most 16384 and about 2^17 points, valid until the next call. n = 0: the end was
 * reached, and checksums and counts were checked. Points are in world mm. Streamlines without points are handed on, too
 * (TRX, TCK, VTK), so that each streamline keeps its position in the file. */
GLS_API gls_status gls_tractogram_reader_next(gls_tractogram_reader *reader, gls_streamlines *streamlines);
/* Closes `reader`, which may be NULL. */
GLS_API void gls_tractogram_reader_close(gls_tractogram_reader *reader);

/* Reports the share of the file that has been read, 0 .. 1. Return false to cancel. */
typedef bool (*gls_tractogram_progress)(void *user, double share);
/* Appends all streamlines left in the reader to the sink, which is neither finished nor aborted. progress may be NULL.
 * GLS_ERR_CANCELLED if it returned false. */
GLS_API gls_status gls_tractogram_pump(gls_tractogram_reader *reader, const gls_sink *sink,
                                       gls_tractogram_progress progress, void *user);

#ifdef __cplusplus
}
#endif
#endif
