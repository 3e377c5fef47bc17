/* Chooses the spacing of the fixed candidates of iFOD1 and iFOD2 so that few candidates are examined in a step: a dense
 * grid bounds the weights well but costs its own candidates, a coarse one makes more random candidates fail. */
#include "track/getter/ifod_grid.h"

#include <math.h>
#include <stdlib.h>

#include "util/status.h"

#define ANGLE_STEP 0.001 /* step of the search for the spacing, radians */

/* Amplitude, at an angle to its axis, of the sharpest peak that even harmonics up to `order` can form. */
static double peak_at(int order, double angle)
{
    /* Sum of (2 l + 1) / (4 pi) P_l over even degrees, the Legendre polynomials by their recurrence. */
    double z = cos(angle), before = 1, p = z, sum = 1;
    for (int l = 2; l <= order; l++) {
        double next = ((2 * l - 1) * z * p - (l - 1) * before) / l;
        before = p;
        p = next;
        if (l % 2 == 0) sum += (2 * l + 1) * p;
    }
    return sum / (4 * acos(-1.0));
}

/* The sharpest FOD of an SH order, a single bundle, along the parts of an arc. step: mm; voxel: side, mm; power:
 * exponent of each amplitude. */
typedef struct bundle {
    int order, parts;
    double step, voxel, power;
} bundle;

/* Weight of a candidate that deviates by `angle` from the peak of a bundle, which fades to the side within a voxel.
 * Weights of arcs are relative to the weight of the straight arc, because absolute weights could overflow. */
static double weight_of(const bundle *b, double angle)
{
    if (b->parts == 0) return peak_at(b->order, angle);
    /* Trapezoid rule along the arc, as in weigh_part() of glsl/getter/ifod.glsl. */
    double straight = log(peak_at(b->order, 0)), sum = 0.5 * straight;
    for (int i = 1; i <= b->parts; i++) {
        double turned = angle * i / b->parts, aside = angle > 0 ? b->step / angle * (1 - cos(turned)) : 0,
               f = peak_at(b->order, turned) * (1 - aside / b->voxel);
        if (f <= 0) return 0;
        sum += (i < b->parts ? 1 : 0.5) * log(f);
    }
    return exp(b->power * (sum - b->parts * straight));
}

/* Fills direction, unless NULL, with a hexagonal grid round the axis. Returns the number of points. */
static size_t hexagons(double largest, double spacing, double (*direction)[2])
{
    int far = (int)ceil(largest / spacing);
    size_t n = 0;
    for (int i = -far; i <= far; i++)
        for (int j = -far; j <= far; j++) {
            double x = i + 0.5 * j, y = sqrt(0.75) * j, square = x * x + y * y;
            if (square > largest * largest / (spacing * spacing)) continue;
            if (direction) {
                direction[n][0] = spacing * sqrt(square);
                direction[n][1] = atan2(y, x);
            }
            n++;
        }
    return n;
}

double gls_ifod_power(const gls_track_params *params)
{
    return params->fod_power > 0 ? params->fod_power : 1.0 / params->ifod_samples;
}

gls_status gls_ifod_grid_make(const gls_track_params *params, int sh_order, double voxel, int parts,
                              gls_ifod_grid *grid)
{
    /* zero: the angle at which the weight falls to 0, at most the edge of the cone. */
    const bundle b = {sh_order, parts, params->step_size, voxel, gls_ifod_power(params)};
    double largest = params->max_angle * acos(-1.0) / 180, at_axis = weight_of(&b, 0), zero = 0, best = INFINITY,
           spacing = 0;
    size_t n = 0;
    while (weight_of(&b, zero) > 0 && zero + ANGLE_STEP < largest) zero = ANGLE_STEP * (double)++n;
    *grid = (gls_ifod_grid){.ratio = 1};
    for (size_t i = 1; i <= n; i++) {
        double angle = ANGLE_STEP * (double)i, weight = weight_of(&b, angle);
        if (weight <= 0) continue;
        /* Expected number of random candidates, by the areas of cone and peak and by the bound; then the grid's own
         * candidates. */
        double cost = largest * largest * (1 + at_axis / weight) / (2 * zero * zero);
        if (cost >= best) continue;
        cost += (double)hexagons(largest + angle, sqrt(3) * angle, NULL);
        if (cost >= best) continue;
        best = cost;
        spacing = angle;
        grid->ratio = at_axis / weight;
    }
    grid->expected = best;
    if (spacing == 0) spacing = largest; /* the cone is narrower than a step of the search */
    grid->direction = malloc(hexagons(largest + spacing, sqrt(3) * spacing, NULL) * sizeof *grid->direction);
    if (!grid->direction) return gls_fail(GLS_ERR_MEMORY, "out of memory for the directions of a cone");
    grid->n = hexagons(largest + spacing, sqrt(3) * spacing, grid->direction);
    return GLS_OK;
}

void gls_ifod_grid_finish(gls_ifod_grid *grid)
{
    free(grid->direction);
    *grid = (gls_ifod_grid){0};
}
