/* The direction getters without data, the table of all getters, and functions that give other files facts of a getter:
 * cutoffs, interpolation, whether it ends half-streamlines itself, source of directions. */
#include <string.h>

#include "track/getter/getters.h"
#include "track/field/field.h"
#include "track/field/textures.h"
#include "track/getter/getter.h"
#include "track/getter/odf_field.h"

/* --- Direction getters without data, as controls for seeds, regions and connectomes. nulldist1: steps along a
 * direction that is uniform in the cone round the last one. nulldist2: arcs to such a direction. seedtest: seeds
 * without a step. */

static gls_status check(const gls_track_params *params, const gls_track_input *input)
{
    (void)params, (void)input; /* these getters need only the stop map, which has been checked */
    return GLS_OK;
}

/* Fills a block of the field with zeros: every kernel needs a field. */
static void empty_block(const void *user, size_t first, size_t count, float *rows, float *scratch)
{
    (void)user, (void)first, (void)count, (void)scratch;
    memset(rows, 0, GLS_FIELD_BLOCK * sizeof *rows);
}

/* Fills the fields of n models with zeros. */
static gls_status fill(gls_model *const *models, size_t n, const gls_track_params *params, const gls_track_input *input,
                       size_t *failed)
{
    gls_field *field[GLS_TRACKER_MAX_DEVICES];
    const gls_field_source source = {.block = empty_block};
    (void)params;
    for (size_t i = 0; i < n; i++) field[i] = &models[i]->field;
    return gls_field_fill(field, n, &input->stop_map->grid, &source, failed);
}

/* A kernel always binds a model. Getters without data therefore get a field with one channel and a table with one
 * zero. */
static gls_status plan(const gls_model_request *request, gls_model_plan *model)
{
    static const int steps[] = {[GLS_DG_NULLDIST1] = 1, [GLS_DG_NULLDIST2] = 2, [GLS_DG_SEEDTEST] = 0};
    gls_table_floats(&model->tables, &model->defines, "MODEL_NOTHING", (const double[1]){0}, 1);
    gls_define_int(&model->defines, "NULL_STEPS", steps[request->params->dg],
                   "kind of steps: 0 none, 1 straight, 2 along arcs");
    return gls_textures_plan(&request->input->stop_map->grid, 1, GLS_TEXTURE_R16F, request->limits, request->n_units,
                             &model->field);
}

/* Number of iterations of a dispatch: many, because an iteration takes little time. */
static uint32_t iterations(const gls_track_params *params)
{
    (void)params;
    return 64;
}

/* Number of parts of an arc, as many as ifod2 has with its default number of samples. */
static uint32_t parts(const gls_track_params *params)
{
    (void)params;
    return 3;
}

/* Sets the step in mm, from which kernels compute arcs. */
static void uniforms(const gls_track_params *params, const gls_model *model, gls_track_uniforms *u)
{
    (void)model;
    u->step_mm = (float)params->step_size;
}

/* The row of a getter without data. The arguments after the name are the members in which these getters differ. */
#define NULL_GETTER(word, ...)                                           \
    const gls_getter gls_getter_##word = {.name = #word,                 \
                                          .shader = "getter/null.glsl",  \
                                          .initial = "getter/null.glsl", \
                                          .framed = true,                \
                                          .own_start = true,             \
                                          .own_end = true,               \
                                          .one_lane = true,              \
                                          .ordered = true,               \
                                          .source = GLS_FROM_NOTHING,    \
                                          .check = check,                \
                                          .sphere = gls_no_sphere,       \
                                          .iterations = iterations,      \
                                          .uniforms = uniforms,          \
                                          .plan = plan,                  \
                                          .fill = fill,                  \
                                          __VA_ARGS__}
NULL_GETTER(nulldist1, .words = "directions drawn at random, whatever the data (NullDist1)", .paper = "nulldist",
            .deterministic = false);
NULL_GETTER(nulldist2, .words = "arcs drawn at random, whatever the data (NullDist2)", .paper = "nulldist",
            .parts = parts);
NULL_GETTER(seedtest, .words = "no steps: they are the points of their seeds (SeedTest)", .deterministic = true,
            .one_point = true);

#define DECLARE(value, word) extern const gls_getter gls_getter_##word;
GLS_GETTERS(DECLARE)
#define ENTRY(value, word) [value] = &gls_getter_##word,
static const gls_getter *const getters[] = {GLS_GETTERS(ENTRY)};

const gls_getter *gls_getter_row(gls_direction_getter dg)
{
    return (unsigned)dg < GLS_DG_COUNT ? getters[dg] : NULL;
}

const gls_getter *gls_getter_of(const gls_track_params *params)
{
    return getters[params->dg];
}

bool gls_getter_uses(const gls_getter *getter, gls_param_user user)
{
    if (user >= GLS_FOR_GETTERS) return getter == getters[user - GLS_FOR_GETTERS];
    return user < GLS_FOR_GROUPS && (getter->has >> user & 1);
}

double gls_track_cutoff(const gls_track_params *params)
{
    if (params->fod_cutoff >= 0 || (unsigned)params->dg >= GLS_DG_COUNT) return params->fod_cutoff;
    return gls_getter_of(params)->cutoff;
}

double gls_track_seed_cutoff(const gls_track_params *params)
{
    if (params->seed_cutoff >= 0 || (unsigned)params->dg >= GLS_DG_COUNT) return params->seed_cutoff;
    return gls_getter_of(params)->any_seed ? 0 : gls_track_cutoff(params);
}

gls_odf_interpolation gls_track_interpolation(const gls_track_params *params, const gls_odf_source *odf)
{
    /* the getters along FODs always interpolate coefficients */
    if (gls_getter_uses(gls_getter_of(params), GLS_FOR_FOD)) return GLS_ODF_INTERPOLATE_COEFFICIENTS;
    return gls_odf_field_interpolation(gls_getter_uses(gls_getter_of(params), GLS_FOR_WHOLE_ODFS), params, odf);
}

bool gls_getter_ends_itself(gls_direction_getter dg)
{
    return (unsigned)dg < GLS_DG_COUNT && getters[dg]->own_end;
}

gls_getter_source gls_getter_source_of(gls_direction_getter dg)
{
    return (unsigned)dg < GLS_DG_COUNT ? getters[dg]->source : GLS_FROM_ODF;
}
