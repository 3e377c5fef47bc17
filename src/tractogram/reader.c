/* Opens tractograms, recognises their format by content, and closes them. */
#include "image/stream.h"
#include "tractogram/cursor.h"
#include "tractogram/pump.h"
#include "tractogram/readers.h"
#include "tractogram/trx_read.h"
#include "tractogram/unpack.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/formats.h"
#include "util/file.h"
#include "util/status.h"
#include "util/text.h"

/* one row for each format: its name, the first bytes of its files, and its reader */
#define DECLARE(value, suffix, ...) extern const gls_reader_driver gls_##suffix##_reader;
GLS_TRACTOGRAM_FORMATS(DECLARE)
#define ENTRY(value, suffix, name, start) [value] = {#name, start, &gls_##suffix##_reader},
static const struct {
    const char *name, *start; /* start: first bytes of a file of this format */
    const gls_reader_driver *driver;
} formats[] = {GLS_TRACTOGRAM_FORMATS(ENTRY)};
#define N_FORMATS (sizeof formats / sizeof *formats)
/* number of bytes by which a file is recognised */
#define START_BYTES 16

const char *gls_tractogram_format_name(gls_tractogram_format format)
{
    return (size_t)format < N_FORMATS ? formats[format].name : "unknown";
}

gls_tractogram_read_options gls_tractogram_read_options_default(void)
{
    return (gls_tractogram_read_options){
        .size = sizeof(gls_tractogram_read_options), .reference = NULL, .vtk_space = GLS_VTK_SPACE_STATED};
}

/* Error for a file of no known format. Names the compressor if the first bytes are those of a compressed file. */
static gls_status unknown_format(const char *path, const char *start)
{
    static const struct {
        const char *start, *name, *unpack;
    } packers[] = {{"BZh", "bzip2", "bunzip2"},
                   {"\xfd"
                    "7zXZ",
                    "xz", "unxz"},
                   {"\x28\xb5\x2f\xfd", "zstd", "unzstd"}};
    for (size_t i = 0; i < sizeof packers / sizeof *packers; i++)
        if (memcmp(start, packers[i].start, strlen(packers[i].start)) == 0)
            return gls_fail(GLS_ERR_INPUT,
                            "%s: is packed by %s: unpack it first, with '%s -k FILE', if it is a tractogram", path,
                            packers[i].name, packers[i].unpack);
    return gls_fail(GLS_ERR_INPUT, "%s: is no tractogram of TRX, TRK, TCK or VTK", path);
}

/* The format whose files begin with these bytes; N_FORMATS: none. */
static size_t format_of(const char start[START_BYTES])
{
    size_t f = 0;
    while (f < N_FORMATS && gls_case_compare_n(start, formats[f].start, strlen(formats[f].start)) != 0) f++;
    return f;
}

/* Whether these bytes begin a file of XML. */
static bool is_xml(const char start[START_BYTES])
{
    return memcmp(start, "<?xml", 5) == 0 || memcmp(start, "<VTKFile", 8) == 0;
}

/* Finds how the file holds its tractogram. Only the first bytes are unpacked. */
static gls_status find_packing(const gls_tractogram_reader *r, const char start[START_BYTES], gls_packing *packing)
{
    gls_stream *stream = NULL;
    char inner[START_BYTES] = "";
    size_t got = 0;
    *packing = is_xml(start) ? GLS_PACKED_XML : GLS_NOT_PACKED;
    if (memcmp(start, "\x1f\x8b", 2) != 0) return GLS_OK;
    gls_status status = gls_stream_open_regular(r->path, &stream);
    if (!status) status = gls_stream_read(stream, inner, sizeof inner, &got);
    gls_stream_close(stream);
    if (!status && format_of(inner) == N_FORMATS && !is_xml(inner))
        return gls_fail(GLS_ERR_INPUT, "%s: is packed by gzip, and holds no tractogram of TRX, TRK, TCK or VTK",
                        r->path);
    *packing = GLS_PACKED_GZIP;
    return status;
}

/* Recognises the format of an open file. */
static gls_status recognise(gls_tractogram_reader *r)
{
    char start[START_BYTES] = "";
    if (r->info.bytes < sizeof start)
        return gls_fail(GLS_ERR_INPUT, "%s: truncated: has %llu bytes, too few for a tractogram", r->path,
                        (unsigned long long)r->info.bytes);
    gls_packing packing = GLS_NOT_PACKED;
    gls_status status = gls_reader_head(r, 0, start, sizeof start);
    /* a .vtp.gz is packed twice */
    for (int times = 0; times < 2 && !status; times++) {
        if (r->is_unpacked)
            packing = is_xml(start) ? GLS_PACKED_XML : GLS_NOT_PACKED;
        else
            status = find_packing(r, start, &packing);
        if (status || packing == GLS_NOT_PACKED) break;
        r->from_xml = packing == GLS_PACKED_XML;
        status = gls_reader_unpack(r, packing);
        if (!status) status = gls_reader_head(r, 0, start, sizeof start);
    }
    const size_t f = format_of(start);
    if (status || f == N_FORMATS) return status ? status : unknown_format(r->path, start);
    r->info.format = (gls_tractogram_format)f;
    r->driver = formats[f].driver;
    return GLS_OK;
}

gls_status gls_tractogram_reader_open(const char *path, const gls_tractogram_read_options *options,
                                      gls_tractogram_reader **reader)
{
    GLS_REQUIRE_SIZE(options);
    GLS_REQUIRE(path && reader);
    struct stat info;
    gls_tractogram_reader *r = calloc(1, sizeof *r);
    if (!r) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    r->fd = -1;
    r->path = strdup(path);
    r->options = options ? *options : gls_tractogram_read_options_default();
    gls_status status = r->path ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    /* a folder can only be an uncompressed TRX; files are recognised by their first bytes, whatever their name is */
    if (!status && stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        r->driver = &gls_trx_reader;
        r->info.format = GLS_FORMAT_TRX;
    } else if (!status) {
        status = gls_regular_open(path, &r->fd, &r->info.bytes);
        if (!status) status = recognise(r);
    }
    /* the driver reads the header; then columns are known, and memory for blocks can be made */
    if (!status) status = r->driver->open(r);
    if (r->from_xml) r->info.version = 0; /* not that of the legacy file that was made */
    if (!status) status = gls_reader_prepare(r);
    if (!status)
        *reader = r;
    else
        gls_tractogram_reader_close(r);
    return status;
}

const gls_tractogram_info *gls_tractogram_reader_info(const gls_tractogram_reader *r)
{
    return &r->info;
}

/* Frees columns of one kind, with names and data. */
static void free_columns(gls_reader_columns *columns)
{
    for (size_t k = 0; k < columns->n; k++) {
        free((void *)columns->filled[k].data);
        free((void *)columns->filled[k].name);
    }
    free(columns->shown);
    free(columns->filled);
}

void gls_tractogram_reader_close(gls_tractogram_reader *r)
{
    if (!r) return;
    gls_reader_ahead_stop(r);
    if (r->driver) r->driver->close(r);
    gls_cursor_finish(&r->data);
    if (r->fd >= 0) close(r->fd);
    free_columns(&r->dps);
    free_columns(&r->dpv);
    free_columns(&r->group);
    for (size_t i = 0; i < r->info.n_dpg; i++) {
        free((void *)r->dpg[i].group);
        free((void *)r->dpg[i].column.name);
        free((void *)r->dpg[i].column.data);
    }
    for (size_t i = 0; i < r->info.n_header; i++) {
        free((void *)r->header[i].key);
        free((void *)r->header[i].value);
    }
    for (size_t i = 0; i < r->n_lines; i++) free(r->lines[i]);
    free(r->lines);
    free(r->header);
    free(r->dpg);
    free(r->group_size);
    free(r->line_offset);
    free(r->point);
    free(r->path);
    free(r);
}
