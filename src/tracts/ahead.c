#include "tracts/ahead.h"

#include <math.h>
#include <string.h>

#include "util/affine.h"

#define CONE (3.14159265358979323846 / 4)
enum { MAX_SEEN = 4096 };

typedef struct candidate {
    double cost;
    int32_t v[3];
} candidate;

typedef struct hunt {
    const gls_grid *grid;
    double from[3], direction[3], reach;
    int sign[3];
    size_t n, n_seen;
    candidate queue[MAX_SEEN];
    int32_t seen[MAX_SEEN][3];
} hunt;

static double norm(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* Where the streamline heads at its end: the last step, bent on as the one before it was bent into it. */
static void find_direction(const float (*point)[3], size_t n, bool backwards, double out[3])
{
    const size_t end = backwards ? n - 1 : 0, next = backwards ? n - 2 : 1;
    double last[3] = {0}, second[3] = {0};
    memset(out, 0, 3 * sizeof *out);
    if (n < 2) return;
    for (int r = 0; r < 3; r++) last[r] = (double)(point[end][r] - point[next][r]);
    memcpy(out, last, sizeof last);
    if (n > 2) {
        const size_t third = backwards ? n - 3 : 2;
        for (int r = 0; r < 3; r++) second[r] = (double)(point[next][r] - point[third][r]);
        double length = norm(second), scale = length > 0 ? norm(last) / length : 0;
        for (int r = 0; r < 3 && length > 0; r++) out[r] = last[r] + (last[r] - second[r] * scale);
    }
    double length = norm(out);
    for (int r = 0; r < 3 && length > 0; r++) out[r] /= length;
}

static bool was_seen(const hunt *h, const int32_t v[3])
{
    for (size_t i = 0; i < h->n_seen; i++)
        if (memcmp(h->seen[i], v, sizeof h->seen[i]) == 0) return true;
    return false;
}

/* What a voxel costs; false: it is not to be looked at. */
static bool find_cost(const hunt *h, const int32_t v[3], double *cost)
{
    const double centre[3] = {v[0], v[1], v[2]};
    double d[3], dot = 0;
    gls_affine_apply(h->grid->affine, centre, d);
    for (int r = 0; r < 3; r++) d[r] -= h->from[r];
    double mm = norm(d);
    if (mm == 0) return false;
    for (int r = 0; r < 3; r++) dot += h->direction[r] * (d[r] / mm);
    double angle = acos(fmax(-1, fmin(1, dot)));
    if (!(angle <= CONE)) return false;
    *cost = (double)(float)(mm * (1 + angle / CONE));
    if (!(*cost <= h->reach)) return false;
    for (size_t i = 0; i < h->n; i++)
        if (h->queue[i].cost == *cost) return false;
    return true;
}

static void spread(hunt *h, const int32_t from[3])
{
    for (int k = 0; k < 27; k++) {
        const int32_t v[3] = {from[0] + (k % 3 - 1) * h->sign[0], from[1] + (k / 3 % 3 - 1) * h->sign[1],
                              from[2] + (k / 9 - 1) * h->sign[2]};
        double cost;
        if (h->n_seen == MAX_SEEN || was_seen(h, v)) continue;
        memcpy(h->seen[h->n_seen++], v, sizeof v);
        if (find_cost(h, v, &cost)) h->queue[h->n++] = (candidate){cost, {v[0], v[1], v[2]}};
    }
}

/* Takes the cheapest one out. */
static candidate take(hunt *h)
{
    size_t best = 0;
    for (size_t i = 1; i < h->n; i++)
        if (h->queue[i].cost < h->queue[best].cost) best = i;
    candidate found = h->queue[best];
    h->queue[best] = h->queue[--h->n];
    return found;
}

static bool is_inside(const gls_grid *grid, const int32_t v[3])
{
    return v[0] >= 0 && v[0] < grid->dim[0] && v[1] >= 0 && v[1] < grid->dim[1] && v[2] >= 0 && v[2] < grid->dim[2];
}

int32_t gls_look_ahead(const gls_grid *grid, const double world_to_voxel[3][4], const int32_t *node, double reach,
                       const float (*point)[3], size_t n, bool backwards)
{
    hunt h;
    double voxel[3];
    const float *end = point[backwards ? n - 1 : 0];
    candidate at = {0};
    h.grid = grid;
    h.reach = reach;
    h.n = h.n_seen = 0;
    for (int r = 0; r < 3; r++) h.from[r] = end[r];
    gls_affine_apply(world_to_voxel, h.from, voxel);
    for (int r = 0; r < 3; r++) {
        int longest = 0;
        for (int k = 1; k < 3; k++)
            if (fabs(grid->affine[k][r]) > fabs(grid->affine[longest][r])) longest = k;
        h.sign[r] = grid->affine[longest][r] < 0 ? -1 : 1;
        voxel[r] = round(voxel[r]);
        if (!(voxel[r] >= 0 && voxel[r] < grid->dim[r])) return 0;
        at.v[r] = (int32_t)voxel[r];
    }
    find_direction(point, n, backwards, h.direction);
    memcpy(h.seen[h.n_seen++], at.v, sizeof at.v);
    h.queue[h.n++] = at;
    while (h.n > 0) {
        at = take(&h);
        if (!is_inside(grid, at.v)) continue;
        size_t v = ((size_t)at.v[2] * (size_t)grid->dim[1] + (size_t)at.v[1]) * (size_t)grid->dim[0] + (size_t)at.v[0];
        if (node[v] > 0) return node[v];
        spread(&h, at.v);
    }
    return 0;
}
