/* Segments an FOD into lobes (FMLS, Smith et al. 2013): visits samples in falling order, and joins each to the lobe of
 * its neighbours or starts a lobe. */
#include "weights/fod_lobes.h"
#include "dwi/peaks.h"
#include "weights/fixel_parts.h"
#include "weights/lobe_sphere.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include <glslines/sh.h>

/* N: number of samples; K: number of neighbours of a sample; BUCKETS: number of buckets into which samples are sorted
 * first; OCTAVE_SHIFT: each octave has 256 buckets, so that all of them together reach 8 octaves */
enum { N = GLS_LOBE_DIRECTIONS, K = GLS_LOBE_NEIGHBOURS, BUCKETS = 2048, OCTAVE_SHIFT = 23 - 8 };

/* Label of a sample: the seed of its lobe, or OPEN. RIDGE marks samples between lobes. Such a sample has the label of
 * that of its lobes whose seed has the largest sample. */
#define OPEN 0xffff
#define RIDGE 0x8000

/* The segmentation of one FOD. v: its N samples; own: label of each sample. */
typedef struct work {
    const gls_lobe_sphere *sphere;
    const float *v;
    uint16_t order[N]; /* positive samples in falling order; equal ones in the order of directions */
    int n;
    uint16_t own[N];
    uint16_t seed[N]; /* seeds of lobes, in falling order of their samples */
    int n_seeds;
} work;

/* Whether sample a precedes sample b: samples are in falling order, equal samples by direction, so that the result is
 * the same on every machine. */
static inline bool precedes(const float *v, unsigned a, unsigned b)
{
    return v[a] > v[b] || (v[a] == v[b] && a < b);
}

/* Bits of a float. Those of positive floats are in the order of their values. */
static inline uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Sorts samples into buckets, then by insertion. Buckets divide each octave below the largest sample evenly, because
 * most samples of a sharp FOD are small. most: the largest sample. */
static void sort_samples(work *w, float most)
{
    const float *v = w->v;
    const uint32_t top = bits_of(most);
    uint16_t start[BUCKETS + 1], bucket[N];
    memset(start, 0, sizeof start);
    /* A counting sort: counts the samples of each bucket, finds where each bucket begins, then moves the samples. Those
     * that are not positive are in bucket BUCKETS, behind the others. */
    for (unsigned i = 0; i < N; i++) {
        const uint32_t below = (top - bits_of(v[i])) >> OCTAVE_SHIFT, b = below < BUCKETS ? below : BUCKETS - 1;
        bucket[i] = (uint16_t)(v[i] > 0 ? b : BUCKETS);
    }
    for (unsigned i = 0; i < N; i++) start[bucket[i]]++;
    unsigned at = 0;
    for (unsigned b = 0; b <= BUCKETS; b++) {
        const unsigned n = start[b];
        start[b] = (uint16_t)at;
        at += n;
    }
    w->n = start[BUCKETS];
    for (unsigned i = 0; i < N; i++) w->order[start[bucket[i]]++] = (uint16_t)i;
    /* insertion sort: each bucket holds few samples */
    for (int i = 1; i < w->n; i++) {
        const uint16_t x = w->order[i];
        int k = i;
        for (; k > 0 && precedes(v, x, w->order[k - 1]); k--) w->order[k] = w->order[k - 1];
        w->order[k] = x;
    }
}

/* The label, of those of the neighbours that count, whose seed precedes those of the others. */
static unsigned strongest_lobe(const work *w, const uint16_t near[K])
{
    unsigned lobe = OPEN;
    for (int k = 0; k < K; k++) {
        const unsigned own = w->own[near[k]];
        if (!(own & RIDGE) && (lobe == OPEN || precedes(w->v, own, lobe))) lobe = own;
    }
    return lobe;
}

/* Labels the positive samples in falling order. Only labelled neighbours that are no ridges count. A sample without
 * such a neighbour starts a lobe. If all have one label, the sample joins their lobe; if they have several, it is a
 * ridge, with the label of the lobe whose seed precedes the others. */
static void label(work *w)
{
    memset(w->own, 0xff, sizeof w->own);
    for (int n = 0; n < w->n; n++) {
        const unsigned i = w->order[n];
        const uint16_t *near = w->sphere->neighbour[i];
        /* Labels that do not count have the bit of RIDGE: they are large as numbers without a sign, negative as numbers
         * with one. So the smallest and the largest of the others are found without branches. */
        unsigned least = OPEN;
        int most = -1;
        for (int k = 0; k < K; k++) {
            const unsigned own = w->own[near[k]];
            least = own < least ? own : least;
            most = (int16_t)own > most ? (int16_t)own : most;
        }
        if (most < 0) w->seed[w->n_seeds++] = (uint16_t)(least = i);
        w->own[i] = (uint16_t)(most < 0 || (unsigned)most == least ? least : strongest_lobe(w, near) | RIDGE);
    }
}

/* Climbs from the seed to a maximum of the FOD. Returns the amplitude of the maximum if it lies in the lobe of the
 * seed, else the sample at the seed. */
static double refine(const work *w, int order, const double *sh, uint16_t seed)
{
    double coefficient[(GLS_SH_MAX_ORDER + 1) * (GLS_SH_MAX_ORDER + 2) / 2], u[3];
    memcpy(coefficient, sh, gls_sh_count(order) * sizeof *coefficient);
    memcpy(u, w->sphere->direction[seed], sizeof u);
    /* the climb needs the basis descoteaux07; if the conversion fails, return the sample */
    if (gls_sh_convert(GLS_SH_TOURNIER07, GLS_SH_DESCOTEAUX07_LEGACY, order, coefficient)) return (double)w->v[seed];
    double peak = gls_peak_climb(order, coefficient, u);
    uint16_t own = w->own[gls_lobe_sphere_nearest(w->sphere, u)];
    return isfinite(peak) && own != OPEN && (own & ~RIDGE) == seed ? peak : (double)w->v[seed];
}

/* For each lobe: fd, the integral of the FOD, and mean, the sum of its directions, each with its share of the integral
 * as weight. index_of: index of a lobe by its seed. */
static void integrate(const work *w, uint16_t index_of[N], double fd[N], double mean[N][3])
{
    for (int s = 0; s < w->n_seeds; s++) {
        index_of[w->seed[s]] = (uint16_t)s;
        fd[s] = mean[s][0] = mean[s][1] = mean[s][2] = 0;
    }
    for (int n = 0; n < w->n; n++) {
        unsigned i = w->order[n];
        unsigned seed = w->own[i] & ~(unsigned)RIDGE, s = index_of[seed];
        const double *d = w->sphere->direction[i], *to = w->sphere->direction[seed];
        double a = w->sphere->weight[i] * (double)w->v[i];
        /* a lobe on the half-sphere may reach over the equator: directions away from the seed are flipped */
        double sign = d[0] * to[0] + d[1] * to[1] + d[2] * to[2] < 0 ? -a : a;
        fd[s] += a;
        for (int r = 0; r < 3; r++) mean[s][r] += sign * d[r];
    }
}

/* Gives directions without a lobe, ring by ring, the largest lobe among their neighbours. lobe: for each direction 0
 * for the largest lobe and so on; GLS_NO_LOBE for none. */
static void dilate(const gls_lobe_sphere *sphere, uint8_t lobe[N])
{
    uint16_t ring[2][N];
    uint8_t joins[N], waits[N];
    int n = 0, at = 0;
    /* the first ring: directions without a lobe beside one with a lobe */
    for (unsigned i = 0; i < N; i++) {
        uint8_t best = GLS_NO_LOBE;
        waits[i] = lobe[i] == GLS_NO_LOBE;
        if (!waits[i]) continue;
        for (int k = 0; k < K; k++) {
            uint8_t other = lobe[sphere->neighbour[i][k]];
            best = other < best ? other : best;
        }
        if (best == GLS_NO_LOBE) continue;
        waits[i] = 0;
        joins[n] = best;
        ring[at][n++] = (uint16_t)i;
    }
    /* rings grow at the same speed from all lobes; joins[] holds the choices of a ring until all its directions are
     * known */
    while (n > 0) {
        int next = 0;
        for (int k = 0; k < n; k++) lobe[ring[at][k]] = joins[k];
        for (int k = 0; k < n; k++)
            for (int m = 0; m < K; m++) {
                unsigned i = sphere->neighbour[ring[at][k]][m];
                ring[1 - at][next] = (uint16_t)i;
                next += waits[i];
                waits[i] = 0;
            }
        n = next;
        at = 1 - at;
        for (int k = 0; k < n; k++) {
            const uint16_t *near = sphere->neighbour[ring[at][k]];
            joins[k] = GLS_NO_LOBE;
            for (int m = 0; m < K; m++) joins[k] = lobe[near[m]] < joins[k] ? lobe[near[m]] : joins[k];
        }
    }
}

/* rank[a]: position of lobe a in the order of falling integrals, from 0; of_rank[k]: index of the lobe at position
 * k. */
static void rank_lobes(const gls_lobes *lobes, uint8_t rank[GLS_NO_LOBE + 1], uint8_t of_rank[GLS_NO_LOBE + 1])
{
    rank[GLS_NO_LOBE] = of_rank[GLS_NO_LOBE] = GLS_NO_LOBE;
    for (int a = 0; a < lobes->n; a++) {
        int larger = 0;
        for (int b = 0; b < lobes->n; b++)
            larger += lobes->lobe[b].fd > lobes->lobe[a].fd || (lobes->lobe[b].fd == lobes->lobe[a].fd && b < a);
        rank[a] = (uint8_t)larger;
        of_rank[larger] = (uint8_t)a;
    }
}

/* Selects the lobes to keep. slot[s]: index of the lobe of w->seed[s] among the kept lobes, or GLS_NO_LOBE. */
static void select_lobes(const work *w, const gls_fixel_options *o, int order, const double *sh, const double fd[N],
                         const double mean[N][3], uint8_t slot[N], gls_lobes *out)
{
    for (int s = 0; s < w->n_seeds; s++) {
        uint16_t seed = w->seed[s];
        double peak = (double)w->v[seed], length = 0;
        slot[s] = GLS_NO_LOBE;
        if (fd[s] < o->integral) continue;
        /* a peak between samples may reach the threshold although its sample does not: even without `refine` climb from
         * samples above 0.8 of the threshold */
        if (o->refine || (peak < o->peak && peak > 0.8 * o->peak)) peak = refine(w, order, sh, seed);
        if (peak < o->peak) continue;
        int at = out->n;
        if (out->n == GLS_MAX_LOBES) { /* replace the smallest lobe */
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
    uint16_t index_of[N];
    double fd[N], mean[N][3];
    uint8_t slot[N], lobe[N + 1], rank[GLS_NO_LOBE + 1], of_rank[GLS_NO_LOBE + 1];
    float most = 0, least = 0;
    out->n = out->dropped = 0;
    out->too_large = false;
    /* no lobes: an FOD that is too large for floats, that is nowhere positive, that without refinement never exceeds
     * 0.8 of the threshold, or whose largest negative amplitude exceeds the largest positive one */
    for (unsigned i = 0; i < N; i++) {
        most = v[i] > most ? v[i] : most;
        least = v[i] < least ? v[i] : least;
    }
    out->too_large = most > FLT_MAX || least < -FLT_MAX;
    if (out->too_large || most <= 0 || most < -least) return;
    if (!o->refine && (double)most <= 0.8 * o->peak) return;
    sort_samples(&w, most);
    label(&w);
    integrate(&w, index_of, fd, mean);
    select_lobes(&w, o, order, sh, fd, (const double(*)[3])mean, slot, out);
    for (int k = 0; k < out->n; k++)
        out->too_large |= out->lobe[k].fd > FLT_MAX; /* amplitudes may fit a float while their sum does not */
    if (out->too_large) out->n = 0;
    if (out->n == 0) return;
    rank_lobes(out, rank, of_rank);
    /* map samples to kept lobes; of_rank maps ranks by integral, in which dilate() works, back to lobes */
    memset(lobe, GLS_NO_LOBE, sizeof lobe);
    for (int k = 0; k < w.n; k++) {
        unsigned i = w.order[k];
        lobe[i] = rank[slot[index_of[w.own[i] & ~(unsigned)RIDGE]]];
    }
    if (o->dilate) dilate(w.sphere, lobe);
    for (unsigned i = 0; i < N; i += 2) out->table[i / 2] = (uint8_t)(of_rank[lobe[i]] | of_rank[lobe[i + 1]] << 4);
}
