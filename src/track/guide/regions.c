/* Guide: the stop map, and regions that streamlines have to meet, have to avoid, or end at. */
#include <stdlib.h>
#include <string.h>

#include "image/regions.h"
#include "track/guide/stop_map.h"
#include "util/status.h"
#include "util/text.h"

/* Words of a line of the texture, and lines of a layer. */
#define SIDE 1024u

static gls_status plan(const gls_track_params *params, const gls_device_info *limits, const gls_track_input *input,
                       gls_guide_plan *plan)
{
    (void)params;
    uint32_t side = limits->max_texture_3d < SIDE ? limits->max_texture_3d : SIDE;
    uint64_t layer = (uint64_t)side * side, words = input->regions->n_words;
    if (words > layer * limits->max_texture_3d || words > INT32_MAX)
        return gls_fail(GLS_ERR_UNSUPPORTED, "regions of %llu voxels are over the device's limit",
                        (unsigned long long)words);
    plan->n_textures = 2;
    plan->n_words = 1;
    plan->side = side;
    plan->bytes =
        sizeof(float) * gls_grid_voxels(&input->stop_map->grid) + sizeof(uint32_t) * (words / layer + 1) * layer;
    return GLS_OK;
}

static gls_status create(gls_guide *guide, gls_device *device, const gls_track_input *input)
{
    const gls_regions *r = input->regions;
    size_t side = guide->plan.side, layer = side * side, n_layers = r->n_words / layer + 1;
    const uint32_t size[3] = {(uint32_t)side, (uint32_t)side, (uint32_t)n_layers};
    gls_status status = gls_stop_map_create(guide, device, input);
    if (status == GLS_OK) status = gls_texture_create(device, GLS_TEXTURE_R32UI, size, "regions", &guide->texture[1]);
    uint32_t *words = status == GLS_OK ? calloc(layer, sizeof *words) : NULL;
    if (status == GLS_OK && !words) status = gls_fail(GLS_ERR_MEMORY, "out of memory for regions");
    for (size_t z = 0; z < n_layers && status == GLS_OK; z++) {
        size_t first = z * layer, n = r->n_words - first < layer ? r->n_words - first : layer;
        memcpy(words, r->store + first, n * sizeof *words);
        status = gls_texture_write_texels(guide->texture[1], (const uint32_t[3]){0, 0, (uint32_t)z},
                                          (const uint32_t[3]){(uint32_t)side, (uint32_t)side, 1}, words);
    }
    free(words);
    return status;
}

static void put_map(gls_text *out, const float map[3][4])
{
    for (int a = 0; a < 3; a++) {
        char text[4][40];
        for (int c = 0; c < 4; c++) gls_glsl_float(map[a][c], text[c]);
        gls_text_printf(out, "vec4(%s, %s, %s, %s), ", text[0], text[1], text[2], text[3]);
    }
}

static char *rows_of(const gls_regions *r)
{
    gls_text out = {0};
    for (size_t i = 0; i < r->n_groups; i++) {
        const gls_region_group *g = &r->group[i];
        gls_text_puts(&out, "GROUP(");
        put_map(&out, (const float(*)[4])g->map);
        gls_text_printf(&out, "ivec3(%d, %d, %d), %zu)\n", g->size[0], g->size[1], g->size[2], g->first);
    }
    for (size_t i = 0; i < r->n_spheres; i++) {
        const gls_region_sphere *s = &r->sphere[i];
        char text[4][40];
        for (int a = 0; a < 3; a++) gls_glsl_float((float)s->centre[a], text[a]);
        gls_glsl_float((float)(s->radius * s->radius), text[3]);
        gls_text_puts(&out, "SPHERE(");
        put_map(&out, (const float(*)[4])r->world);
        gls_text_printf(&out, "vec3(%s, %s, %s), %s, %uu)\n", text[0], text[1], text[2], text[3], s->bits);
    }
    return gls_text_take(&out);
}

static void define_bits(gls_define_list *d, const char *name, uint32_t bits, const char *reason)
{
    gls_text text = {0};
    gls_text_printf(&text, "%uu", bits);
    gls_define_text(d, name, gls_text_take(&text), reason);
}

static void define(const gls_guide_plan *plan, const gls_track_params *params, const gls_track_input *input,
                   gls_define_list *d)
{
    const gls_regions *r = input->regions;
    (void)params;
    gls_define_int(d, "REGION_SIDE", plan->side, "texels along the axes of the texture of regions");
    define_bits(d, "REGIONS_MASK", gls_regions_bits(r, GLS_REGION_MASK), "bits of the mask");
    define_bits(d, "REGIONS_TRACKING", gls_regions_bits(r, GLS_REGION_TRACKING_MASK), "bits of tracking-mask");
    define_bits(d, "REGIONS_EXCLUDE", gls_regions_bits(r, GLS_REGION_EXCLUDE), "bits of exclude");
    define_bits(d, "REGIONS_STOP", gls_regions_bits(r, GLS_REGION_STOP_AT), "bits of stop-at");
    gls_define_slot(d, "region_rows", rows_of(r), "grids and spheres of the regions");
}

static bool has_all(const gls_regions *r, gls_region_role role, uint32_t bits)
{
    uint32_t wanted = gls_regions_bits(r, role);
    return (bits & wanted) == wanted;
}

static bool admits(const gls_guide *guide, const float seed[3])
{
    const gls_regions *r = guide->regions;
    uint32_t bits = gls_regions_at(r, seed);
    return has_all(r, GLS_REGION_MASK, bits) && has_all(r, GLS_REGION_TRACKING_MASK, bits) &&
           !(bits & gls_regions_bits(r, GLS_REGION_EXCLUDE));
}

static gls_verdict judge(const gls_guide *guide, const float seed[3], const uint32_t *backward, const uint32_t *forward,
                         uint32_t *met)
{
    const gls_regions *r = guide->regions;
    *met = gls_regions_at(r, seed) | backward[0] | forward[0];
    if (*met & gls_regions_bits(r, GLS_REGION_EXCLUDE)) return GLS_VERDICT_EXCLUDED;
    return has_all(r, GLS_REGION_INCLUDE, *met) ? GLS_VERDICT_KEPT : GLS_VERDICT_MISSED_INCLUDE;
}

const gls_guide_kind gls_guide_regions = {
    .name = "regions",
    .shader = "guide/regions.glsl",
    .plan = plan,
    .define = define,
    .create = create,
    .uniforms = gls_stop_map_uniforms,
    .admits = admits,
    .judge = judge,
};
