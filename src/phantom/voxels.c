/* Determines what is in a voxel of the phantom by sampling it at 27 points. */
#include "phantom/parts.h"
#include "util/maths.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Samples of a voxel: three along each axis. */
#define SAMPLES 27
#define MEMBER 4 /* number of samples, about an eighth, from which on a voxel belongs to a mask */

/* The part of one tube in a voxel. */
typedef struct phantom_share {
    size_t tube;                /* index of the tube */
    size_t first, n;            /* range of its candidate slabs */
    int white, grey[2];         /* numbers of samples: in its white matter, in the grey matter of its ends */
    double weight;              /* volume fraction times SAMPLES */
    double direction[3];        /* sum over the samples with aligned signs, in the world */
    bool inside;                /* whether the current sample lies in the tube */
    double tangent[3], station; /* tangent of the current sample in the reference frame, and its station number */
} phantom_share;

void gls_phantom_scene_init(phantom_scene *scene, gls_phantom *phantom, const phantom_tube *tube, size_t n_tubes,
                            const double scale[3])
{
    const gls_grid *grid = &phantom->mask->grid;
    scene->phantom = phantom;
    scene->tube = tube;
    scene->n_tubes = n_tubes;
    scene->radius = 0;
    for (int r = 0; r < 3; r++) {
        scene->scale[r] = scale[r];
        for (int c = 0; c < 4; c++) scene->map[r][c] = grid->affine[r][c] / scale[r];
    }
    for (int i = 0; i < SAMPLES; i++) {
        const double at[3] = {(i % 3 - 1) / 3.0, (i / 3 % 3 - 1) / 3.0, (i / 9 - 1) / 3.0};
        double d2 = 0;
        for (int r = 0; r < 3; r++) {
            scene->offset[i][r] = scene->map[r][0] * at[0] + scene->map[r][1] * at[1] + scene->map[r][2] * at[2];
            d2 += scene->offset[i][r] * scene->offset[i][r];
        }
        scene->radius = fmax(scene->radius, sqrt(d2));
    }
}

bool gls_phantom_bench_init(phantom_bench *bench, const phantom_scene *scene)
{
    size_t n = (size_t)scene->phantom->mask->grid.dim[0], most = n * scene->n_tubes, slabs = 0;
    for (size_t i = 0; i < scene->n_tubes; i++) slabs += scene->tube[i].n;
    phantom_row *row = &bench->row;
    row->n = (int)n;
    row->white = malloc(n * sizeof(float));
    row->grey = malloc(n * sizeof(float));
    row->csf = malloc(n * sizeof(float));
    row->voxel = malloc(most * sizeof *row->voxel);
    row->fraction = malloc(most * sizeof(float));
    for (int k = 0; k < 3; k++) row->direction[k] = malloc(most * sizeof(float));
    bench->scratch = malloc((most + 2 * n) * sizeof(float));
    bench->slab = malloc(slabs * sizeof *bench->slab);
    bench->share = malloc(scene->n_tubes * sizeof *bench->share);
    return row->white && row->grey && row->csf && row->voxel && row->fraction && row->direction[0] &&
           row->direction[1] && row->direction[2] && bench->scratch && bench->slab && bench->share;
}

void gls_phantom_bench_finish(phantom_bench *bench)
{
    phantom_row *row = &bench->row;
    free(row->white);
    free(row->grey);
    free(row->csf);
    free(row->voxel);
    free(row->fraction);
    for (int k = 0; k < 3; k++) free(row->direction[k]);
    free(bench->scratch);
    free(bench->slab);
    free(bench->share);
}

/* Lists in bench->share the tubes that may reach into a voxel, with their slabs near the voxel in bench->slab. Returns
 * their number. */
static size_t candidates(const phantom_scene *scene, const double centre[3], phantom_bench *bench)
{
    size_t n = 0, used = 0;
    for (size_t i = 0; i < scene->n_tubes; i++) {
        size_t slabs = gls_phantom_tube_near(&scene->tube[i], centre, scene->radius + 1e-9, bench->slab + used);
        if (!slabs) continue;
        bench->share[n++] = (phantom_share){.tube = i, .first = used, .n = slabs};
        used += slabs;
    }
    return n;
}

/* Adds the unit tangent of the current sample, in the world, to the sum of directions of a tube, with the sign that
 * agrees with the sum: a direction and its opposite are the same fibre. */
static void add_direction(phantom_share *s, const double scale[3])
{
    double world[3], norm = 0, dot = 0;
    for (int k = 0; k < 3; k++) {
        world[k] = scale[k] * s->tangent[k];
        norm += world[k] * world[k];
        dot += world[k] * s->direction[k];
    }
    norm = (dot < 0 ? -1 : 1) / sqrt(norm);
    for (int k = 0; k < 3; k++) s->direction[k] += norm * world[k];
}

/* Assigns a sample point in white or grey matter to each of the n listed tubes that contains the point: in white matter
 * by their densities, in grey matter to their ends. Returns whether a tube has fibres at the point. */
static bool sample(const phantom_scene *scene, const phantom_bench *bench, size_t n, const double p[3],
                   phantom_tissue tissue)
{
    double density = 0;
    for (size_t i = 0; i < n; i++) {
        phantom_share *s = &bench->share[i];
        const phantom_tube *tube = &scene->tube[s->tube];
        s->inside = gls_phantom_tube_at(tube, bench->slab + s->first, s->n, p, &s->station, s->tangent);
        if (!s->inside) continue;
        if (tissue == PHANTOM_GREY) {
            s->grey[0] += s->station <= tube->end_range[0];
            s->grey[1] += s->station >= tube->end_range[1];
        } else {
            density += tube->density;
        }
    }
    if (!(density > 0)) return false;
    for (size_t i = 0; i < n; i++) {
        phantom_share *s = &bench->share[i];
        if (!s->inside) continue;
        s->white++;
        s->weight += scene->tube[s->tube].density / density;
        add_direction(s, scene->scale);
    }
    return true;
}

/* Samples a voxel at its 27 points. count: number of samples of each tissue; PHANTOM_WHITE counts white matter without
 * fibres. A voxel far from all surfaces and tubes is not sampled: its tissue is the tissue at its centre. Returns the
 * number of tubes near the voxel. */
static size_t voxel_sample(const phantom_scene *scene, const double centre[3], phantom_bench *bench, int count[4])
{
    double margin;
    phantom_tissue tissue = gls_phantom_tissue(centre, &margin);
    /* The margin is approximate, because distances to ellipsoids are approximate. */
    bool uniform = margin > 1.5 * scene->radius + 0.5;
    size_t n = 0;
    memset(count, 0, 4 * sizeof *count);
    if (!uniform || tissue == PHANTOM_WHITE || tissue == PHANTOM_GREY) n = candidates(scene, centre, bench);
    if (uniform && !n) {
        count[tissue] = SAMPLES;
        return 0;
    }
    for (int i = 0; i < SAMPLES; i++) {
        const double p[3] = {centre[0] + scene->offset[i][0], centre[1] + scene->offset[i][1],
                             centre[2] + scene->offset[i][2]};
        if (!uniform) tissue = gls_phantom_tissue(p, NULL);
        bool fibres = (tissue == PHANTOM_WHITE || tissue == PHANTOM_GREY) && sample(scene, bench, n, p, tissue);
        if (!fibres) count[tissue]++;
    }
    return n;
}

/* Inserts a population into the three largest ones of a voxel, largest first: peak has direction and fraction of
 * each. */
static void peak_insert(float peak[12], const float direction[3], float fraction)
{
    int at = 3;
    while (at > 0 && fraction > peak[4 * (at - 1) + 3]) at--;
    if (at == 3) return;
    memmove(peak + 4 * (at + 1), peak + 4 * at, (size_t)(2 - at) * 4 * sizeof *peak);
    memcpy(peak + 4 * at, direction, 3 * sizeof *peak);
    peak[4 * at + 3] = fraction;
}

/* Adds the fibre populations of a voxel to the row and to the images of peaks and bundles. n: number of tubes near the
 * voxel; voxel: index of the voxel in the grid. Returns the total volume fraction of fibres. */
static double fibres_store(const phantom_scene *scene, phantom_bench *bench, size_t n, int x, size_t voxel)
{
    gls_phantom *phantom = scene->phantom;
    phantom_row *row = &bench->row;
    float peak[12] = {0};
    double total = 0;
    for (size_t i = 0; i < n; i++) {
        const phantom_share *s = &bench->share[i];
        if (phantom->n_bundles) {
            gls_phantom_bundle *bundle = &phantom->bundle[s->tube];
            bundle->mask->data[voxel] = s->white >= MEMBER;
            for (int e = 0; e < 2; e++) bundle->ends[e]->data[voxel] = s->grey[e] >= MEMBER;
        }
        if (!s->white) continue;
        float direction[3], fraction = (float)(s->weight / SAMPLES);
        double norm = sqrt(s->direction[0] * s->direction[0] + s->direction[1] * s->direction[1] +
                           s->direction[2] * s->direction[2]);
        size_t f = row->n_fibres++;
        for (int k = 0; k < 3; k++) row->direction[k][f] = direction[k] = (float)(s->direction[k] / norm);
        row->voxel[f] = x;
        row->fraction[f] = fraction;
        total += s->weight / SAMPLES;
        peak_insert(peak, direction, fraction);
    }
    if (phantom->peaks) {
        size_t voxels = gls_grid_voxels(&phantom->peaks->grid);
        for (size_t k = 0; k < 12; k++) phantom->peaks->data[k * voxels + voxel] = peak[k];
    }
    return total;
}

void gls_phantom_row_sample(const phantom_scene *scene, int y, int z, phantom_bench *bench)
{
    gls_phantom *phantom = scene->phantom;
    const gls_grid *grid = &phantom->mask->grid;
    phantom_row *row = &bench->row;
    size_t voxels = gls_grid_voxels(grid),
           first = ((size_t)z * (size_t)grid->dim[1] + (size_t)y) * (size_t)grid->dim[0];
    row->n_fibres = 0;
    for (int x = 0; x < row->n; x++) {
        const double at[3] = {x, y, z};
        double centre[3];
        int count[4];
        size_t voxel = first + (size_t)x;
        gls_affine_apply(scene->map, at, centre);
        size_t n = voxel_sample(scene, centre, bench, count);
        double fibres = n ? fibres_store(scene, bench, n, x, voxel) : 0;
        double white = fibres + (double)count[PHANTOM_WHITE] / SAMPLES;
        row->white[x] = (float)count[PHANTOM_WHITE] / SAMPLES;
        row->grey[x] = (float)count[PHANTOM_GREY] / SAMPLES;
        row->csf[x] = (float)count[PHANTOM_CSF] / SAMPLES;
        phantom->tissue->data[voxel] = (float)white;
        phantom->tissue->data[voxels + voxel] = row->grey[x];
        phantom->tissue->data[2 * voxels + voxel] = row->csf[x];
        phantom->mask->data[voxel] = 2 * count[PHANTOM_OUTSIDE] <= SAMPLES;
        phantom->roi->data[voxel] = white >= 0.5 && fibres >= 0.3;
    }
}
