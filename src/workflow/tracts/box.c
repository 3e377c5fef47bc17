#include "workflow/tracts/box.h"

#include <inttypes.h>
#include <math.h>

#include "util/status.h"

#define MARGIN 3 /* voxels */
#define MAX_VOXELS 2147483648.0

typedef struct box {
    float low[3], high[3];
} box;

static gls_status make_grid(const double size[3], const double affine[3][4], gls_grid *grid)
{
    int32_t dim[3];
    double voxels = size[0] * size[1] * size[2];
    if (!(voxels <= MAX_VOXELS && size[0] < 65536 && size[1] < 65536 && size[2] < 65536))
        return gls_fail(GLS_ERR_UNSUPPORTED,
                        "--voxel-size: a grid of %.0f x %.0f x %.0f voxels needs %.3g GB of memory", size[0], size[1],
                        size[2], voxels * 8e-9);
    for (int a = 0; a < 3; a++) dim[a] = (int32_t)fmax(size[a], 1);
    return gls_grid_init(grid, dim, affine);
}

gls_status gls_tract_grid_divide(gls_grid *grid, const double side[3])
{
    double affine[3][4], size[3];
    for (int r = 0; r < 3; r++) affine[r][3] = grid->affine[r][3];
    for (int c = 0; c < 3; c++) {
        const double old = grid->voxel_size[c];
        size[c] = ceil(grid->dim[c] * old / side[c] - 1e-3);
        for (int r = 0; r < 3; r++) {
            affine[r][c] = grid->affine[r][c] * side[c] / old;
            affine[r][3] += 0.5 * (affine[r][c] - grid->affine[r][c]);
        }
    }
    return make_grid(size, (const double(*)[4])affine, grid);
}

static gls_status append(void *user, const gls_streamlines *s)
{
    box *b = user;
    for (uint64_t p = 0; p < s->offset[s->n]; p++)
        for (int a = 0; a < 3; a++) {
            float x = s->point[p][a];
            b->low[a] = x < b->low[a] ? x : b->low[a];
            b->high[a] = x > b->high[a] ? x : b->high[a];
        }
    return GLS_OK;
}

gls_status gls_tract_grid_around(const gls_tract_job *job, const char *path, const double side[3], gls_grid *grid)
{
    box b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    gls_tractogram_reader *reader = NULL;
    gls_sink sink = {.append = append, .user = &b};
    double affine[3][4] = {{0}}, size[3];
    gls_status status = gls_tract_open(job, path, false, &reader);
    status = gls_tract_pump(job, reader, &sink, status);
    gls_tractogram_reader_close(reader);
    if (status) return status;
    if (!(b.low[0] <= b.high[0]))
        return gls_fail(GLS_ERR_INPUT, "%s: has no point around which a grid could lie", path);
    for (int a = 0; a < 3; a++) {
        affine[a][a] = side[a];
        affine[a][3] = (double)b.low[a] - MARGIN * side[a];
        size[a] = ceil(((double)b.high[a] - b.low[a]) / side[a] + 2 * MARGIN);
    }
    return make_grid(size, (const double(*)[4])affine, grid);
}
