/* `glslines similarity`: how alike bundles of two files or folders are, a row for each name that both have. */
#include <math.h>
#include <string.h>

#include <glslines/log.h>

#include "geometry/atlas.h"
#include "geometry/similarity.h"
#include "image/reorient.h"
#include "tools/tract_results.h"
#include "util/status.h"

#define DEFAULT_SIDE 2.0 /* mm, of a voxel */

/* State of `glslines similarity`. */
typedef struct comparing {
    gls_tract_run *run;
    const gls_similarity_cli *o;
    gls_tractogram_read_options reading;
    gls_grid reference; /* of `reading` */
    gls_atlas side[2];
    gls_grid grid;
    double low[3], high[3]; /* box of all streamlines, mm */
    gls_tract_text table;
    uint64_t pairs;
} comparing;

/* Widens the box. */
static gls_status widen(void *user, const gls_streamlines *in)
{
    comparing *c = user;
    for (uint64_t p = 0; p < in->offset[in->n]; p++)
        for (int k = 0; k < 3; k++) {
            c->low[k] = fmin(c->low[k], (double)in->point[p][k]);
            c->high[k] = fmax(c->high[k], (double)in->point[p][k]);
        }
    return GLS_OK;
}

/* The bundle of side B that bundle a is compared with: of the same name, or the only one; NULL: none. */
static const gls_atlas_bundle *find_partner(const comparing *c, const gls_atlas_bundle *a)
{
    const gls_atlas *b = &c->side[1];
    if (c->side[0].n == 1 && b->n == 1) return b->bundle;
    for (size_t k = 0; k < b->n; k++)
        if (strcmp(a->name, b->bundle[k].name) == 0) return &b->bundle[k];
    return NULL;
}

/* Chooses the grid: of the template, or around all streamlines, at multiples of the size of a voxel. */
static gls_status choose_grid(comparing *c)
{
    const double side = c->o->voxel_size > 0 ? c->o->voxel_size : DEFAULT_SIDE;
    const gls_sink box = {.append = widen, .user = c};
    double affine[3][4] = {{side}, {0, side}, {0, 0, side}};
    int32_t dim[3] = {1, 1, 1};
    gls_status status = GLS_OK;
    if (c->o->template_image) return gls_grid_read(c->o->template_image, &c->grid);
    for (int k = 0; k < 3; k++) {
        c->low[k] = INFINITY;
        c->high[k] = -INFINITY;
    }
    for (int s = 0; s < 2; s++)
        for (size_t k = 0; k < c->side[s].n && !status; k++)
            status = gls_atlas_read_bundle(&c->side[s].bundle[k], &c->reading, NULL, &box);
    for (int k = 0; k < 3 && !status && c->low[k] <= c->high[k]; k++) {
        const double first = floor(c->low[k] / side) - 1, last = ceil(c->high[k] / side) + 1;
        if (last - first > 1e5)
            return gls_fail(GLS_ERR_ARGUMENT, "--voxel-size: %g mm gives more than 100,000 voxels along an axis", side);
        affine[k][3] = first * side;
        dim[k] = (int32_t)(last - first) + 1;
    }
    return status ? status : gls_grid_init(&c->grid, dim, (const double(*)[4])affine);
}

/* Reads a bundle. */
static gls_status read_bundle(comparing *c, const gls_atlas_bundle *from, gls_similar **bundle)
{
    gls_sink sink = {0};
    gls_status status = gls_similar_create(&c->grid, c->o->seed, bundle);
    if (!status) status = gls_similar_sink(*bundle, &sink);
    if (!status) status = gls_atlas_read_bundle(from, &c->reading, NULL, &sink);
    return status ? status : gls_similar_complete(*bundle);
}

/* Compares two bundles, and writes a row. */
static gls_status compare(comparing *c, const gls_atlas_bundle *a, const gls_atlas_bundle *b)
{
    gls_similar *one = NULL, *two = NULL;
    double value[GLS_SIMILARITY_VALUES];
    gls_status status = read_bundle(c, a, &one);
    if (!status) status = read_bundle(c, b, &two);
    if (!status) status = gls_similarity_measure(one, two, value);
    if (!status) {
        gls_tract_text_field(&c->table, a->name);
        gls_tract_text_number(&c->table, (double)gls_similar_count(one));
        gls_tract_text_number(&c->table, (double)gls_similar_count(two));
        for (int k = 0; k < GLS_SIMILARITY_VALUES; k++) gls_tract_text_number(&c->table, value[k]);
        gls_tract_text_end_row(&c->table);
        c->pairs++;
        if (gls_similar_count(one) == 0 || gls_similar_count(two) == 0)
            gls_log(GLS_LOG_WARNING, "%s: the bundle %s has no streamlines",
                    gls_similar_count(one) == 0 ? a->path : b->path, a->name);
    }
    gls_similar_destroy(one);
    gls_similar_destroy(two);
    return status;
}

/* Compares all bundles that both sides have. */
static gls_status compare_all(comparing *c)
{
    gls_status status = gls_tract_text_open(c->run, c->o->output, &c->table);
    if (status) return status;
    gls_tract_text_field(&c->table, "bundle");
    gls_tract_text_field(&c->table, "streamlines_a");
    gls_tract_text_field(&c->table, "streamlines_b");
    for (int k = 0; k < GLS_SIMILARITY_VALUES; k++) gls_tract_text_field(&c->table, gls_similarity_name[k]);
    gls_tract_text_end_row(&c->table);
    for (size_t k = 0; k < c->side[0].n && !status; k++) {
        const gls_atlas_bundle *a = &c->side[0].bundle[k], *b = find_partner(c, a);
        if (b)
            status = compare(c, a, b);
        else
            gls_log(GLS_LOG_WARNING, "%s: the second input has no bundle %s", a->path, a->name);
    }
    return gls_tract_text_close(&c->table, status);
}

gls_status gls_tract_similarity(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    const gls_similarity_cli *o = options;
    comparing c = {.run = run, .o = o, .reading = gls_tractogram_read_options_default()};
    (void)n;
    if (!o->output || !*o->output) return gls_fail(GLS_ERR_ARGUMENT, "similarity: needs --output");
    if (o->template_image && o->voxel_size > 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--template and --voxel-size exclude each other: leave out one of them");
    gls_status status =
        gls_tract_run_reads_all(run, GLS_PATHS(file[0], file[1], o->template_image, run->options.reference));
    if (!status) status = gls_tract_run_writes_text(run, GLS_PATHS(o->output));
    if (!status) status = gls_tract_read_options(&run->options, &c.reading, &c.reference);
    for (int s = 0; s < 2 && !status; s++) status = gls_atlas_list(file[s], NULL, 1, &c.side[s]);
    if (!status) status = choose_grid(&c);
    if (!status) status = compare_all(&c);
    if (!status && c.pairs == 0)
        status = gls_fail(GLS_ERR_INPUT, "%s and %s have no bundle of the same name", file[0], file[1]);
    if (!status) {
        gls_tract_run_count(run, "bundles", c.pairs);
        gls_tract_run_message(run, "%zu bundles compared", (size_t)c.pairs);
    }
    for (int s = 0; s < 2; s++) gls_atlas_finish(&c.side[s]);
    return status;
}
