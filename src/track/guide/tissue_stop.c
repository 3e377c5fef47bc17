/* The guide for tissue (ACT, or maps of good and bad ends), together with the stop map and regions: plan, textures and
 * definitions of glsl/guide/tissue.glsl, and the verdict on whole streamlines, which needs both half-streamlines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "track/guide/tissue_stop.h"
#include "image/tissue_image.h"
#include "image/tissue_interface.h"
#include "track/guide/guide.h"
#include "track/guide/region_stop.h"
#include "track/guide/threshold_stop.h"
#include "util/status.h"

/* Number of voxels of the box around the tissue. */
static size_t voxels_of(const gls_tissue *t)
{
    return (size_t)t->size[0] * (size_t)t->size[1] * (size_t)t->size[2];
}

/* Whether the input has any region. */
static bool has_regions(const gls_track_input *input)
{
    return gls_regions_count(input->regions) > 0;
}

/* The guide that does all but the tissue: the stop map, and regions if there are any. */
static const gls_guide_kind *base_of(const gls_track_input *input)
{
    return has_regions(input) ? &gls_guide_regions : &gls_guide_threshold;
}

/* Whether deep grey matter is treated apart, as only ACT does. */
static bool has_sgm(const gls_tissue *t)
{
    return t->rule == GLS_TISSUE_RULE_ACT && t->has_sgm;
}

/* Whether there may be pathological tissue, which only ACT knows. */
static bool has_path(const gls_tissue *t)
{
    return t->rule == GLS_TISSUE_RULE_ACT && t->has_path;
}

/* Reserves the words of memory of a half-streamline for flags of tissue, and for its way through deep grey matter. */
static void take_words(const gls_tissue *t, bool ordered, gls_guide_plan *plan)
{
    if (has_sgm(t) || has_path(t)) plan->tissue = plan->n_words++;
    if (!has_sgm(t)) return;
    plan->amplitude = true;
    plan->least = plan->n_words++;
    plan->keep = plan->n_words++;
    plan->left_keep = plan->n_words++;
    if (plan->remembers) plan->keep_met = plan->n_words++;
    if (plan->remembers) plan->left_met = plan->n_words++;
    if (ordered) plan->keep_order = plan->n_words++;
}

/* Reserves the words of back-tracking, behind all other words. */
static void take_backtrack_words(gls_guide_plan *plan)
{
    plan->backtracks = true;
    plan->backtrack = plan->n_words;
    plan->n_words += BACKTRACK_WORDS;
}

/* Reserves the words of particle filtering, and computes how many blocks of the pool the particles of a half-streamline
 * take. */
static void plan_filter(const gls_track_params *params, gls_guide_plan *plan)
{
    plan->backtracks = true;
    plan->backtrack = plan->n_words;
    plan->n_words += FILTER_WORDS;
    plan->particles = (uint32_t)params->pft_particles;
    plan->filter_back = (uint32_t)gls_filter_steps(params->pft_back, params->step_size);
    plan->filter_front = (uint32_t)gls_filter_steps(params->pft_front, params->step_size);
    const uint32_t words = plan->particles * (plan->filter_back + plan->filter_front + FILTER_STATE);
    plan->filter_blocks = (words + 3 * POOL_BLOCK - 1) / (3 * POOL_BLOCK);
}

/* Fills in the plan: textures and their bytes, and the words of memory of a half-streamline. */
static gls_status plan(const gls_track_params *params, const gls_device_info *limits, const gls_track_input *input,
                       gls_guide_plan *plan)
{
    const gls_tissue *t = input->tissue;
    gls_status status = base_of(input)->plan(params, limits, input, plan);
    for (int a = 0; a < 3 && !status; a++)
        if ((uint32_t)t->size[a] > limits->max_texture_3d)
            status = gls_fail(
                GLS_ERR_UNSUPPORTED,
                "%s: has %d voxels along an axis, but the device's 3D textures hold %u at most: crop the tissue images",
                t->name, t->size[a], limits->max_texture_3d);
    plan->n_textures += has_path(t) ? 2 : 1;
    plan->bytes += voxels_of(t) * (t->single ? 4 : 2) * (has_path(t) ? 5 : 4);
    take_words(t, has_regions(input) && gls_regions_bits(input->regions, GLS_REGION_INCLUDE_ORDERED), plan);
    if (params->backtrack) take_backtrack_words(plan);
    if (params->pft) plan_filter(params, plan);
    return status;
}

/* Stores the texel of a voxel. ACT: cortical grey, deep grey, white matter, CSF. Other rules: maps of good and of bad
 * ends, where a voxel without any tissue is a good end. */
static void store_texel(const gls_tissue *t, size_t voxel, float out[4])
{
    const float *v = t->value[voxel];
    if (t->rule == GLS_TISSUE_RULE_ACT) {
        memcpy(out, v, 4 * sizeof *out);
        return;
    }
    bool none = gls_tissue_gm(v) + v[GLS_TISSUE_WM] + v[GLS_TISSUE_CSF] + v[GLS_TISSUE_PATH] == 0;
    out[0] = none ? 1 : gls_tissue_gm(v);
    out[1] = out[2] = 0;
    out[3] = v[GLS_TISSUE_CSF];
}

/* Creates and fills the texture of the texels of store_texel(), or with `path` the texture of pathology. */
static gls_status create_texture(gls_guide *guide, gls_device *device, uint32_t unit, bool path)
{
    const gls_tissue *t = guide->tissue;
    const uint32_t size[3] = {(uint32_t)t->size[0], (uint32_t)t->size[1], (uint32_t)t->size[2]}, origin[3] = {0, 0, 0};
    gls_texture_format format = path ? (t->single ? GLS_TEXTURE_R32F : GLS_TEXTURE_R16F)
                                     : (t->single ? GLS_TEXTURE_RGBA32F : GLS_TEXTURE_RGBA16F);
    size_t n = voxels_of(t), channels = path ? 1 : 4;
    float *texel = malloc(n * channels * sizeof *texel);
    if (!texel) return gls_fail(GLS_ERR_MEMORY, "out of memory for the tissue");
    for (size_t v = 0; v < n; v++) {
        if (path)
            texel[v] = t->value[v][GLS_TISSUE_PATH];
        else
            store_texel(t, v, texel + 4 * v);
    }
    gls_status status = gls_texture_create(device, format, size, path ? "pathology" : "tissue", &guide->texture[unit]);
    if (!status) status = gls_texture_write(guide->texture[unit], origin, size, texel);
    free(texel);
    return status;
}

/* Creates the textures: stop map, regions if there are any, tissue, and pathology if there is any. */
static gls_status create(gls_guide *guide, gls_device *device, const gls_track_input *input)
{
    uint32_t unit = guide->regions ? 2 : 1;
    gls_status status = base_of(input)->create(guide, device, input);
    if (!status) status = create_texture(guide, device, unit, false);
    if (!status && has_path(guide->tissue)) status = create_texture(guide, device, unit + 1, true);
    return status;
}

/* Adds definitions of the affine map from voxels of tracking to voxels of the tissue image, and of the size of that
 * image. */
static void define_map(gls_define_list *d, const gls_tissue *t)
{
    static const char *const row[] = {"TISSUE_X", "TISSUE_Y", "TISSUE_Z"}, *const n[] = {"TISSUE_NX", "TISSUE_NY",
                                                                                         "TISSUE_NZ"};
    for (int a = 0; a < 3; a++) {
        char text[4][40], line[200];
        for (int c = 0; c < 4; c++) gls_glsl_float(t->map[a][c], text[c]);
        snprintf(line, sizeof line, "vec4(%s, %s, %s, %s)", text[0], text[1], text[2], text[3]);
        gls_define_text(d, row[a], strdup(line), "map to the voxels of the tissue");
        gls_define_int(d, n[a], t->size[a], "voxels of the tissue");
    }
}

/* Fills the slots of regions with nothing, for an input without regions. */
static void define_no_regions(gls_define_list *d)
{
    gls_define_slot(d, "region_rows", strdup(""), "there are no regions");
    gls_define_slot(d, "region_ends", strdup(""), "there are no regions");
}

/* Adds the definitions that glsl/guide/tissue.glsl needs: texture units, the rule, and the words of the memory. */
static void define(const gls_guide_plan *plan, const gls_track_params *params, const gls_track_input *input,
                   gls_define_list *d)
{
    const gls_tissue *t = input->tissue;
    bool regions = has_regions(input);
    const double *side = t->image.voxel_size;
    gls_define_int(d, "WITH_REGIONS", regions, "the run has regions besides the tissue");
    if (regions)
        gls_guide_regions.define(plan, params, input, d);
    else
        define_no_regions(d);
    gls_define_int(d, "TISSUE_UNIT", regions ? 2 : 1, "texture unit of the tissue");
    gls_define_int(d, "PATH_UNIT", regions ? 3 : 2, "texture unit of pathology");
    gls_define_int(d, "TISSUE_RULE", t->rule, "rule that ends half-streamlines by tissue");
    gls_define_int(d, "TISSUE_SGM", has_sgm(t), "the image has deep grey matter");
    gls_define_int(d, "TISSUE_PATH", has_path(t), "the image has pathology");
    gls_define_int(d, "GUIDE_TISSUE", plan->tissue, "word of the flags of tissue");
    gls_define_int(d, "GUIDE_LEAST", plan->least, "word of the smallest amplitude in deep grey matter");
    gls_define_int(d, "GUIDE_KEEP", plan->keep, "word of the number of points before the cut in deep grey matter");
    gls_define_int(d, "GUIDE_KEEP_MET", plan->keep_met, "word of the regions met before the cut");
    gls_define_int(d, "GUIDE_KEEP_ORDER", plan->keep_order, "word of the regions met in order before the cut");
    gls_define_int(d, "GUIDE_LEFT_KEEP", plan->left_keep, "value of GUIDE_KEEP at the last exit from deep grey matter");
    gls_define_int(d, "GUIDE_LEFT_MET", plan->left_met,
                   "value of GUIDE_KEEP_MET at the last exit from deep grey matter");
    gls_define_float(d, "CMC_POWER", params->step_size / ((side[0] + side[1] + side[2]) / 3),
                     "length of a step, in voxels of the tissue image");
    gls_define_int(d, "FILTER_WHITE", params->pft && params->pft_min_wm > 0,
                   "a good end needs white matter at an earlier point");
    gls_define_float(d, "FILTER_MIN_WHITE", params->pft_min_wm,
                     "smallest fraction of white matter that an earlier point must have");
    define_map(d, t);
}

/* Whether ACT allows a seed at this point, in voxel coordinates of the streamlines. */
static bool act_admits(const gls_tissue *t, const float point[3])
{
    float v[GLS_TISSUE_TYPES];
    if (!gls_tissue_at(t, point, v)) return false;
    if (gls_tissue_is_sgm(v)) return true;
    return !gls_tissue_is_csf(v) && v[GLS_TISSUE_WM] != 0 &&
           gls_tissue_gm(v) - v[GLS_TISSUE_WM] < (float)GLS_TISSUE_ACCURACY;
}

/* Whether a seed lies on the cortical side of the interface, so that tracking must start into white matter. */
static bool is_cortical(const gls_tissue *t, const float point[3])
{
    float v[GLS_TISSUE_TYPES];
    return gls_tissue_at(t, point, v) && !gls_tissue_is_sgm(v) && gls_tissue_gm(v) > v[GLS_TISSUE_WM] &&
           v[GLS_TISSUE_CGM] > v[GLS_TISSUE_SGM];
}

/* Whether streamlines may start at a seed: by the regions, and with ACT by the tissue there. */
static bool admits(const gls_guide *guide, const float seed[3])
{
    if (guide->regions && !gls_guide_regions.admits(guide, seed)) return false;
    return guide->tissue->rule != GLS_TISSUE_RULE_ACT || act_admits(guide->tissue, seed);
}

/* Whether the streamline is tracked in one sense only: with ACT, from cortical grey matter. */
static bool one_sided(const gls_guide *guide, const float seed[3])
{
    return guide->tissue->rule == GLS_TISSUE_RULE_ACT && is_cortical(guide->tissue, seed);
}

/* Whether `direction` leads into grey matter, so that tracking must go the opposite way. */
static bool turns_round(const gls_guide *guide, const float seed[3], const float direction[3])
{
    return gls_tissue_rises(guide->tissue, seed, direction);
}

/* --- The verdict. */

/* Flags of the tissue guide for a half-streamline (TISSUE_ of glsl/layout/constants.def); 0 if it has none. */
static uint32_t flags_of(const gls_guide *guide, const gls_guide_half *half)
{
    bool known = has_sgm(guide->tissue) || has_path(guide->tissue);
    return known && gls_guide_was_tracked(half) ? half->memory[guide->plan.tissue] : 0;
}

/* From a seed in deep grey matter only one half-streamline may continue into white matter. If both do, shortens the
 * backward one, whose new memory is written to `memory`. Returns false if the seed lies in deep grey matter and neither
 * half-streamline reaches white matter. */
static bool join_in_deep_grey(const gls_guide *guide, gls_guide_half half[2], uint32_t *memory)
{
    const gls_guide_plan *plan = &guide->plan;
    uint32_t backward = flags_of(guide, &half[0]), forward = flags_of(guide, &half[1]);
    if (!((backward | forward) & TISSUE_SEED_SGM)) return true;
    if (!((backward | forward) & TISSUE_LEFT)) return false;
    if (!(backward & forward & TISSUE_LEFT)) return true;
    memcpy(memory, half[0].memory, plan->n_words * sizeof *memory);
    if (plan->remembers) memory[plan->met] = memory[plan->left_met];
    half[0] = (gls_guide_half){memory[plan->left_keep], GLS_END_SGM_EXIT, memory};
    return true;
}

/* Whether a streamline is rejected for the end of this half-streamline: in CSF or on the map of bad ends, after the
 * last attempt of backtracking, without a direction, or by the stop map. With ACT the last two are allowed in deep grey
 * matter and in pathology. */
static bool is_poor(const gls_guide *guide, const gls_guide_half *half)
{
    bool stuck = half->end == GLS_END_NO_DIRECTION || half->end == GLS_END_STOP_MAP;
    return half->end == GLS_END_CSF || half->end == GLS_END_BACKTRACK ||
           (stuck && !(flags_of(guide, half) & TISSUE_ON_PATH));
}

/* The verdict after join_in_deep_grey(). white: what that function returned. */
static gls_verdict verdict_on(const gls_guide *guide, const float seed[3], uint32_t max_parts, gls_guide_half half[2],
                              bool white, uint32_t *met)
{
    gls_verdict verdict =
        guide->regions ? gls_guide_regions.judge(guide, seed, max_parts, half, met) : GLS_VERDICT_KEPT;
    if (gls_guide_regions_gave(verdict) || guide->params.keep_all_ends) return verdict;
    if (is_poor(guide, &half[0]) || is_poor(guide, &half[1])) return GLS_VERDICT_POOR_END;
    if (half[0].end == GLS_END_MAX_LENGTH || half[1].end == GLS_END_MAX_LENGTH ||
        half[0].parts + half[1].parts > max_parts)
        return GLS_VERDICT_TOO_LONG;
    return white ? verdict : GLS_VERDICT_NO_WHITE_MATTER;
}

/* Verdict on a streamline from its two half-streamlines: a region that rejects decides first, then tissue. Cuts in deep
 * grey matter may shorten the half-streamlines. */
static gls_verdict judge(const gls_guide *guide, const float seed[3], uint32_t max_parts, gls_guide_half half[2],
                         uint32_t *met)
{
    /* Regions that reject keep their verdict, even where a cut in deep grey matter removes the point that met them. */
    uint32_t memory[GLS_GUIDE_MAX_WORDS];
    gls_guide_half joined[2] = {half[0], half[1]}; /* joined[0].memory may point to `memory` */
    gls_verdict rejected = gls_guide_regions_verdict_of(half[0].end);
    if (rejected == GLS_VERDICT_KEPT) rejected = gls_guide_regions_verdict_of(half[1].end);
    bool white = join_in_deep_grey(guide, joined, memory);
    gls_verdict verdict = verdict_on(guide, seed, max_parts, joined, white, met);
    for (int h = 0; h < 2; h++) {
        half[h].parts = joined[h].parts;
        half[h].end = joined[h].end;
    }
    return rejected != GLS_VERDICT_KEPT ? rejected : verdict;
}

/* Whether the streamline, after every cut, meets all include regions; true without include regions, and where
 * half-streamlines are judged each by itself. */
static bool includes(const gls_guide *guide, const float seed[3], const gls_guide_half half[2], uint32_t *met)
{
    return gls_guide_regions.includes(guide, seed, half, met);
}

const gls_guide_kind gls_guide_tissue = {
    .name = "tissue",
    .shader = "guide/tissue.glsl",
    .plan = plan,
    .define = define,
    .create = create,
    .uniforms = gls_stop_map_uniforms,
    .admits = admits,
    .one_sided = one_sided,
    .turns_round = turns_round,
    .judge = judge,
    .includes = includes,
};
