/* Makes the phantom: checks parameters, lays the grid, spreads gradient directions over the sphere, and calls what
 * makes each part of the phantom. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/tissue.h>

#include "phantom/parts.h"
#include "phantom/tubes.h"
#include "phantom/voxels.h"
#include "util/maths.h"
#include "util/status.h"

/* --- Gradient directions: points on a sphere that repel each other and each other's antipodes (Jones et al. 1999). */

#define PI 3.14159265358979323846

static void normalise(double v[3])
{
    double s = 1 / sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int k = 0; k < 3; k++) v[k] *= s;
}

/* Adds to force[] the repulsion of p by q and by -q. */
static void push(const double p[3], const double q[3], double force[3])
{
    double minus = 0, plus = 0;
    for (int k = 0; k < 3; k++) {
        minus += (p[k] - q[k]) * (p[k] - q[k]);
        plus += (p[k] + q[k]) * (p[k] + q[k]);
    }
    minus = 1 / (minus * sqrt(minus) + 1e-12);
    plus = 1 / (plus * sqrt(plus) + 1e-12);
    for (int k = 0; k < 3; k++) force[k] += (p[k] - q[k]) * minus + (p[k] + q[k]) * plus;
}

/* Moves n axes until they are spread evenly over the sphere: they repel each other, and their antipodes, like charges.
 * force: memory for n vectors. Each repetition costs n^2, so large sets, which start out even, get fewer repetitions.
 */
static void repel(size_t n, double (*p)[3], double (*force)[3])
{
    /* Size of a step that is stable for neighbours at the mean distance. */
    double distance = sqrt(2 * PI / (double)n), step = 0.12 * distance * distance * distance;
    size_t rounds = 4000000 / (n * n);
    rounds = rounds > 400 ? 400 : rounds < 25 ? 25 : rounds;
    for (size_t round = 0; round < rounds; round++) {
        memset(force, 0, n * sizeof *force);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++) {
                if (j != i) push(p[i], p[j], force[i]);
            }
        }
        for (size_t i = 0; i < n; i++) {
            double radial = p[i][0] * force[i][0] + p[i][1] * force[i][1] + p[i][2] * force[i][2];
            for (int k = 0; k < 3; k++) p[i][k] += step * (force[i][k] - radial * p[i][k]);
            normalise(p[i]);
        }
    }
}

/* Orders directions so that each is the one that the directions before it repel least: a scan that is cut short has
 * even directions too. energy: memory for n numbers. */
static void order(size_t n, double (*p)[3], double *energy)
{
    memset(energy, 0, n * sizeof *energy);
    for (size_t done = 1; done < n; done++) {
        /* each direction's energy grows by its repulsion from the direction that was placed last */
        const double *last = p[done - 1];
        size_t best = done;
        for (size_t i = done; i < n; i++) {
            double c = fabs(p[i][0] * last[0] + p[i][1] * last[1] + p[i][2] * last[2]);
            energy[i] += 1 / sqrt(2 - 2 * fmin(c, 1 - 1e-12)) + 1 / sqrt(2 + 2 * c);
            if (energy[i] < energy[best]) best = i;
        }
        double e = energy[best], v[3];
        memcpy(v, p[best], sizeof v);
        memcpy(p[best], p[done], sizeof v);
        memcpy(p[done], v, sizeof v);
        energy[best] = energy[done];
        energy[done] = e;
    }
}

/* Computes n unit vectors that, with their antipodes, are spread evenly over the sphere; so is every prefix of the
 * list. GLS_ERR_MEMORY: out of memory. The result depends on n only. */
static gls_status phantom_directions(size_t n, double (*direction)[3])
{
    double(*force)[3] = malloc(n * sizeof *force);
    if (!force) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu gradient directions", n);
    for (size_t i = 0; i < n; i++) {
        double z = ((double)i + 0.5) / (double)n, r = sqrt(1 - z * z), angle = PI * (3 - sqrt(5)) * (double)i;
        direction[i][0] = r * cos(angle);
        direction[i][1] = r * sin(angle);
        direction[i][2] = z;
    }
    repel(n, direction, force);
    order(n, direction, &force[0][0]);
    free(force);
    return GLS_OK;
}

/* Rotates the n directions of a shell about a fixed axis by an angle of its own, so that the shells complement each
 * other. */
static void phantom_directions_rotate(int shell, size_t n, double (*direction)[3])
{
    /* Multiples of the golden angle never coincide, and the axis is not near a coordinate axis. */
    double angle = shell * PI * (3 - sqrt(5)), c = cos(angle), s = sin(angle), a[3] = {0.48, 0.6, 0.64};
    normalise(a);
    /* Rodrigues' rotation formula */
    for (size_t i = 0; i < n; i++) {
        double v[3], along = 0;
        memcpy(v, direction[i], sizeof v);
        for (int k = 0; k < 3; k++) along += a[k] * v[k];
        for (int k = 0; k < 3; k++) {
            double cross = a[(k + 1) % 3] * v[(k + 2) % 3] - a[(k + 2) % 3] * v[(k + 1) % 3];
            direction[i][k] = c * v[k] + s * cross + (1 - c) * along * a[k];
        }
    }
}

#define RADIANS (3.14159265358979323846 / 180)
#define FILLED 0.97 /* share of the grid's extent that the head fills */

gls_phantom_params gls_phantom_params_default(void)
{
    return (gls_phantom_params){.size = sizeof(gls_phantom_params),
                                .shape = {40, 52, 38},
                                .voxel_size = {2, 2, 2},
                                .orientation = "LAS",
                                .n_shells = 1,
                                .bval = {2000},
                                .n_directions = 64,
                                .n_b0 = 4,
                                .snr = 30,
                                .ground_truth = true};
}

/* Parses a text such as "RAS" into the world axis and the sign of each voxel axis. Returns false if the text does not
 * name each world axis once. */
static bool orientation_parse(const char codes[4], int axis[3], double sign[3])
{
    static const char letters[] = "RLAPSI";
    bool seen[3] = {false, false, false};
    for (int k = 0; k < 3; k++) {
        const char *found = codes[k] ? strchr(letters, codes[k]) : NULL;
        if (!found) return false;
        axis[k] = (int)(found - letters) / 2;
        sign[k] = (found - letters) % 2 ? -1 : 1;
        if (seen[axis[k]]) return false;
        seen[axis[k]] = true;
    }
    return codes[3] == '\0';
}

/* Checks the ranges of all parameters. GLS_ERR_ARGUMENT names the first that is out of range. */
static gls_status params_check(const gls_phantom_params *p)
{
    int axis[3];
    double sign[3];
    for (int k = 0; k < 3; k++) {
        if (p->shape[k] < 16 || p->shape[k] > 512)
            return gls_fail(GLS_ERR_ARGUMENT, "phantom: shape %d x %d x %d: each must be 16 .. 512 voxels",
                            (int)p->shape[0], (int)p->shape[1], (int)p->shape[2]);
        if (!(p->voxel_size[k] >= 0.1 && p->voxel_size[k] <= 20))
            return gls_fail(GLS_ERR_ARGUMENT, "phantom: voxel size %g x %g x %g mm: each must be 0.1 .. 20",
                            p->voxel_size[0], p->voxel_size[1], p->voxel_size[2]);
        if (!(fabs(p->oblique[k]) <= 180))
            return gls_fail(GLS_ERR_ARGUMENT, "phantom: rotation by %g, %g, %g degrees: each must be -180 .. 180",
                            p->oblique[0], p->oblique[1], p->oblique[2]);
    }
    if (!orientation_parse(p->orientation, axis, sign))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "phantom: orientation \"%.3s\": must be three axis codes such as LAS, one of R/L, one of A/P "
                        "and one of S/I",
                        p->orientation);
    if (p->n_shells < 1 || p->n_shells > GLS_PHANTOM_MAX_SHELLS)
        return gls_fail(GLS_ERR_ARGUMENT, "phantom: %d shells: must be 1 .. %d", p->n_shells, GLS_PHANTOM_MAX_SHELLS);
    for (int i = 0; i < p->n_shells; i++) {
        if (!(p->bval[i] >= 100 && p->bval[i] <= 20000))
            return gls_fail(GLS_ERR_ARGUMENT, "phantom: b-value %g s/mm2: must be 100 .. 20000", p->bval[i]);
    }
    if (p->n_directions < 6 || p->n_directions > 1024)
        return gls_fail(GLS_ERR_ARGUMENT, "phantom: %d directions: must be 6 .. 1024", p->n_directions);
    if (p->n_b0 < 1 || p->n_b0 > 64)
        return gls_fail(GLS_ERR_ARGUMENT, "phantom: %d b0 volumes: must be 1 .. 64", p->n_b0);
    if (!(p->snr == 0 || (p->snr >= 1 && p->snr <= 1e6)))
        return gls_fail(GLS_ERR_ARGUMENT, "phantom: SNR %g: must be 1 .. 1000000, or 0 for no noise", p->snr);
    return GLS_OK;
}

/* Rotation about the x, then the y, then the z axis of the world, by angles in degrees. */
static void rotation(const double degrees[3], double turn[3][3])
{
    double cx = cos(degrees[0] * RADIANS), sx = sin(degrees[0] * RADIANS), cy = cos(degrees[1] * RADIANS),
           sy = sin(degrees[1] * RADIANS);
    double cz = cos(degrees[2] * RADIANS), sz = sin(degrees[2] * RADIANS);
    const double r[3][3] = {{cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx},
                            {sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx},
                            {-sy, cy * sx, cy * cx}};
    memcpy(turn, r, sizeof r);
}

/* Makes the grid, centred at the origin of the world. axes: unit vectors of the voxel axes in the world, as columns.
 * scale: from the reference frame to the world along each axis, so that the head fills at most FILLED of the grid. */
static gls_status grid_make(const gls_phantom_params *p, gls_grid *grid, double axes[3][3], double scale[3])
{
    static const double head[3] = {PHANTOM_HEAD_X, PHANTOM_HEAD_Y, PHANTOM_HEAD_Z};
    int axis[3];
    double sign[3], turn[3][3], affine[3][4], half[3], shrink = 1;
    orientation_parse(p->orientation, axis, sign);
    rotation(p->oblique, turn);
    for (int k = 0; k < 3; k++) {
        half[k] = 0.5 * p->shape[k] * p->voxel_size[k];
        scale[axis[k]] = FILLED * half[k] / head[axis[k]];
        for (int r = 0; r < 3; r++) axes[r][k] = sign[k] * turn[r][axis[k]];
    }
    /* On an oblique grid the head keeps its orientation in the world, and may have to be smaller to fit. */
    for (int k = 0; k < 3; k++) {
        double reach2 = 0;
        for (int r = 0; r < 3; r++) reach2 += pow(axes[r][k] * scale[r] * head[r], 2);
        shrink = fmin(shrink, FILLED * half[k] / sqrt(reach2));
    }
    /* the affine: voxel axes times voxel sizes, and the centre of the grid at 0 */
    for (int r = 0; r < 3; r++) {
        scale[r] *= shrink;
        affine[r][3] = 0;
        for (int k = 0; k < 3; k++) {
            affine[r][k] = axes[r][k] * p->voxel_size[k];
            affine[r][3] -= affine[r][k] * 0.5 * (p->shape[k] - 1);
        }
    }
    return gls_grid_init(grid, p->shape, affine);
}

/* Makes the gradient table along the voxel axes, and the same vectors in the world, *world, which the caller frees.
 * Directions are chosen in the world, so that the signal is the same on every grid. */
static gls_status gradients_make(const gls_phantom_params *p, const gls_grid *grid, const double axes[3][3],
                                 gls_gradients **gradients, double (**world)[3])
{
    size_t n_b0 = (size_t)p->n_b0, n_dir = (size_t)p->n_directions, n = n_b0 + (size_t)p->n_shells * n_dir;
    gls_gradients_options options = gls_gradients_options_default();
    gls_status status = GLS_OK;
    double *bval = calloc(n, sizeof *bval), (*bvec)[3] = calloc(n, sizeof *bvec),
           (*direction)[3] = calloc(n, sizeof *direction);
    options.frame = GLS_BVEC_IMAGE;
    if (!bval || !bvec || !direction) {
        status = gls_fail(GLS_ERR_MEMORY, "out of memory for %zu gradient directions", n);
        goto done;
    }
    status = phantom_directions(n_dir, direction + n_b0);
    if (status) goto done;
    /* rotate the first shell last, because the other shells copy its directions */
    for (int shell = p->n_shells - 1; shell >= 0; shell--) {
        double(*of_shell)[3] = direction + n_b0 + (size_t)shell * n_dir;
        memmove(of_shell, direction + n_b0, n_dir * sizeof *of_shell);
        phantom_directions_rotate(shell, n_dir, of_shell);
        for (size_t i = 0; i < n_dir; i++) bval[n_b0 + (size_t)shell * n_dir + i] = p->bval[shell];
    }
    for (size_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++)
            bvec[i][k] = axes[0][k] * direction[i][0] + axes[1][k] * direction[i][1] + axes[2][k] * direction[i][2];
    }
    status = gls_gradients_create(bval, (const double(*)[3])bvec, n, &options, grid, gradients);
done:
    free(bval);
    free(bvec);
    if (status) {
        free(direction);
    } else {
        *world = direction;
    }
    return status;
}

gls_status gls_phantom_gradients(const gls_phantom_params *params, gls_gradients **gradients)
{
    gls_grid grid;
    double axes[3][3], scale[3], (*world)[3] = NULL;
    gls_status status = params_check(params);
    if (!status) status = grid_make(params, &grid, axes, scale);
    if (!status) status = gradients_make(params, &grid, (const double(*)[3])axes, gradients, &world);
    free(world);
    return status;
}

/* Copies names and centre lines of the bundles, in mm of the world. Allocates their images, and the image of peaks: in
 * each voxel direction (x, y, z) and volume fraction of three fibre populations. */
static gls_status bundles_make(gls_phantom *phantom, const gls_grid *grid, const phantom_tube *tube, size_t n_tubes,
                               const double scale[3])
{
    phantom->bundle = calloc(n_tubes, sizeof *phantom->bundle);
    if (!phantom->bundle) return gls_fail(GLS_ERR_MEMORY, "out of memory for the phantom's bundles");
    phantom->n_bundles = n_tubes;
    for (size_t i = 0; i < n_tubes; i++) {
        gls_phantom_bundle *bundle = &phantom->bundle[i];
        /* beyond white matter the centre line continues for two stations at each end, if the tube has them */
        size_t first = tube[i].grey[0] - (tube[i].grey[0] < 2 ? tube[i].grey[0] : 2),
               last = tube[i].grey[1] + 2 < tube[i].n ? tube[i].grey[1] + 2 : tube[i].n - 1;
        memcpy(bundle->name, tube[i].name, sizeof bundle->name);
        bundle->centre_line = malloc((last - first + 1) * sizeof *bundle->centre_line);
        if (!bundle->centre_line) return gls_fail(GLS_ERR_MEMORY, "out of memory for the phantom's bundles");
        for (size_t j = first; j <= last; j++, bundle->n_points++) {
            for (int k = 0; k < 3; k++) bundle->centre_line[bundle->n_points][k] = scale[k] * tube[i].station[j].c[k];
        }
        gls_status status = gls_image_create(grid, 1, &bundle->mask);
        for (int e = 0; e < 2 && !status; e++) status = gls_image_create(grid, 1, &bundle->ends[e]);
        if (status) return status;
    }
    return gls_image_create(grid, 12, &phantom->peaks);
}

/* Allocates the images that every phantom has, filled with 0. */
static gls_status images_make(gls_phantom *phantom, const gls_grid *grid)
{
    gls_status status = gls_image_create(grid, phantom->gradients->n, &phantom->dwi);
    if (!status) status = gls_image_create(grid, 1, &phantom->mask);
    if (!status) status = gls_image_create(grid, 1, &phantom->roi);
    if (!status) status = gls_image_create(grid, 3, &phantom->tissue);
    return status;
}

/* Makes sure that both ends of each bundle have a voxel. On a coarse grid a small region of grey matter may not fill an
 * eighth of any voxel; then the voxel in which the centre line ends stands for the region. */
static void ends_ensure(gls_phantom *phantom)
{
    const gls_grid *grid = &phantom->mask->grid;
    double inverse[3][4], at[3];
    gls_grid_inverse(grid, inverse);
    for (size_t i = 0; i < 2 * phantom->n_bundles; i++) {
        gls_phantom_bundle *bundle = &phantom->bundle[i / 2];
        float *data = bundle->ends[i % 2]->data;
        size_t n = gls_grid_voxels(grid), voxel = 0;
        while (voxel < n && !(data[voxel] > 0)) voxel++;
        if (voxel < n) continue;
        gls_affine_apply(inverse, bundle->centre_line[i % 2 ? bundle->n_points - 1 : 0], at);
        voxel = 0;
        for (int k = 2; k >= 0; k--)
            voxel = voxel * (size_t)grid->dim[k] + (size_t)fmax(0, fmin(floor(at[k] + 0.5), grid->dim[k] - 1));
        data[voxel] = 1;
    }
}

gls_status gls_phantom_create(const gls_phantom_params *params, gls_phantom **phantom)
{
    GLS_REQUIRE_SIZE(params);
    const gls_phantom_params defaults = gls_phantom_params_default();
    if (!params) params = &defaults;
    GLS_REQUIRE(phantom);
    gls_status status = params_check(params);
    if (status) return status;
    gls_grid grid;
    double axes[3][3], scale[3], (*world)[3] = NULL;
    phantom_tube *tube = NULL;
    size_t n_tubes = 0;
    gls_phantom *made = calloc(1, sizeof *made);
    if (!made) return gls_fail(GLS_ERR_MEMORY, "out of memory for the phantom");
    made->params = *params;
    status = grid_make(params, &grid, axes, scale);
    if (!status) status = gradients_make(params, &grid, (const double(*)[3])axes, &made->gradients, &world);
    if (!status) status = gls_phantom_tubes_create(&tube, &n_tubes);
    if (!status) status = images_make(made, &grid);
    if (!status && params->ground_truth) status = bundles_make(made, &grid, tube, n_tubes, scale);
    if (status) goto done;
    /* the tubes are in a reference frame of fixed size, which `scale` maps to mm of the world */
    status = gls_phantom_voxels_fill(made, tube, n_tubes, scale, (const double(*)[3])world);
    if (!status) ends_ensure(made);
done:
    free(world);
    gls_phantom_tubes_destroy(tube, n_tubes);
    if (status) {
        gls_phantom_destroy(made);
    } else {
        *phantom = made;
    }
    return status;
}

void gls_phantom_destroy(gls_phantom *phantom)
{
    if (!phantom) return;
    for (size_t i = 0; i < phantom->n_bundles; i++) {
        gls_phantom_bundle *bundle = &phantom->bundle[i];
        gls_image_destroy(bundle->mask);
        gls_image_destroy(bundle->ends[0]);
        gls_image_destroy(bundle->ends[1]);
        free(bundle->centre_line);
    }
    free(phantom->bundle);
    gls_image_destroy(phantom->dwi);
    gls_gradients_destroy(phantom->gradients);
    gls_image_destroy(phantom->mask);
    gls_image_destroy(phantom->roi);
    gls_image_destroy(phantom->tissue);
    gls_image_destroy(phantom->peaks);
    free(phantom);
}

/* Scales the fractions of the five tissues in a voxel to the sum 1, or, if they add up to less than 0.5, as in a voxel
 * mostly outside the head, sets them to 0. */
static void fill_up(gls_image *five, size_t voxel)
{
    const size_t n = gls_grid_voxels(&five->grid);
    double sum = 0;
    for (size_t t = 0; t < five->n_volumes; t++) sum += five->data[t * n + voxel];
    for (size_t t = 0; t < five->n_volumes; t++) {
        float *value = &five->data[t * n + voxel];
        *value = sum < 0.5 ? 0 : (float)(*value / sum);
    }
}

gls_status gls_phantom_five_tissues(const gls_phantom *phantom, gls_image **image)
{
    GLS_REQUIRE(phantom && image && phantom->tissue);
    const gls_image *t = phantom->tissue;
    size_t n = gls_grid_voxels(&t->grid);
    gls_image part[3]; /* images of white matter, grey matter and CSF */
    for (size_t i = 0; i < 3; i++) part[i] = (gls_image){.grid = t->grid, .n_volumes = 1, .data = t->data + i * n};
    gls_status status = gls_tissue_join(&part[0], &part[1], &part[2], NULL, image);
    for (size_t v = 0; v < n && !status; v++) fill_up(*image, v);
    return status;
}
