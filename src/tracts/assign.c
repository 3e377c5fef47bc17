/* Assigns the ends of streamlines to labelled regions. The radial search caches, for each voxel, the nearest label to
 * the voxel's centre; an end in that voxel then only needs to look at voxels slightly further away. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/connectome.h>
#include <glslines/density.h>
#include <glslines/select.h>
#include <glslines/image.h>

#include "tracts/assign.h"
#include "tracts/visits.h"
#include "tracts/visits_list.h"
#include "tracts/visits_parts.h"
#include "util/allocation.h"
#include "util/maths.h"
#include "util/status.h"

/* --- Search ahead of the end of a streamline: the forward search of tck2connectome. */

/* Half angle of the cone ahead of an end, radians: 45 degrees. Voxels outside the cone are not searched. */
#define CONE (3.14159265358979323846 / 4)
/* Largest number of voxels that one search considers. The reach is limited to 12 voxel sides when a connectome is
 * created (FORWARD_SIDES of connectome_matrix.c). */
enum { MAX_SEEN = 4096 };

/* A voxel of the search, and its cost, mm: voxels of small cost are looked at first. */
typedef struct candidate {
    double cost;
    /* voxel indices */
    int32_t v[3];
} candidate;

/* State of one search ahead of an end of a streamline, on the stack of its caller: about 150 kB. */
typedef struct forward_search {
    /* grid of the image whose labelled voxels are searched */
    const gls_grid *grid;
    /* from: the end; direction: unit vector along which the streamline leaves it, (0, 0, 0) for a single point; both
     * in world mm. reach: largest cost, mm */
    double from[3], direction[3], reach;
    /* 1 for a voxel axis that runs towards RAS, -1 for one that runs against RAS, so that the order of neighbours does
     * not depend on the storage of the image */
    int sign[3];
    /* number of voxels in `queue`, and in `seen` */
    size_t n, n_seen;
    /* voxels to visit, in no order: take() looks for the cheapest */
    candidate queue[MAX_SEEN];
    /* every voxel that entered the search, whether or not it came into the queue */
    int32_t seen[MAX_SEEN][3];
} forward_search;

static double norm(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* Direction of the streamline beyond one of its ends, a unit vector: of twice the last step before the end, minus the
 * step before that one scaled to the same length; of the last step alone if there are only two points, or if the step
 * before has length 0. (0, 0, 0) for one point. backwards: the end is the last point, otherwise the first. */
static void find_direction(const float (*point)[3], size_t n, bool backwards, double out[3])
{
    const size_t end = backwards ? n - 1 : 0, next = backwards ? n - 2 : 1;
    double last[3] = {0}, second[3] = {0};
    memset(out, 0, 3 * sizeof *out);
    if (n < 2) return;
    for (int r = 0; r < 3; r++) last[r] = (double)(point[end][r] - point[next][r]);
    memcpy(out, last, sizeof last);
    if (n > 2) {
        const size_t third = backwards ? n - 3 : 2;
        for (int r = 0; r < 3; r++) second[r] = (double)(point[next][r] - point[third][r]);
        double length = norm(second), scale = length > 0 ? norm(last) / length : 0;
        for (int r = 0; r < 3 && length > 0; r++) out[r] = last[r] + (last[r] - second[r] * scale);
    }
    double length = norm(out);
    for (int r = 0; r < 3 && length > 0; r++) out[r] /= length;
}

/* Whether the search has considered voxel v before. */
static bool was_seen(const forward_search *h, const int32_t v[3])
{
    for (size_t i = 0; i < h->n_seen; i++)
        if (memcmp(h->seen[i], v, sizeof h->seen[i]) == 0) return true;
    return false;
}

/* Computes the cost of a voxel, mm: the distance of its centre from the end times 1 + angle / 45 degrees. Returns
 * false for a voxel that is not to be searched: outside the cone, beyond the reach, with its centre at the end, or
 * of a cost that another voxel in the queue has. */
static bool find_cost(const forward_search *h, const int32_t v[3], double *cost)
{
    const double centre[3] = {v[0], v[1], v[2]};
    double d[3], dot = 0;
    gls_affine_apply(h->grid->affine, centre, d);
    for (int r = 0; r < 3; r++) d[r] -= h->from[r];
    double mm = norm(d);
    if (mm == 0) return false;
    for (int r = 0; r < 3; r++) dot += h->direction[r] * (d[r] / mm);
    double angle = acos(fmax(-1, fmin(1, dot)));
    if (!(angle <= CONE)) return false;
    /* MRtrix3 computes the cost in single precision; the rounding decides which costs count as equal */
    *cost = (double)(float)(mm * (1 + angle / CONE));
    if (!(*cost <= h->reach)) return false;
    for (size_t i = 0; i < h->n; i++)
        if (h->queue[i].cost == *cost) return false;
    return true;
}

/* Looks at voxel `from` and its 26 neighbours, unless they were seen before, and adds to the queue those to which
 * find_cost() gives a cost. Order: along RAS, x fastest. */
static void spread(forward_search *h, const int32_t from[3])
{
    for (int k = 0; k < 27; k++) {
        const int32_t v[3] = {from[0] + (k % 3 - 1) * h->sign[0], from[1] + (k / 3 % 3 - 1) * h->sign[1],
                              from[2] + (k / 9 - 1) * h->sign[2]};
        double cost;
        if (h->n_seen == MAX_SEEN || was_seen(h, v)) continue;
        memcpy(h->seen[h->n_seen++], v, sizeof v);
        if (find_cost(h, v, &cost)) h->queue[h->n++] = (candidate){cost, {v[0], v[1], v[2]}};
    }
}

/* Removes the cheapest candidate and returns it. */
static candidate take(forward_search *h)
{
    size_t best = 0;
    for (size_t i = 1; i < h->n; i++)
        if (h->queue[i].cost < h->queue[best].cost) best = i;
    candidate found = h->queue[best];
    h->queue[best] = h->queue[--h->n];
    return found;
}

/* Whether voxel v lies in the image. */
static bool is_inside(const gls_grid *grid, const int32_t v[3])
{
    return v[0] >= 0 && v[0] < grid->dim[0] && v[1] >= 0 && v[1] < grid->dim[1] && v[2] >= 0 && v[2] < grid->dim[2];
}

/* Number of the region ahead of an end, from 1; 0: none. node: for each voxel the number of its region. Takes voxels
 * within 45 degrees of the streamline's direction in the order of their cost, which is the distance of the centre times
 * 1 + angle / 45 degrees, at most `reach` mm, until one has a region. Of voxels of equal cost only one is examined, as
 * in MRtrix3 3.0.3. backwards: search ahead of the last point, otherwise of the first. */
static int32_t look_ahead(const gls_grid *grid, const double world_to_voxel[3][4], const int32_t *node, double reach,
                          const float (*point)[3], size_t n, bool backwards)
{
    forward_search h;
    double voxel[3];
    const float *end = point[backwards ? n - 1 : 0];
    candidate at = {0};
    h.grid = grid;
    h.reach = reach;
    h.n = h.n_seen = 0;
    for (int r = 0; r < 3; r++) h.from[r] = end[r];
    gls_affine_apply(world_to_voxel, h.from, voxel);
    /* the voxel of the end, and the sense in which each voxel axis runs */
    for (int r = 0; r < 3; r++) {
        int longest = 0;
        for (int k = 1; k < 3; k++)
            if (fabs(grid->affine[k][r]) > fabs(grid->affine[longest][r])) longest = k;
        h.sign[r] = grid->affine[longest][r] < 0 ? -1 : 1;
        voxel[r] = round(voxel[r]);
        if (!(voxel[r] >= 0 && voxel[r] < grid->dim[r])) return 0;
        at.v[r] = (int32_t)voxel[r];
    }
    find_direction(point, n, backwards, h.direction);
    memcpy(h.seen[h.n_seen++], at.v, sizeof at.v);
    h.queue[h.n++] = at;
    /* the voxel of the end first, then always the cheapest of the queue */
    while (h.n > 0) {
        at = take(&h);
        if (!is_inside(grid, at.v)) continue;
        size_t v = ((size_t)at.v[2] * (size_t)grid->dim[1] + (size_t)at.v[1]) * (size_t)grid->dim[0] + (size_t)at.v[0];
        if (node[v] > 0) return node[v];
        spread(&h, at.v);
    }
    return 0;
}

#define UNKNOWN 0 /* voxel not searched yet; else 1 + the index of the first offset with a label */
/* Largest number of voxels in the box that a radial search may look at: 400 MB of offsets. */
#define MAX_OFFSETS 1e7
#define SLACK 1e-6 /* mm; tolerance when distances are compared with a bound */

/* Position of a voxel relative to another. */
typedef struct offset {
    /* the step in voxels along each axis */
    int32_t step[3];
    /* length of the step, world mm */
    double mm;
    size_t order;     /* decides between offsets of equal distance: the smaller comes first */
    ptrdiff_t voxels; /* the step as a difference of voxel indices */
} offset;

struct gls_assigner {
    /* method by which an end gets its region */
    gls_assignment assignment;
    /* GLS_ASSIGN_ALL: how a streamline meets voxels */
    gls_roi_test test;
    /* radius: of the search, mm; half_diagonal: of a voxel, mm. Since the end lies anywhere in its voxel, centres up to
     * radius + half_diagonal from the centre of that voxel have to be compared. */
    double radius, half_diagonal;
    /* the image of labels, and its inverse affine */
    gls_grid grid;
    double world_to_voxel[3][4];
    /* the grid of the image of labels, prepared for finding the voxels of whole streamlines */
    gls_visit_grid visit_grid;
    /* for each voxel the number of its region, from 1; 0: none; borrowed from the connectome */
    const int32_t *node;
    /* number of elements of `offset` */
    size_t n_offsets;
    offset *offset; /* radial search: offsets, sorted by distance */
    /* largest step along each voxel axis among the offsets */
    int32_t reach[3];
    uint32_t *first; /* radial search: cache of first_label(), plus 1, for each voxel; UNKNOWN: not searched yet */
};

/* Order for qsort(): by distance, then by the order of the search. The second key makes the order total, so that it
 * does not depend on the library's qsort(). */
static int compare_offsets(const void *a, const void *b)
{
    const offset *x = a, *y = b;
    if (x->mm != y->mm) return x->mm < y->mm ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Lists the offsets within reach of any point of a voxel. Offsets of equal distance are sorted by z, then y,
 * then x, each ascending along RAS. */
static gls_status list_offsets(gls_assigner *a)
{
    const double *size = a->grid.voxel_size, reach = a->radius + a->half_diagonal;
    const ptrdiff_t row = a->grid.dim[0], slice = row * a->grid.dim[1];
    int sign[3];
    double boxes = 1;
    /* which way each voxel axis runs, and an upper bound of the number of offsets */
    for (int c = 0; c < 3; c++) {
        int longest = 0;
        for (int r = 1; r < 3; r++)
            if (fabs(a->grid.affine[r][c]) > fabs(a->grid.affine[longest][c])) longest = r;
        sign[c] = a->grid.affine[longest][c] < 0 ? -1 : 1;
        boxes *= 2 * ceil(reach / size[c]) + 1;
    }
    if (boxes > MAX_OFFSETS)
        return gls_fail(GLS_ERR_UNSUPPORTED,
                        "a search radius of %g mm is too large for voxels of %g mm: give a smaller radius", a->radius,
                        size[0]);
    for (int c = 0; c < 3; c++) a->reach[c] = (int32_t)ceil(reach / size[c]);
    a->offset = malloc((size_t)boxes * sizeof *a->offset);
    a->first = calloc(gls_grid_voxels(&a->grid), sizeof *a->first);
    if (!a->offset || !a->first) return gls_fail(GLS_ERR_MEMORY, "out of memory for a search");
    /* list all offsets in reach; among equal distances z, then y, then x decide, ascending along RAS */
    for (int z = -a->reach[2]; z <= a->reach[2]; z++)
        for (int y = -a->reach[1]; y <= a->reach[1]; y++)
            for (int x = -a->reach[0]; x <= a->reach[0]; x++) {
                double dz = z * size[2], dy = y * size[1], dx = x * size[0], mm = sqrt(dz * dz + dy * dy + dx * dx);
                if (mm >= reach) continue;
                offset *o = &a->offset[a->n_offsets];
                *o = (offset){{x * sign[0], y * sign[1], z * sign[2]}, mm, a->n_offsets++, 0};
                o->voxels = o->step[2] * slice + o->step[1] * row + o->step[0];
            }
    qsort(a->offset, a->n_offsets, sizeof *a->offset, compare_offsets);
    return GLS_OK;
}

gls_status gls_assigner_create(const gls_grid *grid, const int32_t *node, const gls_connectome_options *options,
                               gls_assigner **assigner)
{
    gls_assigner *a = calloc(1, sizeof *a);
    if (!a) return gls_fail(GLS_ERR_MEMORY, "out of memory for a search");
    a->assignment = options->assignment;
    a->test = options->test;
    a->radius = options->radius;
    a->grid = *grid;
    a->node = node;
    gls_grid_inverse(grid, a->world_to_voxel);
    gls_visit_grid_init(&a->visit_grid, grid);
    for (int r = 0; r < 3; r++) a->half_diagonal += 0.25 * grid->voxel_size[r] * grid->voxel_size[r];
    a->half_diagonal = sqrt(a->half_diagonal);
    gls_status status = a->assignment == GLS_ASSIGN_RADIAL ? list_offsets(a) : GLS_OK;
    if (status)
        gls_assigner_destroy(a);
    else
        *assigner = a;
    return status;
}

void gls_assigner_destroy(gls_assigner *a)
{
    if (!a) return;
    free(a->offset);
    free(a->first);
    free(a);
}

/* Finds the voxel of a point. Voxel coordinates midway between two whole numbers are rounded away from 0. Returns false
 * outside the grid, where v is still set. */
static bool find_voxel(const gls_assigner *a, const float point[3], double v[3], size_t *voxel)
{
    const double p[3] = {point[0], point[1], point[2]};
    bool inside = true;
    gls_affine_apply(a->world_to_voxel, p, v);
    for (int r = 0; r < 3; r++) {
        v[r] = round(v[r]);
        inside = inside && v[r] >= 0 && v[r] < a->grid.dim[r];
    }
    if (inside) *voxel = ((size_t)v[2] * (size_t)a->grid.dim[1] + (size_t)v[1]) * (size_t)a->grid.dim[0] + (size_t)v[0];
    return inside;
}

/* Number of the region of the voxel in which a point lies; 0: none, or outside the grid. */
static int32_t label_at(const gls_assigner *a, const float point[3])
{
    double v[3];
    size_t voxel;
    return find_voxel(a, point, v, &voxel) ? a->node[voxel] : 0;
}

/* Number of the region at an offset from voxel v; 0: none, or outside the grid. */
static int32_t label_near(const gls_assigner *a, const double v[3], const offset *o)
{
    size_t at = 0;
    for (int r = 2; r >= 0; r--) {
        double c = v[r] + o->step[r];
        if (!(c >= 0 && c < a->grid.dim[r])) return 0;
        at = at * (size_t)a->grid.dim[r] + (size_t)c;
    }
    return a->node[at];
}

/* Index of the first offset from voxel v with a label; n_offsets: none. inner: all offsets from v stay in the grid, so
 * that no limits need checks. Several threads may compute the same entry of the cache; they all store the same
 * number. */
static size_t first_label(gls_assigner *a, const double v[3], size_t voxel, bool inner)
{
    uint32_t known;
#pragma omp atomic read
    known = a->first[voxel];
    if (known != UNKNOWN) return known - 1;
    size_t i = 0;
    while (i < a->n_offsets &&
           (inner ? a->node[(ptrdiff_t)voxel + a->offset[i].voxels] : label_near(a, v, &a->offset[i])) == 0)
        i++;
    known = (uint32_t)i + 1;
#pragma omp atomic write
    a->first[voxel] = known;
    return i;
}

/* Radial search: number of the region of the labelled voxel whose centre is nearest to the point; 0: none is nearer
 * than the radius. */
static int32_t search(gls_assigner *a, const float point[3])
{
    const double p[3] = {point[0], point[1], point[2]};
    double v[3], w[3], best = a->radius, away = 0;
    size_t voxel = 0, i = 0;
    int32_t node = 0;
    bool inside = find_voxel(a, point, v, &voxel), inner = inside;
    /* where the whole neighbourhood lies in the grid, labels are read without checks */
    for (int r = 0; r < 3; r++) inner = inner && v[r] >= a->reach[r] && v[r] < a->grid.dim[r] - a->reach[r];
    /* offsets before the first one with a label need no look; outside the grid there is no cache */
    if (inside) i = first_label(a, v, voxel, inner);
    /* away: distance of the point from the centre of its voxel, with some slack; the distance of another centre from
     * the point differs from its distance from this centre by at most that */
    gls_affine_apply(a->grid.affine, v, w);
    for (int r = 0; r < 3; r++) away += (p[r] - w[r]) * (p[r] - w[r]);
    away = sqrt(away) + SLACK;
    for (; i < a->n_offsets && a->offset[i].mm <= best + away; i++) {
        const offset *o = &a->offset[i];
        int32_t here = inner ? a->node[(ptrdiff_t)voxel + o->voxels] : label_near(a, v, o);
        if (here == 0) continue;
        const double c[3] = {v[0] + o->step[0], v[1] + o->step[1], v[2] + o->step[2]};
        gls_affine_apply(a->grid.affine, c, w);
        double x = p[0] - w[0], y = p[1] - w[1], z = p[2] - w[2], mm = sqrt(x * x + y * y + z * z);
        if (mm >= best) continue;
        best = mm;
        node = here;
    }
    return node;
}

/* First region among `count` points from index `at` in steps of `step`, 1 or -1: from one end inwards. With a radius
 * above 0, mm, stops where the way along the streamline exceeds the radius. Returns 0 if no point lies in a region. */
static int32_t look_back(const gls_assigner *a, const float (*point)[3], ptrdiff_t at, ptrdiff_t step, size_t count)
{
    double way = 0;
    for (size_t k = 0; k < count; k++, at += step) {
        int32_t node = label_at(a, point[at]);
        if (node > 0) return node;
        if (k + 1 == count || a->radius <= 0) continue;
        const float *p = point[at], *q = point[at + step];
        float x = p[0] - q[0], y = p[1] - q[1], z = p[2] - q[2], mm = sqrtf(x * x + (y * y + z * z));
        way += (double)mm;
        if (way > a->radius) return 0;
    }
    return 0;
}

void gls_assign_ends(gls_assigner *a, const float (*point)[3], size_t n, int32_t pair[2])
{
    const size_t last = n - 1;
    switch (a->assignment) {
    case GLS_ASSIGN_RADIAL:
        pair[0] = search(a, point[0]);
        pair[1] = search(a, point[last]);
        return;
    case GLS_ASSIGN_REVERSE:
        pair[0] = look_back(a, point, 0, 1, (n + 1) / 2);
        pair[1] = look_back(a, point, (ptrdiff_t)last, -1, last - n / 2);
        return;
    case GLS_ASSIGN_FORWARD:
        pair[0] = look_ahead(&a->grid, (const double(*)[4])a->world_to_voxel, a->node, a->radius, point, n, false);
        pair[1] = look_ahead(&a->grid, (const double(*)[4])a->world_to_voxel, a->node, a->radius, point, n, true);
        return;
    default: pair[0] = label_at(a, point[0]); pair[1] = label_at(a, point[last]);
    }
}

/* Comparison for qsort(): int32_t in ascending order. */
static int by_value(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Appends a region to the list of a streamline, unless it is the last of the list, or 0, which means no region. */
static void add_node(gls_assign_scratch *scratch, int32_t node)
{
    if (node == 0 || (scratch->n > 0 && scratch->node[scratch->n - 1] == node)) return;
    if (!gls_list_reserve(&scratch->node, scratch->n, &scratch->capacity, 64, sizeof *scratch->node)) {
        scratch->failed = true;
        return;
    }
    scratch->node[scratch->n++] = node;
}

void gls_assign_all(const gls_assigner *a, gls_assign_scratch *scratch, const float (*point)[3], size_t n)
{
    const gls_density_options walk = {.size = sizeof walk, .mapping = GLS_DENSITY_SEGMENT, .upsample = 1};
    /* list the regions of the points of the streamline, or of all voxels that its segments pass */
    size_t kept = 0;
    scratch->n = 0;
    if (a->test == GLS_ROI_TEST_VERTEX) {
        for (size_t p = 0; p < n; p++) add_node(scratch, label_at(a, point[p]));
    } else {
        gls_visits_find(&scratch->visits, &a->visit_grid, &walk, point, n);
        scratch->failed |= scratch->visits.failed;
        for (size_t i = 0; i < scratch->visits.n; i++) add_node(scratch, a->node[scratch->visits.voxel[i]]);
    }
    /* sort the regions and keep each once */
    if (scratch->n > 1) qsort(scratch->node, scratch->n, sizeof *scratch->node, by_value);
    for (size_t i = 0; i < scratch->n; i++)
        if (i == 0 || scratch->node[i] != scratch->node[kept - 1]) scratch->node[kept++] = scratch->node[i];
    scratch->n = kept;
}

void gls_assign_scratch_finish(gls_assign_scratch *scratch)
{
    gls_visits_finish(&scratch->visits);
    free(scratch->node);
    *scratch = (gls_assign_scratch){.n = 0};
}
