/* Gradient directions: points that repel each other and each other's antipodes. */
#include "phantom/parts.h"
#include "util/status.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

static void normalise(double v[3])
{
    double s = 1 / sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int k = 0; k < 3; k++) v[k] *= s;
}

/* Adds to force the push of q and -q on p. */
static void push(const double p[3], const double q[3], double force[3])
{
    double minus = 0, plus = 0;
    for (int k = 0; k < 3; k++) {
        minus += (p[k] - q[k]) * (p[k] - q[k]);
        plus += (p[k] + q[k]) * (p[k] + q[k]);
    }
    minus = 1 / (minus * sqrt(minus) + 1e-12);
    plus = 1 / (plus * sqrt(plus) + 1e-12);
    for (int k = 0; k < 3; k++) force[k] += (p[k] - q[k]) * minus + (p[k] + q[k]) * plus;
}

static void repel(size_t n, double (*p)[3], double (*force)[3])
{
    /* A step that is stable for neighbours at the mean distance. */
    double distance = sqrt(2 * PI / (double)n), step = 0.12 * distance * distance * distance;
    size_t rounds = 4000000 / (n * n);
    rounds = rounds > 400 ? 400 : rounds < 25 ? 25 : rounds;
    for (size_t round = 0; round < rounds; round++) {
        memset(force, 0, n * sizeof *force);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++) {
                if (j != i) push(p[i], p[j], force[i]);
            }
        }
        for (size_t i = 0; i < n; i++) {
            double radial = p[i][0] * force[i][0] + p[i][1] * force[i][1] + p[i][2] * force[i][2];
            for (int k = 0; k < 3; k++) p[i][k] += step * (force[i][k] - radial * p[i][k]);
            normalise(p[i]);
        }
    }
}

/* Each direction is the one that those before it repel least. */
static void order(size_t n, double (*p)[3], double *energy)
{
    memset(energy, 0, n * sizeof *energy);
    for (size_t done = 1; done < n; done++) {
        const double *last = p[done - 1];
        size_t best = done;
        for (size_t i = done; i < n; i++) {
            double c = fabs(p[i][0] * last[0] + p[i][1] * last[1] + p[i][2] * last[2]);
            energy[i] += 1 / sqrt(2 - 2 * fmin(c, 1 - 1e-12)) + 1 / sqrt(2 + 2 * c);
            if (energy[i] < energy[best]) best = i;
        }
        double e = energy[best], v[3];
        memcpy(v, p[best], sizeof v);
        memcpy(p[best], p[done], sizeof v);
        memcpy(p[done], v, sizeof v);
        energy[best] = energy[done];
        energy[done] = e;
    }
}

gls_status gls_phantom_directions(size_t n, double (*direction)[3])
{
    double(*force)[3] = malloc(n * sizeof *force);
    if (!force) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu gradient directions", n);
    for (size_t i = 0; i < n; i++) {
        double z = ((double)i + 0.5) / (double)n, r = sqrt(1 - z * z), angle = PI * (3 - sqrt(5)) * (double)i;
        direction[i][0] = r * cos(angle);
        direction[i][1] = r * sin(angle);
        direction[i][2] = z;
    }
    repel(n, direction, force);
    order(n, direction, &force[0][0]);
    free(force);
    return GLS_OK;
}

void gls_phantom_directions_rotate(int shell, size_t n, double (*direction)[3])
{
    /* By an angle that never repeats, about an axis that favours no coordinate. */
    double angle = shell * PI * (3 - sqrt(5)), c = cos(angle), s = sin(angle), a[3] = {0.48, 0.6, 0.64};
    normalise(a);
    for (size_t i = 0; i < n; i++) {
        double v[3], along = 0;
        memcpy(v, direction[i], sizeof v);
        for (int k = 0; k < 3; k++) along += a[k] * v[k];
        for (int k = 0; k < 3; k++) {
            double cross = a[(k + 1) % 3] * v[(k + 2) % 3] - a[(k + 2) % 3] * v[(k + 1) % 3];
            direction[i][k] = c * v[k] + s * cross + (1 - c) * along * a[k];
        }
    }
}
