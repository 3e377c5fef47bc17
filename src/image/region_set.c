/* The regions of a run: read from files, checked against the grid, and packed so that a device can look them up. */
#include "image/region_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/region_area.h"
#include "image/region_store.h"
#include "util/file.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text.h"

/* Largest difference, mm, between the corners of equal grids, in each coordinate. */
#define SAME_PLACE 1e-4

#define APART true
#define JOINT false
#define NEEDED true
#define HARMLESS false
static const gls_region_kind kinds[GLS_REGION_ROLES] = {
    [GLS_REGION_MASK] = {"mask", JOINT, GLS_REGION_BORDER, NEEDED},
    [GLS_REGION_ALL] = {"all", APART, GLS_REGION_FILTERS, HARMLESS},
#define GLS_REGION_ROW(symbol, value, field, option, bits, where, reach, ...) \
    [symbol] = {option, bits, GLS_REGION_##where, reach},
#include <glslines/regions.def>
};

const gls_region_kind *gls_region_kind_of(gls_region_role role)
{
    return &kinds[role];
}

const char *gls_region_role_name(gls_region_role role)
{
    return (unsigned)role < GLS_REGION_ROLES ? kinds[role].option : "unknown";
}

/* Whether the tracker tests regions of this role. Regions of other roles only filter finished streamlines. */
static bool is_for_tracking(gls_region_role role)
{
    return (unsigned)role < GLS_REGION_ROLES && kinds[role].where != GLS_REGION_FILTERS;
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
    r->store = calloc(1, sizeof *r->store);
    status =
        r->store ? gls_region_store_init(r->store, SAME_PLACE) : gls_fail(GLS_ERR_MEMORY, "out of memory for regions");
    if (status)
        gls_regions_destroy(r);
    else
        *out = r;
    return status;
}

/* Frees the store of the voxels of all regions, which is needed only until they are packed. */
static void drop_store(gls_regions *r)
{
    if (r->store) gls_region_store_finish(r->store);
    free(r->store);
    r->store = NULL;
}

void gls_regions_destroy(gls_regions *r)
{
    if (!r) return;
    for (size_t i = 0; i < r->n; i++) free(r->region[i].text);
    free(r->region);
    free(r->word);
    drop_store(r);
    free(r);
}

/* Whether a world position lies in the grid of the regions and, with a mask, in a voxel of the mask. */
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

/* Whether region and mask overlap: a voxel centre of the region, or the centre of its sphere, lies in the mask, or a
 * voxel centre of the mask lies in the region. mask NULL: all voxels of the run's grid count as mask. */
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

/* Checks that a region does not lie outside the mask: returns an error if streamlines must reach regions of its role,
 * else warns. The mask itself always passes. *is_outside: whether it lies outside. */
static gls_status check_reach(const gls_regions *r, gls_region_role role, const gls_region_area *s, const char *name,
                              const gls_image *mask, bool *is_outside)
{
    *is_outside = role != GLS_REGION_MASK && !can_be_reached(r, s, mask);
    if (!*is_outside) return GLS_OK;
    const gls_region_kind *kind = gls_region_kind_of(role);
    if (kind->needed)
        return gls_fail(GLS_ERR_INPUT, "--%s %s: cannot be reached: the region lies outside the mask", kind->option,
                        name);
    gls_log(GLS_LOG_WARNING, "--%s %s: no streamline can meet it: the region lies outside the mask", kind->option,
            name);
    return GLS_OK;
}

/* The roles in the order of their bits. */
static const gls_region_role bit_order[] = {
    GLS_REGION_MASK,
#define GLS_REGION_ROW(symbol, ...) symbol,
#include <glslines/regions.def>
};

/* Gives each region its bit. In whatever order regions were added, the bits of a role are neighbours, and so are those
 * of roles whose rows in regions.def are: region_stop.c counts on both. */
static void number_bits(gls_regions *r)
{
    uint32_t next = 0;
    for (size_t k = 0; k < sizeof bit_order / sizeof *bit_order; k++) {
        uint32_t *bits = &r->role_bits[bit_order[k]];
        *bits = 0;
        for (size_t i = 0; i < r->n; i++) {
            if (r->region[i].info.role != bit_order[k]) continue;
            if (*bits == 0 || kinds[bit_order[k]].apart) *bits |= 1u << next++;
            r->region[i].info.bit = next - 1;
        }
    }
    r->n_bits = next;
}

/* Checks that there is a bit for another region of this role. */
static gls_status check_bit(const gls_regions *r, gls_region_role role)
{
    if (role == GLS_REGION_INCLUDE_END && __builtin_popcount(r->role_bits[role]) == 2)
        return gls_fail(GLS_ERR_ARGUMENT, "--include-end: a streamline has two ends: give at most two regions");
    if (!gls_region_kind_of(role)->apart && r->role_bits[role]) return GLS_OK;
    if (r->n_bits == GLS_REGION_MAX_BITS)
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "--%s: one region too many: a run has at most %d, of which the mask is one, each --include, "
            "--include-ordered, --include-end and --stop-leaving one, and all of any other option together one",
            gls_region_role_name(role), GLS_REGION_MAX_BITS);
    return GLS_OK;
}

/* Counts a new region: its sphere, or its grid if no earlier region has that grid. Returns an error if a device cannot
 * look up so many spheres or grids. */
static gls_status check_numbers(gls_regions *r, gls_region_role role, const gls_region_area *s, const char *text)
{
    const bool fresh = s->inside && gls_region_store_find(r->store, &s->grid) == r->store->n_layers;
    if (!s->inside && r->n_spheres == GLS_REGION_MAX_SPHERES)
        return gls_fail(GLS_ERR_ARGUMENT, "--%s %s: a run can have at most %d spheres", gls_region_role_name(role),
                        text, GLS_REGION_MAX_SPHERES);
    if (fresh && r->n_groups == GLS_REGION_MAX_GRIDS)
        return gls_fail(GLS_ERR_UNSUPPORTED,
                        "%s: with this region there are more than %d different grids, of images and of boxes: bring "
                        "images to one grid",
                        text, GLS_REGION_MAX_GRIDS);
    r->n_groups += fresh;
    r->n_spheres += !s->inside;
    return GLS_OK;
}

/* Checks a region, gives it a bit, and adds it to store and list. */
static gls_status add_region(gls_regions *r, gls_region_role role, const gls_region_area *s, const char *text,
                             const gls_image *mask)
{
    gls_region *list = realloc(r->region, (r->n + 1) * sizeof *list);
    if (!list) return gls_fail(GLS_ERR_MEMORY, "out of memory for regions");
    r->region = list;
    const double *side = s->grid.voxel_size;
    gls_region region = {.text = gls_text_copy(text), .is_box = s->is_box};
    gls_status status = region.text ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for regions");
    if (!status) status = check_reach(r, role, s, text, mask, &region.is_outside);
    if (!status) status = check_bit(r, role);
    if (!status) status = check_numbers(r, role, s, text);
    if (!status && !gls_region_store_add(r->store, s, (uint32_t)r->n, &region.layer))
        status = gls_fail(GLS_ERR_MEMORY, "%s: out of memory for a region", text);
    if (status) {
        free(region.text);
        return status;
    }
    region.info.role = role;
    region.info.text = region.text;
    region.info.voxels = s->voxels;
    region.info.smallest = s->inside ? fmin(side[0], fmin(side[1], side[2])) : s->sphere.radius;
    r->region[r->n++] = region;
    number_bits(r);
    return GLS_OK;
}

gls_status gls_regions_add_image(gls_regions *r, gls_region_role role, const gls_image *image, const char *name,
                                 const gls_image *mask)
{
    GLS_REQUIRE(r && !r->complete && is_for_tracking(role) && image && name);
    GLS_REQUIRE(image->n_volumes == 1);
    GLS_REQUIRE(!mask || gls_grid_voxels(&mask->grid) == gls_grid_voxels(&r->grid));
    gls_region_area area;
    gls_status status = gls_region_area_mark(gls_region_role_name(role), image, name, &area);
    if (!status) status = add_region(r, role, &area, name, mask);
    gls_region_area_finish(&area);
    return status;
}

gls_status gls_regions_add_area(gls_regions *r, gls_region_role role, const gls_region_area *area, const char *text,
                                const gls_image *mask)
{
    GLS_REQUIRE(r && !r->complete && is_for_tracking(role) && area && text);
    GLS_REQUIRE(!mask || gls_grid_voxels(&mask->grid) == gls_grid_voxels(&r->grid));
    return add_region(r, role, area, text, mask);
}

gls_status gls_regions_add(gls_regions *r, gls_region_role role, const char *text, const gls_image *mask)
{
    GLS_REQUIRE(r && !r->complete && is_for_tracking(role) && text);
    gls_region_area area;
    gls_status status = gls_region_area_read(gls_region_role_name(role), text, &area);
    if (!status) status = gls_regions_add_area(r, role, &area, text, mask);
    gls_region_area_finish(&area);
    return status;
}

/* Bits of the regions in the set with index `set` of the store. */
static uint32_t bits_of(const gls_regions *r, uint32_t set)
{
    uint32_t bits = 0;
    for (size_t i = r->store->first[set]; i < r->store->first[set + 1]; i++)
        bits |= 1u << r->region[r->store->set[i]].info.bit;
    return bits;
}

/* Makes the group of a layer: the box of the layer's voxels, the map from voxel coordinates of the run to the box, and
 * the index of the group's first word. */
static void pack_grid(gls_regions *r, const gls_region_layer *p, gls_region_group *g)
{
    const bool same = gls_region_same_grid(&r->grid, &p->grid, SAME_PLACE);
    *g = (gls_region_group){.grid = p->grid, .first = r->n_words};
    for (int a = 0; a < 3; a++) {
        g->origin[a] = p->low_voxel[a];
        g->size[a] = p->high_voxel[a] - p->low_voxel[a];
        for (int c = 0; c < 4; c++) {
            double sum = c == 3 ? p->inverse[a][3] : 0;
            for (int k = 0; k < 3; k++) sum += p->inverse[a][k] * r->grid.affine[k][c];
            if (same) sum = a == c;
            g->map[a][c] = (float)(c == 3 ? sum - g->origin[a] : sum);
        }
    }
    r->n_words += (size_t)g->size[0] * (size_t)g->size[1] * (size_t)g->size[2];
}

/* Writes the words of a group. bits: for each set of the store, the bits of its regions. */
static void copy_box(const gls_region_group *g, const gls_region_layer *p, const uint32_t *bits, uint32_t *out)
{
    for (int32_t z = 0; z < g->size[2]; z++)
        for (int32_t y = 0; y < g->size[1]; y++) {
            size_t row = (size_t)(g->origin[2] + z) * (size_t)g->grid.dim[1] + (size_t)(g->origin[1] + y);
            const uint32_t *set = p->voxel + row * (size_t)g->grid.dim[0] + g->origin[0];
            for (int32_t x = 0; x < g->size[0]; x++) *out++ = bits[set[x]];
        }
}

/* Makes groups and spheres of the layers of the store. */
static gls_status pack(gls_regions *r)
{
    const gls_region_store *s = r->store;
    size_t *index = malloc((s->n_layers + 1) * sizeof *index), n_groups = 0, n_spheres = 0;
    uint32_t *bits = malloc(s->n_sets * sizeof *bits);
    for (size_t i = 0; index && i < s->n_layers; i++) {
        index[i] = s->layer[i].voxel ? n_groups++ : n_spheres++;
        if (s->layer[i].voxel) pack_grid(r, &s->layer[i], &r->group[index[i]]);
    }
    r->word = malloc((r->n_words + 1) * sizeof *r->word);
    const bool done = index && bits && r->word;
    for (size_t k = 0; done && k < s->n_sets; k++) bits[k] = bits_of(r, (uint32_t)k);
    for (size_t i = 0; done && i < s->n_layers; i++) {
        const gls_region_layer *p = &s->layer[i];
        if (p->voxel) {
            copy_box(&r->group[index[i]], p, bits, r->word + r->group[index[i]].first);
        } else {
            r->sphere[index[i]] = p->sphere;
            r->sphere[index[i]].bits = bits[p->sphere_set];
        }
    }
    for (size_t i = 0; done && i < r->n; i++) r->region[i].index = index[r->region[i].layer];
    free(index);
    free(bits);
    return done ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for regions");
}

/* Corners of a box, or of the box around a sphere, world mm. */
static void find_corners(const gls_regions *r, const gls_region *region, double low[3], double high[3])
{
    /* the index counts either spheres or groups */
    const gls_region_sphere *sphere = region->is_box ? NULL : &r->sphere[region->index];
    const gls_region_group *group = region->is_box ? &r->group[region->index] : NULL;
    for (int a = 0; a < 3; a++) {
        const double middle = sphere ? sphere->centre[a] : group->grid.affine[a][3],
                     half = sphere ? sphere->radius : group->grid.affine[a][a] / 2;
        low[a] = middle - half;
        high[a] = middle + half;
    }
}

/* Whether a box or sphere lies in another one. */
static bool lies_in(const gls_regions *r, const gls_region *inner, const gls_region *outer)
{
    double low[3], high[3], from[3], to[3], square = 0;
    bool inside = true;
    find_corners(r, inner, low, high);
    find_corners(r, outer, from, to);
    for (int a = 0; a < 3; a++) inside = inside && low[a] >= from[a] && high[a] <= to[a];
    if (outer->is_box || !inside) return inside;
    const gls_region_sphere *sphere = &r->sphere[outer->index], *own = inner->is_box ? NULL : &r->sphere[inner->index];
    for (int a = 0; a < 3; a++) {
        const double far = inner->is_box ? fmax(sphere->centre[a] - low[a], high[a] - sphere->centre[a])
                                         : own->centre[a] - sphere->centre[a];
        square += far * far;
    }
    return sqrt(square) + (inner->is_box ? 0 : own->radius) <= sphere->radius;
}

/* Whether an include sphere or box lies in an exclude one, or every voxel centre of an include region of voxels lies in
 * exclude regions. No streamline can be kept then. */
static bool wholly_excluded(const gls_regions *r, const gls_region *region)
{
    const uint32_t exclude = r->role_bits[GLS_REGION_EXCLUDE];
    if (region->info.voxels == 0 || region->is_box) {
        for (size_t i = 0; i < r->n; i++) {
            const gls_region *other = &r->region[i];
            const bool solid = other->info.voxels == 0 || other->is_box;
            if (solid && other->info.role == GLS_REGION_EXCLUDE && lies_in(r, region, other)) return true;
        }
        return false;
    }
    const gls_region_group *g = &r->group[region->index];
    double to_run[3][4];
    gls_grid_inverse(&r->grid, to_run);
    for (size_t v = 0, n = (size_t)g->size[0] * (size_t)g->size[1] * (size_t)g->size[2]; v < n; v++) {
        if (!(r->word[g->first + v] >> region->info.bit & 1)) continue;
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

/* Checks that a streamline can meet all regions of --include, and one of --include-any if there are any. */
static gls_status check_includes(const gls_regions *r)
{
    size_t n_any = 0, n_lost = 0;
    for (size_t i = 0; i < r->n; i++) {
        const gls_region *region = &r->region[i];
        const bool any = region->info.role == GLS_REGION_INCLUDE_ANY;
        if (!any && region->info.role != GLS_REGION_INCLUDE) continue;
        const bool lost = region->is_outside || (r->role_bits[GLS_REGION_EXCLUDE] && wholly_excluded(r, region));
        if (lost && !any)
            return gls_fail(GLS_ERR_INPUT, "--include %s: lies wholly in regions of --exclude", region->text);
        n_any += any;
        n_lost += any && lost;
    }
    if (n_any > 0 && n_lost == n_any)
        return gls_fail(GLS_ERR_INPUT,
                        "--include-any: none of its regions can be reached: each lies outside the mask or "
                        "wholly in regions of --exclude");
    return GLS_OK;
}

gls_status gls_regions_complete(gls_regions *r)
{
    GLS_REQUIRE(r && !r->complete);
    gls_status status = pack(r);
    if (status) return status;
    drop_store(r);
    r->complete = true;
    return check_includes(r);
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

uint32_t gls_regions_bits_where(const gls_regions *r, gls_region_where where)
{
    uint32_t bits = 0;
    for (int role = 0; role < GLS_REGION_ROLES; role++)
        if (kinds[role].where == where) bits |= gls_regions_bits(r, (gls_region_role)role);
    return bits;
}

bool gls_region_ends_fit(const uint32_t role_bits[GLS_REGION_ROLES], uint32_t a, uint32_t b)
{
    const uint32_t both = role_bits[GLS_REGION_INCLUDE_BOTH_ENDS], wanted = role_bits[GLS_REGION_INCLUDE_END],
                   one = wanted & -wanted, other = wanted ^ one;
    if ((a | b) & role_bits[GLS_REGION_EXCLUDE_END]) return false;
    if (both && !((a & both) && (b & both))) return false;
    if (!other) return !one || ((a | b) & one);
    return ((a & one) && (b & other)) || ((b & one) && (a & other));
}

/* One coordinate of an affine map, in float as the shader computes it. */
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
        if (inside) bits |= r->word[g->first + at];
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
    uint32_t bits[GLS_REGION_ROLES];
    size_t n = 0, n_bits = 0;
    for (int role = 0; role < GLS_REGION_ROLES; role++)
        if (is_for_tracking((gls_region_role)role)) bits[n_bits++] = r->role_bits[role];
    part[n++] = gls_hash(bits, n_bits * sizeof *bits);
    part[n++] = gls_hash(r->word, r->n_words * sizeof *r->word);
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
