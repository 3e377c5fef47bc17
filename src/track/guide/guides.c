/* Chooses the guide, creates it on a device, and passes its definitions and textures to kernels. */
#include "track/guide/guide.h"

extern const gls_guide_kind gls_guide_threshold, gls_guide_regions, gls_guide_tissue;

gls_status gls_guide_plan_make(const gls_track_params *params, const gls_device_info *limits,
                               const gls_track_input *input, gls_guide_plan *plan)
{
    *plan = (gls_guide_plan){.kind = input->tissue                           ? &gls_guide_tissue
                                     : gls_regions_count(input->regions) > 0 ? &gls_guide_regions
                                                                             : &gls_guide_threshold};
    gls_status status = plan->kind->plan(params, limits, input, plan);
    /* The record of a block holds what back-tracking or the loop check reads again, see glsl/layout/block.def. */
    plan->block_words = plan->backtracks     ? BLOCK_POINTS + POOL_BLOCK * (ARRIVAL_WORDS + plan->backtrack)
                        : params->loop_check ? BLOCK_BEFORE + 3
                                             : (uint32_t)BLOCK_WORDS;
    return status;
}

gls_status gls_guide_create(gls_device *device, const gls_guide_plan *plan, const gls_track_params *params,
                            const gls_track_input *input, gls_guide *guide)
{
    *guide = (gls_guide){.plan = *plan,
                         .regions = gls_regions_count(input->regions) > 0 ? input->regions : NULL,
                         .tissue = input->tissue,
                         .params = *params};
    return plan->kind->create(guide, device, input);
}

void gls_guide_finish(gls_guide *guide)
{
    for (uint32_t i = 0; i < GLS_GUIDE_MAX_TEXTURES; i++) gls_texture_destroy(guide->texture[i]);
    *guide = (gls_guide){0};
}

void gls_guide_define(const gls_guide_plan *plan, const gls_track_params *params, const gls_track_input *input,
                      gls_define_list *defines)
{
    gls_define_int(defines, "GUIDE_TEXTURES", plan->n_textures, "the guide's texture units, which precede the field's");
    gls_define_int(defines, "GUIDE_WORDS", plan->n_words, "words of the guide's memory of a half-streamline");
    gls_define_int(defines, "GUIDE_AMPLITUDE", plan->amplitude, "the guide asks for an amplitude at each point");
    gls_define_int(defines, "TAKES_BACK", plan->backtracks,
                   "half-streamlines that ended badly are shortened and go on");
    gls_define_int(defines, "BACKTRACK", plan->backtracks && plan->particles == 0,
                   "half-streamlines that ended badly go on by backtracking, not by a particle filter");
    gls_define_int(defines, "PARTICLES", plan->particles, "number of particles of the filter; 0: no filter");
    if (plan->particles > 0) {
        gls_define_int(defines, "FILTER_BACK", plan->filter_back, "steps before the bad end at which particles begin");
        gls_define_int(defines, "FILTER_FRONT", plan->filter_front, "steps that particles may go beyond the bad end");
        gls_define_int(defines, "FILTER_BLOCKS", plan->filter_blocks,
                       "blocks of the pool for the particles of a half-streamline");
        gls_define_int(defines, "FILTER_TRIALS", params->pft_trials,
                       "largest number of runs of the filter for a half-streamline");
    }
    gls_define_int(defines, "STOP_OPEN", plan->kind->by_voxel && gls_stop_map_is_open(params, input),
                   "the stop map ends no half-streamline inside the mask");
    gls_define_int(defines, "GUIDE_BACKTRACK", plan->backtrack,
                   "first word of the memory of backtracking or filtering");
    gls_define_int(defines, "BLOCK_SIZE", plan->block_words, "words of the record of a block of the pool");
    gls_define_file(defines, "guide", plan->kind->shader, plan->kind->name);
    if (plan->kind->define) plan->kind->define(plan, params, input, defines);
}

size_t gls_guide_arguments(const gls_guide *guide, gls_arg *args)
{
    for (uint32_t i = 0; i < guide->plan.n_textures; i++) args[i] = gls_arg_texture(i, guide->texture[i]);
    return guide->plan.n_textures;
}

bool gls_verdict_goes_first(gls_verdict verdict)
{
    static const bool goes_first[GLS_VERDICT_COUNT] = {
#define GLS_VERDICT_ROW(symbol, value, name, first, ...) [value] = first,
#include <glslines/verdicts.def>
#undef GLS_VERDICT_ROW
    };
    return goes_first[verdict];
}
