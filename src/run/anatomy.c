/* Peaks, tissue, seeds and regions of a run: what streamlines follow, where they start, and what they may enter. */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "run/anatomy.h"
#include "dwi/image_kind.h"
#include "image/grid.h"
#include "image/image_write.h"
#include "image/nifti_read.h"
#include "image/region_area.h"
#include "image/region_set.h"
#include "image/reorient.h"
#include "record/run_params.h"
#include "run/job_inputs_parts.h"
#include "track/getter/getter.h"
#include "track/seeds.h"
#include "transform/bring.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/status.h"

/* Largest number of seeds with --nseeds 0, where --select ends the run. */
#define MAX_SEEDS UINT32_MAX

/* --- Peaks, for getters that follow them: of files, or of ODFs. */

/* Whether a name is that of an eigenvector of FSL's dtifit, NAME_V1, NAME_V2 or NAME_V3. */
static bool is_of_dtifit(const char *path)
{
    const size_t n = gls_image_stem(path);
    return n > 3 && path[n - 3] == '_' && path[n - 2] == 'V' && path[n - 1] >= '1' && path[n - 1] <= '3';
}

gls_bvec_frame gls_peaks_frame(const gls_job_options *o, int i)
{
    if (o->peaks_frame != GLS_FRAME_AUTO) return (gls_bvec_frame)(o->peaks_frame - 1);
    const char *path = o->peaks.value[i];
    if (gls_image_is_along_voxels(path)) return GLS_BVEC_IMAGE;
    return gls_case_compare_n(gls_file_name(path), "dyads", 5) == 0 || is_of_dtifit(path) ? GLS_BVEC_FSL
                                                                                          : GLS_BVEC_WORLD;
}

/* Reads file i of --peaks and appends its volumes to inputs->odf_image. */
static gls_status add_file(gls_job_inputs *inputs, const gls_job_options *o, int i)
{
    const char *path = o->peaks.value[i];
    const gls_bvec_frame frame = gls_peaks_frame(o, i);
    const gls_grid *grid = inputs->series.dwi ? &inputs->series.dwi->grid : i > 0 ? &inputs->odf_image->grid : NULL;
    const char *first = inputs->series.dwi ? inputs->file[GLS_FILE_DWI].path : o->peaks.value[0];
    gls_image *image = NULL;
    gls_status status = gls_image_read_vectors(path, &image);
    if (!status) gls_peaks_doubt(image, path);
    /* reorder voxels only if the vectors are along scanner axes, which do not change with the voxel axes */
    if (!status && grid && frame == GLS_BVEC_WORLD) status = gls_image_reorient(&image, path, grid);
    if (!status && grid) status = gls_grid_require_equal(grid, first, &image->grid, path);
    if (!status) status = gls_peaks_append(&inputs->odf_image, image, path, frame);
    gls_image_destroy(image);
    return status;
}

/* Reads --peaks-values, which replace the lengths of the peaks. GLS_ERR_INPUT: another number of values than peaks, or
 * none above 0. */
static gls_status add_values(gls_job_inputs *inputs, const gls_job_options *o)
{
    const size_t n_peaks = inputs->odf_image->n_volumes / 3;
    size_t n = 0;
    gls_status status = GLS_OK;
    for (int i = 0; i < o->peaks_values.n && !status; i++) {
        const char *path = o->peaks_values.value[i];
        gls_image *image = NULL;
        status = gls_image_read(path, GLS_IMAGE_ANY, &image);
        if (!status) status = gls_image_reorient(&image, path, &inputs->odf_image->grid);
        if (!status) status = gls_peaks_set_values(inputs->odf_image, n, image, path);
        if (!status) n += image->n_volumes;
        gls_image_destroy(image);
    }
    if (status || o->peaks_values.n == 0) return status;
    if (n != n_peaks)
        return gls_fail(GLS_ERR_INPUT,
                        "--peaks-values: %zu volumes, but --peaks has %zu peaks in a voxel: give one for each", n,
                        n_peaks);
    if (gls_image_require_values(inputs->odf_image, "", "") == GLS_OK) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT, "%s: no peak has an amplitude above 0: give the amplitudes of the peaks",
                    o->peaks_values.value[0]);
}

gls_status gls_job_inputs_read_peaks(gls_job_inputs *inputs, const gls_job_options *o)
{
    gls_status status = GLS_OK;
    for (int i = 0; i < o->peaks.n && !status; i++) status = add_file(inputs, o, i);
    if (!status) status = gls_image_require_values(inputs->odf_image, o->peaks.value[0], "peak");
    if (!status) status = add_values(inputs, o);
    inputs->odf_frame = gls_peaks_frame(o, 0);
    if (!status)
        gls_log(GLS_LOG_INFO, "%s%s: %zu peaks a voxel, %s axes (--peaks-frame)", o->peaks.value[0],
                o->peaks.n > 1 ? " and others" : "", inputs->odf_image->n_volumes / 3,
                gls_odf_frame_name(inputs->odf_frame));
    return status;
}

/* --- Peaks of ODFs. */

/* Number of peaks to find in each voxel: as many as the getter reads, or 3 if it sets no number. */
static size_t n_peaks(const gls_method *method)
{
    const uint32_t n = method->getter->n_peaks;
    return n > 0 ? n : 3;
}

/* Whether the coefficients of voxel i are finite, and one of them is not 0. */
static bool has_odf(const gls_image *sh, size_t i)
{
    const size_t n = gls_grid_voxels(&sh->grid);
    bool any = false;
    for (size_t v = 0; v < sh->n_volumes; v++) {
        if (!isfinite(sh->data[v * n + i])) return false;
        any = any || sh->data[v * n + i] != 0;
    }
    return any;
}

/* Gives each voxel whose ODF is nowhere above 0 a peak of a hundred-millionth of the longest one. fact takes a voxel
 * without any peak for the outside of the image, where tissue lets a streamline end; sh2peaks writes a peak there, too.
 */
static void keep_in_image(const gls_image *sh, gls_image *peaks)
{
    const size_t n = gls_grid_voxels(&peaks->grid);
    float longest = 0;
    for (size_t i = 0; i < 3 * n; i++) longest = fmaxf(longest, fabsf(peaks->data[i]));
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        if (peaks->data[i] == 0 && peaks->data[n + i] == 0 && peaks->data[2 * n + i] == 0 && has_odf(sh, i))
            peaks->data[i] = 1e-8f * longest;
}

gls_status gls_find_peaks(const gls_job_options *o, const gls_method *method, const gls_odf_source *source,
                          gls_bvec_frame frame, gls_image **peaks)
{
    if (!method->finds_peaks) return GLS_OK;
    const double start = gls_clock_seconds();
    if (!source || !source->is_sh || source->full)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--dg %s: finds peaks only in spherical harmonics of even orders: give --sh FILE with these, "
                        "or --peaks FILE",
                        method->getter->name);
    gls_status status =
        gls_peaks_of_sh(source->image, o->sh ? o->sh : "the fit", source->basis, frame, n_peaks(method), 0, peaks);
    if (!status && o->track.dg == GLS_DG_FACT) keep_in_image(source->image, *peaks);
    if (!status)
        gls_log(GLS_LOG_INFO, "peaks: up to %zu a voxel, %s", n_peaks(method),
                GLS_DURATION(gls_clock_seconds() - start));
    return status;
}

gls_status gls_job_inputs_plan_peaks(gls_job_inputs *inputs)
{
    const gls_method *method = &inputs->method;
    if (!method->finds_peaks) return GLS_OK;
    return gls_image_create(inputs->grid, method->tensors ? 3 : 3 * n_peaks(method), &inputs->peaks);
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

/* Makes tissue that is half grey, half white matter everywhere. */
static gls_status stand_in(gls_job_inputs *input, const gls_job_options *o)
{
    const size_t n = gls_grid_voxels(input->grid);
    gls_image *image = NULL;
    gls_status status = gls_image_create(input->grid, 5, &image);
    for (size_t v = 0; v < n && !status; v++) image->data[v] = image->data[2 * n + v] = 0.5f;
    if (!status) status = gls_tissue_create(input->grid, image, o->t1, o->act_rule, o->track.precision, &input->tissue);
    gls_image_destroy(image);
    return status;
}

gls_status gls_job_inputs_read_tissue(gls_job_inputs *input, const gls_job_options *o)
{
    const char *name = input->method.tissue;
    gls_image *image = NULL;
    if (!name) return GLS_OK;
    if (gls_awaits_anatomy(o)) return stand_in(input, o);
    gls_status status = o->act                        ? gls_image_read(o->act, GLS_IMAGE_ANY, &image)
                        : o->pve_wm || o->map_include ? join_maps(o, &image)
                                                      : gls_phantom_five_tissues(input->phantom, &image);
    if (!status && (o->act || o->pve_wm || o->map_include))
        status = gls_image_bring(&image, &input->space, GLS_RESAMPLE_LINEAR, 0, name);
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
    bool made = gls_is_auto(o->seed_gmwmi);
    const char *name = made ? "--seed-gmwmi auto" : o->seed_gmwmi ? o->seed_gmwmi : o->seed_rejection;
    gls_status status =
        made ? gls_tissue_interface(input->tissue, &weights) : gls_image_read(name, GLS_IMAGE_3D, &weights);
    if (!status && !made) status = gls_image_bring(&weights, &input->space, GLS_RESAMPLE_LINEAR, 0, name);
    if (!status && o->seed_gmwmi)
        status = gls_seeds_create_interface(input->tissue, weights, name, count, o->seed_seed, &input->seeds);
    else if (!status)
        status = gls_seeds_create_weighted(weights, name, input->grid, count, o->seed_seed, &input->seeds);
    gls_image_destroy(weights);
    return status;
}

const char *gls_seeds_place(const gls_job_options *o)
{
    return o->seeds            ? o->seeds
           : o->seed_sphere    ? o->seed_sphere
           : o->seed_rejection ? o->seed_rejection
           : o->seed_gmwmi     ? "the interface of grey and white matter"
           : o->seed_dynamic   ? "fixels that lack streamlines"
                               : NULL;
}

gls_status gls_job_inputs_make_seeds(gls_job_inputs *input, const gls_job_options *o)
{
    gls_status status;
    if (o->seed_gmwmi && gls_awaits_anatomy(o)) return GLS_OK;
    /* with --nseeds 0, --select ends the run, long before the seeds run out */
    uint64_t n = o->nseeds > 0 ? o->nseeds : MAX_SEEDS;
    /* make seeds by the first option that is given: a list, a sphere, weights, a grid in each voxel, seeds around voxel
     * centres, a number for each voxel; else random seeds in the seed mask */
    if (o->seeds)
        status = gls_seeds_read(o->seeds, o->seed_space, input->grid, &input->seeds);
    else if (o->seed_sphere)
        status = seeds_in_sphere(input, o, n);
    else if (o->seed_dynamic)
        status = gls_seeds_create_in_rounds(n, &input->seeds);
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
    if (status || input->seeds_move) return status;
    const char *count = GLS_COUNT(gls_seeds_count(input->seeds)), *bound = o->track.select > 0 ? "at most " : "",
               *place = gls_seeds_place(o);
    if (o->seeds)
        gls_log(GLS_LOG_INFO, "seeds: %s%s from %s", bound, count, place);
    else
        gls_log(GLS_LOG_INFO, "seeds: %s%s in %s%s, random seed %" PRIu64, bound, count,
                place ? place : GLS_COUNT(input->seed_voxels), place ? "" : " voxels", o->seed_seed);
    return GLS_OK;
}

/* --- Regions. */

/* Number of seeds that are tested; if none of them lies in a region, it is assumed that no seed does. */
#define ENOUGH_SEEDS 1000000

gls_status gls_job_inputs_check_tracking_mask(const gls_job_inputs *input)
{
    uint32_t bits = input->regions ? gls_regions_bits(input->regions, GLS_REGION_TRACKING_MASK) : 0;
    if (!bits || !input->seeds || gls_seeds_are_in_rounds(input->seeds)) return GLS_OK;
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
    return gls_fail(GLS_ERR_INPUT,
                    "--tracking-mask: no seed was found in this region: give a region in which seeds lie");
}

/* Warns of regions that a streamline can jump over, because steps are longer than the radius of the sphere or than the
 * smallest voxel side of the image. Leaves out the mask, and regions that look at ends only. */
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

/* Reads a region, brings it to the space of the run and adds it. */
static gls_status add_region(gls_job_inputs *input, gls_region_role role, const char *text)
{
    gls_region_area area;
    gls_status status = gls_region_area_read(gls_region_role_name(role), text, &area);
    if (!status) status = gls_region_area_bring(&area, &input->space, text);
    if (!status) status = gls_regions_add_area(input->regions, role, &area, text, input->mask);
    gls_region_area_finish(&area);
    return status;
}

/* Whether one of the texts of regions names an image, and not a sphere or a box. */
static bool names_image(const gls_strings *regions)
{
    bool any = false;
    for (int i = 0; i < regions->n; i++) {
        gls_region_text text = {.path = NULL};
        any |= gls_region_text_parse("region", regions->value[i], &text) == GLS_OK && text.path;
        free(text.path);
    }
    return any;
}

bool gls_reads_anatomy(const gls_job_options *o)
{
    const char *const image[] = {o->roi,         o->seed_rejection, o->act,         o->pve_wm,
                                 o->pve_gm,      o->pve_csf,        o->map_include, o->sample,
                                 o->fdt_network, o->fdt_matrix2,    o->fdt_matrix3, o->fdt_targets};
    bool any = (o->seed_gmwmi && !gls_is_auto(o->seed_gmwmi)) || (o->mask && o->transform_mask) || o->connectome.n > 0;
    for (size_t i = 0; i < sizeof image / sizeof *image; i++) any |= image[i] != NULL;
#define GLS_REGION_ROW(symbol, value, field, ...) any |= names_image(&o->field);
#include <glslines/regions.def>
    return any || o->profile || o->segment; /* rules of bundles name images of regions */
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
    /* without regions, and without --mask-stop nearest, whose mask is a region, no image of regions is needed */
    if (!nearest && n_given == 0 && input->n_stops == 0) return GLS_OK;
    gls_status status = gls_regions_create(input->grid, &input->regions);
    if (!status && nearest) /* the mask of --mask-stop nearest is added as a region in which streamlines must stay */
        status = gls_regions_add_image(input->regions, GLS_REGION_MASK, input->mask,
                                       gls_job_inputs_name(input, GLS_FILE_MASK), input->mask);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        for (int k = 0; k < given[i].text->n && !status; k++)
            status = add_region(input, given[i].role, given[i].text->value[k]);
        for (size_t k = 0; k < input->n_stops && given[i].role == GLS_REGION_STOP_AT && !status; k++)
            status = gls_regions_add_area(input->regions, given[i].role, &input->stop[k].area, input->stop[k].text,
                                          input->mask);
    }
    if (!status) status = gls_regions_complete(input->regions);
    if (!status) status = gls_job_inputs_check_tracking_mask(input);
    if (!status) warn_of_steps(input, gls_params_in_mm(o, input->grid).step_size);
    return status;
}
