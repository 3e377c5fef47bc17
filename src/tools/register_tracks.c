/* `glslines register` of two tractograms: finds the linear transform that brings streamlines of both to each other
 * (SLR), and writes it as that of two images. Whole brains are compared by the centroids of clusters, as
 * whole_brain_slr of DIPY does, single bundles by their streamlines. */
#include "tools/register_tracks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/filters.h>
#include <glslines/log.h>
#include <glslines/slr.h>

#include "geometry/draws.h"
#include "geometry/model_clusters.h"
#include "tools/writer.h"
#include "transform/transform_write.h"
#include "util/allocation.h"
#include "util/json_text.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text.h"

enum { COMPARE_CLUSTERS, COMPARE_STREAMLINES };
/* Fewest clusters that can be registered without a warning; most of them, whose distances fit into 1.6 GB. */
enum { FEW = 10, MOST = 20000 };

/* One of both tractograms. */
typedef struct side {
    const char *name;
    gls_filter_counts length; /* streamlines, and those that have the length */
    float (*point)[3];        /* n streamlines that are compared */
    size_t n;
} side;

typedef struct registration {
    gls_tract_run *run;
    const gls_register_cli *o;
    side moving, fixed;
    gls_slr_result found;
    double map[3][4]; /* from FIXED to MOVING */
} registration;

/* Passes the streamlines of the right length to a sink. */
static gls_status read_lines(registration *r, side *s, gls_sink sink)
{
    const gls_register_cli *o = r->o;
    const bool whole = o->compare == COMPARE_CLUSTERS;
    const double least = o->min_length >= 0 ? o->min_length
                         : whole            ? 50
                                            : 0,
                 most = o->max_length >= 0 ? o->max_length
                        : whole            ? 250
                                           : INFINITY;
    gls_tractogram_reader *reader = NULL;
    if (least >= most)
        return gls_fail(GLS_ERR_ARGUMENT, "--min-length %g: must be less than --max-length, %g mm", least, most);
    gls_status status = gls_tract_open(r->run, s->name, false, &reader);
    const gls_sink next = sink;
    if (!status) status = gls_filter_length_create(least, most, &s->length, &next, &sink);
    status = gls_tract_pump(r->run, reader, &sink, status);
    gls_tractogram_reader_close(reader);
    if (!status && s->length.taken == 0) status = gls_fail(GLS_ERR_INPUT, "%s: has no streamlines", s->name);
    if (!status && s->length.kept == 0)
        status = gls_fail(GLS_ERR_INPUT,
                          "%s: no streamline is long enough, or short enough, to be compared: give --min-length or "
                          "--max-length",
                          s->name);
    return status;
}

/* Dissolves small clusters, but leaves at least FEW if there are as many. */
static gls_status reduce(const registration *r, const side *s, gls_clusters *clusters)
{
    uint64_t size = r->o->min_size;
    for (;; size /= 2) {
        size_t n = 0;
        for (size_t k = 0; k < gls_clusters_count(clusters); k++) n += gls_clusters_size(clusters, k) >= size;
        if (n >= FEW || size <= 1) break;
    }
    gls_status status = gls_clusters_reduce(clusters, size, GLS_CLUSTER_NUMBERS_FOUNDED);
    if (status) return status;
    if (size < r->o->min_size)
        gls_log(GLS_LOG_WARNING,
                "%s: fewer than %d clusters have %s streamlines: those of %s and more are compared; for a bundle give "
                "--compare streamlines",
                s->name, FEW, GLS_COUNT(r->o->min_size), GLS_COUNT(size));
    const size_t n = gls_clusters_count(clusters);
    if (n > MOST)
        return gls_fail(GLS_ERR_ARGUMENT, "%s: has %zu clusters, but at most %d can be compared: raise --min-size",
                        s->name, n, MOST);
    return n > 0 ? GLS_OK : gls_fail(GLS_ERR_INPUT, "%s: no streamline has a length", s->name);
}

/* Sets the centroids of clusters. */
static gls_status read_clusters(registration *r, side *s)
{
    const gls_register_cli *o = r->o;
    gls_clusters *clusters = NULL;
    const gls_numbers usual = {{40, 30, 20, 15}, 4}, *t = o->thresholds.n > 0 ? &o->thresholds : &usual;
    const size_t last = (size_t)t->n - 1;
    gls_status status =
        gls_model_clusters_begin(t->value, last, t->value[last], (uint32_t)o->points, 0, o->seed, NULL, &clusters);
    if (!status) status = read_lines(r, s, gls_clusters_sink(clusters));
    if (!status) status = gls_clusters_complete(clusters);
    if (!status) status = reduce(r, s, clusters);
    if (!status) status = gls_model_clusters_take(clusters, &s->point, &s->n);
    gls_clusters_destroy(clusters);
    return status;
}

/* Takes at most --most of the streamlines. */
static gls_status draw_lines(const registration *r, side *s, const gls_features *f)
{
    const size_t points = f->points, n = f->n - f->n_void;
    uint64_t *drawn = NULL, *has = malloc((n + 1) * sizeof *has);
    s->n = n < r->o->most ? n : (size_t)r->o->most;
    s->point = malloc((s->n * points + 1) * sizeof *s->point);
    gls_status status = has && s->point ? GLS_OK : gls_no_memory();
    if (!status && n == 0) status = gls_fail(GLS_ERR_INPUT, "%s: no streamline has a length", s->name);
    for (size_t i = 0, k = 0; i < f->n && !status; i++)
        if (gls_features_has(f, i)) has[k++] = i;
    if (!status) status = gls_draws_take(NULL, r->o->seed, 0, n, s->n, &drawn);
    for (size_t k = 0; k < s->n && !status; k++)
        memcpy(s->point + k * points, f->point + has[drawn[k]] * points, points * sizeof *s->point);
    free(drawn);
    free(has);
    return status;
}

/* Sets the streamlines that are compared. */
static gls_status read_side(registration *r, side *s)
{
    const bool whole = r->o->compare == COMPARE_CLUSTERS;
    gls_features features;
    gls_features_init(&features, (size_t)r->o->points, false);
    gls_status status = whole ? read_clusters(r, s) : read_lines(r, s, gls_features_sink(&features));
    if (!status && !whole) status = draw_lines(r, s, &features);
    gls_features_finish(&features);
    if (!status && s->n < FEW)
        gls_log(GLS_LOG_WARNING, "%s: only %zu of its %s can be compared, which may not determine the transform",
                s->name, s->n, whole ? "clusters" : "streamlines");
    return status;
}

/* --- Results. */

static const char *const parameters[GLS_SLR_MAX] = {
    "shift along x", "shift along y", "shift along z", "turn around x",    "turn around y",    "turn around z",
    "scale along x", "scale along y", "scale along z", "shear of x and y", "shear of x and z", "shear of y and z"};

/* Finds the transform, and warns of parameters at their bounds. */
static gls_status find(registration *r)
{
    static const gls_slr_type types[] = {
        [GLS_REGISTER_AUTO] = GLS_SLR_AFFINE,     [GLS_REGISTER_AFFINE] = GLS_SLR_AFFINE,
        [GLS_REGISTER_RIGID] = GLS_SLR_RIGID,     [GLS_REGISTER_SIMILARITY] = GLS_SLR_SIMILARITY,
        [GLS_REGISTER_SCALING] = GLS_SLR_SCALING, [GLS_REGISTER_TRANSLATION] = GLS_SLR_TRANSLATION};
    gls_slr_options o = gls_slr_options_default();
    o.type = types[r->o->type];
    o.metric = (gls_slr_metric)r->o->distance;
    gls_status status = gls_slr_find(&o, (const float(*)[3])r->fixed.point, r->fixed.n,
                                     (const float(*)[3])r->moving.point, r->moving.n, (size_t)r->o->points, &r->found);
    if (status) return status;
    gls_affine_invert((const double(*)[4])r->found.matrix, r->map);
    for (int k = 0; k < GLS_SLR_MAX; k++)
        if (r->found.at_bound >> k & 1)
            gls_log(GLS_LOG_WARNING, "%s: the %s is %g, the farthest that is tried: do both lie in the same space?",
                    r->moving.name, o.type == GLS_SLR_SIMILARITY && k == 6 ? "scale" : parameters[k],
                    r->found.parameter[k]);
    return GLS_OK;
}

/* Writes --moved: the bytes that 'glslines transform' writes with PREFIX_affine.txt. */
static gls_status write_moved(registration *r)
{
    gls_tractogram_reader *fixed = NULL, *reader = NULL;
    gls_tractogram_format format;
    gls_sink sink = {0};
    gls_grid grid;
    double back[3][4];
    if (!r->o->moved) return GLS_OK;
    gls_affine_invert((const double(*)[4])r->map, back);
    gls_status status = gls_tractogram_format_parse(r->o->moved, &format);
    if (!status) status = gls_tract_open_again(r->run, r->moving.name, &reader);
    gls_tract_output output = {.path = r->o->moved};
    if (!status) output.info = gls_tractogram_reader_info(reader);
    if (!status && gls_tract_needs_grid(format)) {
        output.grid = &grid;
        status = gls_tract_open_again(r->run, r->fixed.name, &fixed);
        if (!status)
            status =
                gls_tract_grid_choose(r->run, r->fixed.name, gls_tractogram_reader_info(fixed), r->o->moved, &grid);
    }
    if (!status) status = gls_tract_writer_create(r->run, &output, &sink);
    const gls_sink next = sink;
    if (!status) status = gls_filter_transform_create((const double(*)[4])back, &next, &sink);
    status = gls_tract_pump(r->run, reader, &sink, status);
    gls_tractogram_reader_close(reader);
    gls_tractogram_reader_close(fixed);
    return status;
}

static void describe_side(cJSON *root, const char *key, const side *s)
{
    cJSON *object = cJSON_AddObjectToObject(root, key);
    gls_json_text(object, "file", s->name);
    gls_json_uint(object, "streamlines", s->length.taken);
    gls_json_uint(object, "of_the_length", s->length.kept);
    gls_json_uint(object, "compared", s->n);
}

/* Adds the findings to the sidecar, and says the distance. */
static void report(registration *r)
{
    static const char *const types[] = {"translation", "rigid", "similarity", "scaling", "affine"};
    cJSON *root = r->run->root;
    const bool symmetric = r->o->distance == GLS_SLR_SYMMETRIC;
    const char *unit = symmetric ? "mm2" : "mm";
    describe_side(root, "moving", &r->moving);
    describe_side(root, "fixed", &r->fixed);
    if (r->o->output) {
        cJSON_AddStringToObject(root, "maps", "points of FIXED to points of MOVING, RAS mm");
        cJSON_AddStringToObject(root, "chain", "-t PREFIX_affine.txt");
        cJSON_AddStringToObject(root, "inverse_chain", "-t PREFIX_affine.txt,inverse");
    }
    cJSON *slr = cJSON_AddObjectToObject(root, "streamlines");
    gls_json_double(slr, symmetric ? "distance_before_mm2" : "distance_before_mm", r->found.before);
    gls_json_double(slr, symmetric ? "distance_after_mm2" : "distance_after_mm", r->found.after);
    cJSON *stages = cJSON_AddObjectToObject(slr, symmetric ? "distance_by_stage_mm2" : "distance_by_stage_mm");
    for (int k = 0; k < 5; k++)
        if (isfinite(r->found.stage[k])) gls_json_double(stages, types[k], r->found.stage[k]);
    gls_json_uint(slr, "iterations", r->found.iterations);
    gls_json_uint(slr, "evaluations", r->found.evaluations);
    cJSON *rows = cJSON_AddArrayToObject(slr, "matrix_from_moving_to_fixed");
    for (int i = 0; i < 4; i++) {
        cJSON *row = cJSON_CreateArray();
        for (int j = 0; j < 4; j++) gls_json_append_double(row, r->found.matrix[i][j]);
        cJSON_AddItemToArray(rows, row);
    }
    gls_tract_run_message(r->run, "%s: %.4g %s from %s, before %.4g %s", r->moving.name, r->found.after, unit,
                          r->fixed.name, r->found.before, unit);
}

/* Names the outputs. *path: that of the matrix, from malloc; NULL: none. */
static gls_status name_outputs(const registration *r, char **path)
{
    gls_tract_run *run = r->run;
    gls_status status = GLS_OK;
    if (!r->o->output) return gls_tract_run_writes(run, r->o->moved);
    if (gls_asprintf(path, "%s_affine.txt", r->o->output) < 0) return gls_no_memory();
    const char *const both[] = {*path, r->o->moved};
    for (int k = 0; k < 2 && !status; k++) {
        if (!both[k]) continue;
        gls_tract_run_lists_output(run, both[k]);
        status = gls_run_writes(&run->files, both[k]);
    }
    return status ? status : gls_run_writes_sidecar(&run->files, r->o->output, ".json");
}

static gls_status write_map(const registration *r, const char *path)
{
    const bool force = r->run->options.force;
    gls_output_group *group = &r->run->files.group;
    if (!path) return GLS_OK;
    return r->o->affine_format == 0 ? gls_transform_write_matrix(path, force, group, (const double(*)[4])r->map)
                                    : gls_transform_write_itk(path, force, group, (const double(*)[4])r->map);
}

gls_status gls_register_tracks(gls_tract_run *run, const gls_register_cli *o, const char *const *file)
{
    registration r = {.run = run, .o = o, .moving.name = file[0], .fixed.name = file[1]};
    char *path = NULL;
    if (o->type == GLS_REGISTER_NONLINEAR)
        return gls_fail(GLS_ERR_ARGUMENT, "--type nonlinear: is for images, but %s is a tractogram: affine is the most",
                        file[0]);
    if (!o->output && !o->moved)
        return gls_fail(GLS_ERR_ARGUMENT, "register: needs an output: --output PREFIX or --moved FILE");
    gls_status status = gls_tract_run_reads_all(run, GLS_PATHS(file[0], file[1], run->options.reference));
    if (!status) status = name_outputs(&r, &path);
    if (!status) status = read_side(&r, &r.moving);
    if (!status) status = read_side(&r, &r.fixed);
    if (!status) status = find(&r);
    if (!status) status = write_map(&r, path);
    if (!status) status = write_moved(&r);
    if (!status) report(&r);
    free(r.moving.point);
    free(r.fixed.point);
    free(path);
    return status;
}
