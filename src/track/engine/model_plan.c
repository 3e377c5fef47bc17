/* Plans the model of a direction getter: its field, its tables, and the definitions that its kernels need. */

#include <glslines/common.h>
#include <glslines/device.h>
#include <glslines/track.h>

#include "track/engine/model_plan.h"
#include "track/engine/track_plan.h"
#include "track/getter/getter.h"
#include "track/shader/kernel_inputs.h"

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
    /* The getter plans the field and makes the tables. What follows is the same for all getters. */
    gls_status status = plan->getter->plan(&request, model);
    if (status) return status;
    /* llvmpipe reads a storage block lane by lane, but a uniform block at once */
    gls_tables_fill_block(tables);
    tables->uniform =
        limits->software && plan->lanes == 1 && tables->n * sizeof *tables->word <= limits->max_uniform_bytes;
    gls_define_int(d, "MODEL_UNIFORM", tables->uniform, "CPU renderers read uniform blocks faster");
    gls_define_int(d, "MODEL_BLOCKS", (int64_t)tables->n / 4, "size of the model buffer, in blocks of four words");
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
