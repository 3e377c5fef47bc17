/* Parameters and arguments of the kernels of passes 1 and 2. */
#include "track/engine/pass_arguments.h"
#include "track/field/cells.h"

#include <math.h>

/* The buffer of uniforms of a pass. Pass 1 has one of its own, which is written while pass 2 of the previous batch may
 * still run. */
static gls_track_buffer uniforms_of(bool initial)
{
    return initial ? GLS_TRACK_INITIAL_UNIFORMS : GLS_TRACK_UNIFORMS;
}

gls_status gls_pass_uniforms(gls_engine *t, uint32_t n_items, uint32_t n_active, uint32_t iterations, bool initial)
{
    const gls_track_params *p = &t->params;
    const double radians = acos(-1.0) / 180, step = p->step_size / t->plan.substeps;
    gls_track_uniforms u = {
        .key_lo = (uint32_t)p->rng_seed,
        .key_hi = (uint32_t)(p->rng_seed >> 32),
        .n_items = n_items,
        .pool_blocks = t->plan.pool_blocks,
        .max_steps = t->plan.max_steps,
        .step_x = (float)(step / t->grid.voxel_size[0]),
        .step_y = (float)(step / t->grid.voxel_size[1]),
        .step_z = (float)(step / t->grid.voxel_size[2]),
        .cos_max_angle = (float)cos(p->max_angle * radians),
        .cos_separation = (float)cos(p->min_separation_angle * radians),
        .peak_threshold = (float)p->relative_peak_threshold,
        .max_directions = (uint32_t)p->max_directions_per_seed,
        .n_active = n_active,
        .is_initial = initial,
        .turns = iterations,
        .angular_weight = initial ? 0.0f : (float)p->angular_weight,
        .per_mm_x = (float)(1 / t->grid.voxel_size[0]),
        .per_mm_y = (float)(1 / t->grid.voxel_size[1]),
        .per_mm_z = (float)(1 / t->grid.voxel_size[2]),
    };
#define FIELD(type, name)
#define PARAM_FIELD(type, name) u.name = (type)p->name;
#include "layout/track_params.def"
#undef FIELD
    u.fod_cutoff = (float)(gls_track_cutoff(p) * t->model.scale);
    u.seed_cutoff = (float)(gls_track_seed_cutoff(p) * t->model.scale);
    if (t->plan.getter->uniforms) t->plan.getter->uniforms(p, &t->model, &u);
    if (t->plan.guide.kind->uniforms) t->plan.guide.kind->uniforms(p, &u);
    return gls_buffer_write(t->buffer[uniforms_of(initial)], 0, sizeof u, &u);
}

/* Sets the textures or buffers of a field as arguments of a kernel: textures, and buffers of texels, from unit
 * first_unit on; other buffers from GLS_FIELD_FIRST_BINDING on. Returns their number. */
static size_t field_arguments(const gls_field *field, uint32_t first_unit, gls_arg *args)
{
    size_t n = 0;
    for (uint32_t i = 0; i < GLS_FIELD_MAX_BUFFERS && field->buffer[i]; i++)
        args[n++] = gls_arg_buffer((field->plan.kind == &gls_field_texels ? first_unit : GLS_FIELD_FIRST_BINDING) + i,
                                   field->buffer[i]);
    for (uint32_t i = 0; i < GLS_FIELD_MAX_TEXTURES && field->texture[i]; i++)
        args[n++] = gls_arg_texture(first_unit + i, field->texture[i]);
    return n;
}

/* Sets the guide's textures as arguments of a kernel. Returns their number. */
static size_t guide_arguments(const gls_guide *guide, gls_arg *args)
{
    for (uint32_t i = 0; i < guide->plan.n_textures; i++) args[i] = gls_arg_texture(i, guide->texture[i]);
    return guide->plan.n_textures;
}

size_t gls_pass_arguments(gls_engine *t, bool initial, gls_arg *args)
{
    size_t n = 0;
    args[n++] = gls_arg_uniforms(0, t->buffer[uniforms_of(initial)]);
    args[n++] = t->model.uniform ? gls_arg_uniforms(1, t->model.buffer) : gls_arg_buffer(3, t->model.buffer);
    n += guide_arguments(&t->guide, args + n);
    return n + field_arguments(&t->model.field, t->plan.guide.n_textures, args + n);
}

size_t gls_initial_arguments(gls_engine *t, uint64_t first, gls_arg *args)
{
    /* Storage buffers: 0 seeds, 1 directions. Uniform at location 0: the upper 32 bits of the seeds' indices. */
    size_t n = gls_pass_arguments(t, true, args);
    args[n++] = gls_arg_buffer(0, t->buffer[GLS_TRACK_SEEDS]);
    args[n++] = gls_arg_buffer(1, t->buffer[GLS_TRACK_DIRECTIONS]);
    args[n++] = gls_arg_uint(0, (uint32_t)(first >> 32));
    return n;
}

size_t gls_track_arguments(gls_engine *t, gls_arg *args)
{
    /* Storage buffers: 0 lines, 1 pool, 2 state, see glsl/kernel/track.comp. */
    size_t n = gls_pass_arguments(t, false, args);
    args[n++] = gls_arg_buffer(0, t->buffer[GLS_TRACK_LINES]);
    args[n++] = gls_arg_buffer(1, t->buffer[GLS_TRACK_POOL]);
    args[n++] = gls_arg_buffer(2, t->buffer[GLS_TRACK_STATE]);
    return n;
}
