/* Tissue, seeds and regions of a run: where streamlines start, and what they may enter. */
#include "run/job_inputs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/formats.h"
#include "image/region_set.h"
#include "record/run_params.h"

/* Largest number of seeds with --nseeds 0, where --select ends the run. */
#define MAX_SEEDS UINT32_MAX

/* --- Options. */

/* Checks combinations of options for tissue, and of options that need tissue. */
static gls_status check_tissue(const gls_job_options *o)
{
    /* tissue: whether any source of tissue is given, so that tissue decides where streamlines end */
    bool fractions = o->pve_wm || o->pve_gm || o->pve_csf, maps = o->map_include || o->map_exclude,
         tissue = o->act || fractions || maps;
    const gls_track_params *t = &o->track;
    /* a run has one of three sources of tissue: an image of five tissues, maps of partial volumes, or maps that include
     * and exclude ends */
    if (o->act && (fractions || o->pve_sgm))
        return gls_fail(GLS_ERR_ARGUMENT, "--act and --pve-wm exclude each other: leave out one of them");
    if (maps && (o->act || fractions || o->pve_sgm))
        return gls_fail(GLS_ERR_ARGUMENT, "--map-include and --%s exclude each other: leave out one of them",
                        o->act ? "act" : "pve-wm");
    if (maps && !(o->map_include && o->map_exclude))
        return gls_fail(GLS_ERR_ARGUMENT, "--map-include and --map-exclude: both are needed");
    if (maps && o->act_rule == GLS_TISSUE_RULE_ACT)
        return gls_fail(GLS_ERR_ARGUMENT, "--map-include: is for --act-rule cmc or pve");
    if (fractions && !(o->pve_wm && o->pve_gm && o->pve_csf))
        return gls_fail(GLS_ERR_ARGUMENT, "--pve-wm, --pve-gm and --pve-csf: all three are needed");
    if (o->pve_sgm && !fractions)
        return gls_fail(GLS_ERR_ARGUMENT, "--pve-sgm: needs --pve-wm, --pve-gm and --pve-csf");
    /* the first option given that has no meaning without tissue; NULL: none */
    const char *lone = t->pft                               ? "pft"
                       : o->act_rule != GLS_TISSUE_RULE_ACT ? "act-rule"
                       : t->backtrack                       ? "backtrack"
                       : t->crop_at_gmwmi                   ? "crop-at-gmwmi"
                       : t->keep_all_ends                   ? "keep-all-ends"
                       : o->seed_gmwmi                      ? "seed-gmwmi"
                                                            : NULL;
    if (lone && !tissue)
        return gls_fail(GLS_ERR_ARGUMENT, "--%s: needs --act FILE, or --pve-wm, --pve-gm and --pve-csf%s", lone,
                        t->pft || o->act_rule != GLS_TISSUE_RULE_ACT ? ", or --map-include and --map-exclude" : "");
    /* only rule ACT has cropping and backtracking, only CMC and PVE have particle filtering */
    if (t->pft && o->act_rule == GLS_TISSUE_RULE_ACT)
        return gls_fail(GLS_ERR_ARGUMENT, "--pft cannot be used with --act-rule act: give --act-rule cmc or pve");
    if (o->act_rule != GLS_TISSUE_RULE_ACT && (t->crop_at_gmwmi || t->backtrack))
        return gls_fail(GLS_ERR_ARGUMENT, "--%s: only --act-rule act has it",
                        t->backtrack ? "backtrack" : "crop-at-gmwmi");
    if (t->backtrack && t->keep_all_ends)
        return gls_fail(GLS_ERR_ARGUMENT, "--backtrack and --keep-all-ends exclude each other: leave out one of them");
    if (t->pft && o->stop_leaving.n > 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--pft and --stop-leaving exclude each other: leave out one of them");
    gls_status status = gls_track_tissue_check(t, tissue);
    if (status) return status;
    if (tissue && o->mask_stop == GLS_MASK_STOP_INTERPOLATED && t->stop_threshold < 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--mask-stop interpolated: with tissue it needs --fa-threshold, because "
                                          "otherwise the stop map is not used");
    return GLS_OK;
}

/* Checks combinations of options for seeds: one source of seeds, and a count that shards can divide. */
static gls_status check_seeds(const gls_job_options *o)
{
    /* options that place seeds, of which a run may have one */
    const char *given[] = {o->seeds ? "seeds" : NULL,
                           o->seeds_per_voxel > 0 ? "seeds-per-voxel" : NULL,
                           o->seed_sphere ? "seed-sphere" : NULL,
                           o->seed_rejection ? "seed-rejection" : NULL,
                           o->seed_gmwmi ? "seed-gmwmi" : NULL,
                           o->seed_grid > 0 ? "seed-grid" : NULL};
    const char *first = NULL;
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        if (first && given[i])
            return gls_fail(GLS_ERR_ARGUMENT, "--%s and --%s exclude each other: leave out one of them", first,
                            given[i]);
        if (given[i]) first = given[i];
    }
    /* counted: --nseeds sets the number of seeds */
    bool counted = !o->seeds && o->seeds_per_voxel == 0 && o->seed_grid == 0;
    if (counted && o->nseeds == 0 && o->track.select == 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--nseeds 0: needs --select N, which ends the run");
    const gls_numbers *d = &o->seed_direction;
    if (d->n != 0 && (d->n != 3 || (d->value[0] == 0 && d->value[1] == 0 && d->value[2] == 0)))
        return gls_fail(GLS_ERR_ARGUMENT, "--seed-direction: needs three numbers x,y,z that are not all 0");
    if (o->shard && counted && o->nseeds == 0)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--nseeds 0 cannot be used with --shard, which divides the seeds: give their number");
    if (o->shard && o->track.select > 0 && (o->density || o->connectome))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--%s cannot be used with --select and --shard: merge the shards, then run 'glslines %s'",
                        o->density ? "density" : "connectome", o->density ? "density" : "connectome");
    return GLS_OK;
}

/* Checks combinations of options of regions. */
static gls_status check_regions(const gls_job_options *o)
{
    if (o->include_ordered.n > 0 && !o->track.seed_unidirectional)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--include-ordered: needs --seed-unidirectional: without it a streamline has no first end");
    if (o->track.stop_at_all && o->include.n == 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--stop: needs --include, the regions to be met");
    return GLS_OK;
}

gls_status gls_anatomy_check(const gls_job_options *o)
{
    gls_status status = check_tissue(o);
    if (!status) status = check_seeds(o);
    return status ? status : check_regions(o);
}

/* --- Tissue. */

/* Joins the maps of tissue fractions to one tissue image. All must lie on the grid of the first. */
static gls_status join_maps(const gls_job_options *o, gls_image **image)
{
    /* white matter, grey matter, CSF and deep grey matter: --pve-wm ..., or --map-include in place of grey matter and
     * --map-exclude in place of CSF */
    const char *const path[4] = {o->pve_wm, o->map_include ? o->map_include : o->pve_gm,
                                 o->map_exclude ? o->map_exclude : o->pve_csf, o->pve_sgm};
    const int first = path[0] ? 0 : 1;
    gls_image *map[4] = {NULL};
    gls_status status = gls_image_read(path[first], GLS_IMAGE_3D, &map[first]);
    for (int i = first + 1; i < 4 && !status; i++)
        if (path[i]) status = gls_image_read_on_grid(&map[first]->grid, path[first], path[i], &map[i]);
    if (!status) status = gls_tissue_join(map[0], map[1], map[2], map[3], image);
    for (int i = 0; i < 4; i++) gls_image_destroy(map[i]);
    return status;
}

gls_status gls_job_inputs_read_tissue(gls_job_inputs *input, const gls_job_options *o)
{
    const char *name = gls_tissue_file(o);
    gls_image *image = NULL;
    if (!name) return GLS_OK;
    gls_status status = o->act ? gls_image_read(o->act, GLS_IMAGE_ANY, &image) : join_maps(o, &image);
    if (!status) status = gls_tissue_create(input->grid, image, name, o->act_rule, o->track.precision, &input->tissue);
    if (!status) status = gls_tissue_check(input->tissue, input->mask);
    gls_image_destroy(image);
    if (!status && o->track.stop_threshold < 0)
        gls_log(GLS_LOG_INFO, "tissue: %s ends streamlines; the stop map does not, without --fa-threshold", name);
    return status;
}

/* --- Seeds. */

/* Makes seeds in the sphere of --seed-sphere: centre x,y,z and radius r in mm, world coordinates. */
static gls_status seeds_in_sphere(gls_job_inputs *input, const gls_job_options *o, uint64_t count)
{
    gls_region_text text;
    gls_status status = gls_region_text_parse("seed-sphere", o->seed_sphere, &text);
    if (!status && !text.is_sphere)
        status = gls_fail(GLS_ERR_ARGUMENT, "--seed-sphere: '%s' is not four numbers x,y,z,r", o->seed_sphere);
    /* the text is a path instead of numbers, which is an error here: free the path */
    if (!text.is_sphere) free(text.path);
    if (status) return status;
    return gls_seeds_create_sphere(text.number, text.number[3], input->grid, count, o->seed_seed, &input->seeds);
}

/* Makes seeds on the interface of grey and white matter, or by rejection against a map of weights. */
static gls_status seeds_by_weight(gls_job_inputs *input, const gls_job_options *o, uint64_t count)
{
    gls_image *weights = NULL;
    bool made = gls_gmwmi_is_made(o->seed_gmwmi);
    const char *name = made ? "--seed-gmwmi auto" : o->seed_gmwmi ? o->seed_gmwmi : o->seed_rejection;
    gls_status status =
        made ? gls_tissue_interface(input->tissue, &weights) : gls_image_read(name, GLS_IMAGE_3D, &weights);
    if (!status && o->seed_gmwmi)
        status = gls_seeds_create_interface(input->tissue, weights, name, count, o->seed_seed, &input->seeds);
    else if (!status)
        status = gls_seeds_create_weighted(weights, name, input->grid, count, o->seed_seed, &input->seeds);
    gls_image_destroy(weights);
    return status;
}

bool gls_seeds_need_no_region(const gls_job_options *o)
{
    return o->seeds || o->seed_sphere || o->seed_rejection || o->seed_gmwmi;
}

gls_status gls_job_inputs_make_seeds(gls_job_inputs *input, const gls_job_options *o)
{
    gls_status status;
    /* with --nseeds 0 there are seeds enough until --select ends the run */
    uint64_t n = o->nseeds > 0 ? o->nseeds : MAX_SEEDS;
    /* make seeds by the first option that is given: a list, a sphere, weights, a grid in each voxel, seeds around voxel
     * centres, a number for each voxel; else random seeds in the seed mask */
    if (o->seeds)
        status = gls_seeds_read(o->seeds, o->seed_space, input->grid, &input->seeds);
    else if (o->seed_sphere)
        status = seeds_in_sphere(input, o, n);
    else if (o->seed_rejection || o->seed_gmwmi)
        status = seeds_by_weight(input, o, n);
    else if (o->seed_grid > 0)
        status = gls_seeds_create_grid(input->roi, input->mask, (uint32_t)o->seed_grid, o->seed_seed, &input->seeds);
    else if (o->seeds_per_voxel > 0 && o->seed_radius >= 0)
        status = gls_seeds_create_around_centres(input->roi, input->mask, (uint32_t)o->seeds_per_voxel, o->seed_radius,
                                                 o->seed_seed, &input->seeds);
    else if (o->seeds_per_voxel > 0)
        status = gls_seeds_create_per_voxel(input->roi, input->mask, (uint32_t)o->seeds_per_voxel, o->seed_seed,
                                            &input->seeds);
    else
        status = gls_seeds_create_random(input->roi, input->mask, n, o->seed_seed, &input->seeds);
    if (status) return status;
    /* place: where the log says that seeds lie; NULL: in voxels of the seed region */
    const char *place = o->seeds            ? o->seeds
                        : o->seed_sphere    ? o->seed_sphere
                        : o->seed_rejection ? o->seed_rejection
                        : o->seed_gmwmi     ? "the interface of grey and white matter"
                                            : NULL;
    const char *count = GLS_COUNT(gls_seeds_count(input->seeds)), *bound = o->track.select > 0 ? "at most " : "";
    if (o->seeds)
        gls_log(GLS_LOG_INFO, "seeds: %s%s from %s", bound, count, place);
    else if (place)
        gls_log(GLS_LOG_INFO, "seeds: %s%s in %s, random seed %" PRIu64, bound, count, place, o->seed_seed);
    else
        gls_log(GLS_LOG_INFO, "seeds: %s%s in %s voxels, random seed %" PRIu64, bound, count,
                GLS_COUNT(input->seed_voxels), o->seed_seed);
    return GLS_OK;
}

/* --- Regions. */

/* Number of seeds to test before it is concluded that no seed lies in a region. */
#define ENOUGH_SEEDS 1000000

gls_status gls_job_inputs_check_tracking_mask(const gls_job_inputs *input)
{
    uint32_t bits = input->regions ? gls_regions_bits(input->regions, GLS_REGION_TRACKING_MASK) : 0;
    if (!bits || !input->seeds) return GLS_OK;
    gls_seeds *seeds = input->seeds;
    float seed[256][3];
    uint64_t all = gls_seeds_count(seeds);
    if (all > ENOUGH_SEEDS) all = ENOUGH_SEEDS;
    for (uint64_t at = 0, n; at < all; at += n) {
        n = all - at < 256 ? all - at : 256;
        gls_seeds_get(seeds, at, n, seed);
        for (uint64_t i = 0; i < n; i++)
            if (gls_regions_at(input->regions, seed[i]) & bits) return GLS_OK;
    }
    return gls_fail(GLS_ERR_INPUT, "--tracking-mask: no seed lies in it");
}

/* Warns if steps are longer than the radius of a region, or than the smallest voxel side of its image, so that a
 * streamline can jump over the region. */
static void warn_of_steps(const gls_job_inputs *input, double step)
{
    for (size_t i = 0; i < gls_regions_count(input->regions); i++) {
        gls_region_info region = gls_regions_get(input->regions, i);
        bool of_ends = gls_region_kind_of(region.role)->where == GLS_REGION_ENDS;
        if (region.role == GLS_REGION_MASK || of_ends || step <= region.smallest) continue;
        gls_log(GLS_LOG_WARNING, "--%s %s: steps of %.4g mm can jump over it: its %s is %.4g mm",
                gls_region_role_name(region.role), region.text, step, region.voxels ? "smallest voxel side" : "radius",
                region.smallest);
    }
}

gls_status gls_job_inputs_read_regions(gls_job_inputs *input, const gls_job_options *o)
{
    const struct {
        gls_region_role role;
        const gls_strings *text;
    } given[] = {
#define GLS_REGION_ROW(symbol, value, field, ...) {symbol, &o->field},
#include <glslines/regions.def>
    };
    bool has_mask = input->file[GLS_FILE_MASK].path || input->phantom || input->mask_made || o->bedpostx,
         nearest = has_mask && o->mask_stop == GLS_MASK_STOP_NEAREST;
    int n_given = 0;
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) n_given += given[i].text->n;
    /* without a region, and without a mask that counts as one, tracking needs no volume of regions */
    if (!nearest && n_given == 0) return GLS_OK;
    gls_status status = gls_regions_create(input->grid, &input->regions);
    if (!status && nearest) /* the mask of --mask-stop nearest is added as a region in which streamlines must stay */
        status = gls_regions_add_image(input->regions, GLS_REGION_MASK, input->mask,
                                       gls_job_inputs_name(input, GLS_FILE_MASK), input->mask);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        for (int k = 0; k < given[i].text->n && !status; k++)
            status = gls_regions_add(input->regions, given[i].role, given[i].text->value[k], input->mask);
    if (!status) status = gls_regions_complete(input->regions);
    if (!status) status = gls_job_inputs_check_tracking_mask(input);
    if (!status) warn_of_steps(input, gls_params_in_mm(o, input->grid).step_size);
    return status;
}
