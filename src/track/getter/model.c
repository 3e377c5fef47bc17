/* What all direction getters do to get their model onto a device. */
#include "track/engine/sections.h"

gls_status gls_model_plan(const gls_device_info *limits, const gls_track_params *params, const gls_track_plan *plan,
                          const gls_track_input *input, gls_define_list *defines, gls_volume_plan *volume,
                          gls_sections *sections)
{
    gls_status status = (params->dg == GLS_DG_BOOT ? gls_boot_model_plan : gls_odf_model_plan)(
        limits, params, plan, input, defines, volume, sections);
    /* llvmpipe reads a storage block lane by lane, and a uniform block in one go */
    gls_sections_fill_block(sections);
    sections->uniform =
        limits->software && plan->lanes == 1 && sections->n * sizeof *sections->word <= limits->max_uniform_bytes;
    gls_define_int(defines, "MODEL_UNIFORM", sections->uniform);
    gls_define_int(defines, "MODEL_BLOCKS", (int64_t)sections->n / 4);
    return status;
}

gls_status gls_model_create(gls_device *device, const gls_volume_plan *volume, gls_sections *sections, gls_model *model)
{
    model->uniform = sections->uniform;
    gls_status status = gls_sections_upload(sections, device, &model->buffer);
    if (status == GLS_OK) status = gls_volume_create(device, volume, "model volume", &model->volume);
    if (status != GLS_OK) gls_model_finish(model);
    return status;
}

void gls_model_finish(gls_model *model)
{
    gls_volume_finish(&model->volume);
    gls_buffer_destroy(model->buffer);
    *model = (gls_model){0};
}
