/* `glslines profile`: values of images along bundles. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/bundles.h>

#include "geometry/model_nodes.h"
#include "record/tract_run.h"
#include "tools/chain.h"
#include "tools/disks.h"
#include "tools/matrix_file.h"
#include "tools/orient.h"
#include "tools/streamline_weights.h"
#include "tools/tract_results.h"
#include "tracts/profile_table.h"
#include "transform/bring.h"
#include "util/json_text.h"
#include "util/maths.h"
#include "util/status.h"

/* State of `glslines profile`. */
typedef struct profiling {
    /* files, sidecar and message of the command */
    gls_tract_run *run;
    const gls_profile_cli *o;
    /* path of the tractogram */
    const char *tracks;
    /* the bundles: of the rules, one for each group, or the whole file */
    gls_bundles *bundles;
    /* direction of --orient */
    gls_tract_orient orient;
    /* how streamlines are averaged at a node */
    gls_profile_weights weights;
    const char *column;      /* name of the column of weights; NULL: none */
    gls_transform space;     /* from the space of the streamlines to that of the models, empty without */
    double (*node)[3];       /* nodes of each bundle: of its model, in the space of the model, or of its mean */
    double (*core)[3];       /* the same in the space of the streamlines */
    gls_transform transform; /* chain of --transform, empty without */
    uint64_t lost;           /* nodes of models that the transform brings nowhere */
    size_t n_images;
    const char *const *path; /* the files of the images */
    /* the n_images images, owned */
    gls_image **image;
    /* names of the columns of images, owned */
    char **name;
} profiling;

/* Copies the next name of a list, which then begins with the one after it. NULL: there is none. */
static char *take_name(const char **rest)
{
    const size_t n = strcspn(*rest, ",");
    char *name = n > 0 ? strndup(*rest, n) : NULL;
    *rest += n + ((*rest)[n] == ',');
    return name;
}

/* Checks the name of the column of image i. GLS_ERR_ARGUMENT: another column has it. */
static gls_status check_name(const profiling *p, size_t i)
{
    static const char *const own[] = {"tractID", "nodeID", "streamline", "disk"};
    const char *name = p->name[i];
    for (size_t k = 0; k < (p->o->mode ? 4 : 2); k++)
        if (strcmp(own[k], name) == 0)
            return gls_fail(GLS_ERR_ARGUMENT,
                            "%s: its column would have the name %s, which is that of another: give "
                            "names by --names",
                            p->path[i], name);
    for (size_t k = 0; k < i; k++)
        if (strcmp(p->name[k], name) == 0)
            return gls_fail(GLS_ERR_ARGUMENT, "%s: two columns would have the name %s: rename an image", p->path[i],
                            name);
    return GLS_OK;
}

/* Reads the images and names their columns. GLS_ERR_ARGUMENT: two columns have one name, or some lack one. */
static gls_status read_images(profiling *p, const char *const *path)
{
    p->image = calloc(p->n_images, sizeof *p->image);
    p->name = calloc(p->n_images, sizeof *p->name);
    const char *rest = p->o->names ? p->o->names : "";
    if (!p->image || !p->name) return gls_no_memory();
    gls_status status = GLS_OK;
    for (size_t i = 0; i < p->n_images && !status; i++) {
        status = gls_image_read(path[i], GLS_IMAGE_ANY, &p->image[i]);
        if (!status)
            status = gls_image_bring(&p->image[i], &p->transform,
                                     p->o->nearest ? GLS_RESAMPLE_NEAREST : GLS_RESAMPLE_LINEAR, NAN, path[i]);
        p->name[i] = p->o->names ? take_name(&rest) : gls_profile_column(path[i]);
        if (!p->name[i] && p->o->names)
            status = gls_fail(GLS_ERR_ARGUMENT, "--names %s: names %zu columns, but there are %zu images", p->o->names,
                              i, p->n_images);
        else if (!p->name[i])
            status = gls_no_memory();
        if (!status) status = check_name(p, i);
    }
    if (!status && *rest)
        status = gls_fail(GLS_ERR_ARGUMENT, "--names %s: names more columns than there are images, %zu", p->o->names,
                          p->n_images);
    if (!status && p->o->names && rest > p->o->names && rest[-1] == ',')
        status =
            gls_fail(GLS_ERR_ARGUMENT, "--names %s: its last name is empty: leave out the last comma", p->o->names);
    return status;
}

/* Makes a bundle for each group of the tractogram but that of streamlines in no bundle. Streamlines of groups by
 * `glslines segment` already run in one direction and are not flipped again. */
static gls_status create_from_groups(profiling *p, const gls_tractogram_info *info, const gls_bundles_options *options)
{
    const char **name = calloc(info->n_groups, sizeof *name);
    bool *directed = calloc(info->n_groups, sizeof *directed);
    gls_status status = name && directed ? GLS_OK : gls_no_memory();
    size_t n = 0;
    for (size_t g = 0; g < info->n_groups && !status; g++) {
        if (strcmp(info->group[g].name, GLS_GROUP_UNRECOGNIZED) == 0) continue;
        name[n] = info->group[g].name;
        /* `glslines segment` writes n_flipped for groups whose streamlines it flipped to one direction */
        for (size_t k = 0; k < info->n_dpg; k++)
            directed[n] |=
                strcmp(info->dpg[k].group, name[n]) == 0 && strcmp(info->dpg[k].column.name, "n_flipped") == 0;
        n++;
    }
    if (!status && n == 0)
        status = gls_fail(GLS_ERR_INPUT, "%s: has no bundles, only the group " GLS_GROUP_UNRECOGNIZED, p->tracks);
    if (!status) status = gls_bundles_groups(name, directed, n, options, &p->bundles);
    free(name);
    free(directed);
    return status;
}

/* Takes the bundles from a table of rules, from the groups of the tractogram, or the whole tractogram as one bundle. */
static gls_status create_bundles(profiling *p, const gls_tractogram_info *info)
{
    const gls_profile_cli *o = p->o;
    gls_bundles_options options = gls_bundles_options_default();
    const bool automatic = !o->orient || strcmp(o->orient, "auto") == 0,
               none = o->orient && strcmp(o->orient, "none") == 0;
    options.nodes = (uint32_t)o->nodes;
    options.keep_nodes = !o->assign;
    options.weights = p->column;
    options.folder = o->folder;
    /* regions that are tractograms become masks on this grid */
    options.grid = p->n_images > 0 ? &p->image[0]->grid : NULL;
    options.unique = o->unique;
    options.clean = o->clean;
    options.clip = o->clip;
    options.cleaning = (gls_clean_options){o->clean_distance, o->clean_length_z, o->clean_rounds,
                                           o->clean_min,      o->clean_core,     o->clean_length};
    gls_status status = automatic || none ? GLS_OK : gls_tract_orient_read(&p->orient, p->run, o->orient);
    if (status) return status;
    options.orientation = automatic ? GLS_ORIENT_AUTO : none ? GLS_ORIENT_NONE : GLS_ORIENT_GIVEN;
    options.given = &p->orient.orientation;
    if (o->bundles) return gls_tract_bundles_read(p->run, o->bundles, &options, &p->transform, &p->bundles);
    if (info->n_groups > 0) return create_from_groups(p, info, &options);
    char *name = gls_profile_column(p->tracks);
    status = name ? gls_bundles_whole(name, &options, &p->bundles) : gls_no_memory();
    free(name);
    return status;
}

/* Reads the tractogram and finds the bundles with their core lines. */
static gls_status collect(profiling *p)
{
    gls_tractogram_reader *reader = NULL;
    gls_sink sink = {0};
    gls_status status = gls_tract_open(p->run, p->tracks, false, &reader);
    const gls_tractogram_info *info = status ? NULL : gls_tractogram_reader_info(reader);
    if (!status) status = gls_tract_column_check(info, p->tracks, p->column);
    if (!status) status = create_bundles(p, info);
    if (!status) sink = gls_bundles_sink(p->bundles);
    status = gls_tract_pump(p->run, reader, &sink, status);
    gls_tractogram_reader_close(reader);
    return status ? status : gls_bundles_complete(p->bundles);
}

/* The model of bundle k: that of its name, or the only one if there is one bundle; NULL: there is none. */
static const gls_atlas_bundle *find_model(const profiling *p, const gls_atlas *models, size_t k)
{
    if (models->n == 1 && gls_bundles_count(p->bundles) == 1) return models->bundle;
    for (size_t i = 0; i < models->n; i++)
        if (strcmp(models->bundle[i].name, gls_bundles_get(p->bundles, k).name) == 0) return &models->bundle[i];
    return NULL;
}

/* Reads the models of --assign, and finds the nodes along each. */
static gls_status read_models(profiling *p)
{
    const uint32_t nodes = (uint32_t)p->o->nodes;
    const size_t n = gls_bundles_count(p->bundles);
    gls_tractogram_read_options reading = gls_tractogram_read_options_default();
    gls_grid reference;
    gls_atlas models;
    size_t found = 0;
    gls_status status = gls_atlas_list(p->o->assign, NULL, 1, &models);
    if (!status) status = gls_tract_read_options(&p->run->options, &reading, &reference);
    for (size_t k = 0; k < n && !status; k++) {
        const char *name = gls_bundles_get(p->bundles, k).name;
        const gls_atlas_bundle *model = find_model(p, &models, k);
        gls_model_nodes info = {.streamlines = 0};
        if (model) status = gls_model_nodes_find(model, &reading, nodes, p->node + k * nodes, &info);
        for (uint32_t i = 0; i < nodes * 3 && !model; i++) p->node[k * nodes + i / 3][i % 3] = NAN;
        found += info.streamlines > 0;
        if (status) break;
        if (info.streamlines == 0)
            gls_log(GLS_LOG_WARNING, "%s: has no model of the bundle %s: its profile is nan", p->o->assign, name);
        else if (info.used < info.streamlines)
            gls_log(GLS_LOG_WARNING,
                    "%s: is wider than 85 mm: its nodes are the mean of %" PRIu64 " of its %" PRIu64 " streamlines",
                    model->path, info.used, info.streamlines);
    }
    gls_atlas_finish(&models);
    if (!status && found == 0)
        status = gls_fail(GLS_ERR_INPUT, "%s: has no model of any bundle of %s: models have the names of bundles",
                          p->o->assign, p->tracks);
    return status;
}

/* Says how many of `n` nodes of models have no place in the space of the streamlines. GLS_ERR_INPUT: all. */
static gls_status check_lost(const profiling *p, uint64_t n)
{
    const gls_strings *chain = &p->o->assign_transform;
    if (p->lost == 0) return GLS_OK;
    if (p->lost == n)
        return gls_fail(GLS_ERR_INPUT,
                        "--assign-transform %s: brings no node of the models to the streamlines: give the transform "
                        "from the streamlines to the models",
                        chain->value[0]);
    gls_log(GLS_LOG_WARNING,
            "--assign-transform %s: brings %" PRIu64 " of %" PRIu64
            " nodes of the models nowhere, so that their values "
            "have no place: does its field cover the bundles?",
            chain->value[0], p->lost, n);
    return GLS_OK;
}

/* Finds the nodes of all bundles: of their models, or of their means. */
static gls_status find_nodes(profiling *p)
{
    const uint32_t nodes = (uint32_t)p->o->nodes;
    const size_t n = gls_bundles_count(p->bundles);
    p->node = malloc(n * nodes * sizeof *p->node);
    p->core = malloc(n * nodes * sizeof *p->core);
    gls_status status = p->node && p->core ? GLS_OK : gls_no_memory();
    for (size_t k = 0; k < n && !status && !p->o->assign; k++) gls_bundles_core(p->bundles, k, p->node + k * nodes);
    if (!status && p->o->assign) status = read_models(p);
    uint64_t known = 0; /* nodes of bundles that have a model */
    for (size_t i = 0; i < n * nodes && !status; i++) {
        known += isfinite(p->node[i][0]);
        if (gls_transform_invert(&p->space, p->node[i], p->core[i])) continue;
        p->lost += isfinite(p->node[i][0]);
        for (int r = 0; r < 3; r++) p->core[i][r] = NAN;
    }
    if (!status && p->o->assign_transform.n > 0) {
        gls_tract_run_count(p->run, "nodes_without_place", p->lost);
        status = check_lost(p, known);
    }
    return status;
}

/* For an image that has no value along any bundle: fails with GLS_ERR_INPUT if no mean point of a bundle lies in the
 * image, else warns. */
static gls_status look_for_overlap(const profiling *p, size_t image)
{
    const gls_grid *grid = &p->image[image]->grid;
    const uint32_t nodes = (uint32_t)p->o->nodes;
    double inverse[3][4], v[3];
    bool overlaps = false;
    gls_grid_inverse(grid, inverse);
    for (size_t b = 0; b < gls_bundles_count(p->bundles) && !overlaps; b++) {
        if (gls_bundles_get(p->bundles, b).count == 0) continue;
        for (uint32_t k = 0; k < nodes && !overlaps; k++) {
            gls_affine_apply((const double(*)[4])inverse, p->core[b * nodes + k], v);
            overlaps = true;
            /* a point is inside if it is less than half a voxel beyond the outer voxel centres */
            for (int r = 0; r < 3; r++) overlaps &= v[r] > -0.5 && v[r] < grid->dim[r] - 0.5;
        }
    }
    if (!overlaps)
        return gls_fail(GLS_ERR_INPUT, "%s: this image does not overlap the bundles: give an image in their space",
                        p->path[image]);
    gls_log(GLS_LOG_WARNING, "%s: the image has no number anywhere along the bundles", p->path[image]);
    return GLS_OK;
}

/* Writes the table: profiles, or with --mode buan a row for each point. */
static gls_status write(profiling *p)
{
    const gls_profile_cli *o = p->o;
    gls_profile_table table = {.image = (const gls_image *const *)p->image,
                               .name = (const char *const *)p->name,
                               .n_images = p->n_images,
                               .sampling = gls_sample_options_default(),
                               .weights = p->weights,
                               .stats = o->stats,
                               .tidy = o->tidy};
    table.sampling.nearest = o->nearest;
    /* --like: as in DIPY's afq_profile, values fall to 0 outside the image */
    if (o->like) {
        table.weights = GLS_PROFILE_DIPY;
        table.sampling.edge = GLS_EDGE_ZERO;
        table.sampling.outside_zero = table.sampling.keep_not_finite = true;
    }
    const gls_disks disks = {.run = p->run,
                             .tracks = p->tracks,
                             .bundles = p->bundles,
                             .image = table.image,
                             .name = table.name,
                             .n_images = p->n_images,
                             .sampling = table.sampling,
                             .n = (uint32_t)o->nodes,
                             .node = (const double(*)[3])p->node,
                             .space = &p->space,
                             .alike = p->weights == GLS_PROFILE_MEAN,
                             .models = o->assign};
    if (o->mode) return gls_disks_write(&disks, o->output);
    gls_profile_node *given = NULL;
    gls_status status = o->assign ? gls_disks_average(&disks, &given) : GLS_OK;
    table.given = given;
    table.core = (const double(*)[3])p->core;
    table.nowhere = calloc(p->n_images, sizeof *table.nowhere);
    if (!status && !table.nowhere) status = gls_no_memory();
    if (!status)
        status = gls_profile_table_write(&table, p->bundles, (uint32_t)o->nodes, o->output, p->run->files.force,
                                         &p->run->files.group);
    for (size_t i = 0; i < p->n_images && !status; i++)
        if (table.nowhere[i]) status = look_for_overlap(p, i);
    free(table.nowhere);
    free(given);
    return status;
}

/* Parses --weights: how streamlines of a bundle are averaged. */
static gls_status choose_weights(profiling *p)
{
    static const char *const names[] = {"mahalanobis", "dipy", "mean", "median"};
    const gls_profile_cli *o = p->o;
    const char *text = o->weights ? o->weights : names[0];
    const bool by_disk = o->weights && strcmp(o->weights, "buan") == 0;
    if (o->like && o->weights)
        return gls_fail(GLS_ERR_ARGUMENT, "--like and --weights exclude each other: leave out one of them");
    if (o->mode && (o->weights || o->stats || o->tidy))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--mode buan: averages nothing, and so excludes --weights, --stats and --long");
    if (o->assign && (o->like || o->clip || o->nodes > GLS_MODEL_NODES))
        return gls_fail(GLS_ERR_ARGUMENT, "--assign: excludes --like and --clip, and --nodes above %d",
                        GLS_MODEL_NODES);
    if (o->assign && o->weights && !by_disk && strcmp(o->weights, "mean") != 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--weights %s: must be buan or mean with --assign", text);
    if (by_disk && !o->assign) return gls_fail(GLS_ERR_ARGUMENT, "--weights buan: needs --assign");
    if (o->stats && o->tidy)
        return gls_fail(GLS_ERR_ARGUMENT, "--stats and --long exclude each other: leave out one of them");
    if (strncmp(text, "dps:", 4) == 0 && text[4]) {
        p->weights = GLS_PROFILE_COLUMN;
        p->column = text + 4;
        return GLS_OK;
    }
    if (by_disk) return GLS_OK;
    const size_t n = sizeof names / sizeof *names;
    size_t k = 0;
    while (k < n && strcmp(names[k], text) != 0) k++;
    if (k == n)
        return gls_fail(GLS_ERR_ARGUMENT, "--weights %s: must be mahalanobis, dipy, mean, median, buan or dps:NAME",
                        text);
    p->weights = (gls_profile_weights)k;
    return GLS_OK;
}

/* Names the direction in which a bundle runs. core: the first and the last point of its mean line, world mm. */
static const char *direction(const double core[2][3])
{
    static const char *const names[3][2] = {
        {"left to right", "right to left"}, {"back to front", "front to back"}, {"bottom to top", "top to bottom"}};
    /* the axis along which the ends lie farthest apart */
    int axis = 0;
    for (int r = 1; r < 3; r++)
        if (fabs(core[1][r] - core[0][r]) > fabs(core[1][axis] - core[0][axis])) axis = r;
    return names[axis][core[1][axis] < core[0][axis]];
}

/* Adds to the sidecar what was done with each bundle. */
static void report_bundles(profiling *p)
{
    cJSON *list = cJSON_AddObjectToObject(p->run->root, "bundles");
    const uint32_t nodes = (uint32_t)p->o->nodes;
    for (size_t k = 0; k < gls_bundles_count(p->bundles); k++) {
        const gls_bundle_info b = gls_bundles_get(p->bundles, k);
        cJSON *bundle = cJSON_AddObjectToObject(list, b.name);
        gls_json_uint(bundle, "streamlines", b.count);
        gls_json_uint(bundle, "turned_round", b.turned);
        gls_json_uint(bundle, "outliers", b.failed[GLS_BUNDLE_CLEAN]);
        const double(*core)[3] = (const double(*)[3])p->core + k * nodes;
        if (b.count == 0 || isnan(core[0][0])) continue;
        const double ends[2][3] = {{core[0][0], core[0][1], core[0][2]},
                                   {core[nodes - 1][0], core[nodes - 1][1], core[nodes - 1][2]}};
        cJSON_AddStringToObject(bundle, "direction", direction(ends));
    }
}

/* Checks the options that say where the models of --assign lie. */
static gls_status check_space(const gls_profile_cli *o)
{
    const char *option = o->atlas_transform ? "--atlas-transform" : "--assign-transform";
    if ((o->atlas_transform || o->assign_transform.n > 0) && !o->assign)
        return gls_fail(GLS_ERR_ARGUMENT, "%s: needs --assign", option);
    if (o->atlas_transform && o->assign_transform.n > 0)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--atlas-transform and --assign-transform exclude each other: leave out one of them");
    if (o->invert && !o->atlas_transform) return gls_fail(GLS_ERR_ARGUMENT, "--invert: needs --atlas-transform");
    return GLS_OK;
}

/* Reads how points of the streamlines go to the models of --assign. */
static gls_status read_space(profiling *p)
{
    const gls_profile_cli *o = p->o;
    gls_transform_step step = {.format = "matrix"};
    if (!o->atlas_transform) return gls_chain_read(p->run, &o->assign_transform, &p->space);
    /* the matrix of the option brings models to the streamlines */
    gls_status status = gls_matrix_file_read(o->atlas_transform, !o->invert, step.map);
    if (status) return status;
    gls_affine_invert((const double(*)[4])step.map, step.back);
    return gls_transform_append(&p->space, &step);
}

gls_profile_cli gls_profile_cli_default(void)
{
    return (gls_profile_cli){
#define ROW GLS_ROW_DEFAULT
#include "tools/profile.def"
#undef ROW
    };
}

gls_status gls_tract_profile(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    const gls_profile_cli *o = options;
    profiling p = {.run = run, .o = o, .tracks = file[0], .n_images = n - 1, .path = file + 1};
    gls_status status = GLS_OK;
    if (!o->output) return gls_fail(GLS_ERR_ARGUMENT, "profile: needs --output FILE, the table to write");
    if (o->clip && (!o->bundles || o->mode))
        return gls_fail(GLS_ERR_ARGUMENT, "--clip: needs --bundles, and excludes --mode buan");
    status = check_space(o);
    if (!status) status = choose_weights(&p);
    if (!status) status = gls_tract_run_reads_all(run, file, n);
    if (!status)
        status =
            gls_tract_run_reads_all(run, GLS_PATHS(run->options.reference, o->bundles, o->assign, o->atlas_transform));
    /* words of --orient are not files */
    const bool is_word = o->orient && (strcmp(o->orient, "auto") == 0 || strcmp(o->orient, "none") == 0);
    if (!status && !is_word) status = gls_tract_run_reads(run, gls_tract_orient_file(o->orient));
    if (!status) status = gls_chain_note(run, &o->transform);
    if (!status) status = gls_chain_note(run, &o->assign_transform);
    if (!status) status = gls_tract_run_writes_all(run, GLS_PATHS(o->output));
    if (!status) status = gls_chain_read(run, &o->transform, &p.transform);
    if (!status) status = read_space(&p);
    if (!status) status = read_images(&p, file + 1);
    if (!status) status = collect(&p);
    if (!status) status = find_nodes(&p);
    if (!status) status = write(&p);
    /* count the streamlines of each bundle, and say why a profile is nan */
    for (size_t k = 0; !status && k < gls_bundles_count(p.bundles); k++) {
        gls_bundle_info b = gls_bundles_get(p.bundles, k);
        gls_tract_run_count(run, b.name, b.count);
        if (b.count == 0)
            gls_log(GLS_LOG_WARNING, "bundle %s: has no streamline: its profile is nan", b.name);
        else if (p.weights == GLS_PROFILE_COLUMN && !(isfinite(b.weight) && b.weight != 0))
            gls_log(GLS_LOG_WARNING,
                    "bundle %s: the values of the column %s in its streamlines sum up to %g: its profile is nan",
                    b.name, p.column, b.weight);
    }
    if (!status) report_bundles(&p);
    /* the message for the user */
    if (!status) {
        gls_tract_run_count(run, "read", gls_bundles_streamlines(p.bundles));
        gls_tract_run_message(run, "%s: %zu bundles of %" PRIu64 " streamlines", o->output,
                              gls_bundles_count(p.bundles), gls_bundles_streamlines(p.bundles));
    }
    gls_bundles_destroy(p.bundles);
    gls_tract_orient_finish(&p.orient);
    gls_transform_finish(&p.transform);
    gls_transform_finish(&p.space);
    for (size_t i = 0; p.image && i < p.n_images; i++) gls_image_destroy(p.image[i]);
    for (size_t i = 0; p.name && i < p.n_images; i++) free(p.name[i]);
    free(p.image);
    free(p.name);
    free(p.node);
    free(p.core);
    return status;
}
