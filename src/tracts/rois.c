/* Stores regions by grid, with the set of regions of each voxel, and finds where streamlines enter and leave them. */
#include "tracts/rois.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracts/walk.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text.h"

/* The regions of one grid, or one sphere. Each voxel holds the number of the set of its regions, 0 for none. */
typedef struct place {
    gls_grid grid;
    double inverse[3][4];
    uint32_t *voxel;        /* NULL: a sphere */
    double low[3], high[3]; /* box of voxels with regions; corners at whole numbers */
    int low_voxel[3], high_voxel[3];
    gls_region_sphere sphere; /* its region is in set 1 of the place */
} place;

typedef struct roi {
    char *text;
    double mm;
    uint32_t place;
    bool is_graded;
    double low[3], high[3]; /* box, world mm */
    gls_roi_distance distance;
} roi;

struct gls_rois {
    gls_roi_test test;
    bool keeps_distances;
    size_t n, n_places, n_sets;
    roi *roi;
    place *place;
    /* set s consists of set[first[s]] .. set[first[s + 1] - 1]; the list serves all places */
    size_t *first;
    uint32_t *set;
};

gls_status gls_rois_create(gls_roi_test test, gls_rois **rois)
{
    gls_rois *r = calloc(1, sizeof *r);
    if (r) r->first = calloc(2, sizeof *r->first);
    if (!r || !r->first) {
        free(r);
        return gls_fail(GLS_ERR_MEMORY, "out of memory for regions");
    }
    r->test = test;
    r->n_sets = 1; /* set 0 is empty */
    *rois = r;
    return GLS_OK;
}

void gls_rois_destroy(gls_rois *r)
{
    if (!r) return;
    for (size_t i = 0; i < r->n; i++) {
        free(r->roi[i].text);
        gls_roi_distance_finish(&r->roi[i].distance);
    }
    for (size_t i = 0; i < r->n_places; i++) free(r->place[i].voxel);
    free(r->roi);
    free(r->place);
    free(r->first);
    free(r->set);
    free(r);
}

/* Creates the set `from` plus one more region. *number: the new set. */
static bool set_with(gls_rois *r, uint32_t from, uint32_t region, uint32_t *number)
{
    size_t n = r->first[from + 1] - r->first[from], end = r->first[r->n_sets];
    size_t *first = realloc(r->first, (r->n_sets + 2) * sizeof *first);
    if (first) r->first = first;
    uint32_t *set = realloc(r->set, (end + n + 1) * sizeof *set);
    if (set) r->set = set;
    if (!first || !set || r->n_sets == UINT32_MAX) return false;
    for (size_t i = 0; i < n; i++) set[end + i] = set[first[from] + i];
    set[end + n] = region;
    *number = (uint32_t)r->n_sets++;
    first[r->n_sets] = end + n + 1;
    return true;
}

static place *add_place(gls_rois *r, const gls_grid *grid)
{
    place *list = realloc(r->place, (r->n_places + 1) * sizeof *list);
    if (!list) return NULL;
    r->place = list;
    place *p = &list[r->n_places];
    *p = (place){.low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};
    if (grid) {
        p->grid = *grid;
        gls_grid_inverse(grid, p->inverse);
        p->voxel = calloc(gls_grid_voxels(grid), sizeof *p->voxel);
        if (!p->voxel) return NULL;
    }
    r->n_places++;
    return p;
}

static place *place_of(gls_rois *r, const gls_grid *grid, uint32_t *number)
{
    for (*number = 0; *number < r->n_places; ++*number) {
        place *p = &r->place[*number];
        if (p->voxel && memcmp(p->grid.dim, grid->dim, sizeof grid->dim) == 0 &&
            memcmp(p->grid.affine, grid->affine, sizeof grid->affine) == 0)
            return p;
    }
    return add_place(r, grid);
}

static void widen_box(double low[3], double high[3], const double p[3])
{
    for (int a = 0; a < 3; a++) {
        low[a] = fmin(low[a], p[a]);
        high[a] = fmax(high[a], p[a]);
    }
}

static bool mark(gls_rois *r, place *p, const gls_region_area *area, roi *roi)
{
    const size_t had = r->n_sets;
    uint32_t *with = calloc(had, sizeof *with);
    bool done = with;
    for (size_t v = 0, n = gls_grid_voxels(&area->grid); v < n && done; v++) {
        double c[3];
        if (!area->inside[v]) continue;
        uint32_t *number = &with[p->voxel[v]];
        if (!*number) done = set_with(r, p->voxel[v], (uint32_t)r->n, number);
        p->voxel[v] = *number;
        gls_region_centre(&area->grid, v, c);
        widen_box(p->low, p->high, c);
        widen_box(p->low, p->high, (const double[3]){c[0] + 1, c[1] + 1, c[2] + 1});
        gls_affine_apply(area->grid.affine, c, c);
        widen_box(roi->low, roi->high, c);
    }
    for (int a = 0; a < 3 && isfinite(p->low[a]); a++) {
        p->low_voxel[a] = (int)p->low[a];
        p->high_voxel[a] = (int)p->high[a];
    }
    free(with);
    return done;
}

static bool add_to_place(gls_rois *r, const gls_region_area *area, roi *roi)
{
    if (area->inside) {
        place *p = place_of(r, &area->grid, &roi->place);
        return p && mark(r, p, area, roi);
    }
    place *p = add_place(r, NULL);
    if (!p) return false;
    uint32_t set;
    roi->place = (uint32_t)r->n_places - 1;
    p->sphere = area->sphere;
    for (int a = 0; a < 3; a++) {
        roi->low[a] = p->sphere.centre[a] - p->sphere.radius;
        roi->high[a] = p->sphere.centre[a] + p->sphere.radius;
    }
    if (!set_with(r, 0, (uint32_t)r->n, &set)) return false;
    p->sphere.bits = set;
    return true;
}

void gls_rois_keep_distances(gls_rois *r)
{
    r->keeps_distances = true;
}

const gls_roi_distance *gls_rois_distance(const gls_rois *r, size_t index)
{
    return &r->roi[index].distance;
}

gls_status gls_rois_add_area(gls_rois *r, gls_region_area *area, const char *text, double mm, size_t *index)
{
    gls_status status = GLS_OK;
    roi one = {.mm = mm,
               .is_graded = area->is_graded,
               .low = {INFINITY, INFINITY, INFINITY},
               .high = {-INFINITY, -INFINITY, -INFINITY}};
    *index = r->n;
    if (r->keeps_distances) status = gls_roi_distance_init(&one.distance, area, mm);
    if (!status && mm > 0) status = gls_region_area_widen(area, mm);
    roi *list = status ? NULL : realloc(r->roi, (r->n + 1) * sizeof *list);
    if (list) r->roi = list;
    one.text = gls_text_copy(text);
    if (list && one.text && add_to_place(r, area, &one)) {
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
    if (!status) status = gls_rois_add_area(r, &area, text, mm, index);
    gls_region_area_finish(&area);
    return status;
}

gls_status gls_rois_add_ends(gls_rois *r, const char *text, double mm, size_t index[2])
{
    gls_region_area area, blob[2] = {{0}, {0}};
    char name[2][32];
    gls_status status = gls_region_area_read("ends", text, &area);
    if (!status) status = gls_region_area_split(&area, text, blob);
    for (int e = 0; e < 2 && !status; e++) {
        snprintf(name[e], sizeof name[e], "end %d of a region", e + 1);
        status = gls_rois_add_area(r, &blob[e], name[e], mm, &index[e]);
        if (!status) r->roi[index[e]].mm = -1; /* no text finds this region again */
    }
    gls_region_area_finish(&area);
    for (int e = 0; e < 2; e++) gls_region_area_finish(&blob[e]);
    return status;
}

size_t gls_rois_count(const gls_rois *r)
{
    return r->n;
}

const char *gls_rois_text(const gls_rois *r, size_t index)
{
    return r->roi[index].text;
}

void gls_rois_box(const gls_rois *r, size_t index, double low[3], double high[3])
{
    memcpy(low, r->roi[index].low, sizeof r->roi[index].low);
    memcpy(high, r->roi[index].high, sizeof r->roi[index].high);
}

bool gls_rois_is_graded(const gls_rois *r, size_t index)
{
    return r->roi[index].is_graded;
}

/* Set of a voxel given as whole numbers; 0 outside the box. */
static uint32_t set_at(const place *p, const double v[3])
{
    for (int a = 0; a < 3; a++)
        if (!(v[a] >= p->low[a] && v[a] < p->high[a])) return 0;
    return p->voxel[((size_t)v[2] * (size_t)p->grid.dim[1] + (size_t)v[1]) * (size_t)p->grid.dim[0] + (size_t)v[0]];
}

static void to_corner(const place *p, const float point[3], double c[3])
{
    const double at[3] = {point[0], point[1], point[2]};
    gls_affine_apply((const double(*)[4])p->inverse, at, c);
    for (int a = 0; a < 3; a++) c[a] += 0.5;
}

/* Finds coordinates and voxel of a point. Returns false if the point is too far away for integer arithmetic. */
static bool find_corner(const place *p, const float point[3], double c[3], int v[3])
{
    to_corner(p, point, c);
    if (!gls_walk_is_near(c)) return false;
    for (int a = 0; a < 3; a++) v[a] = gls_walk_floor(c[a]);
    return true;
}

static uint32_t set_of_point(const place *p, const float point[3])
{
    double c[3], square = 0;
    if (p->voxel) {
        to_corner(p, point, c);
        return set_at(p, (const double[3]){floor(c[0]), floor(c[1]), floor(c[2])});
    }
    for (int a = 0; a < 3; a++) square += (point[a] - p->sphere.centre[a]) * (point[a] - p->sphere.centre[a]);
    return square <= p->sphere.radius * p->sphere.radius ? p->sphere.bits : 0;
}

static bool set_has(const gls_rois *r, uint32_t set, size_t index)
{
    for (size_t i = r->first[set]; i < r->first[set + 1]; i++)
        if (r->set[i] == index) return true;
    return false;
}

bool gls_rois_has(const gls_rois *r, size_t index, const float point[3])
{
    return set_has(r, set_of_point(&r->place[r->roi[index].place], point), index);
}

/* Notes that the streamline is in this set from `at` on. */
static void note(const gls_rois *r, gls_roi_hits *h, uint32_t place, double at, uint32_t set)
{
    uint32_t before = h->n > 0 && h->event[h->n - 1].place == place ? h->event[h->n - 1].set : 0;
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
    h->event[h->n++] = (gls_roi_event){at, place, set};
    for (size_t i = r->first[set]; i < r->first[set + 1]; i++) h->met[r->set[i]] = 1;
}

static void find_vertices(const gls_rois *r, gls_roi_hits *h, uint32_t k, const float (*point)[3], size_t n)
{
    for (size_t p = 0; p < n; p++) note(r, h, k, (double)p, set_of_point(&r->place[k], point[p]));
}

/* Notes a segment that stays in one voxel. */
static void stay_in_voxel(const gls_rois *r, gls_roi_hits *h, uint32_t k, const int v[3], double at)
{
    const place *p = &r->place[k];
    for (int a = 0; a < 3; a++)
        if (v[a] < p->low_voxel[a] || v[a] >= p->high_voxel[a]) {
            note(r, h, k, at, 0);
            return;
        }
    note(r, h, k, at,
         p->voxel[((size_t)v[2] * (size_t)p->grid.dim[1] + (size_t)v[1]) * (size_t)p->grid.dim[0] + (size_t)v[0]]);
}

/* Notes the sets along a segment that begins at `at` and is mm long. a, b: voxel coordinates of its ends. */
static void cross_grid(const gls_rois *r, gls_roi_hits *h, uint32_t k, const double a[3], const double b[3], double at,
                       double mm)
{
    const place *p = &r->place[k];
    double v[3], from, until, end = 0;
    gls_walk walk;
    if (floor(a[0]) == floor(b[0]) && floor(a[1]) == floor(b[1]) && floor(a[2]) == floor(b[2])) {
        note(r, h, k, at, set_at(p, (const double[3]){floor(a[0]), floor(a[1]), floor(a[2])}));
        return;
    }
    for (int c = 0; c < 3; c++)
        if ((a[c] < p->low[c] && b[c] < p->low[c]) || (a[c] >= p->high[c] && b[c] >= p->high[c])) {
            note(r, h, k, at, 0);
            return;
        }
    bool inside = gls_walk_begin(&walk, a, b, p->low, p->high);
    if (!inside || walk.at > 0) note(r, h, k, at, 0);
    while (inside && gls_walk_next(&walk, v, &from, &until)) {
        note(r, h, k, at + mm * from, set_at(p, v));
        end = until;
    }
    if (inside && end < 1) note(r, h, k, at + mm * end, 0);
}

static void cross_sphere(const gls_rois *r, gls_roi_hits *h, uint32_t k, const float a[3], const float b[3], double at,
                         double mm)
{
    const gls_region_sphere *s = &r->place[k].sphere;
    double ab = 0, ac = 0, cc = -s->radius * s->radius;
    for (int i = 0; i < 3; i++) {
        double d = (double)b[i] - a[i], c = a[i] - s->centre[i];
        ab += d * d;
        ac += d * c;
        cc += c * c;
    }
    double root = ac * ac - ab * cc;
    double from = root >= 0 ? fmax((-ac - sqrt(root)) / ab, 0) : 2, until = root >= 0 ? (-ac + sqrt(root)) / ab : -1;
    if (!(from <= 1 && until >= 0)) {
        note(r, h, k, at, 0);
        return;
    }
    if (from > 0) note(r, h, k, at, 0);
    note(r, h, k, at + mm * from, s->bits);
    if (until < 1) note(r, h, k, at + mm * until, 0);
}

static void find_segments(const gls_rois *r, gls_roi_hits *h, uint32_t k, const float (*point)[3], size_t n)
{
    const place *p = &r->place[k];
    double a[3] = {0}, b[3] = {0}, at = 0;
    int u[3] = {0}, v[3] = {0};
    bool near = false, stays;
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
    if (at == 0) note(r, h, k, 0, set_of_point(p, point[0]));
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
    for (uint32_t k = 0; k < r->n_places; k++)
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
        if (h->event[i].place == r->roi[index].place && set_has(r, h->event[i].set, index)) return h->event[i].at;
    return INFINITY;
}

double gls_rois_last(const gls_rois *r, const gls_roi_hits *h, size_t index)
{
    double at = -INFINITY;
    for (size_t i = 0; i < h->n && h->met[index]; i++) {
        const uint32_t place = h->event[i].place;
        if (place != r->roi[index].place || !set_has(r, h->event[i].set, index)) continue;
        at = i + 1 < h->n && h->event[i + 1].place == place ? h->event[i + 1].at : h->length;
    }
    return at;
}

double gls_rois_share(const gls_rois *r, const gls_roi_hits *h, size_t index)
{
    double inside = 0;
    if (h->length == 0) return h->met[index];
    for (size_t i = 0; i < h->n; i++) {
        if (h->event[i].place != r->roi[index].place || !set_has(r, h->event[i].set, index)) continue;
        bool last = i + 1 == h->n || h->event[i + 1].place != h->event[i].place;
        inside += (last ? h->length : h->event[i + 1].at) - h->event[i].at;
    }
    return inside / h->length;
}

/* Index in the list of the first region that holds the streamline at the current events at[]; n: none. */
static size_t lowest(const gls_rois *r, const gls_roi_hits *h, const size_t *at, const size_t *index, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t event = at[r->roi[index[i]].place];
        if (event != SIZE_MAX && set_has(r, h->event[event].set, index[i])) return i;
    }
    return n;
}

bool gls_rois_ordered(const gls_rois *r, const gls_roi_hits *h, const size_t *index, size_t n, bool backwards)
{
    size_t *at = malloc((2 * r->n_places + 1) * sizeof *at), *next = at + r->n_places, want = 0;
    bool holds = at;
    if (!at) return false;
    for (size_t k = 0; k < r->n_places; k++) at[k] = next[k] = SIZE_MAX;
    for (size_t i = h->n; i-- > 0;) next[h->event[i].place] = i;
    for (size_t k = 0; k < r->n_places && backwards; k++)
        while (next[k] != SIZE_MAX && next[k] + 1 < h->n && h->event[next[k] + 1].place == k) next[k]++;
    for (size_t k = 0; k < r->n_places && backwards; k++) at[k] = next[k]; /* state at the end of the streamline */
    bool begun = !backwards;
    while (holds) {
        double now = backwards ? -INFINITY : INFINITY;
        for (size_t k = 0; k < r->n_places && begun; k++)
            if (next[k] != SIZE_MAX)
                now = backwards ? fmax(now, h->event[next[k]].at) : fmin(now, h->event[next[k]].at);
        if (begun && isinf(now)) break;
        for (size_t k = 0; k < r->n_places && begun; k++) {
            if (next[k] == SIZE_MAX || h->event[next[k]].at != now) continue;
            size_t to = backwards ? next[k] - 1 : next[k] + 1;
            bool more = to < h->n && h->event[to].place == k;
            at[k] = backwards ? (more ? to : SIZE_MAX) : next[k];
            next[k] = more ? to : SIZE_MAX;
        }
        begun = true;
        size_t found = lowest(r, h, at, index, n);
        if (found == want && want < n)
            want++;
        else if (found < n && found + 1 != want)
            holds = false;
    }
    free(at);
    return holds && want == n;
}
