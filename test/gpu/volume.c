/* Volumes of many channels in tiled textures: how they are laid out, and what sampling them gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gpu.h"
#include "track/field/textures.h"
#include "track/field/field.h"

static gls_grid make_grid(int x, int y, int z)
{
    static const double affine[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    gls_grid grid;
    assert_ok(gls_grid_init(&grid, (const int32_t[3]){x, y, z}, affine));
    return grid;
}

/* --- the plan ------------------------------------------------------------- */

#define GIB ((uint64_t)1 << 30)

static void check_plan(const gls_grid *grid, uint32_t n_tiles, uint64_t texel, const gls_device_info *limits,
                       const gls_field_plan *p)
{
    uint64_t tile = gls_grid_voxels(grid) * texel, texture = texel;
    assert_int_equal(p->textures.n_tiles, n_tiles);
    assert_true(p->n_parts >= 1 && p->n_parts <= GLS_FIELD_MAX_TEXTURES && p->n_parts < limits->max_texture_units);
    /* each tile has a place, and no texture is empty */
    assert_true((uint64_t)p->n_parts * p->textures.tiles_per >= n_tiles &&
                (uint64_t)(p->n_parts - 1) * p->textures.tiles_per < n_tiles);
    for (int a = 0; a < 3; a++) {
        assert_true(p->textures.size[a] <= limits->max_texture_3d);
        texture *= p->textures.size[a];
    }
    assert_true(texture <= GIB || p->textures.tiles_per == 1);
    assert_int_equal(p->bytes, p->n_parts * texture);
    /* strips cover the grid, the last one is needed, and each shares a plane with the next: no pair of neighbours lies
     * apart */
    uint64_t nx = (uint64_t)grid->dim[0], last = (uint64_t)(p->textures.n_strips - 1) * p->textures.strip_step;
    assert_true(p->textures.n_strips >= 1 && p->textures.strip_step >= 1 && last + p->textures.strip_width >= nx);
    assert_true(p->textures.n_strips == 1 || (p->textures.strip_step == p->textures.strip_width - 1 && last + 1 < nx));
    /* distinct places cannot overlap: tiles side by side along x, strips behind each other along z */
    assert_true((uint64_t)p->textures.tiles_per * p->textures.strip_width <= p->textures.size[0]);
    assert_int_equal(p->textures.size[1], grid->dim[1]);
    assert_true((uint64_t)p->textures.n_strips * (uint64_t)grid->dim[2] <= p->textures.size[2]);
    /* planes stored twice take a third more, a last strip that is not full less than one strip, and sides that are
     * powers of two double two axes at most */
    uint64_t strips = p->textures.n_strips > 1 ? (uint64_t)p->textures.n_strips * p->textures.strip_width : nx;
    assert_true(p->textures.n_strips == 1 ||
                (p->textures.strip_width >= 4 && strips * 3 <= 4 * (nx + p->textures.strip_width)));
    assert_true(p->bytes < 4 * p->n_parts * p->textures.tiles_per * (tile / nx * strips));
}

/* What a texture holds at most, strips of any width considered. */
static uint64_t most_tiles(const gls_grid *grid, uint64_t texel, uint64_t limit)
{
    uint64_t nx = (uint64_t)grid->dim[0], ny = (uint64_t)grid->dim[1], nz = (uint64_t)grid->dim[2], most = 0;
    if (nx > limit || ny > limit) return 0;
    for (uint64_t width = nx < 4 ? nx : 4; width <= nx; width++) {
        uint64_t strips = 1, tiles = limit / width;
        while (width + (strips - 1) * (width - 1) < nx) strips++;
        if (strips * nz > limit) continue;
        uint64_t in_memory = GIB / (width * strips * ny * nz * texel);
        if (in_memory < tiles) tiles = in_memory > 1 ? in_memory : 1;
        if (tiles > most) most = tiles;
    }
    return most;
}

static void plans(void **state)
{
    (void)state;
    static const uint32_t sides[] = {1, 4, 7, 16, 17, 64, 100, 256, 2048, 4096, 16384},
                          units[] = {1, 2, 3, 8, 16, 32, 192};
    uint64_t seed = 5;
    int planned = 0, refused = 0;
    for (int i = 0; i < 200000; i++) {
        int largest = i % 3 == 0 ? 20 : i % 3 == 1 ? 200 : 600;
        unsigned side[3];
        for (int a = 0; a < 3; a++) side[a] = 1 + (unsigned)(random_bits(&seed) % (unsigned)largest);
        gls_grid grid = make_grid((int)side[0], (int)side[1], (int)side[2]);
        gls_device_info limits = {.max_texture_3d = sides[random_bits(&seed) % 11],
                                  .max_texture_units = units[random_bits(&seed) % 7]};
        uint32_t n_tiles = 1 + (uint32_t)(random_bits(&seed) % 150);
        bool half = random_bits(&seed) & 1;
        gls_field_plan plan;
        gls_status status = gls_textures_plan(&grid, 4 * n_tiles, half ? GLS_TEXTURE_RGBA16F : GLS_TEXTURE_RGBA32F,
                                              &limits, limits.max_texture_units - 1, &plan);
        if (status == GLS_OK) {
            check_plan(&grid, n_tiles, half ? 8 : 16, &limits, &plan);
            planned++;
            continue;
        }
        /* refused only where the textures cannot hold it however it is laid out */
        assert_int_equal(status, GLS_ERR_UNSUPPORTED);
        refused++;
        uint64_t textures = limits.max_texture_units - 1 < GLS_FIELD_MAX_TEXTURES ? limits.max_texture_units - 1
                                                                                  : GLS_FIELD_MAX_TEXTURES;
        assert_true(textures * most_tiles(&grid, half ? 8 : 16, limits.max_texture_3d) < n_tiles);
    }
    assert_true(planned > 10000 && refused > 1000);
}

static void clear_refusals(void **state)
{
    (void)state;
    gls_device_info limits = {.max_texture_3d = 64, .max_texture_units = 16};
    gls_grid wide = make_grid(65, 4, 4), tall = make_grid(60, 60, 60);
    gls_field_plan plan = {.n_channels = 77};
    assert_int_equal(gls_textures_plan(&wide, 12, GLS_TEXTURE_RGBA16F, &limits, 15, &plan), GLS_ERR_UNSUPPORTED);
    assert_message("65 x 4 x 4");
    assert_int_equal(gls_textures_plan(&tall, 64, GLS_TEXTURE_RGBA16F, &limits, 15, &plan), GLS_ERR_UNSUPPORTED);
    assert_message("15 textures");
    assert_int_equal(plan.n_channels, 77);
    assert_ok(gls_textures_plan(&tall, 60, GLS_TEXTURE_RGBA16F, &limits, 15, &plan));
    assert_int_equal(plan.n_parts, 15);
}

/* --- sampling ------------------------------------------------------------- */

#define N_POINTS 2000
#define RANGE 63      /* of the values within a tile: integers, exact in half floats up to 2048 */
#define CONTRAST 2000 /* between a tile and those beside it */

static const char *const source =
    "layout(local_size_x = 32) in;\n"
    "#include \"base/grid.glsl\"\n"
    "#define STOP_OPEN 1\n"
    "#include \"guide/stop_map.glsl\"\n"
    "#include <field>\n"
    "layout(std430, binding = 0) readonly buffer Where { float where[]; };\n"
    "layout(std430, binding = 1) writeonly buffer Value { float value[]; };\n"
    "layout(location = 0) uniform uint n;\n"
    "void main()\n"
    "{\n"
    "    uint i = gl_GlobalInvocationID.x;\n"
    "    if (i >= n) return;\n"
    "    vec3 p = vec3(where[3u * i], where[3u * i + 1u], where[3u * i + 2u]), base = volume_base(p);\n"
    "    uint at = i * uint(CHANNELS + 2);\n"
    "    value[at + uint(CHANNELS)] = inside(p) ? 1.0 : 0.0;\n"
    "    value[at + uint(CHANNELS) + 1u] = stop_value(p);\n"
    "#define TILES(texture_index, n_tiles, first)                                      \\\n"
    "    for (int t = 0; t < n_tiles; t++) {                                           \\\n"
    "        vec4 v = VOLUME_TILE(texture_index, t, base);                             \\\n"
    "        for (int c = 0; c < 4; c++) value[at + uint(first + 4 * t + c)] = v[c];   \\\n"
    "    }\n"
    "#include <tile_loops>\n"
    "}\n";

typedef struct fixture {
    gls_device *device;
    gls_grid grid;
    uint32_t n_tiles;
    gls_field field;
    gls_texture *stop_map;
    gls_kernel *kernel;
    float *data; /* tile, voxel, channel; then the stop map */
} fixture;

static void load_kernel(fixture *f)
{
    const gls_field_plan *p = &f->field.plan;
    gls_define_list d = {0};
    f->field.plan.kind->define(p, &d);
    gls_define_file(&d, "field", f->field.plan.kind->shader, "under test");
    gls_define_float(&d, "GRID_X", f->grid.dim[0], "voxels");
    gls_define_float(&d, "GRID_Y", f->grid.dim[1], "voxels");
    gls_define_float(&d, "GRID_Z", f->grid.dim[2], "voxels");
    gls_define_int(&d, "GUIDE_TEXTURES", 1, "the stop map");
    gls_define_int(&d, "CHANNELS", 4 * f->n_tiles, "of a voxel");
    assert_false(d.failed);
    assert_ok(gls_kernel_create(f->device, "volume", source, d.define, d.n, &f->kernel));
    gls_define_finish(&d);
}

/* Returns where the plan places the tile: strip by strip, with the plane that two strips share in both. */
static void put_tile(fixture *f, uint32_t tile, const float *values)
{
    const gls_field_plan *p = &f->field.plan;
    const uint32_t nx = (uint32_t)f->grid.dim[0], ny = (uint32_t)f->grid.dim[1], nz = (uint32_t)f->grid.dim[2];
    float *part = malloc(4 * (size_t)p->textures.strip_width * ny * nz * sizeof *part);
    for (uint32_t strip = 0; strip < p->textures.n_strips; strip++) {
        uint32_t first = strip * p->textures.strip_step,
                 width = nx - first < p->textures.strip_width ? nx - first : p->textures.strip_width;
        for (uint32_t row = 0; row < ny * nz; row++)
            memcpy(part + 4 * (size_t)row * width, values + 4 * ((size_t)row * nx + first),
                   4 * (size_t)width * sizeof *part);
        uint32_t origin[3] = {tile % p->textures.tiles_per * p->textures.strip_width, 0, strip * nz},
                 size[3] = {width, ny, nz};
        assert_ok(gls_texture_write(f->field.texture[tile / p->textures.tiles_per], origin, size, part));
    }
    free(part);
}

static void fixture_init(fixture *f, const char *limits, const int dim[3], uint32_t n_tiles, gls_texture_format format,
                         uint64_t *seed)
{
    *f = (fixture){.device = open_limited(limits), .grid = make_grid(dim[0], dim[1], dim[2]), .n_tiles = n_tiles};
    size_t voxels = gls_grid_voxels(&f->grid);
    gls_field_plan plan;
    assert_ok(gls_textures_plan(&f->grid, 4 * n_tiles, format, gls_device_get_info(f->device),
                                gls_device_get_info(f->device)->max_texture_units - 1, &plan));
    f->field.plan = plan;
    for (uint32_t i = 0; i < plan.n_parts; i++)
        assert_ok(gls_texture_create(f->device, format, plan.textures.size, "volume", &f->field.texture[i]));
    f->data = malloc((4 * (size_t)n_tiles + 1) * voxels * sizeof *f->data);
    for (uint32_t t = 0; t < n_tiles; t++)
        for (size_t i = 0; i < 4 * voxels; i++) {
            /* tiles beside each other differ by CONTRAST */
            f->data[4 * voxels * t + i] =
                (float)((t & 1 ? CONTRAST / 2 : -CONTRAST / 2) + (int)(random_bits(seed) % (RANGE + 1)));
        }
    for (uint32_t t = 0; t < n_tiles; t++) put_tile(f, t, f->data + 4 * voxels * t);
    float *stop = f->data + 4 * voxels * n_tiles;
    for (size_t i = 0; i < voxels; i++) stop[i] = (float)random_uniform(seed, 0, 1);
    assert_ok(gls_texture_create(f->device, GLS_TEXTURE_R32F,
                                 (const uint32_t[3]){(uint32_t)dim[0], (uint32_t)dim[1], (uint32_t)dim[2]}, "stop",
                                 &f->stop_map));
    assert_ok(gls_texture_write(f->stop_map, (const uint32_t[3]){0, 0, 0},
                                (const uint32_t[3]){(uint32_t)dim[0], (uint32_t)dim[1], (uint32_t)dim[2]}, stop));
    load_kernel(f);
}

static void fixture_finish(fixture *f)
{
    gls_field_finish(&f->field);
    gls_texture_destroy(f->stop_map);
    gls_kernel_destroy(f->kernel);
    assert_int_equal(gls_device_get_memory(f->device).allocated_bytes, 0);
    gls_device_close(f->device);
    free(f->data);
}

/* Points at random, and on every kind of border: outer half voxels, faces of the grid, first and last voxel centres,
 * one float to either side of each. */
static void make_points(const int dim[3], float (*p)[3], uint64_t *seed)
{
    for (int i = 0; i < N_POINTS; i++)
        for (int a = 0; a < 3; a++) {
            float n = (float)dim[a],
                  special[] = {-0.5f, 0, n - 1, n - 0.5f, (float)(random_bits(seed) % (unsigned)dim[a])};
            uint64_t kind = random_bits(seed) % 16;
            float s = special[random_bits(seed) % 5];
            p[i][a] = kind == 0   ? s
                      : kind == 1 ? nextafterf(s, 1e9f)
                      : kind == 2 ? nextafterf(s, -1e9f)
                                  : (float)random_uniform(seed, -0.5, n - 0.5);
        }
}

static bool is_inside(const int dim[3], const float p[3])
{
    bool inside = true;
    for (int a = 0; a < 3; a++) inside = inside && p[a] >= -0.5 && p[a] < dim[a] - 0.5;
    return inside;
}

/* DIPY's rule: both neighbours from the floor, then brought into the grid. */
static double interpolate(const int dim[3], const float *data, size_t stride, const float p[3])
{
    double sum = 0;
    for (int corner = 0; corner < 8; corner++) {
        double weight = 1;
        size_t index[3];
        for (int a = 0; a < 3; a++) {
            double f = floor(p[a]), w = p[a] - f;
            bool upper = corner >> a & 1;
            double i = upper ? fmin(f + 1, dim[a] - 1) : fmax(f, 0);
            index[a] = (size_t)i;
            weight *= upper ? w : 1 - w;
        }
        sum += weight * data[stride * ((index[2] * (size_t)dim[1] + index[1]) * (size_t)dim[0] + index[0])];
    }
    return sum;
}

static void check_samples(const fixture *f, const int dim[3], const float (*p)[3], const float *value)
{
    size_t voxels = gls_grid_voxels(&f->grid), channels = 4 * (size_t)f->n_tiles;
    double fetch = fetch_tolerance(f->device, f->field.plan.textures.size), worst = 0, worst_stop = 0;
    /* Within a tile neighbours differ by RANGE. The coordinate of an outermost centre is rounded, so that a CPU
     * renderer takes that much of the tile beside it; a GPU's weight is 0 there. */
    double bound = fetch * RANGE + (gls_device_get_info(f->device)->software ? fetch * (CONTRAST + RANGE) : 0);
    /* With sides that are powers of two a CPU renderer's coordinates along x and z are exact: what is left is the
     * rounding along y, and of eight products of values below CONTRAST. Any bleeding between tiles would show. */
    const uint32_t *side = f->field.plan.textures.size;
    if (gls_device_get_info(f->device)->software && !(side[0] & (side[0] - 1)) && !(side[2] & (side[2] - 1)))
        bound = 3 * side[1] * 0x1p-24 * RANGE + 4 * CONTRAST * 0x1p-24;
    for (size_t i = 0; i < N_POINTS; i++) {
        const float *row = value + i * (channels + 2);
        assert_int_equal(row[channels], is_inside(dim, p[i]));
        if (!is_inside(dim, p[i])) continue;
        /* the kernel's rule: positions are rounded to 1/1024 voxel */
        const float rounded[3] = {floorf(p[i][0] * 1024 + 0.5f) / 1024, floorf(p[i][1] * 1024 + 0.5f) / 1024,
                                  floorf(p[i][2] * 1024 + 0.5f) / 1024};
        for (size_t c = 0; c < channels; c++)
            worst = fmax(worst, fabs(row[c] - interpolate(dim, f->data + 4 * voxels * (c / 4) + c % 4, 4, rounded)));
        worst_stop =
            fmax(worst_stop, fabs(row[channels + 1] - interpolate(dim, f->data + 4 * voxels * f->n_tiles, 1, p[i])));
    }
    print_message("%d x %d x %d, %u tiles in %u of %u x %u x %u: error %.3g, allowed %.3g; stop map %.2g\n", dim[0],
                  dim[1], dim[2], f->n_tiles, f->field.plan.n_parts, f->field.plan.textures.size[0],
                  f->field.plan.textures.size[1], f->field.plan.textures.size[2], worst, bound, worst_stop);
    assert_true(worst <= bound);
    assert_true(worst_stop <=
                fetch_tolerance(f->device, (const uint32_t[3]){(uint32_t)dim[0], (uint32_t)dim[1], (uint32_t)dim[2]}));
}

static void sample(const char *limits, const int dim[3], uint32_t n_tiles, gls_texture_format format,
                   uint32_t n_textures)
{
    static float p[N_POINTS][3];
    uint64_t seed = 77;
    fixture f;
    gls_buffer *in = NULL, *out = NULL;
    fixture_init(&f, limits, dim, n_tiles, format, &seed);
    if (n_textures > 0) assert_int_equal(f.field.plan.n_parts, n_textures);
    make_points(dim, p, &seed);
    size_t n_values = N_POINTS * (4 * (size_t)n_tiles + 2);
    float *value = malloc(n_values * sizeof *value);
    assert_ok(gls_buffer_create(f.device, GLS_BUFFER_STORAGE, sizeof p, "where", &in));
    assert_ok(gls_buffer_create(f.device, GLS_BUFFER_STORAGE, n_values * sizeof *value, "value", &out));
    assert_ok(gls_buffer_write(in, 0, sizeof p, p));
    gls_arg args[4 + GLS_FIELD_MAX_TEXTURES] = {gls_arg_buffer(0, in), gls_arg_buffer(1, out),
                                                gls_arg_uint(0, N_POINTS), gls_arg_texture(0, f.stop_map)};
    for (uint32_t i = 0; i < f.field.plan.n_parts; i++) args[4 + i] = gls_arg_texture(1 + i, f.field.texture[i]);
    assert_ok(gls_kernel_run(f.kernel, (const uint32_t[3]){(N_POINTS + 31) / 32, 1, 1}, args, 4 + f.field.plan.n_parts,
                             NULL));
    assert_ok(gls_buffer_read(out, 0, n_values * sizeof *value, value));
    check_samples(&f, dim, (const float(*)[3])p, value);
    free(value);
    gls_buffer_destroy(in);
    gls_buffer_destroy(out);
    fixture_finish(&f);
}

static void one_texture(void **state)
{
    (void)state;
    static const int dim[3] = {7, 5, 6}, single[3] = {1, 1, 1}, thin[3] = {4, 1, 9};
    sample(NULL, dim, 13, GLS_TEXTURE_RGBA16F, 1);
    sample(NULL, dim, 13, GLS_TEXTURE_RGBA32F, 1);
    sample(NULL, dim, 1, GLS_TEXTURE_RGBA16F, 1);
    sample(NULL, single, 5, GLS_TEXTURE_RGBA32F, 1);
    sample(NULL, thin, 5, GLS_TEXTURE_RGBA16F, 1);
}

static void several_textures(void **state)
{
    (void)state;
    static const int dim[3] = {7, 5, 6};
    sample("texture_3d=16", dim, 13, GLS_TEXTURE_RGBA16F, 4);
    sample("texture_3d=16", dim, 13, GLS_TEXTURE_RGBA32F, 4);
    sample("texture_3d=7", dim, 13, GLS_TEXTURE_RGBA16F, 13);
    sample("texture_3d=20,texture_units=4", dim, 13, GLS_TEXTURE_RGBA32F, 3);
}

/* Where coordinates are coarsest: as many texels along an axis as the device has. */
static void long_textures(void **state)
{
    (void)state;
    static const int tall[3] = {3, 4, 80}, wide[3] = {100, 1, 700};
    sample("texture_3d=2048", tall, 40, GLS_TEXTURE_RGBA16F, 1);
    sample("texture_3d=2048", wide, 40, GLS_TEXTURE_RGBA32F, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans),         cmocka_unit_test(clear_refusals),
        cmocka_unit_test(one_texture),   cmocka_unit_test(several_textures),
        cmocka_unit_test(long_textures),
    };
    gls_device *device;
    int status;
    if (!gpu_open(GLS_GRAPHICS_AUTO, &device, &status)) return status;
    gls_device_close(device);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
