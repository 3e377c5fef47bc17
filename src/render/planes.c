/* Samples images, and draws slices of them. On the slices draws ODFs as glyphs: the distance of a glyph's surface from
 * its centre is proportional to the amplitude in this direction. */

#include <math.h>
#include <stdlib.h>

#include <glslines/odf.h>

#include "render/planes.h"
#include "render/canvas.h"
#include "render/drawing.h"
#include "render/scene_parts.h"
#include "util/maths.h"
#include "util/status.h"

void gls_sampler_init(gls_sampler *sampler, const gls_image *image)
{
    sampler->image = image;
    gls_grid_inverse(&image->grid, sampler->to_voxel);
}

/* Trilinear value at a world position; NAN outside the voxels. */
static double sample(const gls_sampler *s, const double world[3])
{
    const int32_t *dim = s->image->grid.dim;
    double v[3], f[3], sum = 0;
    int64_t i[3];
    gls_affine_apply(s->to_voxel, world, v);
    /* positions up to half a voxel beyond the outermost voxel centres have the value of these centres */
    for (int a = 0; a < 3; a++) {
        if (!(v[a] >= -0.5 && v[a] <= dim[a] - 0.5)) return NAN;
        v[a] = fmin(fmax(v[a], 0), dim[a] - 1);
        i[a] = (int64_t)v[a];
        if (i[a] > dim[a] - 2) i[a] = dim[a] > 1 ? dim[a] - 2 : 0;
        f[a] = v[a] - (double)i[a];
    }
    const size_t row = (size_t)dim[0], slice = row * (size_t)dim[1];
    const size_t step[3] = {dim[0] > 1, dim[1] > 1 ? row : 0, dim[2] > 1 ? slice : 0};
    const float *data = s->image->data + (size_t)i[2] * slice + (size_t)i[1] * row + (size_t)i[0];
    for (unsigned corner = 0; corner < 8; corner++) {
        const unsigned x = corner & 1, y = corner >> 1 & 1, z = corner >> 2;
        const double weight = (x ? f[0] : 1 - f[0]) * (y ? f[1] : 1 - f[1]) * (z ? f[2] : 1 - f[2]);
        if (weight > 0) sum += weight * data[x * step[0] + y * step[1] + z * step[2]];
    }
    return sum;
}

float gls_sampler_at(const gls_sampler *sampler, const float world[3])
{
    const double p[3] = {world[0], world[1], world[2]};
    return (float)sample(sampler, p);
}

gls_status gls_window_choose(const gls_image *image, gls_window *window, bool *flat)
{
    size_t voxels = gls_grid_voxels(&image->grid), n = 0;
    float *sorted = malloc((voxels + 1) * sizeof *sorted);
    if (!sorted) return gls_fail(GLS_ERR_MEMORY, "out of memory to sort the values of %zu voxels", voxels);
    for (size_t i = 0; i < voxels; i++)
        if (isfinite(image->data[i]) && image->data[i] != 0) sorted[n++] = image->data[i];
    double range[2] = {0, 1};
    if (n > 0) gls_quantiles_of_floats(sorted, n, (const double[]){0.02, 0.98}, 2, range);
    window->low = range[0];
    window->high = range[1];
    /* where some voxels are 0 or not finite, as around a mask, black is at most 0 */
    if (n > 0 && n < voxels && window->low > 0) window->low = fmin(window->low, 0);
    *flat = !(window->high > window->low) || n == 0;
    if (*flat && window->low > 0)
        window->low = 0;
    else if (*flat)
        window->high = window->low + 1;
    free(sorted);
    return GLS_OK;
}

/* Finds the point at which the ray through a sample meets the plane across axis a. on: a point of the ray, world mm.
 * Returns false if there is no such point, or if the point lies beyond the borders of the plane. */
static bool meet(const gls_planes *planes, const gls_camera *c, int a, const double on[3], double world[3])
{
    if (fabs(c->toward[a]) < 1e-6) return false;
    double t = (planes->at[a] - on[a]) / c->toward[a];
    for (int k = 0; k < 3; k++) {
        world[k] = k == a ? planes->at[a] : on[k] + t * c->toward[k];
        if (world[k] < planes->low[k] || world[k] > planes->high[k]) return false;
    }
    return true;
}

/* Draws the slices into one row of samples; the nearest slice hides the slices behind it. */
static void fill_row(const gls_planes *planes, const gls_camera *c, int64_t row, uint32_t *depth, uint32_t *colour)
{
    double step = 1 / (c->scale * GLS_SAMPLES), y = (c->height * GLS_SAMPLES / 2.0 - (double)row - 0.5) * step;
    uint32_t width = c->width * GLS_SAMPLES;
    for (uint32_t i = 0; i < width; i++) {
        /* the point of the picture plane under the middle of this sample */
        double x = (i + 0.5 - width / 2.0) * step, on[3], world[3];
        for (int a = 0; a < 3; a++) on[a] = c->centre[a] + x * c->right[a] + y * c->up[a];
        depth[i] = colour[i] = 0;
        for (int a = 0; a < 3; a++) {
            if (!planes->sampler || !planes->shown[a] || !meet(planes, c, a, on, world)) continue;
            double v = sample(planes->sampler, world);
            int64_t z = planes->is_behind ? 1 : gls_depth_of(c, world);
            /* a value of 0 counts as outside the mask of the image, where nothing is drawn */
            if (isnan(v) || v == 0 || (uint32_t)z <= depth[i]) continue;
            double grey = (v - planes->window.low) / (planes->window.high - planes->window.low);
            depth[i] = (uint32_t)z;
            colour[i] = 0xff000000u | gls_colormap_at(GLS_GREY, grey);
        }
    }
}

/* --- Glyphs. */

/* Rings and meridians of a glyph, 7.5 degrees apart: less than half the width of a lobe of order 8. */
#define RINGS 25
#define MERIDIANS 48
#define VERTICES (RINGS * MERIDIANS)
/* Share of glyphs that stay within their voxel. Larger glyphs are cut at twice the radius of a glyph that fills its
 * voxel. */
#define FITTING 0.9
/* Glyphs whose largest radius is below this share of half a voxel are left out. */
#define SMALLEST 0.1
/* Depth of glyphs that are drawn behind all streamlines. Depth grows towards the viewer; that of every streamline is
 * larger. */
#define BEHIND (1 << 24)
/* Rows of samples that a thread draws at a time. */
#define BAND 64
#define PI 3.14159265358979323846

struct gls_glyphs {
    gls_image *sh; /* SH coefficients of the ODFs: basis tournier07, along the world axes */
    /* number of coefficients of a voxel */
    size_t n_coefficients;
    double direction[VERTICES][3]; /* unit vectors of the sphere's vertices, in world axes */
    double *matrix;                /* VERTICES x n_coefficients: amplitudes at the vertices, from coefficients */
    double half;                   /* half of the smallest edge of a voxel, mm */
};

/* One glyph of a slice. */
typedef struct glyph {
    /* world mm */
    double centre[3];
    float radius[VERTICES]; /* distance of each vertex from the centre: first the ODF's amplitude, then scaled to mm */
    /* largest value of radius[] */
    double most;
} glyph;

/* A vertex on the picture. */
typedef struct corner {
    double x, y; /* position on the picture, in samples */
    double z;    /* depth, as gls_depth_of() */
} corner;

/* Computes the directions of the vertices, and the matrix from coefficients along the world axes to amplitudes. */
static gls_status make_matrix(gls_glyphs *g)
{
    int order = gls_sh_order(g->sh->n_volumes), full = gls_sh_full_order(g->sh->n_volumes);
    const double(*at)[3] = (const double(*)[3])g->direction;
    for (int i = 0; i < VERTICES; i++) {
        double polar = PI * (i / MERIDIANS) / (RINGS - 1), around = 2 * PI * (i % MERIDIANS) / MERIDIANS;
        g->direction[i][0] = sin(polar) * cos(around);
        g->direction[i][1] = sin(polar) * sin(around);
        g->direction[i][2] = cos(polar);
    }
    g->matrix = malloc(VERTICES * g->n_coefficients * sizeof *g->matrix);
    if (!g->matrix) return gls_fail(GLS_ERR_MEMORY, "out of memory for glyphs");
    return order >= 0 ? gls_sh_matrix(GLS_SH_TOURNIER07, order, at, VERTICES, g->matrix)
                      : gls_sh_full_matrix(GLS_SH_TOURNIER07, full, at, VERTICES, g->matrix);
}

gls_status gls_glyphs_create(const gls_image *sh, const char *name, gls_sh_basis basis, gls_bvec_frame frame,
                             gls_glyphs **glyphs)
{
    gls_glyphs *g = calloc(1, sizeof *g);
    if (!g) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory for glyphs", name);
    g->n_coefficients = sh->n_volumes;
    g->half = fmin(fmin(sh->grid.voxel_size[0], sh->grid.voxel_size[1]), sh->grid.voxel_size[2]) / 2;
    gls_status status = gls_odf_convert_sh(sh, name, basis, frame, GLS_SH_TOURNIER07, GLS_BVEC_WORLD, &g->sh);
    if (!status) status = make_matrix(g);
    if (status)
        gls_glyphs_destroy(g);
    else
        *glyphs = g;
    return status;
}

void gls_glyphs_destroy(gls_glyphs *glyphs)
{
    if (!glyphs) return;
    gls_image_destroy(glyphs->sh);
    free(glyphs->matrix);
    free(glyphs);
}

/* --- The glyphs of a slice -------------------------------------------------- */

/* Stores the amplitudes of a voxel's ODF at the vertices; those below 0 become 0. Returns false if none is above 0, or
 * one is not finite. */
static bool sample_glyph(const gls_glyphs *g, const int64_t voxel[3], glyph *out)
{
    const int32_t *dim = g->sh->grid.dim;
    size_t at = (size_t)((voxel[2] * dim[1] + voxel[1]) * dim[0] + voxel[0]), voxels = gls_grid_voxels(&g->sh->grid);
    const double index[3] = {(double)voxel[0], (double)voxel[1], (double)voxel[2]};
    out->most = 0;
    for (int i = 0; i < VERTICES; i++) {
        double sum = 0;
        for (size_t j = 0; j < g->n_coefficients; j++)
            sum += g->matrix[(size_t)i * g->n_coefficients + j] * g->sh->data[j * voxels + at];
        if (!isfinite(sum)) return false;
        out->radius[i] = (float)fmax(sum, 0);
        out->most = fmax(out->most, sum);
    }
    gls_affine_apply(g->sh->grid.affine, index, out->centre);
    return out->most > 0;
}

/* Voxel axis that is most parallel to a world axis, by the cosine between them. */
static int axis_along(const gls_grid *grid, int world)
{
    int best = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(grid->affine[world][k] / grid->voxel_size[k]) >
            fabs(grid->affine[world][best] / grid->voxel_size[best]))
            best = k;
    return best;
}

/* Whether a point lies within the limits of the plane across `axis`; world mm. */
static bool is_inside(const gls_planes *planes, int axis, const double p[3])
{
    for (int a = 0; a < 3; a++)
        if (a != axis && (p[a] < planes->low[a] || p[a] > planes->high[a])) return false;
    return true;
}

/* Appends the glyphs of the voxels that the plane across a world axis meets. *n: number of glyphs so far. */
static void collect(const gls_planes *planes, int axis, glyph *out, size_t *n)
{
    const gls_grid *grid = &planes->glyphs->sh->grid;
    int k = axis_along(grid, axis), u = (k + 1) % 3, v = (k + 2) % 3;
    for (int64_t i = 0; i < grid->dim[u]; i++)
        for (int64_t j = 0; j < grid->dim[v]; j++) {
            const double *row = grid->affine[axis];
            double at = (planes->at[axis] - row[3] - row[u] * (double)i - row[v] * (double)j) / row[k];
            int64_t voxel[3];
            /* at: position on axis k at which the row of voxels (i, j) meets the plane */
            if (!(at >= -0.5 && at < grid->dim[k] - 0.5)) continue;
            voxel[u] = i;
            voxel[v] = j;
            voxel[k] = llround(floor(at + 0.5));
            if (sample_glyph(planes->glyphs, voxel, &out[*n]) && is_inside(planes, axis, out[*n].centre)) ++*n;
        }
}

/* Calls take() for each voxel that the plane across a world axis meets within the limits, at every step-th place of
 * its rows and columns. */
static void walk(const gls_glyphs *g, const gls_glyph_window *w, int step,
                 void (*take)(const gls_glyphs *g, const int64_t voxel[3], gls_glyph_list *list), gls_glyph_list *list)
{
    const gls_grid *grid = &g->sh->grid;
    const double *row = grid->affine[w->axis];
    const int k = axis_along(grid, w->axis), u = (k + 1) % 3, v = (k + 2) % 3;
    for (int64_t i = 0; i < grid->dim[u]; i += step)
        for (int64_t j = 0; j < grid->dim[v]; j += step) {
            const double at = (w->at - row[3] - row[u] * (double)i - row[v] * (double)j) / row[k];
            double centre[3];
            int64_t voxel[3];
            if (!(at >= -0.5 && at < grid->dim[k] - 0.5)) continue;
            voxel[u] = i;
            voxel[v] = j;
            voxel[k] = llround(floor(at + 0.5));
            gls_affine_apply(grid->affine, (const double[]){(double)voxel[0], (double)voxel[1], (double)voxel[2]},
                             centre);
            bool inside = true;
            for (int a = 0; a < 3; a++)
                inside = inside && (a == w->axis || (centre[a] >= w->low[a] && centre[a] <= w->high[a]));
            if (inside) take(g, voxel, list);
        }
}

static void count_glyph(const gls_glyphs *g, const int64_t voxel[3], gls_glyph_list *list)
{
    (void)g;
    (void)voxel;
    list->n++;
}

/* Appends a glyph; there is room for it. */
static void take_glyph(const gls_glyphs *g, const int64_t voxel[3], gls_glyph_list *list)
{
    glyph one;
    if (!sample_glyph(g, voxel, &one)) return;
    for (int a = 0; a < 3; a++) list->centre[list->n][a] = (float)one.centre[a];
    list->most[list->n] = (float)one.most;
    for (int i = 0; i < VERTICES; i++)
        list->radius[list->n * VERTICES + (size_t)i] = (uint8_t)lround(255 * one.radius[i] / one.most);
    list->n++;
}

gls_status gls_glyphs_list(const gls_glyphs *g, const gls_glyph_window *w, size_t most, gls_glyph_list *list)
{
    int step = 0;
    *list = (gls_glyph_list){.rings = RINGS, .meridians = MERIDIANS};
    do {
        list->n = 0;
        walk(g, w, ++step, count_glyph, list);
    } while (list->n > most);
    const size_t n = list->n;
    list->n = 0;
    list->centre = malloc((n + 1) * sizeof *list->centre);
    list->most = malloc((n + 1) * sizeof *list->most);
    list->radius = malloc((n + 1) * VERTICES);
    if (!list->centre || !list->most || !list->radius) return gls_no_memory();
    walk(g, w, step, take_glyph, list);
    list->half = (float)(g->half * step);
    double unit = 1;
    float *sorted = malloc((list->n + 1) * sizeof *sorted);
    if (!sorted) return gls_no_memory();
    for (size_t i = 0; i < list->n; i++) sorted[i] = list->most[i];
    if (list->n > 0) gls_quantiles_of_floats(sorted, list->n, (const double[]){FITTING}, 1, &unit);
    free(sorted);
    list->unit = (float)unit;
    list->step = step;
    return GLS_OK;
}

void gls_glyphs_list_finish(gls_glyph_list *list)
{
    free(list->centre);
    free(list->most);
    free(list->radius);
    *list = (gls_glyph_list){.n = 0};
}

/* Scales the radii of the glyphs from amplitudes to mm, so that nearly all glyphs fit into their voxels. */
static gls_status scale(const gls_glyphs *g, glyph *list, size_t n)
{
    /* the FITTING quantile of the glyphs' largest radii becomes half a voxel; radii are cut at twice this length */
    float *sorted = malloc((n + 1) * sizeof *sorted);
    double most = 1;
    if (!sorted) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu glyphs", n);
    for (size_t i = 0; i < n; i++) sorted[i] = (float)list[i].most;
    if (n > 0) gls_quantiles_of_floats(sorted, n, (const double[]){FITTING}, 1, &most);
    free(sorted);
    for (size_t i = 0; i < n; i++) {
        for (int k = 0; k < VERTICES; k++) list[i].radius[k] = (float)(g->half * fmin(list[i].radius[k] / most, 2));
        list[i].most = g->half * fmin(list[i].most / most, 2);
    }
    return GLS_OK;
}

/* --- Surfaces --------------------------------------------------------------- */

/* The rows of samples that one thread fills, and what the thread draws into them. */
typedef struct band {
    /* slices that have glyphs */
    const gls_planes *planes;
    const gls_camera *camera;
    /* first row of samples, which may lie above the picture */
    int64_t first;
    /* number of rows */
    uint32_t rows;
    /* depth and colour of each sample of the band, row after row */
    uint32_t *depth, *colour;
} band;

/* Dot product of two vectors. */
static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Colour of a direction on a surface with this normal, with light from the viewer. */
static uint32_t shade(const double direction[3], const double normal[3], const gls_camera *c)
{
    double size = sqrt(dot(normal, normal)), light = size > 0 ? fabs(dot(normal, c->toward)) / size : 1;
    /* 0.3 of the light reaches every side; the rest falls with the angle between the normal and the viewer */
    uint32_t rgb = gls_colour_of_direction(direction), out = 0xff000000u;
    for (int shift = 0; shift < 24; shift += 8)
        out |= (uint32_t)((rgb >> shift & 255) * (0.3 + 0.7 * light) + 0.5) << shift;
    return out;
}

/* Fills the samples of a triangle that lie in the band and nearer to the viewer than what was drawn there before. */
static void fill_triangle(const band *b, const corner *p, const corner *q, const corner *r, uint32_t colour)
{
    double area = (q->x - p->x) * (r->y - p->y) - (r->x - p->x) * (q->y - p->y);
    int64_t width = (int64_t)b->camera->width * GLS_SAMPLES;
    int64_t x0 = (int64_t)floor(fmin(fmin(p->x, q->x), r->x)), x1 = (int64_t)ceil(fmax(fmax(p->x, q->x), r->x));
    int64_t y0 = (int64_t)floor(fmin(fmin(p->y, q->y), r->y)), y1 = (int64_t)ceil(fmax(fmax(p->y, q->y), r->y));
    if (area == 0) return;
    for (int64_t y = y0 > b->first ? y0 : b->first; y <= y1 && y < b->first + b->rows; y++)
        for (int64_t x = x0 > 0 ? x0 : 0; x <= x1 && x < width; x++) {
            double sx = (double)x + 0.5, sy = (double)y + 0.5;
            /* barycentric coordinates of the middle of the sample */
            double s = ((sx - p->x) * (r->y - p->y) - (r->x - p->x) * (sy - p->y)) / area;
            double t = ((q->x - p->x) * (sy - p->y) - (sx - p->x) * (q->y - p->y)) / area;
            if (s < 0 || t < 0 || s + t > 1) continue;
            size_t at = (size_t)(y - b->first) * (size_t)width + (size_t)x;
            uint32_t z = (uint32_t)llround(p->z + s * (q->z - p->z) + t * (r->z - p->z));
            if (z <= b->depth[at]) continue;
            b->depth[at] = z;
            b->colour[at] = colour;
        }
}

/* Draws a glyph: its surface as quadrilaterals between rings and meridians, lit by their slope. */
static void draw_glyph(const band *b, const glyph *g)
{
    const gls_camera *c = b->camera;
    const double(*direction)[3] = (const double(*)[3])b->planes->glyphs->direction;
    double unit = c->scale * GLS_SAMPLES, offset[3], world[VERTICES][3];
    corner on[VERTICES];
    /* position of the centre in samples; glyphs outside the band and the picture are left out */
    for (int a = 0; a < 3; a++) offset[a] = g->centre[a] - c->centre[a];
    double x = dot(offset, c->right) * unit + c->width * GLS_SAMPLES / 2.0,
           y = c->height * GLS_SAMPLES / 2.0 - dot(offset, c->up) * unit, reach = g->most * unit + 1;
    double z = b->planes->is_behind ? BEHIND : (double)gls_depth_of(c, g->centre);
    if (y + reach < (double)b->first || y - reach > (double)(b->first + b->rows) || x + reach < 0 ||
        x - reach > c->width * (double)GLS_SAMPLES)
        return;
    /* vertices in samples, with depth in sixteenths of a sample, as gls_depth_of() */
    for (int i = 0; i < VERTICES; i++) {
        for (int a = 0; a < 3; a++) world[i][a] = g->radius[i] * direction[i][a];
        on[i] = (corner){x + dot(world[i], c->right) * unit, y - dot(world[i], c->up) * unit,
                         z + 16 * dot(world[i], c->toward) * unit};
    }
    for (int ring = 0; ring + 1 < RINGS; ring++)
        for (int m = 0; m < MERIDIANS; m++) {
            int p = ring * MERIDIANS + m, q = ring * MERIDIANS + (m + 1) % MERIDIANS, r = p + MERIDIANS,
                s = q + MERIDIANS;
            double d1[3], d2[3], middle[3];
            for (int a = 0; a < 3; a++) {
                /* d1, d2: diagonals of the quadrilateral, whose cross product is its normal */
                d1[a] = world[s][a] - world[p][a];
                d2[a] = world[r][a] - world[q][a];
                middle[a] = direction[p][a] + direction[s][a];
            }
            const double normal[3] = {d1[1] * d2[2] - d1[2] * d2[1], d1[2] * d2[0] - d1[0] * d2[2],
                                      d1[0] * d2[1] - d1[1] * d2[0]};
            uint32_t colour = shade(middle, normal, c);
            fill_triangle(b, &on[p], &on[q], &on[r], colour);
            fill_triangle(b, &on[q], &on[s], &on[r], colour);
        }
}

/* Draws the glyphs of the planes over depths and colours of their slices. All glyphs of a view have one scale. */
static gls_status fill_glyphs(const gls_planes *planes, const gls_camera *camera, int64_t first, uint32_t rows,
                              uint32_t *depth, uint32_t *colour)
{
    if (!planes->glyphs) return GLS_OK;
    const int32_t *dim = planes->glyphs->sh->grid.dim;
    /* room: an upper bound of the number of glyphs, all voxels of each shown plane */
    size_t n = 0, width = (size_t)camera->width * GLS_SAMPLES, room = 1;
    for (int a = 0; a < 3; a++) {
        int k = axis_along(&planes->glyphs->sh->grid, a);
        if (planes->shown[a]) room += (size_t)dim[(k + 1) % 3] * (size_t)dim[(k + 2) % 3];
    }
    glyph *list = malloc(room * sizeof *list);
    if (!list) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu glyphs", room);
    for (int a = 0; a < 3; a++)
        if (planes->shown[a]) collect(planes, a, list, &n);
    gls_status status = scale(planes->glyphs, list, n);
    /* each thread has rows of its own, in which it draws all glyphs in their order */
#pragma omp parallel for schedule(dynamic)
    for (uint32_t from = 0; from < (status ? 0 : rows); from += BAND) {
        const band b = {planes,
                        camera,
                        first + from,
                        rows - from < BAND ? rows - from : BAND,
                        depth + from * width,
                        colour + from * width};
        for (size_t i = 0; i < n; i++)
            if (list[i].most >= SMALLEST * planes->glyphs->half) draw_glyph(&b, &list[i]);
    }
    free(list);
    return status;
}

gls_status gls_planes_fill(const gls_planes *planes, const gls_camera *camera, int64_t first, uint32_t rows,
                           uint32_t *depth, uint32_t *colour)
{
    size_t width = (size_t)camera->width * GLS_SAMPLES;
#pragma omp parallel for schedule(static)
    for (uint32_t row = 0; row < rows; row++)
        fill_row(planes, camera, first + row, depth + row * width, colour + row * width);
    return fill_glyphs(planes, camera, first, rows, depth, colour);
}
