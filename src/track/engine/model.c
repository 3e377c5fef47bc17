#include "track/engine/model.h"

gls_status gls_model_plan_make(const gls_device_info *limits, const gls_track_params *params,
                               const gls_track_plan *plan, const gls_track_input *input, gls_model_plan *model)
{
    const gls_model_request request = {
        .limits = limits,
        .params = params,
        .input = input,
        .n_units =
            limits->max_texture_units > plan->guide.n_textures ? limits->max_texture_units - plan->guide.n_textures : 0,
        .lanes = plan->lanes,
        .lanes_fixed = gls_lanes_fixed(plan),
        .looped = plan->mapping->looped,
        .smaller_field = plan->smaller_field,
        .tables_shared = plan->tables_shared,
    };
    gls_define_list *d = &model->defines;
    gls_tables *tables = &model->tables;
    *model = (gls_model_plan){0};
    gls_status status = plan->getter->plan(&request, model);
    if (status != GLS_OK) return status;
    /* llvmpipe reads a storage block lane by lane, and a uniform block in one go */
    gls_tables_fill_block(tables);
    tables->uniform =
        limits->software && plan->lanes == 1 && tables->n * sizeof *tables->word <= limits->max_uniform_bytes;
    gls_define_int(d, "MODEL_UNIFORM", tables->uniform, "CPU renderers read uniform blocks faster");
    gls_define_int(d, "MODEL_BLOCKS", (int64_t)tables->n / 4, "of four words");
    gls_define_file(d, "getter", plan->getter->shader, plan->getter->name);
    gls_define_file(d, "initial_directions", plan->getter->initial, plan->getter->name);
    gls_define_file(d, "field", model->field.kind->shader, model->field.kind->name);
    model->field.kind->define(&model->field, d);
    return GLS_OK;
}

void gls_model_plan_finish(gls_model_plan *plan)
{
    gls_tables_finish(&plan->tables);
    gls_define_finish(&plan->defines);
    *plan = (gls_model_plan){0};
}

gls_status gls_model_create(gls_device *device, gls_model_plan *plan, gls_model *model)
{
    model->uniform = plan->tables.uniform;
    gls_status status = gls_tables_upload(&plan->tables, device, &model->buffer);
    if (status == GLS_OK) status = gls_field_create(device, &plan->field, "model volume", &model->field);
    if (status != GLS_OK) gls_model_finish(model);
    return status;
}

void gls_model_finish(gls_model *model)
{
    gls_field_finish(&model->field);
    gls_buffer_destroy(model->buffer);
    *model = (gls_model){0};
}
