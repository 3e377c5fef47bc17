/* Painting on the slices of the window. The server paints, because it alone has all values of the image: pages send the
 * way of the brush, and get the voxels. */
#include "view/paint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/grid.h"
#include "image/region_area.h"
#include "util/json_text.h"
#include "util/maths.h"
#include "util/status.h"

/* Largest number of voxels of an image on which pages paint: their texture has a byte for each. */
#define MAX_VOXELS 67108864
/* Largest number of runs of a region, of regions that are kept, and of runs of all of them: 64 MiB. */
#define MAX_RUNS ((size_t)1 << 20)
#define MAX_MASKS 4096
#define MAX_ALL_RUNS ((uint64_t)8 << 20)

/* The grid of a region on an image: the file of a region has float32, and the region lies where its file says. */
static gls_status grid_stored(const gls_grid *grid, gls_grid *stored)
{
    double affine[3][4];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++) affine[r][c] = (double)(float)grid->affine[r][c];
    gls_status status = gls_grid_init(stored, grid->dim, (const double(*)[4])affine);
    stored->space = grid->space;
    return status;
}

void gls_view_paint_begin(gls_view_paint *paint, const gls_grid *grid, const char *path, const gls_image *image)
{
    *paint = (gls_view_paint){.path = path, .image = path ? NULL : image, .go_on = paint->go_on};
    paint->possible = gls_grid_voxels(grid) <= MAX_VOXELS && grid_stored(grid, &paint->grid) == GLS_OK;
}

/* --- Regions. */

/* The region with a number; NULL: there is none. */
static gls_view_mask *find(const gls_view_paint *p, uint32_t number)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->mask[i].number == number) return &p->mask[i];
    return NULL;
}

/* Forgets a region. */
static void forget(gls_view_paint *p, gls_view_mask *mask)
{
    p->n_runs -= mask->n;
    free(mask->run);
    *mask = p->mask[--p->n];
}

gls_status gls_view_paint_find(gls_view_paint *p, uint32_t number, const gls_view_mask **mask)
{
    gls_view_mask *found = find(p, number);
    if (!found) return gls_fail(GLS_ERR_ARGUMENT, "a painted region is not known any more: load the page again");
    if (found->voxels == 0) return gls_fail(GLS_ERR_ARGUMENT, "a painted region is empty: paint, or remove it");
    found->used = ++p->n_requests;
    *mask = found;
    return GLS_OK;
}

void gls_view_mask_fill(const gls_view_mask *mask, uint8_t *inside)
{
    for (size_t i = 0; i < mask->n; i++) memset(inside + mask->run[i].first, 1, mask->run[i].n);
}

gls_status gls_view_mask_area(const gls_view_mask *mask, const gls_grid *grid, gls_region_area *area)
{
    *area = (gls_region_area){.grid = *grid, .voxels = mask->voxels, .inside = calloc(gls_grid_voxels(grid), 1)};
    if (!area->inside) return gls_no_memory();
    gls_view_mask_fill(mask, area->inside);
    return GLS_OK;
}

gls_status gls_view_mask_copy(const gls_view_mask *mask, gls_view_mask *copy)
{
    *copy = *mask;
    copy->run = malloc((mask->n + 1) * sizeof *copy->run);
    if (!copy->run) return gls_no_memory();
    memcpy(copy->run, mask->run, mask->n * sizeof *copy->run);
    return GLS_OK;
}

/* Finds the runs of voxels that are inside. */
static gls_status find_runs(const uint8_t *inside, size_t n, gls_view_mask *mask)
{
    const uint8_t *end = inside + n;
    size_t room = 0;
    for (const uint8_t *at = inside; at < end && (at = memchr(at, 1, (size_t)(end - at)));) {
        const uint8_t *first = at;
        if (mask->n == MAX_RUNS)
            return gls_fail(GLS_ERR_ARGUMENT, "a painted region may have %zu runs of voxels: paint less", MAX_RUNS);
        if (mask->n == room) {
            room = 2 * room + 64;
            gls_view_run *run = realloc(mask->run, room * sizeof *run);
            if (!run) return gls_no_memory();
            mask->run = run;
        }
        while (at < end && *at) at++;
        mask->run[mask->n++] = (gls_view_run){(uint32_t)(first - inside), (uint32_t)(at - first)};
        mask->voxels += (uint64_t)(at - first);
    }
    return GLS_OK;
}

/* Adds the region of the voxels that are inside, in place of the region `replaced`; NULL: of none. Regions that were
 * not used for longest make room. */
static gls_status add(gls_view_paint *p, const uint8_t *inside, gls_view_mask *replaced, const gls_view_mask **added)
{
    gls_view_mask mask = {.used = ++p->n_requests};
    gls_status status = find_runs(inside, gls_grid_voxels(&p->grid), &mask);
    if (!status && !p->mask && !(p->mask = malloc(MAX_MASKS * sizeof *p->mask))) status = gls_no_memory();
    if (status) {
        free(mask.run);
        return status;
    }
    if (replaced) forget(p, replaced);
    while (p->n == MAX_MASKS || (p->n > 0 && p->n_runs + mask.n > MAX_ALL_RUNS)) {
        gls_view_mask *oldest = p->mask;
        for (size_t i = 1; i < p->n; i++)
            if (p->mask[i].used < oldest->used) oldest = &p->mask[i];
        forget(p, oldest);
    }
    mask.number = ++p->last;
    p->n_runs += mask.n;
    p->mask[p->n] = mask;
    *added = &p->mask[p->n++];
    return GLS_OK;
}

/* --- Strokes. */

/* A stroke that is painted. */
typedef struct stroke {
    const gls_view_paint *paint;
    const gls_view_request *request;
    uint8_t *inside;
    double half[3]; /* from the centre of a voxel to its farthest corner, along the axes of the world, mm */
} stroke;

/* Whether a voxel with this centre, world mm, may be changed: the slice at `at` cuts it, if the brush is flat, and its
 * value is wanted. */
static bool may_change(const stroke *s, size_t voxel, const double centre[3], const double *at)
{
    const gls_view_request *r = s->request;
    const int axis = r->plane;
    const double value = s->paint->image->data[voxel];
    /* a slice on the face between two voxels shows the upper one, as the page draws it */
    const double off = axis >= 0 ? centre[axis] - at[axis] : 0;
    if (axis >= 0 && !(off > -s->half[axis] && off <= s->half[axis])) return false;
    return isinf(r->low) && isinf(r->high) ? true : value >= r->low && value <= r->high;
}

/* The square of the distance of a point from the line from a to b, mm^2. */
static double away(const double p[3], const double a[3], const double b[3])
{
    double along = 0, length = 0, sum = 0;
    for (int i = 0; i < 3; i++) {
        along += (p[i] - a[i]) * (b[i] - a[i]);
        length += (b[i] - a[i]) * (b[i] - a[i]);
    }
    const double share = length > 0 ? fmin(fmax(along / length, 0), 1) : 0;
    for (int i = 0; i < 3; i++) sum += pow(p[i] - a[i] - share * (b[i] - a[i]), 2);
    return sum;
}

/* Voxels that hold all that the brush of r mm changes on the line from a to b: from low to high. A flat brush reaches
 * its r mm in the slice, and as far across it as half a voxel. */
static void find_reach(const stroke *s, const double a[3], const double b[3], double r, int low[3], int high[3])
{
    const gls_grid *grid = &s->paint->grid;
    double inverse[3][4], from[3], to[3];
    gls_grid_inverse(grid, inverse);
    gls_affine_apply((const double(*)[4])inverse, a, from);
    gls_affine_apply((const double(*)[4])inverse, b, to);
    for (int i = 0; i < 3; i++) {
        double square = 0, across = 0;
        for (int k = 0; k < 3; k++) {
            if (k == s->request->plane)
                across = fabs(inverse[i][k]) * s->half[k];
            else
                square += inverse[i][k] * inverse[i][k];
        }
        const double reach = r * sqrt(square) + across;
        low[i] = (int)fmin(fmax(floor(fmin(from[i], to[i]) - reach), 0), grid->dim[i]);
        high[i] = (int)fmin(fmax(ceil(fmax(from[i], to[i]) + reach), -1), grid->dim[i] - 1);
    }
}

/* Moves the brush from a to `to`; a flat one stays in the slice of a. */
static void brush(const stroke *s, const double a[3], const double to[3])
{
    const gls_grid *grid = &s->paint->grid;
    const double r = s->request->radius;
    double b[3] = {to[0], to[1], to[2]};
    int low[3], high[3];
    if (s->request->plane >= 0) b[s->request->plane] = a[s->request->plane];
    find_reach(s, a, b, r, low, high);
    for (int z = low[2]; z <= high[2]; z++)
        for (int y = low[1]; y <= high[1]; y++)
            for (int x = low[0]; x <= high[0]; x++) {
                const size_t voxel = ((size_t)z * (size_t)grid->dim[1] + (size_t)y) * (size_t)grid->dim[0] + (size_t)x;
                const double v[3] = {x, y, z};
                double centre[3];
                gls_affine_apply(grid->affine, v, centre);
                /* a brush of a millimetre paints thicker slices, too: the way to them does not count */
                if (s->request->plane >= 0) centre[s->request->plane] = a[s->request->plane];
                if (away(centre, a, b) > r * r) continue;
                gls_affine_apply(grid->affine, v, centre);
                if (may_change(s, voxel, centre, a)) s->inside[voxel] = s->request->adds;
            }
}

/* The voxel at a place, world mm. */
static gls_status voxel_at(const stroke *s, const double place[3], size_t *voxel)
{
    double inverse[3][4], at[3];
    gls_grid_inverse(&s->paint->grid, inverse);
    gls_affine_apply((const double(*)[4])inverse, place, at);
    if (gls_region_voxel_at(&s->paint->grid, at, voxel)) return GLS_OK;
    return gls_fail(GLS_ERR_ARGUMENT, "nothing is painted: the place is outside the image");
}

/* Moves the brush along its way. It paints at least the voxels of its places. */
static gls_status paint_way(const stroke *s)
{
    const gls_view_request *r = s->request;
    for (size_t i = 0; i < r->n_points; i++) {
        size_t voxel;
        double v[3], centre[3];
        if (s->paint->go_on && !s->paint->go_on()) return gls_fail(GLS_ERR_CANCELLED, "painting: interrupted");
        brush(s, r->point[i > 0 ? i - 1 : 0], r->point[i]);
        if (voxel_at(s, r->point[i], &voxel)) continue;
        gls_region_centre(&s->paint->grid, voxel, v);
        gls_affine_apply(s->paint->grid.affine, v, centre);
        if (may_change(s, voxel, centre, r->point[i])) s->inside[voxel] = r->adds;
    }
    return GLS_OK;
}

/* Changes the voxels that hang together with that of the place, through their faces: those that are not painted and
 * have wanted values, or, to erase, those that are painted. */
static gls_status paint_part(const stroke *s)
{
    const gls_view_request *r = s->request;
    const gls_grid *grid = &s->paint->grid;
    const size_t step[3] = {1, (size_t)grid->dim[0], (size_t)grid->dim[0] * (size_t)grid->dim[1]};
    const double *at = r->point[0];
    uint32_t *waiting = NULL;
    size_t n = 0, room = 0, voxel;
    double v[3], centre[3];
    gls_status status = voxel_at(s, at, &voxel);
    if (status) return status;
    gls_region_centre(grid, voxel, v);
    gls_affine_apply(grid->affine, v, centre);
    if (s->inside[voxel] == r->adds)
        return gls_fail(GLS_ERR_ARGUMENT, "this place is %s", r->adds ? "painted already" : "not painted");
    if (!may_change(s, voxel, centre, at))
        return gls_fail(GLS_ERR_ARGUMENT, "the value of this place, %.5g, is not within the limits",
                        (double)s->paint->image->data[voxel]);
    for (size_t next = voxel;; next = waiting[--n]) {
        if (n + 8 > room) {
            room = 2 * room + 1024;
            uint32_t *more = realloc(waiting, room * sizeof *more);
            if (!more) status = gls_no_memory();
            if (!more) break;
            waiting = more;
        }
        s->inside[next] = r->adds;
        gls_region_centre(grid, next, v);
        for (int k = 0; k < 6; k++) {
            const int axis = k / 2, way = k % 2 ? 1 : -1;
            if (v[axis] + way < 0 || v[axis] + way >= grid->dim[axis]) continue;
            const size_t other = way > 0 ? next + step[axis] : next - step[axis];
            double w[3] = {v[0], v[1], v[2]};
            w[axis] += way;
            gls_affine_apply(grid->affine, w, centre);
            if (s->inside[other] == r->adds || !may_change(s, other, centre, at)) continue;
            s->inside[other] = r->adds;
            waiting[n++] = (uint32_t)other;
        }
        if (n == 0) break;
    }
    free(waiting);
    return status;
}

/* Reads the image, at the first stroke. */
static gls_status need_image(gls_view_paint *p)
{
    if (!p->possible)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "nothing to paint on: give 'glslines view' an image of up to %d voxels, and no --transform",
                        MAX_VOXELS);
    if (p->image) return GLS_OK;
    gls_grid now = {.dim = {0}};
    gls_status status = gls_image_read(p->path, GLS_IMAGE_ANY, &p->read);
    if (!status && (grid_stored(&p->read->grid, &now) != GLS_OK || !gls_grid_same(&now, &p->grid))) {
        status = gls_fail(GLS_ERR_INPUT, "%s: has changed: start 'glslines view' again", p->path);
        gls_image_destroy(p->read);
        p->read = NULL;
    }
    p->image = p->read;
    return status;
}

/* Appends the answer. */
static gls_status answer(const gls_view_mask *mask, const gls_view_request *request, gls_text *json, gls_text *runs)
{
    cJSON *root = gls_view_answer_begin(request->id, "paint");
    gls_json_uint(root, "mask", mask->number);
    gls_json_uint(root, "voxels", mask->voxels);
    gls_view_answer_head(request->id, 3, (uint32_t)mask->n, runs);
    for (size_t i = 0; i < mask->n; i++) {
        gls_view_put32(mask->run[i].first, runs);
        gls_view_put32(mask->run[i].n, runs);
    }
    gls_status status = gls_view_answer_end(root, json);
    return !status && runs->failed ? gls_no_memory() : status;
}

gls_status gls_view_paint_stroke(gls_view_paint *p, const gls_view_request *request, gls_text *json, gls_text *runs)
{
    gls_view_mask *before = find(p, request->mask);
    const gls_view_mask *mask = NULL;
    stroke s = {.paint = p, .request = request};
    gls_status status = need_image(p);
    if (!status && request->mask > 0 && !before) status = gls_view_paint_find(p, request->mask, &mask);
    if (!status && !(s.inside = calloc(gls_grid_voxels(&p->grid), 1))) status = gls_no_memory();
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < 3; c++) s.half[a] += fabs(p->grid.affine[a][c]) / 2;
    if (!status && before) gls_view_mask_fill(before, s.inside);
    if (!status) status = request->whole_part ? paint_part(&s) : paint_way(&s);
    if (!status) status = add(p, s.inside, request->replaces ? before : NULL, &mask);
    if (!status) status = answer(mask, request, json, runs);
    free(s.inside);
    return status;
}

gls_status gls_view_paint_show(gls_view_paint *p, const gls_view_request *request, gls_text *json, gls_text *runs)
{
    const gls_view_mask *mask = NULL;
    gls_status status = gls_view_paint_find(p, request->mask, &mask);
    return status ? status : answer(mask, request, json, runs);
}

void gls_view_paint_end(gls_view_paint *p)
{
    for (size_t i = 0; i < p->n; i++) free(p->mask[i].run);
    free(p->mask);
    gls_image_destroy(p->read);
    *p = (gls_view_paint){.possible = false};
}
