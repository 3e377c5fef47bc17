/* Shards in TrackVis format. */
#include "tractogram/reader.h"
#include "tractogram/shard.h"
#include "tractogram/trk.h"
#include "util/status.h"

#include <math.h>
#include <string.h>

static int get16(const unsigned char *at)
{
    return (int16_t)(at[0] | at[1] << 8);
}

static uint32_t get32(const unsigned char *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static float get_float(const unsigned char *at)
{
    uint32_t bits = get32(at);
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static gls_status read_grid(gls_tractogram_reader *r, const unsigned char *header)
{
    int32_t dim[3];
    double affine[3][4];
    for (int i = 0; i < 3; i++) {
        dim[i] = get16(header + TRK_DIM + 2 * i);
        for (int c = 0; c < 4; c++) affine[i][c] = get_float(header + TRK_VOX_TO_RAS + 4 * (4 * i + c));
    }
    if (gls_grid_init(&r->grid, dim, (const double(*)[4])affine) != GLS_OK)
        return gls_reader_damaged(r, "its header has no valid grid");
    /* as the header has them: computed from the rounded affine they may differ in the last bit */
    for (int i = 0; i < 3; i++) {
        float size = get_float(header + TRK_VOXEL_SIZE + 4 * i);
        if (!(fabs(size - r->grid.voxel_size[i]) <= 1e-4 * r->grid.voxel_size[i]))
            return gls_reader_damaged(r, "voxel sizes that contradict the affine");
        r->grid.voxel_size[i] = size;
    }
    return GLS_OK;
}

/* The properties are those that the writer knows, in its order. */
static gls_status read_properties(gls_tractogram_reader *r, const unsigned char *header)
{
    const char *name = (const char *)header + TRK_PROPERTY_NAME;
    int n = get16(header + TRK_N_PROPERTIES), expected = 0;
    if (get16(header + TRK_N_SCALARS) != 0)
        return gls_reader_damaged(r, "values at each point, which a shard does not have");
    if (memcmp(name, "seeds\0003", 8) == 0) {
        r->has_seed = true;
        expected += 3;
        name += TRK_NAME_BYTES;
    }
    if (memcmp(name, "seed_index", 11) == 0) {
        r->has_seed_index = true;
        expected += 1;
    }
    return n == expected ? GLS_OK : gls_reader_damaged(r, "unknown properties");
}

gls_status gls_trk_reader_open(gls_tractogram_reader *r)
{
    unsigned char header[TRK_HEADER_BYTES];
    static const char key[] = GLS_SHARD_KEY ": ";
    gls_status status = gls_reader_head(r, 0, header, sizeof header);
    if (status != GLS_OK) return status;
    if (memcmp(header, "TRACK", 6) != 0 || get32(header + TRK_HDR_SIZE) != TRK_HEADER_BYTES ||
        get32(header + TRK_VERSION) != 2)
        return gls_fail(GLS_ERR_INPUT, "%s: is no TRK file of version 2", r->path);
    char *note = (char *)header + TRK_SHARD;
    if (memcmp(note, key, sizeof key - 1) != 0) return gls_reader_no_shard(r);
    note[TRK_SHARD_BYTES - 1] = '\0';
    if (!gls_shard_parse(note + sizeof key - 1, &r->file.shard, &r->crc, r->file.version))
        return gls_reader_damaged(r, "the note on its part of the run");
    status = read_grid(r, header);
    if (status == GLS_OK) status = read_properties(r, header);
    if (status != GLS_OK) return status;
    r->file.n_streamlines = get32(header + TRK_N_COUNT);
    return gls_cursor_init(&r->data, r->path, r->fd, TRK_HEADER_BYTES, r->file.bytes);
}

static uint32_t index_of(float value)
{
    if (!(value > 0)) return 0;
    return value >= 4294967296.0f ? UINT32_MAX : (uint32_t)value;
}

gls_status gls_trk_reader_next(gls_tractogram_reader *r, size_t *n)
{
    const size_t n_properties = (r->has_seed ? 3 : 0) + (r->has_seed_index ? 1 : 0);
    uint64_t points = 0;
    size_t i = 0;
    for (; i < GLS_READER_LINES && points < GLS_READER_POINTS && r->lines_read + i < r->file.n_streamlines; i++) {
        unsigned char count[4];
        float property[4];
        gls_status status = gls_cursor_read(&r->data, count, sizeof count);
        if (status != GLS_OK) return status;
        uint32_t n_points = get32(count);
        if (n_points == 0 || n_points > INT32_MAX) return gls_reader_damaged(r, "a streamline without points");
        if (n_points > gls_cursor_left(&r->data) / sizeof *r->point)
            return gls_fail(GLS_ERR_INPUT, "%s: truncated or damaged: its data end too early", r->path);
        status = gls_reader_reserve(r, points + n_points);
        if (status == GLS_OK) status = gls_cursor_read(&r->data, r->point[points], n_points * sizeof *r->point);
        if (status == GLS_OK) status = gls_cursor_read(&r->data, property, n_properties * sizeof *property);
        if (status != GLS_OK) return status;
        if (r->has_seed) memcpy(r->seed[i], property, sizeof r->seed[i]);
        if (r->has_seed_index) r->seed_index[i] = index_of(property[n_properties - 1]);
        points += n_points;
        r->line_offset[i + 1] = points;
    }
    *n = i;
    return i == 0 ? gls_reader_finish_data(r) : GLS_OK;
}
