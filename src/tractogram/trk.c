/* TrackVis version 2: binary header of 1000 bytes, voxel mm with the origin at the corner of the first voxel. */
#include "tractogram/tractogram.h"
#include "tractogram/trk.h"
#include "util/affine.h"
#include "util/log.h"
#include "util/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct trk {
    gls_packer packer;
    gls_grid grid; /* the affine as the file has it: float */
    double voxmm_to_world[3][4];
    bool rounded; /* a seed index was not exact as float */
} trk;

static void put16(unsigned char *at, int value)
{
    at[0] = (unsigned char)value;
    at[1] = (unsigned char)(value >> 8);
}

static void put32(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++) at[i] = (unsigned char)(value >> (8 * i));
}

static void put_float(unsigned char *at, double value)
{
    float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    put32(at, bits);
}

static void destroy(void *state)
{
    trk *t = state;
    if (!t) return;
    gls_packer_finish(&t->packer);
    free(t);
}

static gls_status create(gls_tractogram_writer *w, const gls_tractogram_options *options)
{
    static const unsigned char zeros[TRK_HEADER_BYTES];
    double affine[3][4], to_voxmm[3][4], from_voxmm[3][4];
    (void)options;
    for (int i = 0; i < 3; i++) {
        if (w->grid.dim[i] > INT16_MAX)
            return gls_fail(GLS_ERR_UNSUPPORTED,
                            "%s: TRK files hold at most 32767 voxels along an axis, the image has %d; use TRX",
                            w->output.path, w->grid.dim[i]);
        for (int c = 0; c < 4; c++) affine[i][c] = (float)w->grid.affine[i][c];
    }
    trk *t = w->state = calloc(1, sizeof *t);
    if (!t) return gls_fail(GLS_ERR_MEMORY, "%s: no memory", w->output.path);
    gls_status status = gls_grid_init(&t->grid, w->grid.dim, affine);
    if (status != GLS_OK) return status;
    gls_tractogram_space(GLS_FORMAT_TRK, &w->grid, to_voxmm);
    gls_affine_invert(to_voxmm, from_voxmm);
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 4; c++) {
            t->voxmm_to_world[r][c] = c == 3 ? affine[r][3] : 0.0;
            for (int k = 0; k < 3; k++) t->voxmm_to_world[r][c] += affine[r][k] * from_voxmm[k][c];
        }
    }
    status = gls_packer_init(&t->packer, &w->output);
    t->packer.checked = w->is_shard;
    if (status == GLS_OK) status = gls_output_write(&w->output, zeros, sizeof zeros);
    return status;
}

static gls_status append(gls_tractogram_writer *w, const gls_streamlines *s)
{
    trk *t = w->state;
    gls_status status = GLS_OK;
    if (w->n_streamlines + s->n > INT32_MAX)
        return gls_fail(GLS_ERR_UNSUPPORTED, "%s: TRK files hold at most 2147483647 streamlines; use TRX",
                        w->output.path);
    for (size_t i = 0; i < s->n && status == GLS_OK; i++) {
        uint64_t n = s->offset[i + 1] - s->offset[i];
        unsigned char count[4], property[16];
        size_t n_property = 0;
        if (n > INT32_MAX)
            return gls_fail(GLS_ERR_UNSUPPORTED, "%s: TRK files hold at most 2147483647 points a streamline",
                            w->output.path);
        put32(count, (uint32_t)n);
        if (s->seed) {
            const double seed[3] = {s->seed[i][0], s->seed[i][1], s->seed[i][2]};
            double world[3];
            gls_affine_apply(t->voxmm_to_world, seed, world);
            for (int k = 0; k < 3; k++, n_property += 4)
                put_float(property + n_property, w->seeds_in_world ? seed[k] : world[k]);
        }
        if (s->seed_index) {
            t->rounded |= (uint32_t)(double)(float)s->seed_index[i] != s->seed_index[i] || s->seed_index[i] > 1u << 24;
            put_float(property + n_property, s->seed_index[i]);
            n_property += 4;
        }
        status = gls_packer_put(&t->packer, count, sizeof count);
        if (status == GLS_OK) status = gls_packer_put(&t->packer, s->point[s->offset[i]], (size_t)n * sizeof *s->point);
        if (status == GLS_OK) status = gls_packer_put(&t->packer, property, n_property);
    }
    return status;
}

/* Several values under one name: the name, a NUL and the number of values. */
static int add_property(unsigned char *header, int slot, const char *name, int values)
{
    char *at = (char *)header + TRK_PROPERTY_NAME + slot * TRK_NAME_BYTES;
    strcpy(at, name);
    if (values > 1) at[strlen(name) + 1] = (char)('0' + values);
    return values;
}

static gls_status finish(gls_tractogram_writer *w)
{
    trk *t = w->state;
    unsigned char header[TRK_HEADER_BYTES] = "TRACK";
    int n_properties = 0, n_names = 0;
    gls_status status = gls_packer_flush(&t->packer);
    if (status != GLS_OK) return status;
    if (t->rounded)
        gls_log(GLS_LOG_WARNING,
                "%s: TRK stores seed indices as float; those above 16777216 are rounded (TRX keeps them)",
                w->output.path);
    for (int i = 0; i < 3; i++) {
        put16(header + TRK_DIM + 2 * i, t->grid.dim[i]);
        put_float(header + TRK_VOXEL_SIZE + 4 * i, w->grid.voxel_size[i]);
        for (int c = 0; c < 4; c++) put_float(header + TRK_VOX_TO_RAS + 4 * (4 * i + c), t->grid.affine[i][c]);
    }
    put_float(header + TRK_VOX_TO_RAS + 4 * 15, 1.0);
    if (w->has_seed) n_properties += add_property(header, n_names++, "seeds", 3);
    if (w->has_seed_index) n_properties += add_property(header, n_names++, "seed_index", 1);
    put16(header + TRK_N_PROPERTIES, n_properties);
    /* readers flip axes if these letters do not follow from the affine in this very header */
    gls_grid_axis_codes(&t->grid, (char *)header + TRK_VOXEL_ORDER);
    gls_grid_axis_codes(&t->grid, (char *)header + TRK_PAD2);
    if (w->is_shard) {
        char text[GLS_SHARD_TEXT];
        gls_shard_print(&w->shard, &t->packer.crc, text);
        sprintf((char *)header + TRK_SHARD, "%s: %s", GLS_SHARD_KEY, text);
    }
    put32(header + TRK_N_COUNT, (uint32_t)w->n_streamlines);
    put32(header + TRK_VERSION, 2);
    put32(header + TRK_HDR_SIZE, TRK_HEADER_BYTES);
    return gls_output_write_at(&w->output, 0, header, sizeof header);
}

const gls_tractogram_driver gls_trk_driver = {create, append, finish, destroy};
