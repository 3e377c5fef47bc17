#include "ref/ptt.h"

#include <glslines/peaks.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Number of curves that are tried; the tracker draws its last ones from smaller and smaller discs. */
enum { PAPER_TRIES = 16384, TRACKER_TRIES = 4096, NARROW_TRIES = 256, NARROW_HALVINGS = 8, NORMAL = 0x8000 };
#define BACKWARD 0x80000000u

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double c[3])
{
    for (int i = 0; i < 3; i++) c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static void unit(double v[3])
{
    double norm = sqrt(dot(v, v));
    for (int i = 0; i < 3; i++) v[i] /= norm;
}

/* The terms of the closed form for a curve and a length: cos(ks), sin(ks) / k, (1 - cos(ks)) / k^2. */
typedef struct curve {
    double k1, k2, cosine, along, across;
} curve;

static curve curve_make(double k1, double k2, double s)
{
    double k = hypot(k1, k2), x = k * s;
    if (x < 1e-3) { /* to the sixth order: exact in double */
        double y = x * x;
        return (curve){k1, k2, cos(x), s * (1 - y / 6 * (1 - y / 20)), s * s / 2 * (1 - y / 12 * (1 - y / 30))};
    }
    double half = sin(x / 2);
    return (curve){k1, k2, cos(x), sin(x) / k, 2 * half * half / (k * k)};
}

static void advance(ptt_frame *f, const curve *c, double moved[3])
{
    for (int i = 0; i < 3; i++) {
        double t = f->t[i], n = f->n[i], b = f->b[i], m = c->k1 * n + c->k2 * b;
        moved[i] = c->along * t + c->across * m;
        f->t[i] = c->cosine * t + c->along * m;
        f->n[i] = n - c->k1 * (c->along * t + c->across * m);
        f->b[i] = b - c->k2 * (c->along * t + c->across * m);
    }
}

void ptt_propagate(ptt_frame *frame, double k1, double k2, double s, double moved[3])
{
    curve c = curve_make(k1, k2, s);
    advance(frame, &c, moved);
}

void ptt_frame_make(const double t[3], double angle, ptt_frame *frame)
{
    const double axis[3] = {fabs(t[0]) < 0.6, !(fabs(t[0]) < 0.6), 0};
    double e[3], g[3];
    cross(t, axis, e);
    unit(e);
    cross(t, e, g);
    for (int i = 0; i < 3; i++) {
        frame->t[i] = t[i];
        frame->n[i] = cos(angle) * e[i] + sin(angle) * g[i];
    }
    cross(frame->t, frame->n, frame->b);
}

bool ptt_ref_init(ptt_ref *ref, const gls_track_params *params, const gls_image *odf, const gls_sphere *sphere,
                  const gls_image *stop)
{
    size_t voxels = gls_grid_voxels(&stop->grid), n = sphere->n;
    *ref = (ptt_ref){.params = params, .stop = stop, .sphere = sphere};
    ref->substeps = (uint32_t)fmax(1, rint(params->step_size / params->ptt_substep));
    ref->max_steps = (uint32_t)(params->max_length / params->step_size * (1 + 1e-9));
    ref->amplitude = malloc(voxels * n * sizeof *ref->amplitude);
    if (!ref->amplitude) return false;
    for (size_t v = 0; v < voxels; v++) {
        double *out = ref->amplitude + v * n, largest = 0;
        for (size_t c = 0; c < n; c++) largest = fmax(largest, out[c] = odf->data[c * voxels + v]);
        for (size_t c = 0; c < n && largest > 0; c++) out[c] /= largest;
    }
    return true;
}

void ptt_ref_finish(ptt_ref *ref)
{
    free(ref->amplitude);
    *ref = (ptt_ref){0};
}

static size_t nearest_mapped(const ptt_ref *ref, const double t[3])
{
    double sum = fabs(t[0]) + fabs(t[1]) + fabs(t[2]), side = t[2] < 0 ? -1 : 1, u = side * (t[0] + t[1]) / sum,
           v = side * (t[0] - t[1]) / sum, size = (double)ref->nearest_size;
    double x = fmin(fmax(floor((u + 1) / 2 * size), 0), size - 1),
           y = fmin(fmax(floor((v + 1) / 2 * size), 0), size - 1);
    size_t other = !ref->sphere->antipodal && t[2] < 0 ? ref->nearest_size * ref->nearest_size : 0;
    return ref->nearest[other + (size_t)y * ref->nearest_size + (size_t)x];
}

/* Along the edges of the hull of the vertices, every walk to nearer vertices ends at the nearest one. */
static size_t nearest_exact(const gls_sphere *sphere, const double t[3])
{
    size_t here = 0, before;
    double best = dot(sphere->vertex[0], t);
    if (sphere->antipodal) best = fabs(best);
    do {
        before = here;
        for (uint32_t i = sphere->first[before]; i < sphere->first[before + 1]; i++) {
            double c = dot(sphere->vertex[sphere->neighbour[i]], t);
            if (sphere->antipodal) c = fabs(c);
            if (c > best) {
                best = c;
                here = sphere->neighbour[i];
            }
        }
    } while (here != before);
    return here;
}

size_t ptt_nearest(const ptt_ref *ref, const double t[3])
{
    return ref->nearest ? nearest_mapped(ref, t) : nearest_exact(ref->sphere, t);
}

static bool inside(const gls_grid *grid, const double p[3])
{
    for (int a = 0; a < 3; a++)
        if (!(p[a] >= -0.5 && p[a] < grid->dim[a] - 0.5)) return false;
    return true;
}

/* The voxels around p and their weights. */
static void corners(const gls_grid *grid, const double p[3], size_t voxel[8], double weight[8])
{
    size_t index[3][2], dim[3] = {(size_t)grid->dim[0], (size_t)grid->dim[1], (size_t)grid->dim[2]};
    double part[3][2];
    for (int a = 0; a < 3; a++) {
        double last = grid->dim[a] - 1, x = p[a] < 0 ? 0 : p[a] > last ? last : p[a];
        index[a][0] = (size_t)x;
        index[a][1] = index[a][0] + 1 < dim[a] ? index[a][0] + 1 : index[a][0];
        part[a][1] = x - (double)index[a][0];
        part[a][0] = 1 - part[a][1];
    }
    for (int i = 0; i < 8; i++) {
        int x = i & 1, y = i >> 1 & 1, z = i >> 2;
        weight[i] = part[0][x] * part[1][y] * part[2][z];
        voxel[i] = (index[2][z] * dim[1] + index[1][y]) * dim[0] + index[0][x];
    }
}

double ptt_stop_value(const ptt_ref *ref, const double p[3])
{
    size_t voxel[8];
    double weight[8], sum = 0;
    corners(&ref->stop->grid, p, voxel, weight);
    for (int i = 0; i < 8; i++) sum += weight[i] * ref->stop->data[voxel[i]];
    return sum;
}

static double amplitude(const ptt_ref *ref, const double p[3], const double t[3])
{
    size_t voxel[8], vertex;
    double weight[8], sum = 0;
    if (!inside(&ref->stop->grid, p)) return 0;
    vertex = ptt_nearest(ref, t);
    corners(&ref->stop->grid, p, voxel, weight);
    for (int i = 0; i < 8; i++) sum += weight[i] * ref->amplitude[voxel[i] * ref->sphere->n + vertex];
    return sum;
}

size_t ptt_initial(const ptt_ref *ref, const double p[3], uint32_t *vertex, size_t capacity)
{
    size_t voxel[8], n = ref->sphere->n, found = 0;
    double weight[8], largest = 0, *odf = calloc(n, sizeof *odf);
    if (!odf || !inside(&ref->stop->grid, p)) goto done;
    corners(&ref->stop->grid, p, voxel, weight);
    for (size_t v = 0; v < n; v++) {
        for (int i = 0; i < 8; i++) odf[v] += weight[i] * ref->amplitude[voxel[i] * n + v];
        largest = fmax(largest, odf[v]);
    }
    if (!(largest > 0)) goto done;
    for (size_t v = 0; v < n; v++)
        if (odf[v] < ref->params->pmf_threshold * largest) odf[v] = 0;
    gls_peak_options options = {.size = sizeof options,
                                .relative_threshold = ref->params->relative_peak_threshold,
                                .min_separation_angle = ref->params->min_separation_angle};
    found = gls_peaks_find(ref->sphere, odf, &options, vertex, capacity);
    if (found > capacity) found = capacity;
done:
    free(odf);
    return found;
}

/* Returns the mean amplitude over the threads of the probe at this frame. */
static double threads(const ptt_ref *ref, const double p[3], const ptt_frame *f)
{
    int count = ref->params->probe_count;
    if (count == 1) return amplitude(ref, p, f->t);
    double sum = 0;
    for (int i = 0; i < count; i++) {
        double angle = 2 * acos(-1.0) * i / count, at[3];
        for (int a = 0; a < 3; a++)
            at[a] = p[a] + ref->params->probe_radius * (cos(angle) * f->n[a] + sin(angle) * f->b[a]) /
                               ref->stop->grid.voxel_size[a];
        sum += amplitude(ref, at, f->t);
    }
    return sum / count;
}

double ptt_support(const ptt_ref *ref, const double p[3], const ptt_frame *frame, double k1, double k2, double least)
{
    ptt_frame f = *frame;
    curve c = curve_make(k1, k2, ref->params->probe_length / ref->params->probe_quality);
    double at[3] = {p[0], p[1], p[2]}, total = threads(ref, at, &f);
    for (int q = 1; q <= ref->params->probe_quality; q++) {
        double moved[3];
        if (total + ref->params->probe_quality + 1 - q < least - 1e-9) return 0;
        advance(&f, &c, moved);
        for (int a = 0; a < 3; a++) at[a] += moved[a] / ref->stop->grid.voxel_size[a];
        total += threads(ref, at, &f);
    }
    return total;
}

static double least_support(const ptt_ref *ref)
{
    return ref->params->probe_quality * ref->params->pmf_threshold;
}

static double uniform(uint32_t word)
{
    return (word >> 8) * 0x1p-24;
}

static double angle_of(uint32_t word)
{
    return 2 * acos(-1.0) * uniform(word);
}

/* Draws a curvature with the density of the data's support. */
static bool draw_curvature(const ptt_ref *ref, const double p[3], const ptt_frame *frame, const ptt_random *random,
                           uint32_t step, double k[2])
{
    uint32_t tries = ref->as_tracker ? TRACKER_TRIES + NARROW_TRIES : PAPER_TRIES;
    double bound = ref->params->probe_quality + 1;
    if (ref->as_tracker && ref->params->probe_count == 1) bound += amplitude(ref, p, frame->t) - 1;
    for (uint32_t c = 0; c < tries; c++) {
        uint32_t word[4];
        random->words(random->user, c, step, word);
        double radius = gls_track_max_curvature(ref->params) * sqrt(uniform(word[0])), angle = angle_of(word[1]),
               least = (uniform(word[2]) + 0x1p-24) * bound;
        if (ref->as_tracker && c + 1 > TRACKER_TRIES)
            radius *= exp2(-(double)NARROW_HALVINGS * (c + 1 - TRACKER_TRIES) / NARROW_TRIES);
        if (ref->as_tracker && c + 1 == tries) radius = least = 0;
        k[0] = radius * cos(angle);
        k[1] = radius * sin(angle);
        least = fmax(least, least_support(ref));
        if (ptt_support(ref, p, frame, k[0], k[1], least) >= least) return true;
    }
    return false;
}

/* Goes one short step. Returns false if no curve has enough support. */
static bool short_step(const ptt_ref *ref, double p[3], ptt_frame *frame, const ptt_random *random, uint32_t step)
{
    double s = ref->params->step_size / ref->substeps, k[2], moved[3];
    if (!draw_curvature(ref, p, frame, random, step, k)) return false;
    ptt_propagate(frame, k[0], k[1], s, moved);
    unit(moved);
    for (int a = 0; a < 3; a++) p[a] += s * moved[a] / ref->stop->grid.voxel_size[a];
    /* rounding, over thousands of steps */
    unit(frame->t);
    double along = dot(frame->n, frame->t);
    for (int a = 0; a < 3; a++) frame->n[a] -= along * frame->t[a];
    unit(frame->n);
    cross(frame->t, frame->n, frame->b);
    return true;
}

static gls_end track_half(const ptt_ref *ref, const double seed[3], const double t[3], bool backward,
                          const ptt_random *random, double (*point)[3], size_t *n)
{
    double p[3] = {seed[0], seed[1], seed[2]};
    ptt_frame frame;
    uint32_t word[4];
    random->words(random->user, NORMAL, 1 | (backward ? BACKWARD : 0), word);
    ptt_frame_make(t, angle_of(word[0]), &frame);
    *n = 0;
    for (uint32_t i = 1; *n < ref->max_steps; i++) {
        if (!short_step(ref, p, &frame, random, i | (backward ? BACKWARD : 0))) return GLS_END_NO_DIRECTION;
        if (!inside(&ref->stop->grid, p)) return GLS_END_OUTSIDE;
        if (!(ptt_stop_value(ref, p) > ref->params->stop_threshold)) return GLS_END_STOP_MAP;
        if (i % ref->substeps == 0) memcpy(point[(*n)++], p, sizeof p);
    }
    return GLS_END_MAX_LENGTH;
}

size_t ptt_track(const ptt_ref *ref, const double seed[3], uint32_t vertex, const ptt_random *random,
                 double (*point)[3], size_t *at_seed, gls_end ends[2])
{
    const double *t = ref->sphere->vertex[vertex], opposite[3] = {-t[0], -t[1], -t[2]};
    size_t n[2];
    ends[0] = track_half(ref, seed, opposite, true, random, point, &n[0]);
    ends[1] = track_half(ref, seed, t, false, random, point + n[0] + 1, &n[1]);
    for (size_t i = 0; i < n[0] / 2; i++) {
        double p[3];
        memcpy(p, point[i], sizeof p);
        memcpy(point[i], point[n[0] - 1 - i], sizeof p);
        memcpy(point[n[0] - 1 - i], p, sizeof p);
    }
    memcpy(point[n[0]], seed, sizeof *point);
    *at_seed = n[0];
    return n[0] + n[1] + 1;
}
