/* `glslines similarity`: how alike bundles of several files or folders are. All inputs that have a bundle of one name
 * are compared with each other, or with one of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/log.h>

#include "geometry/atlas.h"
#include "geometry/similarity.h"
#include "image/reorient.h"
#include "tools/tract_results.h"
#include "util/allocation.h"
#include "util/status.h"

#define DEFAULT_SIDE 2.0 /* mm, of a voxel */

/* State of `glslines similarity`. */
typedef struct comparing {
    gls_tract_run *run;
    const gls_similarity_cli *o;
    gls_tractogram_read_options reading;
    gls_grid reference; /* of `reading` */
    size_t n;           /* inputs; the one of --against is the last */
    const char **path;  /* of each input */
    gls_atlas *input;   /* bundles of each input */
    bool single;        /* each input is one bundle, whatever its name */
    gls_grid grid;
    double low[3], high[3]; /* box of all streamlines, mm */
    int measure;            /* of --matrix; -1: none */
    gls_similar **similar;  /* the bundle of one name of each input; NULL: it has none */
    gls_tract_text table;
    uint64_t bundles, pairs;
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

/* The bundle of a name, or the only one, in an input; NULL: it has none. */
static const gls_atlas_bundle *find_bundle(const comparing *c, size_t input, const char *name)
{
    const gls_atlas *a = &c->input[input];
    if (c->single) return a->bundle;
    for (size_t k = 0; k < a->n; k++)
        if (strcmp(a->bundle[k].name, name) == 0) return &a->bundle[k];
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
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < c->input[i].n && !status; k++)
            status = gls_atlas_read_bundle(&c->input[i].bundle[k], &c->reading, NULL, &box);
    for (int k = 0; k < 3 && !status && c->low[k] <= c->high[k]; k++) {
        const double first = floor(c->low[k] / side) - 1, last = ceil(c->high[k] / side) + 1;
        if (last - first > 1e5)
            return gls_fail(GLS_ERR_ARGUMENT, "--voxel-size: %g mm gives more than 100,000 voxels along an axis", side);
        affine[k][3] = first * side;
        dim[k] = (int32_t)(last - first) + 1;
    }
    return status ? status : gls_grid_init(&c->grid, dim, (const double(*)[4])affine);
}

/* Reads the bundle of a name from all inputs. *n_found: how many have it. */
static gls_status read_bundles(comparing *c, const char *name, size_t *n_found)
{
    gls_status status = GLS_OK;
    *n_found = 0;
    for (size_t i = 0; i < c->n && !status; i++) {
        const gls_atlas_bundle *from = find_bundle(c, i, name);
        gls_sink sink = {0};
        if (!from) {
            gls_log(GLS_LOG_WARNING, "%s: has no bundle %s", c->path[i], name);
            continue;
        }
        status = gls_similar_create(&c->grid, c->o->seed, &c->similar[i]);
        if (!status) status = gls_similar_sink(c->similar[i], &sink);
        if (!status) status = gls_atlas_read_bundle(from, &c->reading, NULL, &sink);
        if (!status) status = gls_similar_complete(c->similar[i]);
        if (!status && gls_similar_count(c->similar[i]) == 0)
            gls_log(GLS_LOG_WARNING, "%s: the bundle %s has no streamlines", from->path, name);
        if (!status && gls_similar_is_outside(c->similar[i]))
            gls_log(GLS_LOG_WARNING,
                    "%s: all streamlines of the bundle %s lie outside %s: give --template an image of their space",
                    from->path, name, c->o->template_image);
        ++*n_found;
    }
    return status;
}

/* Writes the row of two inputs. */
static gls_status write_pair(comparing *c, const char *name, size_t a, size_t b)
{
    double value[GLS_SIMILARITY_VALUES];
    if (!c->similar[a] || !c->similar[b]) return GLS_OK;
    gls_status status = gls_similarity_measure(c->similar[a], c->similar[b], value);
    if (status) return status;
    gls_tract_text_field(&c->table, name);
    gls_tract_text_field(&c->table, c->path[a]);
    gls_tract_text_field(&c->table, c->path[b]);
    gls_tract_text_number(&c->table, (double)gls_similar_count(c->similar[a]));
    gls_tract_text_number(&c->table, (double)gls_similar_count(c->similar[b]));
    for (int k = 0; k < GLS_SIMILARITY_VALUES; k++) gls_tract_text_number(&c->table, value[k]);
    gls_tract_text_end_row(&c->table);
    c->pairs++;
    return GLS_OK;
}

/* Writes the matrix of one measure, which is symmetric: a row for each input. */
static gls_status write_matrix(comparing *c, const char *name)
{
    double value[GLS_SIMILARITY_VALUES];
    gls_status status = GLS_OK;
    double *matrix = calloc(c->n * c->n, sizeof *matrix);
    if (!matrix) return gls_no_memory();
    for (size_t a = 0; a < c->n; a++)
        for (size_t b = a; b < c->n && !status; b++) {
            const bool both = c->similar[a] && c->similar[b];
            if (both) status = gls_similarity_measure(c->similar[a], c->similar[b], value);
            matrix[a * c->n + b] = matrix[b * c->n + a] = both && !status ? value[c->measure] : NAN;
            c->pairs += both && a < b;
        }
    for (size_t a = 0; a < c->n && !status; a++) {
        gls_tract_text_field(&c->table, name);
        gls_tract_text_field(&c->table, c->path[a]);
        for (size_t b = 0; b < c->n; b++) gls_tract_text_number(&c->table, matrix[a * c->n + b]);
        gls_tract_text_end_row(&c->table);
    }
    free(matrix);
    return status;
}

/* Compares the bundle of a name in all inputs. */
static gls_status compare(comparing *c, const char *name)
{
    const uint64_t before = c->pairs;
    size_t n_found;
    gls_status status = read_bundles(c, name, &n_found);
    if (!status && n_found > 1 && c->measure >= 0) status = write_matrix(c, name);
    for (size_t a = 0; a < c->n && c->measure < 0; a++)
        for (size_t b = c->o->against ? c->n - 1 : a + 1; b < c->n && a < b && !status; b++)
            status = write_pair(c, name, a, b);
    c->bundles += c->pairs > before;
    for (size_t i = 0; i < c->n; i++) {
        gls_similar_destroy(c->similar[i]);
        c->similar[i] = NULL;
    }
    return status;
}

/* Writes the names of the columns. */
static void write_header(comparing *c)
{
    static const char *const pair[] = {"bundle", "a", "b", "streamlines_a", "streamlines_b"};
    if (c->measure >= 0) {
        gls_tract_text_field(&c->table, "bundle");
        gls_tract_text_field(&c->table, "input");
        for (size_t i = 0; i < c->n; i++) gls_tract_text_field(&c->table, c->path[i]);
    } else {
        for (size_t k = 0; k < sizeof pair / sizeof *pair; k++) gls_tract_text_field(&c->table, pair[k]);
        for (int k = 0; k < GLS_SIMILARITY_VALUES; k++) gls_tract_text_field(&c->table, gls_similarity_name[k]);
    }
    gls_tract_text_end_row(&c->table);
}

/* Compares all bundles, each in the place of the first input that has it. */
static gls_status compare_all(comparing *c)
{
    gls_status status = gls_tract_text_open(c->run, c->o->output, &c->table);
    if (status) return status;
    write_header(c);
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < c->input[i].n && !status; k++) {
            const char *name = c->input[i].bundle[k].name;
            size_t first = 0;
            while (first < i && !find_bundle(c, first, name)) first++;
            if (first == i) status = compare(c, name);
        }
    return gls_tract_text_close(&c->table, status);
}

/* Finds the measure of --matrix. */
static gls_status choose_measure(comparing *c)
{
    const char *name = c->o->matrix;
    c->measure = -1;
    if (!name) return GLS_OK;
    if (c->o->against)
        return gls_fail(GLS_ERR_ARGUMENT, "--matrix and --against exclude each other: leave out one of them");
    for (int k = 0; k < GLS_SIMILARITY_VALUES; k++)
        if (strcmp(gls_similarity_name[k], name) == 0) c->measure = k;
    return c->measure >= 0 ? GLS_OK
                           : gls_fail(GLS_ERR_ARGUMENT,
                                      "--matrix %s: must be a column of the table of similarity, such as ba or "
                                      "dice_voxels",
                                      name);
}

/* Lists the bundles of all inputs. */
static gls_status list_inputs(comparing *c, const char *const *file, size_t n)
{
    gls_status status = GLS_OK;
    c->n = n + (c->o->against != NULL);
    c->path = calloc(c->n, sizeof *c->path);
    c->input = calloc(c->n, sizeof *c->input);
    c->similar = calloc(c->n, sizeof *c->similar);
    if (!c->path || !c->input || !c->similar) return gls_no_memory();
    c->single = true;
    for (size_t i = 0; i < c->n && !status; i++) {
        c->path[i] = i < n ? file[i] : c->o->against;
        status = gls_tract_run_reads(c->run, c->path[i]);
        if (!status) status = gls_atlas_list(c->path[i], NULL, 1, &c->input[i]);
        c->single = c->single && c->input[i].n == 1;
    }
    return status;
}

gls_status gls_tract_similarity(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    const gls_similarity_cli *o = options;
    comparing c = {.run = run, .o = o, .reading = gls_tractogram_read_options_default()};
    if (!o->output || !*o->output) return gls_fail(GLS_ERR_ARGUMENT, "similarity: needs --output");
    if (n < 2 && !o->against)
        return gls_fail(GLS_ERR_ARGUMENT, "similarity: needs two inputs or more, or one and --against");
    if (o->template_image && o->voxel_size > 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--template and --voxel-size exclude each other: leave out one of them");
    gls_status status = choose_measure(&c);
    if (!status) status = gls_tract_run_reads_all(run, GLS_PATHS(o->template_image, run->options.reference));
    if (!status) status = list_inputs(&c, file, n);
    if (!status) status = gls_tract_run_writes_all(run, GLS_PATHS(o->output));
    if (!status) status = gls_tract_read_options(&run->options, &c.reading, &c.reference);
    if (!status) status = choose_grid(&c);
    if (!status) status = compare_all(&c);
    if (!status && c.pairs == 0)
        status = gls_fail(GLS_ERR_INPUT, "%s and %s have no bundle of the same name", c.path[0], c.path[1]);
    if (!status) {
        gls_tract_run_count(run, "bundles", c.bundles);
        gls_tract_run_count(run, "pairs", c.pairs);
        gls_tract_run_message(run, "%s bundle%s compared, %s pair%s", GLS_COUNT(c.bundles), c.bundles == 1 ? "" : "s",
                              GLS_COUNT(c.pairs), c.pairs == 1 ? "" : "s");
    }
    for (size_t i = 0; c.input && i < c.n; i++) gls_atlas_finish(&c.input[i]);
    free(c.path);
    free(c.input);
    free(c.similar);
    return status;
}
