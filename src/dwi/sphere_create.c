/* Spheres of directions with neighbours and antipodal pairs, from built-in sets, files, or arrays. */
#include <glslines/sphere.h>

#include "dwi/hull.h"
#include "dwi/sphere_data.h"
#include "util/status.h"
#include "util/text_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_PARTNER UINT32_MAX /* marks a direction without an opposite */

void gls_sphere_destroy(gls_sphere *sphere)
{
    if (!sphere) return;
    free(sphere->vertex);
    free(sphere->first);
    free(sphere->neighbour);
    free(sphere->orbit_size);
    free(sphere);
}

/* Allocates a sphere of n vertices without neighbours; vertices are not set. NULL if memory runs out. */
static gls_sphere *sphere_alloc(size_t n, bool antipodal)
{
    gls_sphere *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->n = n;
    s->antipodal = antipodal;
    s->vertex = malloc(n * sizeof *s->vertex);
    s->first = calloc(n + 1, sizeof *s->first);
    if (!s->vertex || !s->first) {
        gls_sphere_destroy(s);
        return NULL;
    }
    return s;
}

/* Comparison for qsort(): indices in ascending order. */
static int compare_index(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Fills first[] and neighbour[], the ascending neighbours of each vertex, from the triangles of the complete point set.
 * On an antipodal sphere the points v and v + n of that set are one vertex. */
static gls_status set_neighbours(gls_sphere *s, const uint32_t (*face)[3], size_t n_faces)
{
    uint32_t n = (uint32_t)s->n, kept = 0;
    uint32_t *list = malloc(3 * n_faces * sizeof *list), *end = calloc(s->n + 1, sizeof *end);
    if (!list || !end) {
        free(list);
        free(end);
        return gls_fail(GLS_ERR_MEMORY, "out of memory for a sphere of %zu vertices", s->n);
    }
    /* The surface is closed, so every edge occurs once in each direction. */
    for (size_t f = 0; f < n_faces; f++) {
        for (int i = 0; i < 3; i++) end[face[f][i] % n + 1]++;
    }
    for (size_t v = 0; v < n; v++) end[v + 1] += end[v];
    for (size_t f = 0; f < n_faces; f++) {
        for (int i = 0; i < 3; i++) list[end[face[f][i] % n]++] = face[f][(i + 1) % 3] % n;
    }
    /* end[v] is the end of v's list. On an antipodal set a neighbour can occur twice, once on each side of the sphere;
     * repeated entries are removed. */
    for (uint32_t v = 0, begin = 0; v < n; begin = end[v++]) {
        qsort(list + begin, end[v] - begin, sizeof *list, compare_index);
        for (uint32_t i = begin, last = v; i < end[v]; i++) {
            uint32_t u = list[i];
            if (u != v && u != last) list[kept++] = u;
            last = u;
        }
        s->first[v + 1] = kept;
    }
    free(end);
    s->neighbour = list;
    return GLS_OK;
}

/* Triangulates the vertices, together with their antipodes on an antipodal sphere, and fills the neighbour lists.
 * Antipodes have one label, so that the triangulation is antipodal too. */
static gls_status triangulate(gls_sphere *s)
{
    size_t n = s->n, total = s->antipodal ? 2 * n : n, n_faces = 0;
    uint32_t(*face)[3] = NULL;
    gls_status status = GLS_ERR_MEMORY;
    double(*point)[3] = malloc(total * sizeof *point);
    uint32_t *label = malloc(total * sizeof *label);
    if (!point || !label) {
        gls_error_set("out of memory for a sphere of %zu vertices", n);
        goto fail;
    }
    for (size_t i = 0; i < total; i++) {
        for (int a = 0; a < 3; a++) point[i][a] = i < n ? s->vertex[i][a] : -s->vertex[i - n][a];
        label[i] = (uint32_t)(i % n);
    }
    status = gls_hull_create((const double(*)[3])point, label, total, &face, &n_faces);
    if (!status) status = set_neighbours(s, (const uint32_t(*)[3])face, n_faces);
fail:
    free(point);
    free(label);
    free(face);
    return status;
}

/* Built-in spheres are closed under reflections of x, y and z. Writes one vector of each antipodal pair of the orbit of
 * a point under these reflections, 1 to 4, to `vertex`. Returns their number. */
static size_t expand_orbit(const double first[3], double (*vertex)[3])
{
    static const int sign[4][2] = {{1, 1}, {-1, 1}, {1, -1}, {-1, -1}};
    size_t count = 0;
    for (int m = 0; m < 4; m++) {
        bool x_zero = first[0] == 0, y_zero = first[1] == 0, z_zero = first[2] == 0;
        /* skips reflections that leave the vector as it is or only change its sign: that antipodal pair is already
         * written */
        if (sign[m][0] < 0 && (x_zero || (y_zero && z_zero))) continue;
        if (sign[m][1] < 0 && (y_zero || z_zero)) continue;
        vertex[count][0] = x_zero ? 0 : sign[m][0] * first[0];
        vertex[count][1] = y_zero ? 0 : sign[m][1] * first[1];
        vertex[count++][2] = first[2];
    }
    return count;
}

/* The row of a built-in set of directions; NULL: there is none of that name. */
static const struct gls_sphere_data *find_data(const char *name)
{
    for (size_t i = 0; i < gls_sphere_data_count; i++)
        if (strcmp(name, gls_sphere_data[i].name) == 0) return &gls_sphere_data[i];
    return NULL;
}

bool gls_sphere_is_built_in(const char *name)
{
    return find_data(name) != NULL;
}

gls_status gls_sphere_create(const char *name, gls_sphere **sphere)
{
    GLS_REQUIRE(name && sphere);
    const struct gls_sphere_data *data = find_data(name);
    if (!data)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "no built-in sphere is called '%s' (there are: default, small, repulsion600, repulsion724, "
                        "symmetric362)",
                        name);
    if (data->n_points == data->n_pairs)
        return gls_sphere_create_from((const double(*)[3])data->point, data->n_points, GLS_SPHERE_FOLD, sphere, NULL);
    gls_status status = GLS_ERR_MEMORY;
    gls_sphere *s = sphere_alloc(data->n_pairs, true);
    if (s) s->orbit_size = malloc(data->n_points);
    if (!s || !s->orbit_size) {
        gls_error_set("out of memory for sphere '%s'", name);
        goto fail;
    }
    /* the data have the first vertex of each orbit; the other vertices are its reflections, with exactly the same
     * numbers */
    size_t n = 0;
    for (size_t o = 0; o < data->n_points; o++) {
        size_t members = expand_orbit(&data->point[3 * o], s->vertex + n);
        s->orbit_size[o] = (uint8_t)members;
        n += members;
    }
    s->n_orbits = data->n_points;
    status = triangulate(s);
    if (status) goto fail;
    *sphere = s;
    return GLS_OK;
fail:
    gls_sphere_destroy(s);
    return status;
}

/* Finds for each unit vector the index of its opposite; NO_PARTNER: the set has no opposite of the vector, or the
 * opposite is the partner of another vector. Two vectors closer than GLS_HULL_MIN_ANGLE are an error. */
static gls_status find_partners(const double (*unit)[3], size_t n, uint32_t *partner, size_t *n_partnered)
{
    const double limit = GLS_HULL_MIN_ANGLE * GLS_HULL_MIN_ANGLE;
    *n_partnered = 0;
    for (size_t i = 0; i < n; i++) partner[i] = NO_PARTNER;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++) {
            double same = 0, opposite = 0;
            for (int a = 0; a < 3; a++) {
                double d = unit[i][a] - unit[j][a], s = unit[i][a] + unit[j][a];
                same += d * d;
                opposite += s * s;
            }
            if (same < limit)
                return gls_fail(
                    GLS_ERR_INPUT,
                    "directions %zu and %zu (counted from 1) are closer than 0.06 degrees: remove one of them", i + 1,
                    j + 1);
            if (opposite >= limit || partner[i] != NO_PARTNER || partner[j] != NO_PARTNER) continue;
            partner[i] = (uint32_t)j;
            partner[j] = (uint32_t)i;
            *n_partnered += 2;
        }
    }
    return GLS_OK;
}

/* Scales n directions to length 1. GLS_ERR_INPUT names a direction that is 0 or not finite. */
static gls_status normalise(const double (*direction)[3], size_t n, double (*unit)[3])
{
    for (size_t i = 0; i < n; i++) {
        const double *d = direction[i];
        double norm = hypot(hypot(d[0], d[1]), d[2]);
        if (!(norm > 0) || !isfinite(norm))
            return gls_fail(GLS_ERR_INPUT,
                            "direction %zu (counted from 1), %g %g %g: its length must be finite and above 0", i + 1,
                            d[0], d[1], d[2]);
        for (int a = 0; a < 3; a++) unit[i][a] = d[a] / norm;
    }
    return GLS_OK;
}

/* Scales n directions to length 1 and finds the opposite of each. *unit, *partner: from malloc, also after a failure.
 */
static gls_status prepare(const double (*direction)[3], size_t n, double (**unit)[3], uint32_t **partner,
                          size_t *n_partnered)
{
    *unit = malloc(n * sizeof **unit);
    *partner = malloc(n * sizeof **partner);
    if (!*unit || !*partner) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu directions", n);
    gls_status status = normalise(direction, n, *unit);
    return status ? status : find_partners((const double(*)[3]) * unit, n, *partner, n_partnered);
}

gls_status gls_sphere_create_from(const double (*direction)[3], size_t n, gls_sphere_lines lines, gls_sphere **sphere,
                                  uint32_t *order)
{
    GLS_REQUIRE(direction && sphere);
    if (n < 6) return gls_fail(GLS_ERR_INPUT, "a sphere needs at least 6 directions, but there are %zu", n);
    if (n > GLS_SPHERE_MAX_DIRECTIONS)
        return gls_fail(GLS_ERR_UNSUPPORTED, "there are %zu directions, but a sphere has at most %d", n,
                        GLS_SPHERE_MAX_DIRECTIONS);
    gls_sphere *s = NULL;
    size_t n_partnered = 0, kept = 0;
    double(*unit)[3] = NULL;
    uint32_t *partner = NULL;
    gls_status status = prepare(direction, n, &unit, &partner, &n_partnered);
    if (status) goto fail;

    /* A closed set has the opposite of each direction: the sphere keeps one of each pair. A set without any pair
     * becomes an antipodal sphere with GLS_SPHERE_FOLD, in which each direction stands for a pair. */
    bool closed = n_partnered == n;
    s = sphere_alloc(closed ? n / 2 : n, closed || (lines == GLS_SPHERE_FOLD && n_partnered == 0));
    if (!s) {
        status = gls_fail(GLS_ERR_MEMORY, "out of memory for %zu directions", n);
        goto fail;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (closed && partner[i] < i) continue;
        memcpy(s->vertex[kept++], unit[i], sizeof *unit);
    }
    status = triangulate(s);
    if (status) goto fail;
    /* order[k]: index of the direction that is vertex k */
    for (uint32_t i = 0, k = 0; order && i < n; i++) {
        if (!closed || partner[i] > i) order[k++] = i;
    }
    *sphere = s;
    s = NULL;
fail:
    gls_sphere_destroy(s);
    free(unit);
    free(partner);
    return status;
}

/* *result: whether all directions lie on one side of a plane through the origin, or in the plane. The origin is then
 * not inside their hull, and each direction stands for itself and its opposite. */
static gls_status in_one_hemisphere(const double (*unit)[3], size_t n, bool *result)
{
    uint32_t(*face)[3] = NULL;
    size_t n_faces = 0;
    uint32_t *label = malloc(n * sizeof *label);
    if (!label) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu directions", n);
    for (size_t i = 0; i < n; i++) label[i] = (uint32_t)i;
    gls_status status = gls_hull_create(unit, label, n, &face, &n_faces);
    /* directions in a plane have no hull, but may have one together with their antipodes */
    *result = status == GLS_ERR_INPUT;
    if (status == GLS_ERR_INPUT) status = GLS_OK;
    for (size_t f = 0; f < n_faces; f++) {
        const double *a = unit[face[f][0]], *b = unit[face[f][1]], *c = unit[face[f][2]];
        double normal[3], norm = 0, distance = 0;
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, k = (i + 2) % 3;
            normal[i] = (b[j] - a[j]) * (c[k] - a[k]) - (b[k] - a[k]) * (c[j] - a[j]);
            norm += normal[i] * normal[i];
            distance += normal[i] * a[i];
        }
        if (distance <= 1e-6 * sqrt(norm)) *result = true;
    }
    free(label);
    free(face);
    return status;
}

gls_status gls_sphere_create_guess(const double (*direction)[3], size_t n, gls_sphere **sphere, uint32_t *order)
{
    GLS_REQUIRE(direction && sphere);
    if (n < 6 || n > GLS_SPHERE_MAX_DIRECTIONS)
        return gls_fail(GLS_ERR_INPUT, "there are %zu directions, but a sphere has 6 to %d", n,
                        GLS_SPHERE_MAX_DIRECTIONS);
    size_t n_partnered = 0;
    bool hemisphere = false;
    double(*unit)[3] = NULL;
    uint32_t *partner = NULL;
    gls_status status = prepare(direction, n, &unit, &partner, &n_partnered);
    if (!status && n_partnered == 0) status = in_one_hemisphere((const double(*)[3])unit, n, &hemisphere);
    if (!status)
        status = gls_sphere_create_from((const double(*)[3])unit, n, hemisphere ? GLS_SPHERE_FOLD : GLS_SPHERE_AS_GIVEN,
                                        sphere, order);
    free(unit);
    free(partner);
    return status;
}

gls_status gls_sphere_create_full(const gls_sphere *sphere, gls_sphere **full)
{
    GLS_REQUIRE(sphere && full && (sphere->vertex || sphere->n == 0));
    size_t n = sphere->n, total = sphere->antipodal ? 2 * n : n;
    if (total > GLS_SPHERE_MAX_DIRECTIONS)
        return gls_fail(GLS_ERR_UNSUPPORTED,
                        "there are %zu directions with their antipodes, but a sphere has at most %d", total,
                        GLS_SPHERE_MAX_DIRECTIONS);
    gls_sphere *s = sphere_alloc(total, false);
    if (!s) return gls_fail(GLS_ERR_MEMORY, "out of memory for a sphere of %zu vertices", total);
    for (size_t i = 0; i < s->n; i++) {
        for (int a = 0; a < 3; a++) s->vertex[i][a] = i < n ? sphere->vertex[i][a] : -sphere->vertex[i - n][a];
    }
    gls_status status = triangulate(s);
    if (!status)
        *full = s;
    else
        gls_sphere_destroy(s);
    return status;
}

/* Adds the name of the file to the error message. */
static gls_status fail_in_file(gls_status status, const char *path)
{
    char text[512];
    strncpy(text, gls_last_error(), sizeof text - 1);
    text[sizeof text - 1] = '\0';
    return gls_fail(status, "%s: %s", path, text);
}

gls_status gls_sphere_read(const char *path, gls_sphere **sphere)
{
    GLS_REQUIRE(path && sphere);
    double *value = NULL;
    size_t rows = 0, columns = 0;
    gls_status status = gls_table_read(path, &value, &rows, &columns);
    if (status) return status;
    if (columns != 3) {
        status = gls_fail(GLS_ERR_INPUT, "%s: %zu columns, but directions need 3 (x y z)", path, columns);
    } else {
        status = gls_sphere_create_guess((const double(*)[3])value, rows, sphere, NULL);
        if (status) status = fail_in_file(status, path);
    }
    free(value);
    return status;
}
