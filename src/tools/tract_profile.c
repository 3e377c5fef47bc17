/* `glslines profile`: values of images along bundles. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/bundles.h>

#include "tools/orient.h"
#include "tools/streamline_weights.h"
#include "record/tract_run.h"
#include "tools/chain.h"
#include "tools/tract_results.h"
#include "tracts/profile_table.h"
#include "transform/bring.h"
#include "util/json_text.h"
#include "util/maths.h"
#include "util/status.h"

/* --- The table of BUAN: one row for each point of each streamline of a bundle, with the disk that the point belongs
 * to. */

/* State of `--mode buan`, which writes a row for each point (Chandio et al. 2020). */
typedef struct gls_buan {
    const gls_image *const *image; /* images of one or more volumes */
    const char *const *name; /* column name of each image; further volumes of an image get _1, _2 ... behind its name */
    size_t n_images;
    /* how images are read at points */
    gls_sample_options sampling;
    uint32_t disks; /* number of disks of a bundle, one for each node of its mean line */
} gls_buan;

/* The table of `--mode buan`, row by row. */
typedef struct table {
    /* what is sampled: images, names of columns, how */
    const gls_buan *buan;
    /* the bundles with their members */
    const gls_bundles *bundles;
    double (*core)[3]; /* mean lines of the bundles, world mm: `disks` points for each bundle */
    uint64_t *row;     /* number of streamlines of each bundle so far */
    double *value;     /* values of an image at one point; as many as the image with most volumes has */
    gls_tract_text text;
} table;

/* The node of the core line that is nearest to a point, counted from 1 as in DIPY's BUAN. */
static uint32_t find_disk(const double (*core)[3], uint32_t n, const float p[3])
{
    double best = INFINITY;
    uint32_t disk = 0;
    for (uint32_t k = 0; k < n; k++) {
        double x = p[0] - core[k][0], y = p[1] - core[k][1], z = p[2] - core[k][2], square = x * x + y * y + z * z;
        if (square >= best) continue;
        best = square;
        disk = k;
    }
    return disk + 1;
}

/* Writes the row of one point of a bundle: bundle, streamline, disk, values. */
static void append_point(table *t, size_t bundle, const float p[3])
{
    const gls_buan *b = t->buan;
    gls_tract_text_field(&t->text, gls_bundles_get(t->bundles, bundle).name);
    gls_tract_text_printf(&t->text, "%c%" PRIu64 "%c%u", t->text.separator, t->row[bundle], t->text.separator,
                          find_disk((const double(*)[3])t->core + bundle * b->disks, b->disks, p));
    for (size_t i = 0; i < b->n_images; i++) {
        gls_sample_at(b->image[i], &b->sampling, p, t->value);
        for (size_t v = 0; v < b->image[i]->n_volumes; v++) gls_tract_text_number(&t->text, t->value[v]);
    }
    gls_tract_text_end_row(&t->text);
}

/* Function `append` of a sink: writes the points of each member of each bundle. A streamline of several bundles has
 * rows for each. */
static gls_status append(void *user, const gls_streamlines *s)
{
    table *t = user;
    for (size_t k = 0; k < gls_bundles_count(t->bundles); k++) {
        const gls_column *in = gls_column_find(s->group, s->n_groups, gls_bundles_get(t->bundles, k).name);
        for (size_t i = 0; i < s->n; i++) {
            if (!gls_column_value(in, i)) continue;
            for (uint64_t p = s->offset[i]; p < s->offset[i + 1]; p++) append_point(t, k, s->point[p]);
            t->row[k]++;
        }
    }
    return t->text.failed;
}

/* Writes the header line; further volumes of an image get _1, _2 ... behind its name. */
static void append_header(table *t)
{
    const gls_buan *b = t->buan;
    const char c = t->text.separator;
    gls_tract_text_printf(&t->text, "tractID%cstreamline%cdisk", c, c);
    for (size_t i = 0; i < b->n_images; i++)
        for (size_t v = 0; v < b->image[i]->n_volumes; v++)
            gls_tract_text_component(&t->text, b->name[i], v, v > 0 ? 2 : 1);
    gls_tract_text_end_row(&t->text);
}

/* Reads the tractogram again and writes the table. A point belongs to the disk, 1 .. disks, whose node of the bundle's
 * mean is nearest. */
static gls_status buan_write(const gls_buan *b, const gls_bundles *bundles, gls_tract_run *run, const char *tracks,
                             const char *path)
{
    const size_t n = gls_bundles_count(bundles);
    table t = {.buan = b, .bundles = bundles};
    gls_tractogram_reader *reader = NULL;
    gls_sink end = {.append = append, .user = &t}, sink = {0};
    size_t largest = 1;
    for (size_t i = 0; i < b->n_images; i++)
        largest = b->image[i]->n_volumes > largest ? b->image[i]->n_volumes : largest;
    t.core = malloc(n * b->disks * sizeof *t.core);
    t.row = calloc(n, sizeof *t.row);
    t.value = malloc(largest * sizeof *t.value);
    gls_status status = t.core && t.row && t.value ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    /* the tractogram is read a second time; the mean lines of the bundles come from the first time */
    for (size_t k = 0; k < n && !status; k++) gls_bundles_core(bundles, k, t.core + k * b->disks);
    if (!status) status = gls_tract_text_open(run, path, &t.text);
    if (!status) {
        append_header(&t);
        status = gls_tract_open(run, tracks, false, &reader);
    }
    /* the groups that the filter adds name the bundles of each streamline */
    if (!status) status = gls_bundles_filter(bundles, GLS_BUNDLES_REST_DROPPED, &end, &sink);
    status = gls_tract_pump(run, reader, &sink, status);
    gls_tractogram_reader_close(reader);
    status = gls_tract_text_close(&t.text, status);
    free(t.core);
    free(t.row);
    free(t.value);
    return status;
}

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
    gls_transform transform; /* chain of --transform, empty without */
    size_t n_images;
    const char *const *path; /* the files of the images */
    /* the n_images images, owned */
    gls_image **image;
    /* names of the columns of images, owned */
    char **name;
} profiling;

/* Reads the images and names their columns. GLS_ERR_ARGUMENT: two columns have one name. */
static gls_status read_images(profiling *p, const char *const *path)
{
    p->image = calloc(p->n_images, sizeof *p->image);
    p->name = calloc(p->n_images, sizeof *p->name);
    if (!p->image || !p->name) return gls_no_memory();
    gls_status status = GLS_OK;
    for (size_t i = 0; i < p->n_images && !status; i++) {
        status = gls_image_read(path[i], GLS_IMAGE_ANY, &p->image[i]);
        if (!status)
            status = gls_image_bring(&p->image[i], &p->transform,
                                     p->o->nearest ? GLS_RESAMPLE_NEAREST : GLS_RESAMPLE_LINEAR, NAN, path[i]);
        p->name[i] = gls_profile_column(path[i]);
        if (!p->name[i]) status = gls_no_memory();
        for (size_t k = 0; k < i && !status; k++)
            if (strcmp(p->name[k], p->name[i]) == 0)
                status = gls_fail(GLS_ERR_ARGUMENT, "%s: two columns would have the name %s: rename an image", path[i],
                                  p->name[i]);
    }
    return status;
}

/* Makes a bundle for each group of the tractogram. Streamlines of groups by `glslines segment` already run in one
 * direction and are not flipped again. */
static gls_status create_from_groups(profiling *p, const gls_tractogram_info *info, const gls_bundles_options *options)
{
    const char **name = calloc(info->n_groups, sizeof *name);
    bool *directed = calloc(info->n_groups, sizeof *directed);
    gls_status status = name && directed ? GLS_OK : gls_no_memory();
    for (size_t g = 0; g < info->n_groups && !status; g++) {
        name[g] = info->group[g].name;
        /* `glslines segment` writes n_flipped for groups whose streamlines it flipped to one direction */
        for (size_t k = 0; k < info->n_dpg; k++)
            directed[g] |=
                strcmp(info->dpg[k].group, name[g]) == 0 && strcmp(info->dpg[k].column.name, "n_flipped") == 0;
    }
    if (!status) status = gls_bundles_groups(name, directed, info->n_groups, options, &p->bundles);
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
    options.keep_nodes = true;
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
    if (o->bundles) return gls_tract_bundles_read(p->run, o->bundles, &options, &p->bundles);
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

/* For an image that has no value along any bundle: fails with GLS_ERR_INPUT if no mean point of a bundle lies in the
 * image, else warns. */
static gls_status look_for_overlap(const profiling *p, size_t image)
{
    const gls_grid *grid = &p->image[image]->grid;
    const uint32_t nodes = (uint32_t)p->o->nodes;
    double inverse[3][4], v[3];
    bool overlaps = false;
    double(*core)[3] = malloc(nodes * sizeof *core);
    if (!core) return gls_no_memory();
    gls_grid_inverse(grid, inverse);
    for (size_t b = 0; b < gls_bundles_count(p->bundles) && !overlaps; b++) {
        if (gls_bundles_get(p->bundles, b).count == 0) continue;
        gls_bundles_core(p->bundles, b, core);
        for (uint32_t k = 0; k < nodes && !overlaps; k++) {
            gls_affine_apply((const double(*)[4])inverse, core[k], v);
            overlaps = true;
            /* a point is inside if it is less than half a voxel beyond the outer voxel centres */
            for (int r = 0; r < 3; r++) overlaps &= v[r] > -0.5 && v[r] < grid->dim[r] - 0.5;
        }
    }
    free(core);
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
    const gls_buan buan = {table.image, table.name, table.n_images, table.sampling, (uint32_t)o->nodes};
    if (o->mode) return buan_write(&buan, p->bundles, p->run, p->tracks, o->output);
    table.nowhere = calloc(p->n_images, sizeof *table.nowhere);
    if (!table.nowhere) return gls_no_memory();
    gls_status status = gls_profile_table_write(&table, p->bundles, (uint32_t)o->nodes, o->output, p->run->files.force,
                                                &p->run->files.group);
    for (size_t i = 0; i < p->n_images && !status; i++)
        if (table.nowhere[i]) status = look_for_overlap(p, i);
    free(table.nowhere);
    return status;
}

/* Parses --weights: how streamlines of a bundle are averaged. */
static gls_status choose_weights(profiling *p)
{
    static const char *const names[] = {"mahalanobis", "dipy", "mean", "median"};
    const gls_profile_cli *o = p->o;
    const char *text = o->weights ? o->weights : names[0];
    if (o->like && o->weights)
        return gls_fail(GLS_ERR_ARGUMENT, "--like and --weights exclude each other: leave out one of them");
    if (o->mode && (o->weights || o->stats || o->tidy))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--mode buan: averages nothing, and so excludes --weights, --stats and --long");
    if (o->stats && o->tidy)
        return gls_fail(GLS_ERR_ARGUMENT, "--stats and --long exclude each other: leave out one of them");
    if (strncmp(text, "dps:", 4) == 0 && text[4]) {
        p->weights = GLS_PROFILE_COLUMN;
        p->column = text + 4;
        return GLS_OK;
    }
    const size_t n = sizeof names / sizeof *names;
    size_t k = 0;
    while (k < n && strcmp(names[k], text) != 0) k++;
    if (k == n)
        return gls_fail(GLS_ERR_ARGUMENT, "--weights %s: must be mahalanobis, dipy, mean, median or dps:NAME", text);
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
static gls_status report_bundles(profiling *p)
{
    cJSON *list = cJSON_AddObjectToObject(p->run->root, "bundles");
    const uint32_t nodes = (uint32_t)p->o->nodes;
    double(*core)[3] = malloc(nodes * sizeof *core);
    if (!core) return gls_no_memory();
    for (size_t k = 0; k < gls_bundles_count(p->bundles); k++) {
        const gls_bundle_info b = gls_bundles_get(p->bundles, k);
        cJSON *bundle = cJSON_AddObjectToObject(list, b.name);
        gls_json_uint(bundle, "streamlines", b.count);
        gls_json_uint(bundle, "turned_round", b.turned);
        gls_json_uint(bundle, "outliers", b.failed[GLS_BUNDLE_CLEAN]);
        if (b.count == 0) continue;
        gls_bundles_core(p->bundles, k, core);
        const double ends[2][3] = {{core[0][0], core[0][1], core[0][2]},
                                   {core[nodes - 1][0], core[nodes - 1][1], core[nodes - 1][2]}};
        cJSON_AddStringToObject(bundle, "direction", direction(ends));
    }
    free(core);
    return GLS_OK;
}

gls_status gls_tract_profile(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    const gls_profile_cli *o = options;
    profiling p = {.run = run, .o = o, .tracks = file[0], .n_images = n - 1, .path = file + 1};
    gls_status status = GLS_OK;
    if (!o->output) return gls_fail(GLS_ERR_ARGUMENT, "profile: needs --output FILE, the table to write");
    if (o->clip && (!o->bundles || o->mode))
        return gls_fail(GLS_ERR_ARGUMENT, "--clip: needs --bundles, and excludes --mode buan");
    status = choose_weights(&p);
    if (!status) status = gls_tract_run_reads_all(run, file, n);
    if (!status) status = gls_tract_run_reads_all(run, GLS_PATHS(run->options.reference, o->bundles));
    /* words of --orient are not files */
    const bool is_word = o->orient && (strcmp(o->orient, "auto") == 0 || strcmp(o->orient, "none") == 0);
    if (!status && !is_word) status = gls_tract_run_reads(run, gls_tract_orient_file(o->orient));
    if (!status) status = gls_chain_note(run, &o->transform);
    if (!status) status = gls_tract_run_writes_text(run, GLS_PATHS(o->output));
    if (!status) status = gls_chain_read(run, &o->transform, &p.transform);
    if (!status) status = read_images(&p, file + 1);
    if (!status) status = collect(&p);
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
    if (!status) status = report_bundles(&p);
    /* the message for the user */
    if (!status) {
        gls_tract_run_count(run, "read", gls_bundles_streamlines(p.bundles));
        gls_tract_run_message(run, "%s: %zu bundles of %" PRIu64 " streamlines", o->output,
                              gls_bundles_count(p.bundles), gls_bundles_streamlines(p.bundles));
    }
    gls_bundles_destroy(p.bundles);
    gls_tract_orient_finish(&p.orient);
    gls_transform_finish(&p.transform);
    for (size_t i = 0; p.image && i < p.n_images; i++) gls_image_destroy(p.image[i]);
    for (size_t i = 0; p.name && i < p.n_images; i++) free(p.name[i]);
    free(p.image);
    free(p.name);
    return status;
}
