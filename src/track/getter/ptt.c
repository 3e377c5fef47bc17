/* Direction getter ptt: parallel transport tractography (Aydogan and Shi 2021). The field holds ODFs normalised in each
 * voxel; the shader is glsl/getter/ptt.glsl. */
#include "track/getter/ptt.h"
#include "track/field/cells.h"
#include "track/field/textures.h"
#include "track/getter/odf_field.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "track/field/field.h"
#include "util/status.h"

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Cells along each side of the map of nearest vertices. For an antipodal sphere the map takes 18 KiB and fits into
 * shared memory. */
#define NEAREST_SIZE 96

/* Unit vector at the centre of cell (x, y) of the map, on the upper (side 1) or lower (side -1) hemisphere. */
static void cell_direction(size_t x, size_t y, double side, double d[3])
{
    /* u, v: the centre of the cell, -1 .. 1. The octahedron is rotated by 45 degrees, so that it fills the square. */
    double u = (2 * (double)x + 1) / NEAREST_SIZE - 1, v = (2 * (double)y + 1) / NEAREST_SIZE - 1;
    d[0] = side * (u + v) / 2;
    d[1] = side * (u - v) / 2;
    d[2] = side * (1 - fabs(d[0]) - fabs(d[1]));
    double norm = sqrt(dot(d, d));
    for (int a = 0; a < 3; a++) d[a] /= norm;
}

/* Vertex with the smallest angle to d; on an antipodal sphere to the axis of d. */
static uint32_t nearest(const gls_sphere *sphere, const double d[3])
{
    double best = -2;
    uint32_t found = 0;
    for (size_t v = 0; v < sphere->n; v++) {
        double c = dot(d, sphere->vertex[v]);
        if (sphere->antipodal) c = fabs(c);
        if (c > best) {
            best = c;
            found = (uint32_t)v;
        }
    }
    return found;
}

void gls_ptt_table_nearest(gls_tables *s, gls_define_list *defines, const gls_sphere *sphere, const uint32_t *index_of)
{
    size_t rows = (sphere->antipodal ? 1 : 2) * (size_t)NEAREST_SIZE, words = rows * NEAREST_SIZE / 2;
    gls_define_int(defines, "NEAREST_SIZE", NEAREST_SIZE, "side of the map of nearest vertices");
    gls_define_int(defines, "NEAREST_WORDS", (int64_t)words, "words of the map of nearest vertices");
    uint32_t *word = gls_table_add(s, defines, "MODEL_NEAREST", words);
    if (!word) return;
#pragma omp parallel for schedule(static)
    for (size_t y = 0; y < rows; y++)
        for (size_t x = 0; x < NEAREST_SIZE; x++) {
            double d[3];
            cell_direction(x, y % NEAREST_SIZE, y < NEAREST_SIZE ? 1 : -1, d);
            uint32_t v = nearest(sphere, d);
            word[(y * NEAREST_SIZE + x) / 2] |= (index_of ? index_of[v] : v) << (x % 2 * 16);
        }
}

/* Bytes of the table of gls_ptt_table_nearest(). */
static uint64_t table_bytes(bool antipodal)
{
    return 4 * (antipodal ? 1 : 2) * (uint64_t)NEAREST_SIZE * NEAREST_SIZE / 2;
}

/* Bytes of shared memory for one streamline, see glsl/getter/ptt_looped.glsl. quality: the parameter probe_quality. */
static uint64_t slot_bytes(int quality)
{
    /* Sizes as in the shader: PTT_ROUND and the largest number of lanes. */
    enum { ROUND = 8, MAX_LANES = 128 };
    uint64_t positions = (uint64_t)quality + 1, round = ROUND * positions < MAX_LANES ? ROUND * positions : MAX_LANES;
    return 4 * (positions > round ? positions : round);
}

/* Chooses how the field is stored. In single precision: as textures whose texels have one channel. In half precision:
 * as cells, see field.h, if gls_cells_plan() finds room for them, because this getter looks up single directions. Else
 * as textures, too; but if these would take more than half of the device's memory, as the smallest form of cells, where
 * that is smaller than the textures. */
static gls_status plan_field(const gls_model_request *request, gls_field_plan *field)
{
    const gls_grid *grid = &request->input->stop_map->grid;
    size_t n = request->input->odf->sphere->n;
    bool floats = request->params->precision == GLS_PRECISION_FLOAT;
    if (!floats && gls_cells_plan(grid, n, request->limits, request->smaller_field, field)) return GLS_OK;
    gls_status status = gls_textures_plan(grid, (uint32_t)n, floats ? GLS_TEXTURE_R32F : GLS_TEXTURE_R16F,
                                          request->limits, request->n_units, field);
    uint64_t memory = request->limits->memory_bytes;
    gls_field_plan singles;
    if (!status && !floats && memory > 0 && field->bytes > memory / 2 &&
        gls_cells_plan_singles(grid, n, request->limits, &singles) && singles.bytes < field->bytes)
        *field = singles;
    return status;
}

/* A vertex and its position on a space-filling curve over the sphere, by which vertices are ordered. */
typedef struct coded_vertex {
    uint32_t code, vertex;
} coded_vertex;

/* Comparison for qsort(): vertices by their code, and those of equal code by their index. */
static int compare(const void *a, const void *b)
{
    const coded_vertex *x = a, *y = b;
    return x->code != y->code ? (x->code < y->code ? -1 : 1) : (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

/* Interleaves the bits of x and y (Morton code): near points get near codes. */
static uint32_t interleave(uint32_t x, uint32_t y)
{
    uint32_t code = 0;
    for (int bit = 0; bit < 16; bit++) code |= (x >> bit & 1u) << (2 * bit) | (y >> bit & 1u) << (2 * bit + 1);
    return code;
}

/* Fills index_of[v] with the index of vertex v among a voxel's values: near vertices get near indices. Returns false if
 * memory ran out. */
static bool order_cells(const gls_sphere *sphere, uint32_t *index_of)
{
    coded_vertex *order = malloc(sphere->n * sizeof *order);
    if (!order) return false;
    /* The position of a vertex on the unfolded octahedron, 0 .. 65534 along each side. An antipodal sphere uses the
     * upper hemisphere. */
    for (size_t v = 0; v < sphere->n; v++) {
        const double *d = sphere->vertex[v];
        double turn = sphere->antipodal && d[2] < 0 ? -1 : 1, norm = fabs(d[0]) + fabs(d[1]) + fabs(d[2]);
        double x = turn * d[0] / norm, y = turn * d[1] / norm, z = turn * d[2] / norm;
        if (z < 0) {
            double folded = (1 - fabs(y)) * (x >= 0 ? 1 : -1);
            y = (1 - fabs(x)) * (y >= 0 ? 1 : -1);
            x = folded;
        }
        order[v] = (coded_vertex){interleave((uint32_t)((x + 1) * 32767), (uint32_t)((y + 1) * 32767)), (uint32_t)v};
    }
    qsort(order, sphere->n, sizeof *order, compare);
    for (size_t i = 0; i < sphere->n; i++) index_of[order[i].vertex] = (uint32_t)i;
    free(order);
    return true;
}

/* Plans the field as plan_field() chooses, and makes the tables of the sphere. */
static gls_status plan(const gls_model_request *request, gls_model_plan *model)
{
    const gls_sphere *sphere = request->input->odf->sphere;
    gls_define_list *d = &model->defines;
    uint32_t *index_of = NULL;
    gls_status status = plan_field(request, &model->field);
    if (status) return status;
    bool cells = model->field.kind == &gls_field_cells;
    if (cells) {
        index_of = malloc(sphere->n * sizeof *index_of);
        if (!index_of || !order_cells(sphere, index_of)) {
            free(index_of);
            return gls_fail(GLS_ERR_MEMORY, "out of memory for the sphere");
        }
    }
    gls_table_sphere(&model->tables, d, sphere, true);
    model->odf = cells ? "odf/cells" : "odf/amplitudes";
    gls_define_int(d, "PROBE_STEPS", request->params->probe_quality, "option probe_quality");
    gls_define_int(d, "PROBE_COUNT", request->params->probe_count, "option probe_count");
    gls_define_loops(d, "ptt_search", "getter/ptt", request->looped);
    gls_define_file(d, "ptt_amplitude", cells ? "getter/ptt_cells.glsl" : "getter/ptt_textures.glsl",
                    cells ? "room for a buffer of cells" : "no room for a buffer of cells, or single precision");
    if (cells) {
        uint32_t *word = gls_table_add(&model->tables, d, "MODEL_VERTEX_INDEX", sphere->n);
        if (word) memcpy(word, index_of, sphere->n * sizeof *word);
    }
    gls_ptt_table_nearest(&model->tables, d, sphere, index_of);
    gls_define_int(d, "TABLES_SHARED", request->tables_shared,
                   "shared memory has room for the map of nearest vertices");
    free(index_of);
    return GLS_OK;
}

/* Fills the field with ODFs divided by the maximum of their voxel: cells in the order that order_cells() gives the
 * directions, textures in the order of the vertices. */
static gls_status fill(gls_model *const *models, size_t n, const gls_track_params *params, const gls_track_input *input,
                       size_t *failed)
{
    (void)params;
    const gls_sphere *sphere = input->odf->sphere;
    uint32_t *index_of = malloc(sphere->n * sizeof *index_of);
    gls_status status = index_of && order_cells(sphere, index_of)
                            ? gls_odf_field_fill(models, n, input, GLS_ODF_NORMALISED, index_of, failed)
                            : gls_fail(GLS_ERR_MEMORY, "out of memory for the sphere");
    free(index_of);
    return status;
}

/* The getter needs ODFs on the grid of the stop map; coefficients are not interpolated. */
static gls_status check(const gls_track_params *params, const gls_track_input *input)
{
    return gls_odf_field_check(params, input, false);
}

/* Number of substeps of a step, at least one, such that a substep is about ptt_substep long. */
static uint32_t substeps(const gls_track_params *params)
{
    return (uint32_t)fmax(1, rint(params->step_size / params->ptt_substep));
}

/* Number of iterations of a dispatch: at most 32, and so few that the kernel samples the field at most 16384 times, but
 * at least 1. One iteration tries at most eight curves, which sets the number of samples. */
static uint32_t iterations(const gls_track_params *params)
{
    uint32_t samples = 8 * (uint32_t)(params->probe_quality + 1) * (uint32_t)params->probe_count;
    return samples < 16384 / 32 ? 32 : samples < 16384 ? 16384 / samples : 1;
}

/* Lanes for the samples of four curves: one of them is taken at most steps. With more lanes a single streamline is
 * tracked sooner, and many streamlines later. */
static uint32_t lanes(const gls_track_params *params)
{
    const uint32_t curves = 4;
    return curves * ((uint32_t)params->probe_quality + (params->probe_count > 1 ? 1 : 0));
}

/* One iteration samples the field along the probes of about two curves. The search for the peaks of a seed counts as
 * one sample for every four vertices. */
static double iteration_cost(const gls_track_params *params, const gls_track_input *input)
{
    const double curves = 2;
    return 1 + curves * params->probe_quality * params->probe_count / ((double)input->odf->sphere->n / 4);
}

/* See gls_getter.shared_bytes. */
static void shared_bytes(const gls_track_params *params, const gls_sphere *sphere, uint64_t *tables,
                         uint64_t *streamline)
{
    *tables = table_bytes(sphere->antipodal);
    *streamline = slot_bytes(params->probe_quality);
}

double gls_track_max_curvature(const gls_track_params *p)
{
    if (p->min_radius_of_curvature > 0) return 1 / p->min_radius_of_curvature;
    return 2 * sin(p->max_angle * acos(-1.0) / 360) / p->step_size;
}

/* Sets the uniforms of the getter: lengths in mm and the largest curvature in 1/mm. */
static void uniforms(const gls_track_params *params, const gls_model *model, gls_track_uniforms *u)
{
    (void)model;
    u->short_step = (float)(params->step_size / substeps(params));
    u->probe_step = (float)(params->probe_length / params->probe_quality);
    u->probe_radius = (float)params->probe_radius;
    u->max_curvature = (float)gls_track_max_curvature(params);
}

const gls_getter gls_getter_ptt = {
    .name = "ptt",
    .words = "parallel transport tractography",
    .paper = "ptt",
    .shader = "getter/ptt.glsl",
    .initial = "odf/initial.glsl",
    .framed = true,
    .ordered = true,
    .has = GLS_GETTER_HAS(PEAKS) | GLS_GETTER_HAS(STARTS),
    .no_backtrack = "parallel transport cannot be taken back",
    .check = check,
    .sphere = gls_odf_field_sphere,
    .substeps = substeps,
    .iterations = iterations,
    .lanes = lanes,
    .iteration_cost = iteration_cost,
    .shared_bytes = shared_bytes,
    .uniforms = uniforms,
    .plan = plan,
    .fill = fill,
};
