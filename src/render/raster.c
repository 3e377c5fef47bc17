/* Draws streamlines by compute kernels: host side. */

#include <glslines/device.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/raster.h"
#include "render/planes.h"
#include "render/scene_parts.h"
#include "render/studio_parts.h"
#include "util/status.h"

/* --- Cuts streamlines in world space into segments on a strip of a picture. */

/* Maximum length of a segment, in samples: keeps the numbers of the kernel within 32 bits. */
#define GLS_SEGMENT_MOST 64

/* A strip of the picture; the strips are drawn one after another. */
typedef struct gls_strip {
    int64_t first; /* row of samples of the picture that is row 0 of the strip; may be negative */
    uint32_t rows; /* number of rows of samples */
    double radius; /* radius of the tubes, in samples */
} gls_strip;

/* Receives n records; a failure ends the work. */
typedef gls_status (*gls_segment_taker)(void *user, const gls_segment_record *record, uint32_t n);

/* Turns streamlines into segments and hands them on in batches. */
typedef struct maker {
    /* view of the picture */
    const gls_camera *camera;
    /* rows of samples that are drawn */
    const gls_strip *strip;
    /* segments that wait, at most `room` */
    gls_segment_record *buffer;
    /* n: number of waiting segments; room: number for which `buffer` has space */
    uint32_t n, room;
    /* receives full batches */
    gls_segment_taker take;
    /* argument of take() */
    void *user;
} maker;

/* Limit of coordinates before they become integers, in sixteenths of a sample (2^40). */
#define FAR 1099511627776.0

/* Shortens the part t[0] .. t[1] of a line to what lies between low and high on one axis. at, step: coordinate of the
 * line's start on this axis, and its change along the whole line. Returns false if nothing is left. */
static bool narrow(double at, double step, double low, double high, double t[2])
{
    if (step == 0) return at >= low && at <= high;
    t[0] = fmax(t[0], ((step > 0 ? low : high) - at) / step);
    t[1] = fmin(t[1], ((step > 0 ? high : low) - at) / step);
    return t[0] <= t[1];
}

/* Finds the part t[0] .. t[1] of the line from a to b inside the camera's box, as shares of the line. Returns false if
 * there is none. */
static bool cut(const gls_camera *c, const float a[3], const float b[3], double t[2])
{
    t[0] = 0;
    t[1] = 1;
    for (int k = 0; k < 3; k++)
        if (!narrow(a[k], (double)b[k] - a[k], c->low[k], c->high[k], t)) return false;
    return true;
}

/* Position in sixteenths of a sample: x to the right, y down, from the upper left corner of the picture. */
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

/* Point at share t from a to b. */
static void between(const float a[3], const float b[3], double t, double out[3])
{
    for (int k = 0; k < 3; k++) out[k] = a[k] + t * ((double)b[k] - a[k]);
}

/* Shortens the part t[0] .. t[1] of a line to what lies within FAR of the corner of the picture. Returns false if
 * nothing is left. */
static bool cut_far(const maker *m, const float a[3], const float b[3], double t[2])
{
    double ends[2][3], place[2][2], part[2] = {0, 1}, length = t[1] - t[0];
    for (int e = 0; e < 2; e++) {
        between(a, b, t[e], ends[e]);
        place_of(m, ends[e], place[e]);
    }
    double most = 0;
    for (int i = 0; i < 4; i++) most = fmax(most, fabs(place[i / 2][i % 2]));
    /* most lines lie near the picture; only lines that reach far out need the cut */
    if (most <= FAR) return true;
    for (int k = 0; k < 2; k++)
        if (!narrow(place[0][k], place[1][k] - place[0][k], -FAR, FAR, part)) return false;
    t[1] = t[0] + part[1] * length;
    t[0] += part[0] * length;
    return true;
}

/* Position as integers, in sixteenths of a sample: x to the right, y down from the first row of the strip, z towards
 * the viewer. */
static void project(const maker *m, const double p[3], int64_t out[3])
{
    double place[2];
    place_of(m, p, place);
    out[0] = llround(place[0]);
    out[1] = llround(place[1]) - 16 * m->strip->first;
    out[2] = gls_depth_of(m->camera, p);
}

/* Whether a segment from a to b surely lies outside the strip, also with the width of its tube: both ends are beyond
 * the same edge. */
static bool outside(const maker *m, const int64_t a[3], const int64_t b[3])
{
    int64_t r = (int64_t)(m->strip->radius * 16) + 16, w = (int64_t)m->camera->width * GLS_SAMPLES * 16,
            h = (int64_t)m->strip->rows * 16;
    return (a[0] < -r && b[0] < -r) || (a[1] < -r && b[1] < -r) || (a[0] > w + r && b[0] > w + r) ||
           (a[1] > h + r && b[1] > h + r);
}

/* Colour at share t from a to b. */
static uint32_t mix(uint32_t a, uint32_t b, double t)
{
    uint32_t out = 0;
    for (int shift = 0; shift < 24; shift += 8) {
        double x = a >> shift & 255, y = b >> shift & 255;
        out |= (uint32_t)(x + (y - x) * t + 0.5) << shift;
    }
    return out;
}

/* Adds a segment of at most GLS_SEGMENT_MOST samples, unless it lies outside the strip, and hands the batch on if it is
 * full. */
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
    /* integers from which the kernel finds distances: the unit vector along the segment in units of 2^-14, 2^24 over
     * the length, and the slope, minor over major axis, in units of 2^-16 */
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

/* Finds which of the n pieces of a line may be visible: *first .. *last - 1. */
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

/* Adds a segment of a streamline, cut to what is seen and into pieces short enough for the integers of the kernel. */
static gls_status add_line(maker *m, const float a[3], const float b[3], uint32_t colour_0, uint32_t colour_1)
{
    double t[2], ends[2][3];
    int64_t place[2][3], from[3], to[3], first, last;
    gls_status status = GLS_OK;
    if (!cut(m->camera, a, b, t) || !cut_far(m, a, b, t)) return GLS_OK;
    /* project the ends to integers, then cut the line into pieces of equal length. The ends of a piece are rounded from
     * positions on the whole line, so that neighbouring pieces meet */
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

/* Cuts all streamlines to the camera's box and the strip, and hands on their segments, at most `room` at a time; buffer
 * has space for them. */
static gls_status segments_make(const gls_scene *scene, const gls_camera *camera, const gls_strip *strip,
                                gls_segment_record *buffer, uint32_t room, gls_segment_taker take, void *user)
{
    maker m = {camera, strip, buffer, 0, room, take, user};
    gls_status status = GLS_OK;
    for (size_t line = 0; line < scene->n_lines && !status; line++) {
        uint64_t begin = scene->offset[line], end = scene->offset[line + 1];
        /* a streamline of one point is drawn as a ball, a segment of length 0 */
        if (end - begin == 1)
            status = add_line(&m, scene->point[begin], scene->point[begin], scene->colour[begin], scene->colour[begin]);
        for (uint64_t i = begin + 1; i < end && !status; i++)
            status = add_line(&m, scene->point[i - 1], scene->point[i], scene->colour[i - 1], scene->colour[i]);
    }
    return status || m.n == 0 ? status : take(user, buffer, m.n);
}

/* Largest number of segments in a kernel run. A device with small buffers gets fewer. */
#define BATCH (1u << 17)
/* Radius of occlusion, in samples. */
#define REACH 24
/* Maximum number of loop iterations of an invocation: llvmpipe silently ends a kernel after 65536. */
#define MAX_TURNS 40000
/* Largest radius of a tube, in samples, which keeps the numbers of the kernel within 32 bits. */
#define MAX_RADIUS 400
/* Maximum size of a buffer with one word for each sample; the limit of the device may be lower. */
#define STRIP_BYTES (UINT64_C(64) << 20)

enum {
    BUFFER_SEGMENTS,
    BUFFER_DEPTH,
    BUFFER_COLOUR,
    BUFFER_BACK,
    BUFFER_OUTPUT,
    BUFFER_TUBES,
    BUFFER_RESOLVE,
    N_BUFFERS
};
/* PASS_LAYERS draws transparent tubes in one pass; opaque tubes need the depth first, then the colour. */
enum { PASS_DEPTH, PASS_COLOUR, PASS_LAYERS, N_PASSES };

struct gls_raster {
    /* borrowed */
    gls_device *device;
    /* copy of the style that the caller gave */
    gls_raster_style style;
    /* kernels that draw segments, one for each pass (NULL: the style has no such pass), and the kernel that makes
     * pixels */
    gls_kernel *pass[N_PASSES], *resolve;
    /* buffers on the device, for the size of the last picture */
    gls_buffer *buffer[N_BUFFERS];
    /* the batch of segments that is being filled, in the host's memory */
    gls_segment_record *segments;
    uint32_t batch;  /* largest number of segments in a batch */
    uint32_t *words; /* depth and colour of what lies behind the streamlines: two words for each sample of a strip */
    uint32_t width, height; /* size of the picture for which the buffers were made; 0: none */
    uint32_t strip_rows;    /* rows of the picture in a strip, without margins */
    uint32_t margin;        /* rows of samples above and below a strip */
    gls_tubes_uniforms tubes;
    int current; /* index of the current pass */
};

/* Whether tubes are transparent. */
static bool has_layers(const gls_raster *r)
{
    return r->style.opacity < 1;
}

gls_status gls_raster_create(gls_device *device, const gls_raster_style *style, gls_raster **raster)
{
    static const char *const names[N_PASSES] = {"DEPTH", "COLOUR", "LAYERS"};
    gls_raster *r = calloc(1, sizeof *r);
    gls_status status = GLS_OK;
    /* segments for which a buffer of the device has room */
    uint64_t most = gls_device_get_info(device)->max_storage_bytes / sizeof(gls_segment_record);
    if (!r || !(r->segments = malloc(BATCH * sizeof *r->segments))) {
        gls_raster_destroy(r);
        return gls_fail(GLS_ERR_MEMORY, "out of memory for a picture");
    }
    r->device = device;
    r->batch = most < BATCH ? (uint32_t)most : BATCH;
    r->style = *style;
    r->margin = style->occlusion > 0 && !has_layers(r) ? REACH : 0;
    for (int pass = 0; pass < N_PASSES && !status; pass++) {
        gls_define define = {names[pass], "", false, NULL};
        /* only the kernels of this style are compiled */
        if ((pass == PASS_LAYERS) == has_layers(r))
            status = gls_kernel_load(device, "render/tubes.comp", &define, 1, &r->pass[pass]);
    }
    gls_define layers = {"LAYERS", "", false, "opacity below 1"};
    if (!status) status = gls_kernel_load(device, "render/resolve.comp", &layers, has_layers(r), &r->resolve);
    if (status)
        gls_raster_destroy(r);
    else
        *raster = r;
    return status;
}

/* Frees the buffers on the device, before buffers for another size of picture are made. */
static void free_buffers(gls_raster *r)
{
    for (int i = 0; i < N_BUFFERS; i++) {
        gls_buffer_destroy(r->buffer[i]);
        r->buffer[i] = NULL;
    }
    free(r->words);
    r->words = NULL;
    r->width = r->height = 0;
}

void gls_raster_destroy(gls_raster *r)
{
    if (!r) return;
    free_buffers(r);
    for (int pass = 0; pass < N_PASSES; pass++) gls_kernel_destroy(r->pass[pass]);
    gls_kernel_destroy(r->resolve);
    free(r->segments);
    free(r);
}

/* Creates buffers for pictures of this size. If the buffers of the device are too small, the picture is drawn in
 * strips. */
static gls_status make_buffers(gls_raster *r, uint32_t width, uint32_t height)
{
    static const char *const labels[N_BUFFERS] = {"segments", "depth",  "colour", "backdrop",
                                                  "picture",  "params", "params"};
    if (r->width == width && r->height == height) return GLS_OK;
    free_buffers(r);
    /* transparent pictures need four words a sample: sums of red, green, blue, and the number of tubes */
    uint64_t words = has_layers(r) ? 4 : 1, row = (uint64_t)width * GLS_SAMPLES * 4 * words,
             most = gls_device_get_info(r->device)->max_storage_bytes, rows;
    if (most > STRIP_BYTES * words) most = STRIP_BYTES * words;
    /* rows: the rows of samples that fit into a buffer; then, without the margins, the rows of pixels in a strip */
    rows = most / row;
    rows = rows > 2 * r->margin ? (rows - 2 * r->margin) / GLS_SAMPLES : 0;
    if (rows == 0)
        return gls_fail(GLS_ERR_UNSUPPORTED,
                        "the device's buffers are too small for views of %u pixels a row: give a "
                        "smaller --tile",
                        width);
    r->strip_rows = rows < height ? (uint32_t)rows : height;
    uint64_t samples = (uint64_t)width * GLS_SAMPLES * (r->strip_rows * GLS_SAMPLES + 2 * r->margin);
    const uint64_t bytes[N_BUFFERS] = {r->batch * sizeof *r->segments,
                                       4 * samples,
                                       4 * samples * words,
                                       4 * samples,
                                       4 * (uint64_t)width * r->strip_rows,
                                       sizeof(gls_tubes_uniforms),
                                       sizeof(gls_resolve_uniforms)};
    gls_status status = GLS_OK;
    for (int i = 0; i < N_BUFFERS && !status; i++)
        status = gls_buffer_create(r->device, i >= BUFFER_TUBES ? GLS_BUFFER_UNIFORM : GLS_BUFFER_STORAGE,
                                   (size_t)bytes[i], labels[i], &r->buffer[i]);
    if (!status && !(r->words = malloc(8 * samples))) status = gls_fail(GLS_ERR_MEMORY, "out of memory for a picture");
    if (status) {
        free_buffers(r);
        return status;
    }
    r->width = width;
    r->height = height;
    return GLS_OK;
}

/* Sets the uniforms of render/tubes.comp for a strip. */
static void fill_tubes(gls_raster *r, const gls_strip *strip)
{
    gls_tubes_uniforms *u = &r->tubes;
    uint32_t radius = (uint32_t)lround(fmax(strip->radius * 16, 8));
    *u = (gls_tubes_uniforms){.width = (int)(r->width * GLS_SAMPLES), .height = (int)strip->rows};
    /* the squared radius is shifted into 12 bits, so that products stay within 32 bits */
    u->radius = (int)radius;
    while ((radius * radius) >> u->radius_shift >= 4096) u->radius_shift++;
    u->radius_squared = (radius * radius) >> u->radius_shift;
    u->per_squared = (256u << 14) / u->radius_squared;
    u->shade = r->style.flat ? 0 : 166;
    u->highlight = r->style.flat ? 0 : 64;
    /* number of columns of a tube that one invocation fills: so few that MAX_TURNS is not exceeded even at 45 degrees,
     * where columns are longest */
    u->columns = (int)(MAX_TURNS / (2 * 1.5 * (radius / 16.0) + 4));
}

/* Sets the uniforms of render/resolve.comp for a strip. rows: of pixels, without margins. */
static void fill_resolve(const gls_raster *r, const gls_strip *strip, uint32_t rows, gls_resolve_uniforms *u)
{
    memset(u, 0, sizeof *u);
    u->width = (int)(r->width * GLS_SAMPLES);
    u->height = (int)strip->rows;
    u->phase = (int)(strip->first & 3);
    u->out_width = (int)r->width;
    u->out_height = (int)rows;
    u->margin = (int)r->margin;
    u->occlusion = (uint32_t)lround(256 * r->style.occlusion);
    u->background = r->style.background;
    for (int i = 0; i < 256; i++) {
        /* Sample positions on a spiral; each of the 16 patterns is rotated by another multiple of a sixteenth of a
         * turn. */
        double turn = 6.283185307179586 * ((i % 16 + 0.5) * 0.381966 + (i / 16 * 7 % 16) / 16.0),
               far = REACH * sqrt((i % 16 + 0.5) / 16);
        u->around[i] = (uint32_t)(lround(far * cos(turn)) + 128) | (uint32_t)(lround(far * sin(turn)) + 128) << 8;
    }
    /* alpha of n layers: 1 - (1 - opacity)^n, four values a word */
    uint8_t alpha[1024];
    for (int n = 0; n < 1024; n++) alpha[n] = (uint8_t)lround(255 * (1 - pow(1 - r->style.opacity, n)));
    for (int i = 0; i < 256; i++)
        u->alpha[i] = (uint32_t)alpha[4 * i] | (uint32_t)alpha[4 * i + 1] << 8 | (uint32_t)alpha[4 * i + 2] << 16 |
                      (uint32_t)alpha[4 * i + 3] << 24;
}

/* Draws one batch of segments with the kernel of the current pass. */
static gls_status draw_batch(void *user, const gls_segment_record *records, uint32_t n)
{
    gls_raster *r = user;
    /* several invocations share a wide tube; each draws `columns` of its columns */
    uint32_t widest = (uint32_t)(GLS_SEGMENT_MOST + 2 * (r->tubes.radius / 16) + 3);
    uint32_t parts = (widest + (uint32_t)r->tubes.columns - 1) / (uint32_t)r->tubes.columns;
    const uint32_t groups[3] = {(n + 63) / 64, parts, 1};
    r->tubes.n = n;
    gls_status status = gls_buffer_write(r->buffer[BUFFER_SEGMENTS], 0, n * sizeof *records, records);
    if (!status) status = gls_buffer_write(r->buffer[BUFFER_TUBES], 0, sizeof r->tubes, &r->tubes);
    gls_arg args[] = {gls_arg_buffer(0, r->buffer[BUFFER_SEGMENTS]), gls_arg_buffer(1, r->buffer[BUFFER_DEPTH]),
                      gls_arg_uniforms(0, r->buffer[BUFFER_TUBES]), gls_arg_buffer(2, r->buffer[BUFFER_COLOUR])};
    if (!status) status = gls_kernel_run(r->pass[r->current], groups, args, r->current == PASS_DEPTH ? 3 : 4, NULL);
    return status;
}

/* Clears the colours, and uploads what lies behind the streamlines: slices and glyphs with their depths. planes NULL:
 * nothing lies there. */
static gls_status fill_back(gls_raster *r, const gls_camera *camera, const gls_planes *planes, const gls_strip *strip)
{
    size_t samples = (size_t)r->width * GLS_SAMPLES * strip->rows;
    gls_status status = gls_buffer_clear(r->buffer[BUFFER_COLOUR]);
    if (!planes) {
        if (!status) status = gls_buffer_clear(r->buffer[BUFFER_DEPTH]);
        return status ? status : gls_buffer_clear(r->buffer[BUFFER_BACK]);
    }
    if (!status) status = gls_planes_fill(planes, camera, strip->first, strip->rows, r->words, r->words + samples);
    if (!status) status = gls_buffer_write(r->buffer[BUFFER_DEPTH], 0, 4 * samples, r->words);
    return status ? status : gls_buffer_write(r->buffer[BUFFER_BACK], 0, 4 * samples, r->words + samples);
}

/* Makes pixels from the samples of a strip on the device, and reads the pixels back. */
static gls_status resolve_strip(gls_raster *r, const gls_strip *strip, uint32_t rows, uint8_t *rgba)
{
    gls_resolve_uniforms uniforms;
    fill_resolve(r, strip, rows, &uniforms);
    uint64_t n = ((uint64_t)r->width * rows + 63) / 64;
    const uint32_t groups[3] = {n < 32768 ? (uint32_t)n : 32768, (uint32_t)((n + 32767) / 32768), 1};
    gls_status status = gls_buffer_write(r->buffer[BUFFER_RESOLVE], 0, sizeof uniforms, &uniforms);
    gls_arg args[] = {gls_arg_buffer(0, r->buffer[BUFFER_DEPTH]), gls_arg_buffer(1, r->buffer[BUFFER_COLOUR]),
                      gls_arg_buffer(2, r->buffer[BUFFER_BACK]), gls_arg_buffer(3, r->buffer[BUFFER_OUTPUT]),
                      gls_arg_uniforms(0, r->buffer[BUFFER_RESOLVE])};
    if (!status) status = gls_kernel_run(r->resolve, groups, args, 5, NULL);
    return status ? status : gls_buffer_read(r->buffer[BUFFER_OUTPUT], 0, (size_t)r->width * rows * 4, rgba);
}

/* Draws a strip of the picture: background, then each pass over all segments, then pixels from samples. */
static gls_status draw_strip(gls_raster *r, const gls_scene *scene, const gls_camera *camera, const gls_planes *planes,
                             uint32_t first, uint32_t rows, uint8_t *rgba)
{
    const gls_strip strip = {(int64_t)first * GLS_SAMPLES - r->margin, rows * GLS_SAMPLES + 2 * r->margin,
                             fmin(r->style.radius * GLS_SAMPLES, MAX_RADIUS)};
    fill_tubes(r, &strip);
    gls_status status = fill_back(r, camera, planes, &strip);
    for (r->current = 0; r->current < N_PASSES && !status; r->current++)
        if (r->pass[r->current]) status = segments_make(scene, camera, &strip, r->segments, r->batch, draw_batch, r);
    return status ? status : resolve_strip(r, &strip, rows, rgba);
}

gls_status gls_raster_draw(gls_raster *r, const gls_scene *scene, const gls_camera *camera, const gls_planes *planes,
                           uint8_t *rgba)
{
    gls_device_hold(r->device);
    gls_status status = make_buffers(r, camera->width, camera->height);
    for (uint32_t row = 0; row < camera->height && !status; row += r->strip_rows) {
        uint32_t rows = camera->height - row < r->strip_rows ? camera->height - row : r->strip_rows;
        status = draw_strip(r, scene, camera, planes, row, rows, rgba + (size_t)row * camera->width * 4);
    }
    gls_device_release(r->device);
    return status;
}
