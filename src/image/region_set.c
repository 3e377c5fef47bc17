/* The regions of a run: read from files, checked against the grid, and packed so that a device can look them up. */
#include "image/region_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/maths.h"
#include "util/file.h"
#include "util/status.h"
#include "util/text.h"

/* Corners of equal grids may differ by this much: mm. */
#define SAME_PLACE 1e-4

#define APART true
#define JOINT false
#define NEEDED true
#define HARMLESS false
static const gls_region_kind kinds[GLS_REGION_ROLES] = {
    [GLS_REGION_MASK] = {"mask", JOINT, GLS_REGION_BORDER, NEEDED},
#define GLS_REGION_ROW(symbol, value, field, option, bits, place, reach, ...) \
    [symbol] = {option, bits, GLS_REGION_##place, reach},
#include <glslines/regions.def>
#undef GLS_REGION_ROW
};

const gls_region_kind *gls_region_kind_of(gls_region_role role)
{
    return &kinds[role];
}

const char *gls_region_role_name(gls_region_role role)
{
    return (unsigned)role < GLS_REGION_ROLES ? kinds[role].option : "unknown";
}

gls_status gls_regions_create(const gls_grid *grid, gls_regions **out)
{
    GLS_REQUIRE(grid && out);
    gls_grid checked;
    gls_status status = gls_grid_init(&checked, grid->dim, grid->affine);
    if (status) return status;
    gls_regions *r = calloc(1, sizeof *r);
    if (!r) return gls_fail(GLS_ERR_MEMORY, "out of memory for regions");
    r->grid = *grid;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++) r->world[i][k] = (float)grid->affine[i][k];
    *out = r;
    return GLS_OK;
}

void gls_regions_destroy(gls_regions *r)
{
    if (!r) return;
    for (size_t i = 0; i < r->n; i++) free(r->region[i].text);
    for (size_t g = 0; g < r->n_groups; g++) free(r->group[g].voxel);
    free(r->region);
    free(r->store);
    free(r);
}

static bool same_grid(const gls_grid *a, const gls_grid *b)
{
    if (memcmp(a->dim, b->dim, sizeof a->dim) != 0) return false;
    for (int corner = 0; corner < 8; corner++) {
        double p[3], q[3], s[3];
        for (int i = 0; i < 3; i++) p[i] = corner >> i & 1 ? a->dim[i] - 1 : 0;
        gls_affine_apply(a->affine, p, q);
        gls_affine_apply(b->affine, p, s);
        for (int i = 0; i < 3; i++)
            if (!(fabs(q[i] - s[i]) <= SAME_PLACE)) return false;
    }
    return true;
}

static bool may_be_at(const gls_regions *r, const gls_image *mask, const double inverse[3][4], const double world[3])
{
    double p[3];
    size_t voxel;
    gls_affine_apply(inverse, world, p);
    return gls_region_voxel_at(&r->grid, p, &voxel) && (!mask || mask->data[voxel] > 0);
}

/* Whether a point lies in the region. inverse: map from world to voxels of area->grid. */
static bool region_area_has(const gls_region_area *area, const double inverse[3][4], const double world[3])
{
    double p[3], square = 0;
    size_t voxel;
    if (area->inside) {
        gls_affine_apply(inverse, world, p);
        return gls_region_voxel_at(&area->grid, p, &voxel) && area->inside[voxel];
    }
    const gls_region_sphere *s = &area->sphere;
    for (int i = 0; i < 3; i++) square += (world[i] - s->centre[i]) * (world[i] - s->centre[i]);
    return square <= s->radius * s->radius;
}

/* Whether a voxel centre of the region lies in the mask, or a voxel centre of the mask in the region. */
static bool can_be_reached(const gls_regions *r, const gls_region_area *s, const gls_image *mask)
{
    double to_run[3][4], to_shape[3][4] = {{0}}, p[3];
    gls_grid_inverse(&r->grid, to_run);
    if (s->inside) {
        gls_grid_inverse(&s->grid, to_shape);
        for (size_t v = 0, n = gls_grid_voxels(&s->grid); v < n; v++) {
            if (!s->inside[v]) continue;
            gls_region_centre(&s->grid, v, p);
            gls_affine_apply(s->grid.affine, p, p);
            if (may_be_at(r, mask, to_run, p)) return true;
        }
    } else if (may_be_at(r, mask, to_run, s->sphere.centre)) {
        return true;
    }
    for (size_t v = 0, n = gls_grid_voxels(&r->grid); v < n; v++) {
        if (mask && !(mask->data[v] > 0)) continue;
        gls_region_centre(&r->grid, v, p);
        gls_affine_apply(r->grid.affine, p, p);
        if (region_area_has(s, (const double(*)[4])to_shape, p)) return true;
    }
    return false;
}

static gls_status check_reach(const gls_regions *r, gls_region_role role, const gls_region_area *s, const char *name,
                              const gls_image *mask)
{
    if (role == GLS_REGION_MASK || can_be_reached(r, s, mask)) return GLS_OK;
    const gls_region_kind *kind = gls_region_kind_of(role);
    if (kind->needed)
        return gls_fail(GLS_ERR_INPUT, "--%s %s: cannot be reached: the region lies outside the mask", kind->option,
                        name);
    gls_log(GLS_LOG_WARNING, "--%s %s: has no effect: the region lies outside the mask", kind->option, name);
    return GLS_OK;
}

/* Chooses the bit for another region of this role. */
static gls_status take_bit(gls_regions *r, gls_region_role role, uint32_t *bit)
{
    if (role == GLS_REGION_INCLUDE_END && __builtin_popcount(r->role_bits[role]) == 2)
        return gls_fail(GLS_ERR_ARGUMENT, "--include-end: a streamline has two ends: at most two regions");
    if (!gls_region_kind_of(role)->apart && r->role_bits[role]) {
        *bit = 0;
        while (!(r->role_bits[role] >> *bit & 1)) ++*bit;
        return GLS_OK;
    }
    if (r->n_bits == GLS_REGION_MAX_BITS)
        return gls_fail(GLS_ERR_ARGUMENT, "--%s: %d regions that are told apart are too many: at most %d",
                        gls_region_role_name(role), GLS_REGION_MAX_BITS + 1, GLS_REGION_MAX_BITS);
    *bit = r->n_bits++;
    r->role_bits[role] |= 1u << *bit;
    return GLS_OK;
}

/* Finds the group of a grid, or adds one. *index: number of the group. */
static gls_status take_group(gls_regions *r, const gls_grid *grid, const char *name, size_t *index)
{
    for (*index = 0; *index < r->n_groups; ++*index)
        if (same_grid(&r->group[*index].grid, grid)) return GLS_OK;
    if (r->n_groups == GLS_REGION_MAX_GRIDS)
        return gls_fail(GLS_ERR_UNSUPPORTED, "%s: regions on more than %d different grids", name, GLS_REGION_MAX_GRIDS);
    uint32_t *voxel = calloc(gls_grid_voxels(grid), sizeof *voxel);
    if (!voxel) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory for a region", name);
    r->group[r->n_groups++] = (gls_region_group){.grid = *grid, .voxel = voxel};
    return GLS_OK;
}

static gls_status add_region(gls_regions *r, gls_region_role role, const gls_region_area *s, const char *text,
                             const gls_image *mask)
{
    gls_region *list = realloc(r->region, (r->n + 1) * sizeof *list);
    if (!list) return gls_fail(GLS_ERR_MEMORY, "out of memory for regions");
    r->region = list;
    gls_region region = {.text = gls_text_copy(text), .group = SIZE_MAX};
    gls_status status = region.text ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for regions");
    if (!status) status = check_reach(r, role, s, text, mask);
    if (!status && !s->inside && r->n_spheres == GLS_REGION_MAX_SPHERES)
        status = gls_fail(GLS_ERR_ARGUMENT, "--%s %s: at most %d spheres", gls_region_role_name(role), text,
                          GLS_REGION_MAX_SPHERES);
    if (!status) status = take_bit(r, role, &region.info.bit);
    if (!status && s->inside) status = take_group(r, &s->grid, text, &region.group);
    if (status) {
        free(region.text);
        return status;
    }
    region.info.role = role;
    region.info.text = region.text;
    region.info.voxels = s->voxels;
    if (s->inside) {
        const double *side = s->grid.voxel_size;
        gls_region_group *group = &r->group[region.group];
        for (size_t v = 0, n = gls_grid_voxels(&s->grid); v < n; v++)
            if (s->inside[v]) group->voxel[v] |= 1u << region.info.bit;
        region.info.smallest = fmin(side[0], fmin(side[1], side[2]));
    } else {
        gls_region_sphere *sphere = &r->sphere[r->n_spheres++];
        *sphere = s->sphere;
        sphere->bits = 1u << region.info.bit;
        region.sphere = sphere;
        region.info.smallest = sphere->radius;
    }
    r->region[r->n++] = region;
    return GLS_OK;
}

gls_status gls_regions_add_image(gls_regions *r, gls_region_role role, const gls_image *image, const char *name,
                                 const gls_image *mask)
{
    GLS_REQUIRE(r && !r->complete && (unsigned)role < GLS_REGION_ROLES && image && name);
    GLS_REQUIRE(image->n_volumes == 1);
    GLS_REQUIRE(!mask || gls_grid_voxels(&mask->grid) == gls_grid_voxels(&r->grid));
    gls_region_area area;
    gls_status status = gls_region_area_mark(gls_region_role_name(role), image, name, &area);
    if (!status) status = add_region(r, role, &area, name, mask);
    gls_region_area_finish(&area);
    return status;
}

gls_status gls_regions_add(gls_regions *r, gls_region_role role, const char *text, const gls_image *mask)
{
    GLS_REQUIRE(r && !r->complete && (unsigned)role < GLS_REGION_ROLES && text);
    GLS_REQUIRE(!mask || gls_grid_voxels(&mask->grid) == gls_grid_voxels(&r->grid));
    gls_region_area area;
    gls_status status = gls_region_area_read(gls_region_role_name(role), text, &area);
    if (!status) status = add_region(r, role, &area, text, mask);
    gls_region_area_finish(&area);
    return status;
}

/* Finds the box of voxels that are in a region, and the map from the run's voxel coordinates to it. */
static void find_box(const gls_regions *r, gls_region_group *g)
{
    int32_t low[3] = {INT32_MAX, INT32_MAX, INT32_MAX}, high[3] = {-1, -1, -1};
    double inverse[3][4];
    for (size_t v = 0, n = gls_grid_voxels(&g->grid); v < n; v++) {
        double p[3];
        if (!g->voxel[v]) continue;
        gls_region_centre(&g->grid, v, p);
        for (int a = 0; a < 3; a++) {
            if ((int32_t)p[a] < low[a]) low[a] = (int32_t)p[a];
            if ((int32_t)p[a] > high[a]) high[a] = (int32_t)p[a];
        }
    }
    bool same = same_grid(&r->grid, &g->grid);
    gls_grid_inverse(&g->grid, inverse);
    for (int a = 0; a < 3; a++) {
        g->origin[a] = low[a];
        g->size[a] = high[a] - low[a] + 1;
        for (int c = 0; c < 4; c++) {
            double sum = c == 3 ? inverse[a][3] : 0;
            for (int k = 0; k < 3; k++) sum += inverse[a][k] * r->grid.affine[k][c];
            if (same) sum = a == c;
            g->map[a][c] = (float)(c == 3 ? sum - low[a] : sum);
        }
    }
}

static void copy_box(const gls_region_group *g, uint32_t *out)
{
    for (int32_t z = 0; z < g->size[2]; z++)
        for (int32_t y = 0; y < g->size[1]; y++) {
            size_t row = (size_t)(g->origin[2] + z) * (size_t)g->grid.dim[1] + (size_t)(g->origin[1] + y);
            memcpy(out, g->voxel + row * (size_t)g->grid.dim[0] + g->origin[0], (size_t)g->size[0] * sizeof *out);
            out += g->size[0];
        }
}

static gls_status pack(gls_regions *r)
{
    for (size_t i = 0; i < r->n_groups; i++) {
        gls_region_group *g = &r->group[i];
        find_box(r, g);
        g->first = r->n_words;
        r->n_words += (size_t)g->size[0] * (size_t)g->size[1] * (size_t)g->size[2];
    }
    r->store = malloc((r->n_words + 1) * sizeof *r->store);
    if (!r->store) return gls_fail(GLS_ERR_MEMORY, "out of memory for regions");
    for (size_t i = 0; i < r->n_groups; i++) {
        copy_box(&r->group[i], r->store + r->group[i].first);
        free(r->group[i].voxel);
        r->group[i].voxel = NULL;
    }
    return GLS_OK;
}

/* Whether every voxel centre of an include region, or the whole sphere, lies in exclude regions. No streamline can pass
 * then. */
static bool wholly_excluded(const gls_regions *r, const gls_region *region)
{
    const uint32_t exclude = r->role_bits[GLS_REGION_EXCLUDE];
    if (region->sphere) {
        for (size_t i = 0; i < r->n_spheres; i++) {
            const double *a = region->sphere->centre, *b = r->sphere[i].centre;
            double distance =
                sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
            if ((r->sphere[i].bits & exclude) && distance + region->sphere->radius <= r->sphere[i].radius) return true;
        }
        return false;
    }
    const gls_region_group *g = &r->group[region->group];
    double to_run[3][4];
    gls_grid_inverse(&r->grid, to_run);
    for (size_t v = 0, n = (size_t)g->size[0] * (size_t)g->size[1] * (size_t)g->size[2]; v < n; v++) {
        if (!(r->store[g->first + v] >> region->info.bit & 1)) continue;
        double p[3] = {(double)(v % (size_t)g->size[0]) + g->origin[0],
                       (double)(v / (size_t)g->size[0] % (size_t)g->size[1]) + g->origin[1],
                       (double)(v / (size_t)g->size[0] / (size_t)g->size[1]) + g->origin[2]};
        gls_affine_apply(g->grid.affine, p, p);
        gls_affine_apply(to_run, p, p);
        const float at[3] = {(float)p[0], (float)p[1], (float)p[2]};
        if (!(gls_regions_at(r, at) & exclude)) return false;
    }
    return true;
}

gls_status gls_regions_complete(gls_regions *r)
{
    GLS_REQUIRE(r && !r->complete);
    gls_status status = pack(r);
    if (status) return status;
    r->complete = true;
    for (size_t i = 0; i < r->n && r->role_bits[GLS_REGION_EXCLUDE]; i++)
        if (r->region[i].info.role == GLS_REGION_INCLUDE && wholly_excluded(r, &r->region[i]))
            return gls_fail(GLS_ERR_INPUT, "--include %s: lies wholly in regions of --exclude", r->region[i].text);
    return GLS_OK;
}

size_t gls_regions_count(const gls_regions *r)
{
    return r ? r->n : 0;
}

gls_region_info gls_regions_get(const gls_regions *r, size_t i)
{
    return r->region[i].info;
}

uint32_t gls_regions_bits(const gls_regions *r, gls_region_role role)
{
    return r ? r->role_bits[role] : 0;
}

uint32_t gls_regions_bits_of_place(const gls_regions *r, gls_region_place place)
{
    uint32_t bits = 0;
    for (int role = 0; role < GLS_REGION_ROLES; role++)
        if (kinds[role].place == place) bits |= gls_regions_bits(r, (gls_region_role)role);
    return bits;
}

static float row(const float m[4], const float p[3])
{
    return m[0] * p[0] + m[1] * p[1] + m[2] * p[2] + m[3];
}

/* Twin of regions_at() in glsl/guide/regions.glsl. */
uint32_t gls_regions_at(const gls_regions *r, const float point[3])
{
    uint32_t bits = 0;
    for (size_t i = 0; i < r->n_groups; i++) {
        const gls_region_group *g = &r->group[i];
        size_t at = 0;
        bool inside = true;
        for (int a = 2; a >= 0; a--) {
            float v = floorf(row(g->map[a], point) + 0.5f);
            inside = inside && v >= 0 && v < (float)g->size[a];
            at = at * (size_t)g->size[a] + (inside ? (size_t)v : 0);
        }
        if (inside) bits |= r->store[g->first + at];
    }
    for (size_t i = 0; i < r->n_spheres; i++) {
        const gls_region_sphere *s = &r->sphere[i];
        float square = 0;
        for (int a = 0; a < 3; a++) {
            float d = row(r->world[a], point) - (float)s->centre[a];
            square += d * d;
        }
        if (square <= (float)(s->radius * s->radius)) bits |= s->bits;
    }
    return bits;
}

uint64_t gls_regions_hash(const gls_regions *r)
{
    uint64_t part[3 * GLS_REGION_MAX_GRIDS + GLS_REGION_MAX_SPHERES + 2] = {0};
    size_t n = 0;
    part[n++] = gls_hash(r->role_bits, sizeof r->role_bits);
    part[n++] = gls_hash(r->store, r->n_words * sizeof *r->store);
    for (size_t i = 0; i < r->n_groups; i++) {
        part[n++] = gls_hash(r->group[i].size, sizeof r->group[i].size);
        part[n++] = gls_hash(r->group[i].map, sizeof r->group[i].map);
    }
    for (size_t i = 0; i < r->n_spheres; i++) {
        const gls_region_sphere *s = &r->sphere[i];
        const double values[5] = {s->centre[0], s->centre[1], s->centre[2], s->radius, s->bits};
        part[n++] = gls_hash(values, sizeof values);
    }
    return gls_hash(part, n * sizeof *part);
}
