#include "util/crc.h"
#include "tractogram/tractogram.h"
#include "util/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PACKER_BYTES ((size_t)1 << 20)

static const struct {
    const char *suffix;
    const gls_tractogram_driver *driver;
} formats[] = {
    [GLS_FORMAT_TRX] = {".trx", &gls_trx_driver},
    [GLS_FORMAT_TRK] = {".trk", &gls_trk_driver},
    [GLS_FORMAT_TCK] = {".tck", &gls_tck_driver},
};
#define N_FORMATS (sizeof formats / sizeof *formats)

gls_status gls_tractogram_format_parse(const char *path, gls_tractogram_format *format)
{
    GLS_REQUIRE(path && format);
    size_t n = strlen(path);
    for (size_t i = 0; i < N_FORMATS; i++) {
        if (n > 4 && !strcasecmp(path + n - 4, formats[i].suffix)) {
            *format = (gls_tractogram_format)i;
            return GLS_OK;
        }
    }
    return gls_fail(GLS_ERR_ARGUMENT, "%s: the name of a tractogram must end in .trx, .trk or .tck", path);
}

gls_tractogram_options gls_tractogram_options_default(void)
{
    return (gls_tractogram_options){.half_precision = false, .overwrite = false, .header_lines = NULL, .shard = NULL};
}

void gls_tractogram_space(gls_tractogram_format format, const gls_grid *grid, double voxel_to_space[3][4])
{
    if (format != GLS_FORMAT_TRK) {
        memcpy(voxel_to_space, grid->affine, sizeof grid->affine);
        return;
    }
    memset(voxel_to_space, 0, sizeof grid->affine);
    for (int i = 0; i < 3; i++) {
        double size = (float)grid->voxel_size[i]; /* as the header has it */
        voxel_to_space[i][i] = size;
        voxel_to_space[i][3] = 0.5 * size;
    }
}

gls_status gls_tractogram_writer_create(const char *path, gls_tractogram_format format, const gls_grid *grid,
                                        const gls_tractogram_options *options, gls_tractogram_writer **writer)
{
    GLS_REQUIRE(path && grid && writer && (size_t)format < N_FORMATS);
    gls_tractogram_options defaults = gls_tractogram_options_default();
    if (!options) options = &defaults;
    gls_tractogram_writer *w = calloc(1, sizeof *w);
    if (!w) return gls_fail(GLS_ERR_MEMORY, "%s: no memory", path);
    w->driver = formats[format].driver;
    w->output = GLS_OUTPUT_NONE;
    if (options->shard) {
        w->is_shard = true;
        w->shard = *options->shard;
    }
    gls_status status = gls_grid_init(&w->grid, grid->dim, grid->affine);
    if (status == GLS_OK) status = gls_output_create(path, options->overwrite, &w->output);
    if (status == GLS_OK) status = w->driver->create(w, options);
    if (status == GLS_OK)
        *writer = w;
    else
        gls_tractogram_writer_abort(w);
    return status;
}

/* x * 0 is NaN for infinities and NaN; the sum is 0 if there are none. Compilers turn this into vector code. */
static bool all_finite(const float *x, size_t n)
{
    float sum = 0.0f, part[8] = {0};
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        for (int k = 0; k < 8; k++) part[k] += x[i + (size_t)k] * 0.0f;
    }
    for (; i < n; i++) sum += x[i] * 0.0f;
    for (int k = 0; k < 8; k++) sum += part[k];
    return sum == 0.0f;
}

static gls_status check(const gls_tractogram_writer *w, const gls_streamlines *s)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->offset[i + 1] <= s->offset[i])
            return gls_fail(GLS_ERR_ARGUMENT, "%s: streamline %llu has no points", w->output.path,
                            (unsigned long long)(w->n_streamlines + i));
    }
    if (!all_finite(s->point[0], 3 * (size_t)s->offset[s->n]))
        return gls_fail(GLS_ERR_ARGUMENT, "%s: a point is not finite", w->output.path);
    if (w->n_streamlines > 0 && (w->has_seed != (s->seed != NULL) || w->has_seed_index != (s->seed_index != NULL)))
        return gls_fail(GLS_ERR_ARGUMENT, "%s: seeds are given for some streamlines only", w->output.path);
    return GLS_OK;
}

gls_status gls_tractogram_writer_append(gls_tractogram_writer *w, const gls_streamlines *s)
{
    GLS_REQUIRE(w && s);
    if (w->failed != GLS_OK) return gls_fail(w->failed, "%s", w->message);
    if (s->n == 0) return GLS_OK;
    GLS_REQUIRE(s->offset && s->point && s->offset[0] == 0);
    gls_status status = check(w, s);
    if (status == GLS_OK && w->n_streamlines == 0) {
        w->has_seed = s->seed != NULL;
        w->has_seed_index = s->seed_index != NULL;
    }
    if (status == GLS_OK) status = w->driver->append(w, s);
    if (status != GLS_OK) {
        w->failed = status;
        snprintf(w->message, sizeof w->message, "%s", gls_last_error());
        return status;
    }
    w->n_streamlines += s->n;
    w->n_points += s->offset[s->n];
    return GLS_OK;
}

gls_status gls_tractogram_writer_finish(gls_tractogram_writer *w)
{
    GLS_REQUIRE(w);
    gls_status status = w->failed != GLS_OK ? gls_fail(w->failed, "%s", w->message) : w->driver->finish(w);
    if (status == GLS_OK) status = gls_output_commit(&w->output);
    gls_tractogram_writer_abort(w);
    return status;
}

void gls_tractogram_writer_abort(gls_tractogram_writer *w)
{
    if (!w) return;
    w->driver->destroy(w->state);
    gls_output_discard(&w->output);
    free(w);
}

gls_status gls_packer_init(gls_packer *packer, gls_output *output)
{
    *packer = (gls_packer){.output = output, .data = malloc(PACKER_BYTES), .capacity = PACKER_BYTES};
    return packer->data ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "%s: no memory", output->path);
}

void gls_packer_finish(gls_packer *packer)
{
    free(packer->data);
    packer->data = NULL;
}

gls_status gls_packer_flush(gls_packer *packer)
{
    size_t n = packer->n;
    packer->n = 0;
    if (packer->checked) packer->crc = gls_crc32(packer->crc, packer->data, n);
    return gls_output_write(packer->output, packer->data, n);
}

gls_status gls_packer_put(gls_packer *packer, const void *data, size_t bytes)
{
    while (bytes > 0) {
        size_t room = packer->capacity - packer->n, n = bytes < room ? bytes : room;
        memcpy(packer->data + packer->n, data, n);
        packer->n += n;
        data = (const char *)data + n;
        bytes -= n;
        if (packer->n == packer->capacity) {
            gls_status status = gls_packer_flush(packer);
            if (status != GLS_OK) return status;
        }
    }
    return GLS_OK;
}
