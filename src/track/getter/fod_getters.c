/* Direction getters that evaluate FODs in single directions, not at all vertices of a sphere: ifod1 and ifod2,
 * integration of first and second order (Tournier et al. 2012 and 2010), and sdstream, which climbs from the last
 * direction to a peak of the FOD (Tournier et al. 2012). The shaders are glsl/getter/ifod.glsl and sdstream.glsl. */
#include "track/getter/fod_getters.h"

#include <math.h>
#include <stdlib.h>

#include "dwi/odf_parts.h"
#include "track/field/textures.h"
#include "track/getter/odf_field.h"
#include "util/status.h"

/* --- Fields of SH coefficients, and rows of source for the recurrences that evaluate SH in a shader: see
 * glsl/odf/sh_direction.glsl for what the rows compute. */

/* Appends MACRO(value, ...) with n values as a line. */
static void append_call(gls_text *out, const char *macro, const double *value, int n)
{
    char text[40];
    gls_text_printf(out, "%s(", macro);
    for (int i = 0; i < n; i++) gls_text_printf(out, "%s%s", i ? ", " : "", gls_glsl_float(value[i], text));
    gls_text_puts(out, ")\n");
}

/* Coefficient a(l) of the recurrence z P(l) = a(l + 1) P(l + 1) + a(l) P(l - 1) of the orthonormal functions P of order
 * m. */
static double factor(int l, int m)
{
    return sqrt(((double)l * l - (double)m * m) / (4.0 * l * l - 1));
}

/* Sets channel[j] of each coefficient j. Channels are in the order in which the rows of source use them, so that a
 * shader reads each tile of four channels once. */
static void find_channels(int order, uint32_t *channel)
{
    uint32_t n = 0;
    for (int m = 0; m <= order; m++)
        for (int l = m + m % 2; l <= order; l += 2) {
            int zonal = l * (l + 1) / 2;
            channel[zonal - m] = n++;
            if (m > 0) channel[zonal + m] = n++;
        }
}

/* Rows of source written so far, and the channel that the next row reads. */
typedef struct sh_rows {
    gls_text text;
    uint32_t channel, tiles_per_texture;
} sh_rows;

/* Appends a row for the next channel, and in front of it SH_TILE where the channel begins a tile. */
static void append_channel(sh_rows *rows, const char *macro)
{
    uint32_t c = rows->channel++, tile = c / 4;
    if (c % 4 == 0)
        gls_text_printf(&rows->text, "SH_TILE(%u, %u)\n", tile / rows->tiles_per_texture,
                        tile % rows->tiles_per_texture);
    gls_text_printf(&rows->text, "%s(%u)\n", macro, c);
}

/* Appends the rows of the functions of order m, without their factor (x + iy)^m. first: the value of the function of
 * degree m, a constant without that factor. */
static void append_order(sh_rows *rows, int order, int m, double first)
{
    gls_text *out = &rows->text;
    int l = m + m % 2;
    append_call(out, l == m ? "SH_FIRST" : "SH_FIRST_Z", &(double){l == m ? first : first * sqrt(2 * m + 3)}, 1);
    for (; l <= order; l += 2) {
        append_channel(rows, m == 0 ? "SH_ZONAL" : "SH_COSINE");
        if (m > 0) append_channel(rows, "SH_SINE");
        /* Two steps of the recurrence at once: from degrees l and l - 2 to l + 2. */
        double a = factor(l + 1, m), b = l > 0 ? factor(l, m) : 0, f = 1 / (factor(l + 2, m) * a),
               c = l > m ? factor(l - 1, m) : 0;
        if (l + 2 <= order) append_call(out, "SH_NEXT", (double[]){f, -(a * a + b * b) * f, -b * c * f}, 3);
    }
    if (m > 0) gls_text_puts(out, "SH_ORDER_END\n");
}

/* Returns the rows for the basis GLS_SH_DESCOTEAUX07_LEGACY: m < 0 has the cosine, and odd orders are negative. */
static char *rows_of(int order, const gls_field_plan *field)
{
    sh_rows rows = {.tiles_per_texture = field->textures.tiles_per};
    double first = sqrt(0.25 / acos(-1.0));
    for (int m = 0; m <= order; m++) {
        if (m > 0) {
            gls_text_puts(&rows.text, "SH_TURN\n");
            first *= -sqrt((2.0 * m + 1) / (2.0 * m)) * (m == 1 ? sqrt(2) : 1);
        }
        append_order(&rows, order, m, first);
    }
    return gls_text_take(&rows.text);
}

/* See gls_getter.check: the getters need SH of even degrees that are not normalised in each voxel, and an antipodal
 * sphere. */
static gls_status check(const gls_track_params *params, const gls_track_input *input)
{
    GLS_REQUIRE(input->odf);
    if (gls_odf_field_interpolation(true, &(gls_track_params){.dg = params->dg}, input->odf) !=
        GLS_ODF_INTERPOLATE_COEFFICIENTS)
        return gls_fail(GLS_ERR_ARGUMENT, "ifod1, ifod2 and sdstream need ODFs as spherical harmonics of even orders, "
                                          "and an antipodally symmetric sphere");
    return gls_odf_field_check(params, input, false);
}

/* Fills the fields of n models with coefficients in a common scale. */
static gls_status fill(gls_model *const *models, size_t n, const gls_track_params *params, const gls_track_input *input,
                       size_t *failed)
{
    uint32_t channel[(GLS_SH_MAX_ORDER + 1) * (GLS_SH_MAX_ORDER + 2) / 2];
    (void)params;
    find_channels(input->odf->order, channel);
    return gls_odf_field_fill(models, n, input, GLS_ODF_COEFFICIENTS, channel, failed);
}

/* Plans the field of coefficients, and adds the definitions and rows that the shaders need. */
static gls_status plan_field(const gls_model_request *request, gls_model_plan *model)
{
    const gls_odf_source *odf = request->input->odf;
    gls_define_list *d = &model->defines;
    size_t n = odf->parts->n_inputs;
    gls_status status =
        gls_textures_plan(&request->input->stop_map->grid, (uint32_t)n,
                          request->params->precision == GLS_PRECISION_FLOAT ? GLS_TEXTURE_RGBA32F : GLS_TEXTURE_RGBA16F,
                          request->limits, request->n_units, &model->field);
    if (status) return status;
    gls_define_int(d, "VOLUME_CHANNELS", (int64_t)(n + 3) / 4 * 4,
                   "number of coefficients, rounded up to whole tiles of four");
    gls_define_slot(d, "sh_rows", rows_of(odf->order, &model->field),
                    "polynomials of the basis functions, order by order");
    return GLS_OK;
}

/* --- The fixed candidates of ifod1 and ifod2. Their spacing is chosen so that few candidates are examined in a step: a
 * dense grid bounds the weights well but costs its own candidates, a coarse one makes more random candidates fail. */

#define ANGLE_STEP 0.001 /* step of the search for the spacing, radians */

/* Amplitude of the sharpest peak that even harmonics up to `order` can form, in a direction at `angle` to the axis of
 * the peak. */
static double peak_at(int order, double angle)
{
    /* Sum of (2 l + 1) / (4 pi) P_l over even degrees, the Legendre polynomials by their recurrence. */
    double z = cos(angle), before = 1, p = z, sum = 1;
    for (int l = 2; l <= order; l++) {
        double next = ((2 * l - 1) * z * p - (l - 1) * before) / l;
        before = p;
        p = next;
        if (l % 2 == 0) sum += (2 * l + 1) * p;
    }
    return sum / (4 * acos(-1.0));
}

/* A single bundle with the sharpest FOD of an SH order, and the arcs along which it is weighed. parts: number of parts
 * of an arc; 0: candidates are directions, without arcs. step: length of an arc, mm. voxel: side of a voxel, mm. power:
 * exponent of the amplitudes along arcs. */
typedef struct bundle {
    int order, parts;
    double step, voxel, power;
} bundle;

/* Weight of a candidate whose end deviates by `angle` from the peak of a bundle. Along arcs the bundle fades to 0 at
 * one voxel beside its axis; weights of arcs are relative to the weight of the straight arc, because absolute weights
 * could overflow. */
static double weight_of(const bundle *b, double angle)
{
    if (b->parts == 0) return peak_at(b->order, angle);
    /* Trapezoid rule along the arc, as in weigh_part() of glsl/getter/ifod.glsl. */
    double straight = log(peak_at(b->order, 0)), sum = 0.5 * straight;
    for (int i = 1; i <= b->parts; i++) {
        double turned = angle * i / b->parts, aside = angle > 0 ? b->step / angle * (1 - cos(turned)) : 0,
               f = peak_at(b->order, turned) * (1 - aside / b->voxel);
        if (f <= 0) return 0;
        sum += (i < b->parts ? 1 : 0.5) * log(f);
    }
    return exp(b->power * (sum - b->parts * straight));
}

/* Fills direction, unless NULL, with a hexagonal grid round the axis, out to the angle `largest`. Returns the number of
 * points. */
static size_t hexagons(double largest, double spacing, double (*direction)[2])
{
    int far = (int)ceil(largest / spacing);
    size_t n = 0;
    for (int i = -far; i <= far; i++)
        for (int j = -far; j <= far; j++) {
            double x = i + 0.5 * j, y = sqrt(0.75) * j, square = x * x + y * y;
            if (square > largest * largest / (spacing * spacing)) continue;
            if (direction) {
                direction[n][0] = spacing * sqrt(square);
                direction[n][1] = atan2(y, x);
            }
            n++;
        }
    return n;
}

double gls_ifod_power(const gls_track_params *params)
{
    return params->fod_power > 0 ? params->fod_power : 1.0 / params->ifod_samples;
}

gls_status gls_ifod_grid_make(const gls_track_params *params, int sh_order, double voxel, int parts,
                              gls_ifod_grid *grid)
{
    /* zero: the angle at which the weight falls to 0, at most the edge of the cone. */
    const bundle b = {sh_order, parts, params->step_size, voxel, gls_ifod_power(params)};
    double largest = params->max_angle * acos(-1.0) / 180, at_axis = weight_of(&b, 0), zero = 0, best = INFINITY,
           spacing = 0;
    size_t n = 0;
    while (weight_of(&b, zero) > 0 && zero + ANGLE_STEP < largest) zero = ANGLE_STEP * (double)++n;
    *grid = (gls_ifod_grid){.ratio = 1};
    for (size_t i = 1; i <= n; i++) {
        double angle = ANGLE_STEP * (double)i, weight = weight_of(&b, angle);
        if (weight <= 0) continue;
        /* Expected number of random candidates, by the areas of cone and peak and by the bound; then the grid's own
         * candidates. */
        double cost = largest * largest * (1 + at_axis / weight) / (2 * zero * zero);
        if (cost >= best) continue;
        cost += (double)hexagons(largest + angle, sqrt(3) * angle, NULL);
        if (cost >= best) continue;
        best = cost;
        spacing = angle;
        grid->ratio = at_axis / weight;
    }
    grid->expected = best;
    if (spacing == 0) spacing = largest; /* the cone is narrower than a step of the search */
    grid->direction = malloc(hexagons(largest + spacing, sqrt(3) * spacing, NULL) * sizeof *grid->direction);
    if (!grid->direction) return gls_fail(GLS_ERR_MEMORY, "out of memory for the directions of a cone");
    grid->n = hexagons(largest + spacing, sqrt(3) * spacing, grid->direction);
    return GLS_OK;
}

void gls_ifod_grid_finish(gls_ifod_grid *grid)
{
    free(grid->direction);
    *grid = (gls_ifod_grid){0};
}

/* --- ifod1 and ifod2. */

/* Number of positions of an arc behind its start: one less than the samples, of which the first is the start. */
static int positions(const gls_track_params *params)
{
    return params->ifod_samples - 1;
}

/* Number of parts of candidates, for ifod1 of whole candidates, that one iteration examines if one invocation tracks a
 * streamline. It is so large that a step takes at most FLAG_ATTEMPT iterations, the largest number that kernels count.
 */
static int64_t looks(const gls_track_params *params, const gls_ifod_grid *grid, bool arcs)
{
    int64_t most = ((int64_t)grid->n + params->fod_trials) * (arcs ? positions(params) : 1);
    return (arcs ? 1 : 8) + most / FLAG_ATTEMPT;
}

/* Plans the field and the fixed candidates. arcs: ifod2. */
static gls_status plan_ifod(const gls_model_request *request, gls_model_plan *model, bool arcs)
{
    const gls_track_params *params = request->params;
    const double *side = request->input->stop_map->grid.voxel_size;
    gls_define_list *d = &model->defines;
    gls_ifod_grid grid;
    gls_status status = plan_field(request, model);
    if (!status)
        status = gls_ifod_grid_make(params, request->input->odf->order, cbrt(side[0] * side[1] * side[2]),
                                    arcs ? positions(params) : 0, &grid);
    if (status) return status;
    gls_table_start(&model->tables, d, params, request->input);
    gls_table_floats(&model->tables, d, "MODEL_GRID", grid.direction[0], 2 * grid.n);
    gls_define_int(d, "IFOD_ARCS", arcs, "steps are arcs (iFOD2)");
    gls_define_int(d, "IFOD_GRID", (int64_t)grid.n, "number of fixed candidates");
    gls_define_float(d, "IFOD_LN_RATIO", log(grid.ratio),
                     "logarithm of the largest ratio of any weight to the largest of the fixed candidates");
    gls_define_int(d, "IFOD_TRIALS", params->fod_trials, "option fod_trials");
    gls_define_int(d, "SEED_TRIES", params->seed_attempts, "option seed_attempts");
    gls_define_int(d, "IFOD_LOOPED", request->looped, "each lane examines a candidate");
    gls_define_int(d, "IFOD_LOOKS", request->looped ? 1 : looks(params, &grid, arcs),
                   "candidates examined in an iteration");
    gls_ifod_grid_finish(&grid);
    return GLS_OK;
}

static gls_status plan_ifod1(const gls_model_request *request, gls_model_plan *model)
{
    return plan_ifod(request, model, false);
}

static gls_status plan_ifod2(const gls_model_request *request, gls_model_plan *model)
{
    return plan_ifod(request, model, true);
}

static uint32_t parts(const gls_track_params *params)
{
    return (uint32_t)positions(params);
}

/* Number of iterations of a dispatch; each iteration examines few candidates, or few parts of candidates. */
static uint32_t iterations_ifod(const gls_track_params *params)
{
    (void)params;
    return 64;
}

/* Sets the uniforms of the getters: the step in mm and the exponent of FOD amplitudes. */
static void uniforms(const gls_track_params *params, const gls_model *model, gls_track_uniforms *u)
{
    (void)model;
    u->step_mm = (float)params->step_size;
    u->fod_power = (float)gls_ifod_power(params);
}

const gls_getter gls_getter_ifod1 = {
    .name = "ifod1",
    .words = "first-order integration over fibre orientation distributions (iFOD1)",
    .paper = "ifod1",
    .shader = "getter/ifod.glsl",
    .initial = "getter/ifod.glsl",
    .framed = true,
    .own_start = true,
    .towards = true,
    .own_end = true,
    .ordered = true,
    .has = GLS_GETTER_HAS_FOD | GLS_GETTER_HAS(IFOD),
    .cutoff = 0.1,
    .act_cutoff = 0.05,
    .check = check,
    .sphere = gls_odf_field_sphere,
    .iterations = iterations_ifod,
    .uniforms = uniforms,
    .plan = plan_ifod1,
    .fill = fill,
};

const gls_getter gls_getter_ifod2 = {
    .name = "ifod2",
    .words = "second-order integration over fibre orientation distributions (iFOD2)",
    .paper = "ifod2",
    .shader = "getter/ifod.glsl",
    .initial = "getter/ifod.glsl",
    .framed = true,
    .own_start = true,
    .towards = true,
    .own_end = true,
    .ordered = true,
    .has = GLS_GETTER_HAS_FOD | GLS_GETTER_HAS(IFOD),
    .cutoff = 0.1,
    .act_cutoff = 0.05,
    .check = check,
    .sphere = gls_odf_field_sphere,
    .parts = parts,
    .iterations = iterations_ifod,
    .uniforms = uniforms,
    .plan = plan_ifod2,
    .fill = fill,
};

/* --- sdstream. */

/* Plans the field of coefficients, and adds the table of the seed direction. */
static gls_status plan_sdstream(const gls_model_request *request, gls_model_plan *model)
{
    gls_table_start(&model->tables, &model->defines, request->params, request->input);
    return plan_field(request, model);
}

/* Number of iterations of a dispatch; each iteration climbs in up to 50 steps. */
static uint32_t iterations_sdstream(const gls_track_params *params)
{
    (void)params;
    return 16;
}

const gls_getter gls_getter_sdstream = {
    .name = "sdstream",
    .words = "the nearest peak of fibre orientation distributions (SD_STREAM)",
    .paper = "ifod1",
    .shader = "getter/sdstream.glsl",
    .initial = "getter/sdstream.glsl",
    .framed = true,
    .own_start = true,
    .towards = true,
    .own_end = true,
    .one_lane = true,
    .ordered = true,
    .deterministic = true,
    .has = GLS_GETTER_HAS_FOD,
    .cutoff = 0.1,
    .act_cutoff = 0.05,
    .check = check,
    .sphere = gls_odf_field_sphere,
    .iterations = iterations_sdstream,
    .plan = plan_sdstream,
    .fill = fill,
};
