#include "render/segments.h"

#include <math.h>

#include "render/planes.h"

typedef struct maker {
    const gls_camera *camera;
    const gls_strip *strip;
    gls_segment_record *buffer;
    uint32_t n, room;
    gls_segment_taker take;
    void *user;
} maker;

/* Sixteenths of a sample, to 2^40: what is further away is cut off before numbers become whole. */
#define FAR 1099511627776.0

/* Leaves of the part t[0] to t[1] of a line what lies between low and high; at, step: where it begins, how far it goes.
 * false: nothing. */
static bool narrow(double at, double step, double low, double high, double t[2])
{
    if (step == 0) return at >= low && at <= high;
    t[0] = fmax(t[0], ((step > 0 ? low : high) - at) / step);
    t[1] = fmin(t[1], ((step > 0 ? high : low) - at) / step);
    return t[0] <= t[1];
}

/* Leaves of the line from a to b what lies in the box, as shares t[0] and t[1] of its length. */
static bool cut(const gls_camera *c, const float a[3], const float b[3], double t[2])
{
    t[0] = 0;
    t[1] = 1;
    for (int k = 0; k < 3; k++)
        if (!narrow(a[k], (double)b[k] - a[k], c->low[k], c->high[k], t)) return false;
    return true;
}

/* To sixteenths of a sample: x to the right, y down from the strip's first row. */
static void place_of(const maker *m, const double p[3], double out[2])
{
    const gls_camera *c = m->camera;
    double x = 0, y = 0, scale = c->scale * GLS_SAMPLES;
    for (int a = 0; a < 3; a++) {
        x += (p[a] - c->centre[a]) * c->right[a];
        y += (p[a] - c->centre[a]) * c->up[a];
    }
    out[0] = (x * scale + c->width * GLS_SAMPLES / 2.0) * 16;
    out[1] = (c->height * GLS_SAMPLES / 2.0 - y * scale) * 16;
}

static void between(const float a[3], const float b[3], double t, double out[3])
{
    for (int k = 0; k < 3; k++) out[k] = a[k] + t * ((double)b[k] - a[k]);
}

/* Cuts off of the part t[0] to t[1] of a line what is far from the picture; false: all of it. */
static bool cut_far(const maker *m, const float a[3], const float b[3], double t[2])
{
    double ends[2][3], place[2][2], part[2] = {0, 1}, length = t[1] - t[0];
    for (int e = 0; e < 2; e++) {
        between(a, b, t[e], ends[e]);
        place_of(m, ends[e], place[e]);
    }
    double most = 0;
    for (int i = 0; i < 4; i++) most = fmax(most, fabs(place[i / 2][i % 2]));
    if (most <= FAR) return true;
    for (int k = 0; k < 2; k++)
        if (!narrow(place[0][k], place[1][k] - place[0][k], -FAR, FAR, part)) return false;
    t[1] = t[0] + part[1] * length;
    t[0] += part[0] * length;
    return true;
}

/* The place in whole numbers, and z towards the viewer. */
static void project(const maker *m, const double p[3], int64_t out[3])
{
    double place[2];
    place_of(m, p, place);
    out[0] = llround(place[0]);
    out[1] = llround(place[1]) - 16 * m->strip->first;
    out[2] = gls_depth_of(m->camera, p);
}

static bool outside(const maker *m, const int64_t a[3], const int64_t b[3])
{
    int64_t r = (int64_t)(m->strip->radius * 16) + 16, w = (int64_t)m->camera->width * GLS_SAMPLES * 16,
            h = (int64_t)m->strip->rows * 16;
    return (a[0] < -r && b[0] < -r) || (a[1] < -r && b[1] < -r) || (a[0] > w + r && b[0] > w + r) ||
           (a[1] > h + r && b[1] > h + r);
}

static uint32_t mix(uint32_t a, uint32_t b, double t)
{
    uint32_t out = 0;
    for (int shift = 0; shift < 24; shift += 8) {
        double x = a >> shift & 255, y = b >> shift & 255;
        out |= (uint32_t)(x + (y - x) * t + 0.5) << shift;
    }
    return out;
}

static gls_status add(maker *m, const int64_t a[3], const int64_t b[3], uint32_t colour_0, uint32_t colour_1)
{
    if (outside(m, a, b)) return GLS_OK;
    double dx = (double)(b[0] - a[0]), dy = (double)(b[1] - a[1]), length = sqrt(dx * dx + dy * dy);
    gls_segment_record *r = &m->buffer[m->n++];
    *r = (gls_segment_record){.x = (int)a[0],
                              .y = (int)a[1],
                              .z = (int)a[2],
                              .dx = (int)dx,
                              .dy = (int)dy,
                              .dz = (int)(b[2] - a[2]),
                              .along_x = 1 << 14,
                              .colour_0 = colour_0,
                              .colour_1 = colour_1};
    if (length > 0) {
        double major = fabs(dy) > fabs(dx) ? dy : dx, minor = fabs(dy) > fabs(dx) ? dx : dy;
        r->along_x = (int)lround(16384 * dx / length);
        r->along_y = (int)lround(16384 * dy / length);
        r->per_length = (uint32_t)(16777216 / length);
        r->slope = (int)lround(65536 * minor / major);
    }
    if (m->n < m->room) return GLS_OK;
    uint32_t n = m->n;
    m->n = 0;
    return m->take(m->user, m->buffer, n);
}

/* Of the pieces 0 to n - 1 of a line those that may be seen: *first to *last - 1. */
static void seen_pieces(const maker *m, int64_t place[2][3], int64_t n, int64_t *first, int64_t *last)
{
    double slack = m->strip->radius * 16 + 32 * GLS_SEGMENT_MOST, t[2] = {0, 1};
    const double high[2] = {m->camera->width * GLS_SAMPLES * 16.0, m->strip->rows * 16.0};
    *first = *last = 0;
    for (int k = 0; k < 2; k++)
        if (!narrow((double)place[0][k], (double)(place[1][k] - place[0][k]), -slack, high[k] + slack, t)) return;
    *first = (int64_t)fmax(floor(t[0] * (double)n), 0);
    *last = (int64_t)fmin(ceil(t[1] * (double)n), (double)n);
}

static gls_status add_line(maker *m, const float a[3], const float b[3], uint32_t colour_0, uint32_t colour_1)
{
    double t[2], ends[2][3];
    int64_t place[2][3], from[3], to[3], first, last;
    gls_status status = GLS_OK;
    if (!cut(m->camera, a, b, t) || !cut_far(m, a, b, t)) return GLS_OK;
    for (int e = 0; e < 2; e++) {
        between(a, b, t[e], ends[e]);
        project(m, ends[e], place[e]);
    }
    if (outside(m, place[0], place[1])) return GLS_OK;
    double size = 0;
    for (int k = 0; k < 3; k++) size += (double)(place[1][k] - place[0][k]) * (double)(place[1][k] - place[0][k]);
    int64_t pieces = (int64_t)(sqrt(size) / (16 * GLS_SEGMENT_MOST)) + 1;
    seen_pieces(m, place, pieces, &first, &last);
    for (int k = 0; k < 3; k++)
        from[k] = place[0][k] + llround((double)first / (double)pieces * (double)(place[1][k] - place[0][k]));
    for (int64_t i = first; i < last && !status; i++) {
        double u = (double)i / (double)pieces, v = (double)(i + 1) / (double)pieces;
        for (int k = 0; k < 3; k++) to[k] = place[0][k] + llround(v * (double)(place[1][k] - place[0][k]));
        status = add(m, from, to, mix(colour_0, colour_1, t[0] + u * (t[1] - t[0])),
                     mix(colour_0, colour_1, t[0] + v * (t[1] - t[0])));
        for (int k = 0; k < 3; k++) from[k] = to[k];
    }
    return status;
}

gls_status gls_segments_make(const gls_scene *scene, const gls_camera *camera, const gls_strip *strip,
                             gls_segment_record *buffer, uint32_t room, gls_segment_taker take, void *user)
{
    maker m = {camera, strip, buffer, 0, room, take, user};
    gls_status status = GLS_OK;
    for (size_t line = 0; line < scene->n_lines && !status; line++) {
        uint64_t begin = scene->offset[line], end = scene->offset[line + 1];
        /* a single point is a ball */
        if (end - begin == 1)
            status = add_line(&m, scene->point[begin], scene->point[begin], scene->colour[begin], scene->colour[begin]);
        for (uint64_t i = begin + 1; i < end && !status; i++)
            status = add_line(&m, scene->point[i - 1], scene->point[i], scene->colour[i - 1], scene->colour[i]);
    }
    return status || m.n == 0 ? status : take(user, buffer, m.n);
}
