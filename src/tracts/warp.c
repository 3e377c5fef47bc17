/* The filter that moves points to the positions given by an image, as tcktransform does: the three volumes of the
 * image are the new coordinates, world mm, of the points of each voxel. */
#include <glslines/select.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/sample.h>

#include "streamlines/builder.h"
#include "streamlines/filter_parts.h"
#include "util/maths.h"
#include "util/status.h"

/* The filter. inverse: from world mm to voxels of the image. */
typedef struct warper {
    /* collects the new streamlines; owned */
    gls_builder builder;
    /* three volumes; borrowed */
    const gls_image *image;
    double inverse[3][4];
} warper;

/* Moves a point, world mm, to the linearly interpolated position. NaN outside the voxels of the image, and where a
 * voxel that has weight is not finite. Between the centres of the outermost voxels and their outer faces the value is
 * that at the centre. */
static void move(const warper *w, float p[3])
{
    const int32_t *dim = w->image->grid.dim;
    const size_t n = gls_grid_voxels(&w->image->grid);
    double v[3] = {p[0], p[1], p[2]}, out[3] = {0}, share[3];
    size_t at[3];
    gls_affine_apply((const double(*)[4])w->inverse, v, v);
    for (int a = 0; a < 3; a++) {
        if (!(v[a] > -0.5 && v[a] < dim[a] - 0.5)) {
            p[0] = p[1] = p[2] = NAN;
            return;
        }
        /* lower voxel and share of the upper one; an axis of one voxel has no upper one */
        double inside = fmin(fmax(v[a], 0), dim[a] - 1), low = fmin(floor(inside), fmax(dim[a] - 2, 0));
        at[a] = (size_t)low;
        share[a] = inside - low;
    }
    for (int c = 0; c < 8; c++) {
        double weight = 1;
        size_t voxel = 0;
        for (int a = 2; a >= 0; a--) {
            int up = c >> a & 1;
            weight *= up ? share[a] : 1 - share[a];
            voxel = voxel * (size_t)dim[a] + at[a] + (size_t)(up && share[a] > 0);
        }
        for (int r = 0; r < 3 && weight > 0; r++) out[r] += weight * w->image->data[(size_t)r * n + voxel];
    }
    for (int r = 0; r < 3; r++) p[r] = (float)out[r];
}

/* Moves all points, and the seeds, a column of three float32 named GLS_DPS_SEEDS. */
static gls_status append(void *user, const gls_streamlines *s)
{
    warper *w = user;
    gls_builder *b = &w->builder;
    gls_status status = gls_builder_begin(b, s);
    for (size_t i = 0; i < s->n && !status; i++) {
        uint64_t to, n = s->offset[i + 1] - s->offset[i];
        status = gls_builder_add(b, i, n, &to);
        if (status) break;
        gls_builder_copy(b, to, s->offset[i], n);
        for (uint64_t p = to; p < to + n; p++) move(w, b->point[p]);
        for (size_t k = 0; k < s->n_dps; k++)
            if (strcmp(s->dps[k].name, GLS_DPS_SEEDS) == 0 && s->dps[k].type == GLS_TYPE_FLOAT32 &&
                s->dps[k].components == 3)
                move(w, (float *)b->memory[k] + 3 * (b->n - 1));
    }
    return status ? status : gls_builder_flush(b);
}

static void discard(void *user)
{
    warper *w = user;
    gls_builder_finish(&w->builder);
    free(w);
}

gls_status gls_filter_warp_create(const gls_image *warp, const gls_sink *next, gls_sink *filter)
{
    GLS_REQUIRE(warp && warp->n_volumes == 3 && next && next->append && filter);
    warper *w = calloc(1, sizeof *w);
    if (!w) return gls_fail(GLS_ERR_MEMORY, "out of memory for a filter");
    w->image = warp;
    gls_grid_inverse(&warp->grid, w->inverse);
    *filter = gls_builder_sink(&w->builder, next, append, discard);
    return GLS_OK;
}
