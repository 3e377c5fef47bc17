/* Finds where streamlines enter and leave regions. All regions of one grid share an image (a layer of gls_region_store)
 * that has for each voxel the index of its set of regions, so that a streamline is followed once for each grid, not
 * once for each region. */
#include "tracts/rois.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/region_area.h"
#include "image/region_store.h"
#include "tracts/roi_distance.h"
#include "tracts/walk.h"
#include "transform/bring.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text.h"

/* --- Splits an image that holds both ends of a bundle into two blobs. ---- */

/* Gives the label `mark` to all voxels that are connected to voxel `from`. Returns how many these are. stack: memory
 * for all voxels. */
static uint64_t flood(const gls_region_area *area, uint32_t *number, uint32_t mark, size_t from, size_t *stack)
{
    const int32_t *dim = area->grid.dim;
    const size_t nx = (size_t)dim[0], ny = (size_t)dim[1];
    uint64_t size = 0;
    size_t n = 0;
    stack[n++] = from;
    number[from] = mark;
    while (n > 0) {
        size_t v = stack[--n];
        int32_t at[3] = {(int32_t)(v % nx), (int32_t)(v / nx % ny), (int32_t)(v / nx / ny)};
        size++;
        for (int k = 0; k < 27; k++) {
            int32_t x = at[0] + k % 3 - 1, y = at[1] + k / 3 % 3 - 1, z = at[2] + k / 9 - 1;
            if (x < 0 || y < 0 || z < 0 || x >= dim[0] || y >= dim[1] || z >= dim[2]) continue;
            size_t w = ((size_t)z * ny + (size_t)y) * nx + (size_t)x;
            if (!area->inside[w] || number[w]) continue;
            number[w] = mark;
            stack[n++] = w;
        }
    }
    return size;
}

/* Centre of the voxels of a region, world mm. */
static void find_centre(const gls_region_area *area, double centre[3])
{
    double p[3], sum[3] = {0};
    for (size_t v = 0, n = gls_grid_voxels(&area->grid); v < n; v++) {
        if (!area->inside[v]) continue;
        gls_region_centre(&area->grid, v, p);
        for (int a = 0; a < 3; a++) sum[a] += p[a] / (double)area->voxels;
    }
    gls_affine_apply(area->grid.affine, sum, centre);
}

/* Sorts two blobs along the world axis on which their centres lie farthest apart: left before right, posterior before
 * anterior, inferior before superior. */
static void sort_blobs(gls_region_area blob[2])
{
    double a[3], b[3];
    int axis = 0;
    find_centre(&blob[0], a);
    find_centre(&blob[1], b);
    for (int r = 1; r < 3; r++)
        if (fabs(b[r] - a[r]) > fabs(b[axis] - a[axis])) axis = r;
    if (b[axis] >= a[axis]) return;
    gls_region_area keep = blob[0];
    blob[0] = blob[1];
    blob[1] = keep;
}

/* Splits a region into its two largest blobs of voxels that share faces, edges or corners. Order: along the axis on
 * which the blobs lie furthest apart, the left, posterior or inferior one first. GLS_ERR_INPUT: fewer than two blobs,
 * or a sphere. */
static gls_status region_area_split(const gls_region_area *area, const char *name, gls_region_area blob[2])
{
    blob[0] = blob[1] = (gls_region_area){.inside = NULL};
    if (!area->inside)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: is a sphere, but the two ends of a bundle need an image of two separate regions", name);
    const size_t n = gls_grid_voxels(&area->grid);
    uint32_t *number = calloc(n, sizeof *number), mark = 0, best[2] = {0};
    size_t *stack = malloc(n * sizeof *stack);
    uint64_t size[2] = {0};
    bool done = number && stack;
    for (size_t v = 0; v < n && done; v++) {
        if (!area->inside[v] || number[v]) continue;
        uint64_t voxels = flood(area, number, ++mark, v, stack);
        int rank = voxels > size[0] ? 0 : voxels > size[1] ? 1 : 2;
        if (rank == 0) {
            size[1] = size[0];
            best[1] = best[0];
        }
        if (rank < 2) {
            size[rank] = voxels;
            best[rank] = mark;
        }
    }
    for (int e = 0; e < 2 && done && size[1] > 0; e++) {
        blob[e] = (gls_region_area){.inside = calloc(n, 1), .grid = area->grid, .voxels = size[e]};
        done = blob[e].inside;
        for (size_t v = 0; v < n && done; v++) blob[e].inside[v] = number[v] == best[e];
    }
    free(number);
    free(stack);
    if (!done) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory for a region", name);
    if (size[1] == 0)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: has only one connected region of voxels, but the two ends of a bundle need two", name);
    sort_blobs(blob);
    return GLS_OK;
}

/* A region as it was named. is_graded: its image has values between 0 and 1. */
typedef struct roi {
    /* the region as the user named it, or "end 1 of a region"; an owned copy */
    char *text;
    /* distance, mm, by which the region is widened; -1: an end of a split region, which gls_rois_add() must not find by
     * its text */
    double mm;
    /* index of the region's layer in the store; regions of one grid share a layer */
    size_t layer;
    bool is_graded;
    double low[3], high[3]; /* box, world mm */
    gls_roi_distance distance;
} roi;

struct gls_rois {
    /* how streamlines are tested */
    gls_roi_test test;
    const gls_transform *space; /* NULL: images lie in the space of streamlines */
    /* true: regions that are added from now on also keep distances */
    bool keeps_distances;
    /* number of regions */
    size_t n;
    roi *roi;
    /* voxels and spheres of all regions */
    gls_region_store store;
};

gls_status gls_rois_create(gls_roi_test test, const gls_transform *space, gls_rois **rois)
{
    gls_rois *r = calloc(1, sizeof *r);
    if (!r) return gls_fail(GLS_ERR_MEMORY, "out of memory for regions");
    r->test = test;
    r->space = space && space->n > 0 ? space : NULL;
    gls_status status = gls_region_store_init(&r->store, 0);
    if (status)
        gls_rois_destroy(r);
    else
        *rois = r;
    return status;
}

void gls_rois_destroy(gls_rois *r)
{
    if (!r) return;
    for (size_t i = 0; i < r->n; i++) {
        free(r->roi[i].text);
        gls_roi_distance_finish(&r->roi[i].distance);
    }
    free(r->roi);
    gls_region_store_finish(&r->store);
    free(r);
}

/* Box around the voxels of a region, or around a sphere, world mm. */
static void find_box(const gls_region_area *area, double low[3], double high[3])
{
    for (int a = 0; a < 3; a++) {
        low[a] = area->inside ? INFINITY : area->sphere.centre[a] - area->sphere.radius;
        high[a] = area->inside ? -INFINITY : area->sphere.centre[a] + area->sphere.radius;
    }
    for (size_t v = 0, n = area->inside ? gls_grid_voxels(&area->grid) : 0; v < n; v++) {
        double c[3];
        if (!area->inside[v]) continue;
        gls_region_centre(&area->grid, v, c);
        gls_affine_apply(area->grid.affine, c, c);
        for (int a = 0; a < 3; a++) {
            const double *row = area->grid.affine[a], half = (fabs(row[0]) + fabs(row[1]) + fabs(row[2])) / 2;
            low[a] = fmin(low[a], c[a] - half);
            high[a] = fmax(high[a], c[a] + half);
        }
    }
}

void gls_rois_keep_distances(gls_rois *r)
{
    r->keeps_distances = true;
}

double gls_rois_distance(const gls_rois *r, size_t index, const float (*point)[3], size_t n, double *from_centre)
{
    return gls_roi_distance_measure(&r->roi[index].distance, point, n, from_centre);
}

bool gls_rois_move(const gls_rois *r)
{
    return r->space != NULL;
}

gls_status gls_rois_add_area(gls_rois *r, gls_region_area *area, const char *text, double mm, size_t *index)
{
    gls_status status = GLS_OK;
    roi one = {.mm = mm, .is_graded = area->is_graded};
    *index = r->n;
    if (r->keeps_distances) status = gls_roi_distance_init(&one.distance, area, mm);
    if (!status && mm > 0) status = gls_region_area_widen(area, mm);
    roi *list = status ? NULL : realloc(r->roi, (r->n + 1) * sizeof *list);
    if (list) r->roi = list;
    one.text = gls_text_copy(text);
    if (list && one.text && gls_region_store_add(&r->store, area, (uint32_t)r->n, &one.layer)) {
        find_box(area, one.low, one.high);
        list[r->n++] = one;
        return GLS_OK;
    }
    free(one.text);
    gls_roi_distance_finish(&one.distance);
    return status ? status : gls_fail(GLS_ERR_MEMORY, "%s: out of memory for a region", text);
}

gls_status gls_rois_add(gls_rois *r, const char *option, const char *text, double mm, size_t *index)
{
    for (*index = 0; *index < r->n; ++*index)
        if (strcmp(r->roi[*index].text, text) == 0 && r->roi[*index].mm == mm) return GLS_OK;
    gls_region_area area;
    gls_status status = gls_region_area_read(option, text, &area);
    if (!status) status = gls_region_area_bring(&area, r->space, text);
    if (!status) status = gls_rois_add_area(r, &area, text, mm, index);
    gls_region_area_finish(&area);
    return status;
}

gls_status gls_rois_add_ends(gls_rois *r, const char *text, double mm, size_t index[2])
{
    gls_region_area area, blob[2] = {{0}, {0}};
    char name[2][32];
    gls_status status = gls_region_area_read("ends", text, &area);
    if (!status) status = gls_region_area_bring(&area, r->space, text);
    if (!status) status = region_area_split(&area, text, blob);
    for (int e = 0; e < 2 && !status; e++) {
        snprintf(name[e], sizeof name[e], "end %d of a region", e + 1);
        status = gls_rois_add_area(r, &blob[e], name[e], mm, &index[e]);
        if (!status) r->roi[index[e]].mm = -1; /* the region is an end of a split region, which no text names */
    }
    gls_region_area_finish(&area);
    for (int e = 0; e < 2; e++) gls_region_area_finish(&blob[e]);
    return status;
}

const char *gls_rois_find_far(const gls_rois *r, const double low[3], const double high[3])
{
    for (size_t i = 0; i < r->n; i++)
        for (int a = 0; a < 3; a++)
            if (r->roi[i].low[a] > high[a] || r->roi[i].high[a] < low[a]) return r->roi[i].text;
    return NULL;
}

const char *gls_rois_find_graded(const gls_rois *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->roi[i].is_graded) return r->roi[i].text;
    return NULL;
}

void gls_rois_box(const gls_rois *r, size_t index, double low[3], double high[3])
{
    memcpy(low, r->roi[index].low, sizeof r->roi[index].low);
    memcpy(high, r->roi[index].high, sizeof r->roi[index].high);
}

/* Finds coordinates and voxel of a point. Returns false if the point is too far away for integer arithmetic. */
static bool find_corner(const gls_region_layer *p, const float point[3], double c[3], int v[3])
{
    gls_region_layer_corner(p, point, c);
    if (!gls_walk_is_near(c)) return false;
    for (int a = 0; a < 3; a++) v[a] = gls_walk_floor(c[a]);
    return true;
}

bool gls_rois_has(const gls_rois *r, size_t index, const float point[3])
{
    return gls_region_set_has(&r->store, gls_region_layer_at(&r->store.layer[r->roi[index].layer], point), index);
}

/* Notes that the streamline is in a set of regions of this layer from `at` on; set 0: in no region. An event is added
 * only where the set changes. All regions of the set count as met. */
static void note(const gls_rois *r, gls_roi_hits *h, uint32_t layer, double at, uint32_t set)
{
    uint32_t before = h->n > 0 && h->event[h->n - 1].layer == layer ? h->event[h->n - 1].set : 0;
    if (set == before) return;
    if (h->n == h->capacity) {
        size_t capacity = h->capacity ? 2 * h->capacity : 64;
        gls_roi_event *event = realloc(h->event, capacity * sizeof *event);
        if (!event) {
            h->failed = true;
            return;
        }
        h->event = event;
        h->capacity = capacity;
    }
    h->event[h->n++] = (gls_roi_event){at, layer, set};
    for (size_t i = r->store.first[set]; i < r->store.first[set + 1]; i++) h->met[r->store.set[i]] = 1;
}

/* Notes the set at every point of the streamline; `at` is the index of the point. For GLS_ROI_TEST_VERTEX. */
static void find_vertices(const gls_rois *r, gls_roi_hits *h, uint32_t k, const float (*point)[3], size_t n)
{
    for (size_t p = 0; p < n; p++) note(r, h, k, (double)p, gls_region_layer_at(&r->store.layer[k], point[p]));
}

/* Notes the set of voxel v, in which a segment from `at` on stays. */
static void stay_in_voxel(const gls_rois *r, gls_roi_hits *h, uint32_t k, const int v[3], double at)
{
    const gls_region_layer *p = &r->store.layer[k];
    for (int a = 0; a < 3; a++)
        if (v[a] < p->low_voxel[a] || v[a] >= p->high_voxel[a]) {
            note(r, h, k, at, 0);
            return;
        }
    note(r, h, k, at,
         p->voxel[((size_t)v[2] * (size_t)p->grid.dim[1] + (size_t)v[1]) * (size_t)p->grid.dim[0] + (size_t)v[0]]);
}

/* Notes the sets of regions that a segment passes. at: length of the streamline up to the segment; mm: length of the
 * segment. a, b: voxel coordinates of its ends, with corners of voxels at whole numbers. */
static void cross_grid(const gls_rois *r, gls_roi_hits *h, uint32_t k, const double a[3], const double b[3], double at,
                       double mm)
{
    const gls_region_layer *p = &r->store.layer[k];
    double v[3], from, until, end = 0;
    gls_walk walk;
    /* a segment that stays in one voxel has one set */
    if (floor(a[0]) == floor(b[0]) && floor(a[1]) == floor(b[1]) && floor(a[2]) == floor(b[2])) {
        note(r, h, k, at, gls_region_layer_voxel(p, (const double[3]){floor(a[0]), floor(a[1]), floor(a[2])}));
        return;
    }
    /* no region, if both ends lie beyond the same side of the box of the layer's regions */
    for (int c = 0; c < 3; c++)
        if ((a[c] < p->low[c] && b[c] < p->low[c]) || (a[c] >= p->high[c] && b[c] >= p->high[c])) {
            note(r, h, k, at, 0);
            return;
        }
    /* walk inside the box of the layer's regions; outside the box the set is 0 */
    bool inside = gls_walk_begin(&walk, a, b, p->low, p->high);
    if (!inside || walk.at > 0) note(r, h, k, at, 0);
    while (inside && gls_walk_next(&walk, v, &from, &until)) {
        note(r, h, k, at + mm * from, gls_region_layer_voxel(p, v));
        end = until;
    }
    if (inside && end < 1) note(r, h, k, at + mm * end, 0);
}

/* Notes where the segment from a to b enters and leaves a sphere: the roots of a quadratic equation for the distance
 * from the centre. at: length of the streamline up to a; mm: length of the segment. */
static void cross_sphere(const gls_rois *r, gls_roi_hits *h, uint32_t k, const float a[3], const float b[3], double at,
                         double mm)
{
    const gls_region_sphere *s = &r->store.layer[k].sphere;
    double ab = 0, ac = 0, cc = -s->radius * s->radius;
    for (int i = 0; i < 3; i++) {
        double d = (double)b[i] - a[i], c = a[i] - s->centre[i];
        ab += d * d;
        ac += d * c;
        cc += c * c;
    }
    /* roots of ab t^2 + 2 ac t + cc = 0, t the share of the segment; no root: from 2 until -1, which no share meets */
    double root = ac * ac - ab * cc;
    double from = root >= 0 ? fmax((-ac - sqrt(root)) / ab, 0) : 2, until = root >= 0 ? (-ac + sqrt(root)) / ab : -1;
    if (!(from <= 1 && until >= 0)) {
        note(r, h, k, at, 0);
        return;
    }
    if (from > 0) note(r, h, k, at, 0);
    note(r, h, k, at + mm * from, r->store.layer[k].sphere_set);
    if (until < 1) note(r, h, k, at + mm * until, 0);
}

/* Finds all stretches of a streamline inside regions of layer k, by their distance along it in mm. A streamline of
 * length 0 counts by its first point. */
static void find_segments(const gls_rois *r, gls_roi_hits *h, uint32_t k, const float (*point)[3], size_t n)
{
    const gls_region_layer *p = &r->store.layer[k];
    double a[3] = {0}, b[3] = {0}, at = 0;
    int u[3] = {0}, v[3] = {0};
    bool near = false, stays;
    /* near: the coordinates of the latest point are small enough for integers. Voxels are compared only if both ends of
     * a step are near. */
    if (p->voxel) near = find_corner(p, point[0], a, u);
    for (size_t i = 1; i < n; i++) {
        double x = (double)point[i][0] - point[i - 1][0], y = (double)point[i][1] - point[i - 1][1],
               z = (double)point[i][2] - point[i - 1][2], mm = sqrt(x * x + y * y + z * z);
        stays = near;
        if (p->voxel) near = find_corner(p, point[i], b, v);
        stays = stays && near && u[0] == v[0] && u[1] == v[1] && u[2] == v[2];
        if (mm > 0 && p->voxel && stays) stay_in_voxel(r, h, k, u, at);
        if (mm > 0 && p->voxel && !stays) cross_grid(r, h, k, a, b, at, mm);
        if (mm > 0 && !p->voxel) cross_sphere(r, h, k, point[i - 1], point[i], at, mm);
        at += mm;
        memcpy(a, b, sizeof a);
        memcpy(u, v, sizeof u);
    }
    if (at == 0) note(r, h, k, 0, gls_region_layer_at(p, point[0]));
    h->length = at;
}

void gls_rois_find(const gls_rois *r, gls_roi_hits *h, const float (*point)[3], size_t n)
{
    if (!h->met) h->met = malloc(r->n + 1);
    h->failed |= !h->met;
    h->n = 0;
    if (h->failed) return;
    memset(h->met, 0, r->n);
    h->length = (double)n;
    for (uint32_t k = 0; k < r->store.n_layers; k++)
        if (r->test == GLS_ROI_TEST_VERTEX)
            find_vertices(r, h, k, point, n);
        else
            find_segments(r, h, k, point, n);
}

void gls_roi_hits_finish(gls_roi_hits *h)
{
    free(h->event);
    free(h->met);
    *h = (gls_roi_hits){0};
}

double gls_rois_first(const gls_rois *r, const gls_roi_hits *h, size_t index)
{
    for (size_t i = 0; i < h->n && h->met[index]; i++)
        if (h->event[i].layer == r->roi[index].layer && gls_region_set_has(&r->store, h->event[i].set, index))
            return h->event[i].at;
    return INFINITY;
}

double gls_rois_last(const gls_rois *r, const gls_roi_hits *h, size_t index)
{
    double at = -INFINITY;
    for (size_t i = 0; i < h->n && h->met[index]; i++) {
        const uint32_t layer = h->event[i].layer;
        if (layer != r->roi[index].layer || !gls_region_set_has(&r->store, h->event[i].set, index)) continue;
        at = i + 1 < h->n && h->event[i + 1].layer == layer ? h->event[i + 1].at : h->length;
    }
    return at;
}

double gls_rois_share(const gls_rois *r, const gls_roi_hits *h, size_t index)
{
    double inside = 0;
    if (h->length == 0) return h->met[index];
    for (size_t i = 0; i < h->n; i++) {
        if (h->event[i].layer != r->roi[index].layer || !gls_region_set_has(&r->store, h->event[i].set, index))
            continue;
        bool last = i + 1 == h->n || h->event[i + 1].layer != h->event[i].layer;
        inside += (last ? h->length : h->event[i + 1].at) - h->event[i].at;
    }
    return inside / h->length;
}

/* Index in the list of the first region in which the streamline lies by the current events at[]; n: in none. */
static size_t lowest(const gls_rois *r, const gls_roi_hits *h, const size_t *at, const size_t *index, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t event = at[r->roi[index[i]].layer];
        if (event != SIZE_MAX && gls_region_set_has(&r->store, h->event[event].set, index[i])) return i;
    }
    return n;
}

/* Follows the streamline from event to event, in all layers at once. at[k]: the event of layer k that holds at the
 * current position, so that its set says in which regions of the layer the streamline is. want: how many regions of
 * the list are found, and so the index of the next. Returns false if memory runs out, too. */
bool gls_rois_ordered(const gls_rois *r, const gls_roi_hits *h, const size_t *index, size_t n, bool backwards)
{
    size_t *at = malloc((2 * r->store.n_layers + 1) * sizeof *at), want = 0;
    bool holds = true;
    if (!at) return false;
    size_t *next = at + r->store.n_layers;
    for (size_t k = 0; k < r->store.n_layers; k++) at[k] = next[k] = SIZE_MAX;
    /* next[]: for each layer its first event, or backwards its last */
    for (size_t i = h->n; i-- > 0;) next[h->event[i].layer] = i;
    for (size_t k = 0; k < r->store.n_layers && backwards; k++)
        while (next[k] != SIZE_MAX && next[k] + 1 < h->n && h->event[next[k] + 1].layer == k) next[k]++;
    for (size_t k = 0; k < r->store.n_layers && backwards; k++)
        at[k] = next[k]; /* state at the end of the streamline */
    bool begun = !backwards;
    while (holds) {
        /* one position after the other, over all layers at the same time; the first round of a backward pass looks
         * at the end itself */
        double now = backwards ? -INFINITY : INFINITY;
        for (size_t k = 0; k < r->store.n_layers && begun; k++)
            if (next[k] != SIZE_MAX)
                now = backwards ? fmax(now, h->event[next[k]].at) : fmin(now, h->event[next[k]].at);
        if (begun && isinf(now)) break;
        /* take the events at this position: the state of each layer becomes the set that holds beyond the position, in
         * the direction in which the streamline is read */
        for (size_t k = 0; k < r->store.n_layers && begun; k++) {
            if (next[k] == SIZE_MAX || h->event[next[k]].at != now) continue;
            size_t to = backwards ? next[k] - 1 : next[k] + 1;
            bool more = to < h->n && h->event[to].layer == k;
            at[k] = backwards ? (more ? to : SIZE_MAX) : next[k];
            next[k] = more ? to : SIZE_MAX;
        }
        begun = true;
        size_t found = lowest(r, h, at, index, n);
        /* the only regions that may be met are the wanted one and, again, the one that was found before it */
        if (found == want && want < n)
            want++;
        else if (found < n && found + 1 != want)
            holds = false;
    }
    free(at);
    return holds && want == n;
}
