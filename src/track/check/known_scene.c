/* The scene for checks of devices, and the comparison of its streamlines with the known streamlines. */
#include "track/check/known_scene.h"

#include <math.h>
#include <stdlib.h>

#include <glslines/glslines.h>

#include "track/getter/getter.h"
#include "track/getter/getters.h"
#include "track/track_params.h"
#include "util/status.h"

/* Number of seeds of the scene, to which the known lines belong. */
enum { N_SEEDS = 48 };

/* A point counts as the known one if it differs by less than this along each axis, mm. Directions are vertices of a
 * sphere or come from random numbers, so that rounding hardly moves a point until it makes a driver choose another
 * direction. */
#define TOLERANCE 0.005f
/* At most one in WRONG_OF half-streamlines may differ from the known half-streamlines. */
#define WRONG_OF 10

/* Variants in the order of the known lines. */
/* clang-format off */
const gls_known_variant gls_known_variants[GLS_KNOWN_VARIANTS] = {
    {"boot4", GLS_DG_BOOT, 4, false}, {"boot8", GLS_DG_BOOT, 8, false}, {"prob4", GLS_DG_PROB, 4, false},
    {"prob8", GLS_DG_PROB, 8, false}, {"det4", GLS_DG_DET, 4, false}, {"det8", GLS_DG_DET, 8, false},
    {"ptt4", GLS_DG_PTT, 4, false}, {"ifod1", GLS_DG_IFOD1, 8, false}, {"ifod2", GLS_DG_IFOD2, 8, false},
    {"sdstream", GLS_DG_SDSTREAM, 8, false}, {"fact", GLS_DG_FACT, 8, false}, {"eudx", GLS_DG_EUDX, 8, false},
    {"tensordet", GLS_DG_TENSORDET, 8, false}, {"tensorprob", GLS_DG_TENSORPROB, 8, false},
    {"nulldist1", GLS_DG_NULLDIST1, 8, false}, {"nulldist2", GLS_DG_NULLDIST2, 8, false},
    {"closest", GLS_DG_CLOSEST, 4, false}, {"bedpost", GLS_DG_BEDPOST, 8, false}, {"pft", GLS_DG_PROB, 4, true},
};
/* clang-format on */

void gls_known_scene_finish(gls_known_scene *s)
{
    gls_seeds_destroy(s->seeds);
    gls_odf_source_destroy(s->odf);
    gls_tissue_destroy(s->tissue);
    gls_image_destroy(s->sh);
    gls_image_destroy(s->peaks);
    gls_image_destroy(s->stop_map);
    gls_qball_destroy(s->qball);
    gls_sphere_destroy(s->sphere);
    gls_phantom_destroy(s->phantom);
}

/* Fits what the getter needs: a q-ball model, ODFs, or peaks. */
static gls_status make_model(gls_known_scene *s, const gls_known_variant *variant)
{
    gls_qball_options options = gls_qball_options_default();
    gls_odf_options clipped = gls_odf_options_default();
    const gls_phantom *p = s->phantom;
    options.sh_order = variant->sh_order;
    const gls_getter_source source = gls_getter_row(variant->dg)->source;
    /* getters with these sources fit tensors while they track, or need no model */
    if (source == GLS_FROM_SERIES || source == GLS_FROM_NOTHING) return GLS_OK;
    gls_status status = gls_qball_create(p->gradients, &options, GLS_SHELLS_ANY, &s->qball);
    if (status || source == GLS_FROM_QBALL) return status;
    status = gls_qball_fit_image(s->qball, p->dwi, p->gradients, p->mask, &s->sh);
    if (!status)
        status = gls_odf_source_create_sh(s->sh, "phantom", GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE, s->sphere,
                                          &clipped, &s->odf);
    if (!status && source == GLS_FROM_PEAKS)
        status = gls_peaks_of_sh(s->sh, "phantom", GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE, 3, 0, &s->peaks);
    return status;
}

/* Turns on particle filtering. The rule pve decides by thresholds, so that no end of a streamline is random. */
static gls_status filter_particles(gls_known_scene *s)
{
    gls_image *parts = NULL;
    gls_status status = gls_phantom_five_tissues(s->phantom, &parts);
    if (!status)
        status = gls_tissue_create(&s->phantom->mask->grid, parts, "phantom", GLS_TISSUE_RULE_PVE, GLS_PRECISION_FLOAT,
                                   &s->tissue);
    gls_image_destroy(parts);
    s->params.pft = true;
    /* choose short distances, so that particles begin and end within the small scene */
    s->params.pft_back = 4 * s->params.step_size;
    s->params.pft_front = 2 * s->params.step_size;
    return status;
}

gls_status gls_known_scene_create(size_t variant, gls_known_scene *s)
{
    const gls_known_variant *v = &gls_known_variants[variant];
    const gls_getter *getter = gls_getter_row(v->dg);
    gls_phantom_params shape = gls_phantom_params_default();
    /* the whole brain on a coarse grid: fits and tracking take a fraction of a second, also by software */
    for (int a = 0; a < 3; a++) {
        shape.shape[a] = (int32_t[]){20, 26, 20}[a];
        shape.voxel_size[a] = 4;
    }
    shape.ground_truth = false;
    *s =
        (gls_known_scene){.variant = variant,
                          /* getters that do not end streamlines by their own data have the library's defaults, with
                           * which their known lines were made */
                          .params = getter->own_end ? gls_track_params_default_for(v->dg) : gls_track_params_default()};
    gls_status status = gls_phantom_create(&shape, &s->phantom);
    const gls_phantom *p = s->phantom;
    if (!status) status = gls_sphere_create("default", &s->sphere);
    if (!status) status = gls_tensor_fit(p->dwi, p->gradients, p->mask, NULL, &s->stop_map, NULL, NULL);
    if (!status) status = make_model(s, v);
    if (!status) status = gls_seeds_create_random(p->roi, p->mask, N_SEEDS, 0, &s->seeds);
    if (status) return status;
    gls_track_params_scale(&s->params, shape.voxel_size[0]);
    if (getter->mm_steps)
        s->params.step_size *= shape.voxel_size[0]; /* the default step of this getter is 0.5 mm: make it half a voxel,
                                                       as for other getters */
    s->params.dg = v->dg;
    /* Keep streamlines short. Differences of rounding add up over steps, and GPUs filter textures with few bits. */
    s->params.max_length = 60;
    if (v->pft) status = filter_particles(s);
    s->input = (gls_track_input){.dwi = p->dwi,
                                 .gradients = p->gradients,
                                 .qball = s->qball,
                                 .odf = s->odf,
                                 .peaks = s->peaks,
                                 .stop_map = s->stop_map,
                                 .tissue = s->tissue,
                                 .sphere = s->sphere};
    return status;
}

/* The known streamlines of the variant of the scene, *n in number. */
static const gls_known_line *lines_of(const gls_known_scene *s, size_t *n)
{
    const gls_known_line *line = gls_known_lines;
    for (size_t v = 0; v < s->variant; v++) line += gls_known_line_counts[v];
    *n = gls_known_line_counts[s->variant];
    return line;
}

/* Whether two points differ by less than tolerance, mm, along each axis. */
static bool near(const float a[3], const float b[3], float tolerance)
{
    return fabsf(a[0] - b[0]) < tolerance && fabsf(a[1] - b[1]) < tolerance && fabsf(a[2] - b[2]) < tolerance;
}

size_t gls_known_find_seed(const gls_known_scene *s, uint32_t seed, const float (*point)[3], size_t n)
{
    float voxel[1][3], world[3];
    gls_seeds_get(s->seeds, seed, 1, voxel);
    for (int a = 0; a < 3; a++) {
        const double *row = s->phantom->mask->grid.affine[a];
        world[a] = (float)(row[0] * voxel[0][0] + row[1] * voxel[0][1] + row[2] * voxel[0][2] + row[3]);
    }
    for (size_t i = 0; i < n; i++)
        if (near(point[i], world, TOLERANCE)) return i;
    return n;
}

/* Whether a half-streamline agrees with the known one. half: 0, backward from the seed, or 1, forward. seed: index
 * of the seed among the n points. */
static bool near_half(const gls_known_line line, int half, const float (*point)[3], size_t n, size_t seed)
{
    const int32_t certain = line[1 + half], *um = &line[3 + 3 * half];
    const float end[3] = {(float)um[0] / 1000, (float)um[1] / 1000, (float)um[2] / 1000};
    /* numbers of points after the seed: up to the last certain point, and in all */
    size_t wanted = (size_t)abs(certain), there = half ? n - 1 - seed : seed;
    /* a negative number means that the half-streamline ends there, so that more points are wrong, too */
    if (seed == n || there < wanted || (certain < 0 && there > wanted)) return false;
    return near(point[half ? seed + wanted : seed - wanted], end, TOLERANCE);
}

/* Compares each streamline with the next known one; both are in the order of seeds, then of directions. */
gls_status gls_known_compare(void *comparison, const gls_streamlines *found)
{
    gls_known_comparison *c = comparison;
    size_t n_known;
    const gls_known_line *known = lines_of(c->scene, &n_known);
    const gls_column *seed_index = gls_column_find(found->dps, found->n_dps, GLS_DPS_SEED_INDEX);
    for (size_t i = 0; i < found->n; i++) {
        const float(*point)[3] = &found->point[found->offset[i]];
        size_t n = (size_t)(found->offset[i + 1] - found->offset[i]);
        uint32_t seed = (uint32_t)gls_column_value(seed_index, i);
        size_t at = gls_known_find_seed(c->scene, seed, point, n);
        c->seen = seed + 1;
        /* known lines of seeds without a streamline are passed over and do not count as the same */
        while (c->next < n_known && (uint32_t)known[c->next][0] < seed) c->next++;
        if (c->next == n_known || (uint32_t)known[c->next][0] != seed) continue;
        const int32_t *line = known[c->next++];
        for (int half = 0; half < 2; half++) c->same += line[1 + half] != 0 && near_half(line, half, point, n, at);
    }
    return GLS_OK;
}

size_t gls_known_halves(const gls_known_scene *s, uint64_t seeds)
{
    size_t n_known, n = 0;
    const gls_known_line *known = lines_of(s, &n_known);
    for (size_t i = 0; i < n_known && (uint64_t)known[i][0] < seeds; i++) n += (known[i][1] != 0) + (known[i][2] != 0);
    return n;
}

bool gls_known_fits(size_t same, size_t halves)
{
    return halves > 0 && (halves - same) * WRONG_OF <= halves;
}
