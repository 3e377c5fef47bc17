/* Segmentation of an FOD into lobes after Smith et al. 2013 (FMLS): samples join lobes in falling order. What becomes
 * of a sample depends on its larger neighbours only, so that they are resolved on demand and nothing is sorted. */
#include "weights/segment.h"

#include <math.h>
#include <string.h>

#include <glslines/sh.h>

#include "dwi/peak_climb.h"

enum { N = GLS_LOBE_DIRECTIONS, K = GLS_LOBE_NEIGHBOURS };

/* What a sample has become: the seed of its lobe; on a ridge between lobes, that of the one with the larger seed. */
#define OPEN 0xffff
#define RIDGE 0x8000

typedef struct work {
    const gls_lobe_sphere *sphere;
    const float *v;
    uint16_t own[N];
    uint16_t seed[N]; /* of lobes, as found */
    int n_seeds;
} work;

static inline bool precedes(const float *v, unsigned a, unsigned b)
{
    return v[a] > v[b] || (v[a] == v[b] && a < b);
}

/* Once all larger neighbours of i are resolved. */
static void resolve(work *w, unsigned i)
{
    unsigned lobe = OPEN, ridge = 0;
    for (int k = 0; k < K; k++) {
        unsigned j = w->sphere->neighbour[i][k];
        if (!precedes(w->v, j, i) || (w->own[j] & RIDGE) || w->own[j] == lobe) continue;
        if (lobe != OPEN) ridge = RIDGE;
        if (lobe == OPEN || precedes(w->v, w->own[j], lobe)) lobe = w->own[j];
    }
    if (lobe == OPEN) w->seed[w->n_seeds++] = (uint16_t)(lobe = i);
    w->own[i] = (uint16_t)(lobe | ridge);
}

/* A larger neighbour of i that is not resolved yet, or OPEN. */
static unsigned larger_open(const work *w, unsigned i)
{
    for (int k = 0; k < K; k++) {
        unsigned j = w->sphere->neighbour[i][k];
        if (w->own[j] == OPEN && precedes(w->v, j, i)) return j;
    }
    return OPEN;
}

static void label(work *w)
{
    uint16_t stack[N];
    memset(w->own, 0xff, sizeof w->own);
    for (unsigned i = 0; i < N; i++) {
        if (!(w->v[i] > 0) || w->own[i] != OPEN) continue;
        int depth = 0;
        stack[depth++] = (uint16_t)i;
        while (depth > 0) {
            unsigned j = larger_open(w, stack[depth - 1]);
            if (j != OPEN)
                stack[depth++] = (uint16_t)j;
            else
                resolve(w, stack[--depth]);
        }
    }
}

/* Seeds in falling order; few. */
static void sort_seeds(work *w)
{
    for (int i = 1; i < w->n_seeds; i++) {
        uint16_t s = w->seed[i];
        int k = i;
        for (; k > 0 && precedes(w->v, s, w->seed[k - 1]); k--) w->seed[k] = w->seed[k - 1];
        w->seed[k] = s;
    }
}

/* The maximum near the seed, if it lies in the lobe. */
static double refine(const work *w, int order, const double *sh, uint16_t seed)
{
    double coefficient[(GLS_SH_MAX_ORDER + 1) * (GLS_SH_MAX_ORDER + 2) / 2], u[3];
    memcpy(coefficient, sh, gls_sh_count(order) * sizeof *coefficient);
    memcpy(u, w->sphere->direction[seed], sizeof u);
    if (gls_sh_convert(GLS_SH_TOURNIER07, GLS_SH_DESCOTEAUX07_LEGACY, order, coefficient)) return (double)w->v[seed];
    double peak = gls_peak_climb(order, coefficient, u);
    uint16_t own = w->own[gls_lobe_sphere_nearest(w->sphere, u)];
    return isfinite(peak) && own != OPEN && (own & ~RIDGE) == seed ? peak : (double)w->v[seed];
}

/* Integrals and directions of all lobes; place: of a lobe by its seed. */
static void integrate(const work *w, uint16_t place[N], double fd[N], double mean[N][3])
{
    for (int s = 0; s < w->n_seeds; s++) {
        place[w->seed[s]] = (uint16_t)s;
        fd[s] = mean[s][0] = mean[s][1] = mean[s][2] = 0;
    }
    for (unsigned i = 0; i < N; i++) {
        if (w->own[i] == OPEN) continue;
        unsigned seed = w->own[i] & ~(unsigned)RIDGE, s = place[seed];
        const double *d = w->sphere->direction[i], *to = w->sphere->direction[seed];
        double a = w->sphere->weight[i] * (double)w->v[i];
        double sign = d[0] * to[0] + d[1] * to[1] + d[2] * to[2] < 0 ? -a : a;
        fd[s] += a;
        for (int r = 0; r < 3; r++) mean[s][r] += sign * d[r];
    }
}

/* The lobe of every direction: `out`, by direction, is set where there is one and GLS_NO_LOBE elsewhere. Ring by ring,
 * a direction joins the largest lobe among its neighbours. */
static void dilate(const gls_lobe_sphere *sphere, const gls_lobes *lobes, uint8_t out[N])
{
    uint16_t ring[2][N];
    uint8_t joins[N];
    bool waits[N];
    int n = 0, at = 0;
    for (unsigned i = 0; i < N; i++) {
        waits[i] = out[i] == GLS_NO_LOBE;
        if (!waits[i]) continue;
        bool touches = false;
        for (int k = 0; k < K; k++) touches |= out[sphere->neighbour[i][k]] != GLS_NO_LOBE;
        if (touches) ring[at][n++] = (uint16_t)i;
    }
    for (int k = 0; k < n; k++) waits[ring[at][k]] = false;
    while (n > 0) {
        int next = 0;
        for (int k = 0; k < n; k++) {
            double best = -1;
            for (int m = 0; m < K; m++) {
                uint8_t lobe = out[sphere->neighbour[ring[at][k]][m]];
                if (lobe == GLS_NO_LOBE || lobes->lobe[lobe].fd <= best) continue;
                best = lobes->lobe[lobe].fd;
                joins[k] = lobe;
            }
        }
        for (int k = 0; k < n; k++) out[ring[at][k]] = joins[k];
        for (int k = 0; k < n; k++)
            for (int m = 0; m < K; m++) {
                unsigned i = sphere->neighbour[ring[at][k]][m];
                if (waits[i]) ring[1 - at][next++] = (uint16_t)i;
                waits[i] = false;
            }
        n = next;
        at = 1 - at;
    }
}

/* The lobes that are kept, and the place of each seed among them in slot. */
static void select_lobes(const work *w, const gls_fixel_options *o, int order, const double *sh, const double fd[N],
                         const double mean[N][3], uint8_t slot[N], gls_lobes *out)
{
    for (int s = 0; s < w->n_seeds; s++) {
        uint16_t seed = w->seed[s];
        double peak = (double)w->v[seed], length = 0;
        slot[s] = GLS_NO_LOBE;
        if (fd[s] < o->integral) continue;
        if (o->refine || (peak < o->peak && peak > 0.8 * o->peak)) peak = refine(w, order, sh, seed);
        if (peak < o->peak) continue;
        int at = out->n;
        if (out->n == GLS_MAX_LOBES) { /* the smallest makes room */
            at = 0;
            for (int k = 1; k < out->n; k++)
                if (out->lobe[k].fd < out->lobe[at].fd) at = k;
            out->dropped++;
            if (out->lobe[at].fd >= fd[s]) continue;
            for (int k = 0; k < s; k++) {
                if (slot[k] == at)
                    slot[k] = GLS_NO_LOBE;
                else if (slot[k] != GLS_NO_LOBE && slot[k] > at)
                    slot[k]--;
            }
            memmove(out->lobe + at, out->lobe + at + 1, (size_t)(out->n - 1 - at) * sizeof *out->lobe);
            at = --out->n;
        }
        gls_lobe *lobe = &out->lobe[at];
        *lobe = (gls_lobe){.fd = fd[s], .peak = peak, .seed = seed};
        for (int r = 0; r < 3; r++) length += mean[s][r] * mean[s][r];
        for (int r = 0; r < 3; r++) lobe->direction[r] = mean[s][r] / sqrt(length);
        slot[s] = (uint8_t)at;
        out->n++;
    }
}

void gls_lobes_find(const gls_fixel_options *o, const float v[N], int order, const double *sh, gls_lobes *out)
{
    work w = {.sphere = gls_lobe_sphere_get(), .v = v};
    uint16_t place[N];
    double fd[N], mean[N][3];
    uint8_t slot[N], lobe[N];
    float most = 0, least = 0;
    out->n = out->dropped = 0;
    for (unsigned i = 0; i < N; i++) {
        most = v[i] > most ? v[i] : most;
        least = v[i] < least ? v[i] : least;
    }
    if (!(most > 0) || most < -least) return;
    if (!o->refine && (double)most <= 0.8 * o->peak) return;
    label(&w);
    sort_seeds(&w);
    integrate(&w, place, fd, mean);
    select_lobes(&w, o, order, sh, fd, (const double(*)[3])mean, slot, out);
    if (out->n == 0) return;
    for (unsigned i = 0; i < N; i++)
        lobe[i] = w.own[i] == OPEN ? GLS_NO_LOBE : slot[place[w.own[i] & ~(unsigned)RIDGE]];
    if (o->dilate) dilate(w.sphere, out, lobe);
    memset(out->table, 0xff, sizeof out->table);
    for (unsigned i = 0; i < N; i++) {
        unsigned shift = i % 2 * 4;
        out->table[i / 2] = (uint8_t)((out->table[i / 2] & ~(15u << shift)) | (unsigned)lobe[i] << shift);
    }
}
