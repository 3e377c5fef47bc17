/* `glslines density`: a map of the number of streamlines in each voxel, of their lengths there, or of values that they
 * have. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/density.h>
#include <glslines/sample.h>

#include "image/grid.h"
#include "image/image_write.h"
#include "image/reorient.h"
#include "tools/streamline_weights.h"
#include "tools/chain.h"
#include "tools/tract_results.h"
#include "tractogram/readers.h"
#include "tractogram/tck_header.h"
#include "tracts/density_values.h"
#include "transform/bring.h"
#include "util/file.h"
#include "util/status.h"
#include "util/text.h"

/* --- Grids made here. */

#define MARGIN 3 /* margin around all points, voxels, as in tckmap */
/* largest number of voxels of a map */
#define MAX_VOXELS 2147483648.0

/* The box around all points, world mm. */
typedef struct box {
    /* corners of the box; in an empty box low is above high */
    float low[3], high[3];
} box;

/* Makes a grid of size[0] x size[1] x size[2] voxels. GLS_ERR_UNSUPPORTED: more than MAX_VOXELS, or 65536 or more along
 * an axis. */
static gls_status make_grid(const double size[3], const double affine[3][4], gls_grid *grid)
{
    int32_t dim[3];
    double voxels = size[0] * size[1] * size[2];
    if (!(voxels <= MAX_VOXELS && size[0] < 65536 && size[1] < 65536 && size[2] < 65536))
        return gls_fail(GLS_ERR_UNSUPPORTED,
                        "--voxel-size: a grid of %.7g x %.7g x %.7g voxels (%.3g GB) is too large: a grid has at most "
                        "2^31 voxels, and 65535 along an axis: give larger voxels",
                        size[0], size[1], size[2], voxels * 8e-9);
    /* ceil() may give 0 for a tractogram in one plane */
    for (int a = 0; a < 3; a++) dim[a] = (int32_t)fmax(size[a], 1);
    return gls_grid_init(grid, dim, affine);
}

/* Changes the size of voxels to `side`, mm, as tckmap -template -vox does, and keeps the corner of the first voxel. The
 * last voxels may reach beyond the old box. */
static gls_status tract_grid_divide(gls_grid *grid, const double side[3])
{
    double affine[3][4], size[3];
    for (int r = 0; r < 3; r++) affine[r][3] = grid->affine[r][3];
    for (int c = 0; c < 3; c++) {
        const double old = grid->voxel_size[c];
        /* a thousandth of a voxel beyond the box does not make a further voxel */
        size[c] = ceil(grid->dim[c] * old / side[c] - 1e-3);
        for (int r = 0; r < 3; r++) {
            affine[r][c] = grid->affine[r][c] * side[c] / old;
            /* affines map centres of voxels: the centre moves with the size, the corner stays */
            affine[r][3] += 0.5 * (affine[r][c] - grid->affine[r][c]);
        }
    }
    return make_grid(size, (const double(*)[4])affine, grid);
}

/* Function `append` of a sink: widens the box so that it holds the points of a batch. */
static gls_status append(void *user, const gls_streamlines *s)
{
    box *b = user;
    for (uint64_t p = 0; p < s->offset[s->n]; p++)
        for (int a = 0; a < 3; a++) {
            float x = s->point[p][a];
            b->low[a] = x < b->low[a] ? x : b->low[a];
            b->high[a] = x > b->high[a] ? x : b->high[a];
        }
    return GLS_OK;
}

/* Reads the tractogram at `path` and makes a grid around all its points, along the axes of the world, with a margin of
 * three voxels, as tckmap -vox does. */
static gls_status tract_grid_around(const gls_tract_run *run, const char *path, const double side[3], gls_grid *grid)
{
    box b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    gls_tractogram_reader *reader = NULL;
    gls_sink sink = {.append = append, .user = &b};
    double affine[3][4] = {{0}}, size[3];
    gls_status status = gls_tract_open(run, path, false, &reader);
    status = gls_tract_pump(run, reader, &sink, status);
    gls_tractogram_reader_close(reader);
    if (status) return status;
    if (!(b.low[0] <= b.high[0]))
        return gls_fail(GLS_ERR_INPUT, "%s: has no point around which a grid could lie", path);
    for (int a = 0; a < 3; a++) {
        affine[a][a] = side[a];
        affine[a][3] = (double)b.low[a] - MARGIN * side[a];
        size[a] = ceil(((double)b.high[a] - b.low[a]) / side[a] + 2 * MARGIN);
    }
    return make_grid(size, (const double(*)[4])affine, grid);
}

#define STATISTIC "statistic of the image"
/* Largest share, 0 to 1, of positions outside the map without a warning, among all positions that are looked up. */
#define MAX_OUTSIDE 0.01

enum { LIKE_NONE, LIKE_MRTRIX, LIKE_DIPY, LIKE_SCILPY };
enum { NORMALIZE_NONE, NORMALIZE_COUNT, NORMALIZE_MAX };

/* State of `glslines density`. */
typedef struct mapping {
    /* files, sidecar and message of the command */
    gls_tract_run *run;
    const gls_density_cli *o;
    /* paths of input and map */
    const char *in, *out;
    /* options of the map */
    gls_density_options options;
    /* weights of streamlines */
    gls_tract_weights weights;
    gls_image *image;        /* image of --image; NULL: none */
    gls_transform transform; /* chain of --transform, empty without */
    char *names;             /* path of the table of groups; NULL: none */
    /* names of groups, borrowed from the reader */
    const char **group;
    /* grid of the map */
    gls_grid grid;
    /* the map; NULL: not made yet */
    gls_density *density;
    /* counts of the samples of --image */
    gls_sample_counts sampled;
} mapping;

/* --- Options. */

/* Parses --contrast: what a streamline adds to a voxel. */
static gls_status choose_contrast(mapping *m)
{
    /* names are those of MRtrix3's tckmap */
    static const struct {
        const char *name;
        gls_density_value value;
        bool needs_image;
    } contrasts[] = {{"tdi", GLS_DENSITY_ONE, false},
                     {"length", GLS_DENSITY_MM, false},
                     {"invlength", GLS_DENSITY_INVERSE, false},
                     {"scalar_map", GLS_DENSITY_COLUMN, true},
                     {"scalar_map_count", GLS_DENSITY_IS_NONZERO, true}};
    const gls_density_cli *o = m->o;
    const char *name = o->contrast ? o->contrast : "tdi";
    size_t k = 0;
    bool needs_image = false;
    /* dps:NAME takes the values of a column in place of a contrast of the list */
    if (strncmp(name, "dps:", 4) == 0 && name[4]) {
        m->options.value = GLS_DENSITY_COLUMN;
        m->options.column = name + 4;
    } else {
        const size_t n = sizeof contrasts / sizeof *contrasts;
        while (k < n && strcmp(contrasts[k].name, name) != 0) k++;
        if (k == n)
            return gls_fail(GLS_ERR_ARGUMENT,
                            "--contrast %s: must be tdi, length, invlength, scalar_map, scalar_map_count or dps:NAME",
                            name);
        m->options.value = contrasts[k].value;
        needs_image = contrasts[k].needs_image;
        /* the sampler gives each streamline its value in a column of this name */
        if (needs_image) m->options.column = STATISTIC;
    }
    if (needs_image != (o->image != NULL))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--image needs --contrast scalar_map or scalar_map_count, and these need --image");
    if (o->stat_tck && !needs_image) return gls_fail(GLS_ERR_ARGUMENT, "--stat-tck: needs --image");
    if (m->options.value == GLS_DENSITY_ONE && o->stat_vox)
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "--stat-vox: not with --contrast tdi, the default, whose values are all 1 and can only be summed");
    m->options.stat = (gls_density_stat)o->stat_vox;
    m->options.map_zero = o->map_zero;
    m->options.directions = o->dec;
    return GLS_OK;
}

/* Checks combinations of options, and sets mapping and contrast of the map. */
static gls_status check(mapping *m)
{
    const gls_density_cli *o = m->o;
    const bool upsampled =
        o->like == LIKE_MRTRIX || o->mapping == GLS_DENSITY_MRTRIX || o->mapping == GLS_DENSITY_PRECISE;
    if (o->like && o->mapping)
        return gls_fail(GLS_ERR_ARGUMENT, "--like and --mapping exclude each other: leave out one of them");
    /* only the mappings mrtrix and precise insert new points between the points of a streamline */
    if ((o->step_size > 0 || o->upsample > 0) && !upsampled)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--step-size and --upsample: need --mapping mrtrix or precise, or --like mrtrix");
    if (o->voxel.n != 0 && o->voxel.n != 1 && o->voxel.n != 3)
        return gls_fail(GLS_ERR_ARGUMENT, "--voxel-size: must be one number or three, but %d were given", o->voxel.n);
    if (o->dec && (o->stat_vox || o->groups || o->mapping == GLS_DENSITY_ENDS || o->mapping == GLS_DENSITY_PRECISE))
        return gls_fail(GLS_ERR_ARGUMENT, "--dec: not with --stat-vox, --groups, --mapping ends or --mapping precise");
    if (o->threshold != 0 && !o->mask_out) return gls_fail(GLS_ERR_ARGUMENT, "--threshold: needs --mask-out");
    if (o->mask_out && (o->groups || o->dec))
        return gls_fail(GLS_ERR_ARGUMENT, "--mask-out: not with --groups or --dec, which write several volumes");
    if (o->transform.n > 0 && !o->image) return gls_fail(GLS_ERR_ARGUMENT, "--transform: needs --image");
    m->options.mapping = (gls_density_mapping)o->mapping;
    if (o->like == LIKE_MRTRIX) m->options.mapping = GLS_DENSITY_MRTRIX;
    if (o->like == LIKE_DIPY) m->options.mapping = GLS_DENSITY_VERTEX;
    gls_status status = gls_image_name_check(m->out);
    if (!status && o->mask_out) status = gls_image_name_check(o->mask_out);
    return status ? status : choose_contrast(m);
}

/* Chooses how finely the mappings mrtrix and precise divide each step: as --upsample says, else by the rule of
 * MRtrix3's tckmap, which needs the step size. */
static gls_status choose_upsampling(mapping *m, const gls_tractogram_info *info)
{
    const bool precise = m->options.mapping == GLS_DENSITY_PRECISE;
    const double step = m->o->step_size > 0 ? m->o->step_size : gls_tck_step(info, 0);
    m->options.upsample = m->o->upsample > 0 ? (uint32_t)m->o->upsample : 1;
    if (m->o->upsample > 0 || (!precise && m->options.mapping != GLS_DENSITY_MRTRIX)) return GLS_OK;
    if (step <= 0)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "%s: does not state the step size of its streamlines, on which the mapping depends: give "
                        "--step-size or --upsample",
                        m->in);
    m->options.upsample =
        precise ? gls_density_precise_upsampling(step, &m->grid) : gls_density_upsampling(step, &m->grid);
    return GLS_OK;
}

/* --- The map. */

/* Chooses the grid of the map: the grid of --template, with other voxels if --voxel-size is given; with --voxel-size
 * alone a box around all points; else the grid that the tractogram states. */
static gls_status choose_grid(mapping *m, const gls_tractogram_info *info)
{
    const gls_density_cli *o = m->o;
    double side[3];
    for (int a = 0; a < 3 && o->voxel.n > 0; a++) side[a] = o->voxel.value[o->voxel.n == 1 ? 0 : a];
    if (o->template_image) {
        gls_status status = gls_grid_read(o->template_image, &m->grid);
        return status || o->voxel.n == 0 ? status : tract_grid_divide(&m->grid, side);
    }
    if (o->voxel.n > 0) return tract_grid_around(m->run, m->in, side, &m->grid);
    if (!info->has_grid)
        return gls_fail(GLS_ERR_ARGUMENT, "%s: has no grid: give --template IMAGE or --voxel-size", m->in);
    m->grid = info->grid;
    return GLS_OK;
}

/* With --groups, asks for a volume for each group of the tractogram. */
static gls_status choose_groups(mapping *m, const gls_tractogram_info *info)
{
    if (!m->o->groups) return GLS_OK;
    if (info->n_groups == 0) return gls_fail(GLS_ERR_INPUT, "%s: has no groups, which --groups needs", m->in);
    m->group = malloc(info->n_groups * sizeof *m->group);
    if (!m->group) return gls_fail(GLS_ERR_MEMORY, "out of memory for groups");
    for (size_t g = 0; g < info->n_groups; g++) m->group[g] = info->group[g].name;
    m->options.group = m->group;
    m->options.n_groups = info->n_groups;
    return GLS_OK;
}

/* With --image, adds a filter that computes the statistic of the image along each streamline as a column. */
static gls_status add_statistic(mapping *m, gls_sink *sink)
{
    /* in the order of the choices of --stat-tck */
    static const gls_track_stat stats[] = {
        GLS_TRACK_MEAN,         GLS_TRACK_SUM,      GLS_TRACK_MIN,      GLS_TRACK_MAX,       GLS_TRACK_UPPER_MEDIAN,
        GLS_TRACK_MEAN_NONZERO, GLS_TRACK_ENDS_MIN, GLS_TRACK_ENDS_MAX, GLS_TRACK_ENDS_MEAN, GLS_TRACK_ENDS_PROD};
    gls_sample_options options = gls_sample_options_default();
    const gls_sink next = *sink;
    if (!m->o->image) return GLS_OK;
    /* as tckmap: all points count equally */
    options.weight = GLS_SAMPLE_BY_POINT;
    const gls_sample_column column = {.image = m->image, .name = STATISTIC, .stat = stats[m->o->stat_tck]};
    return gls_filter_sample_create(&column, 1, &options, &m->sampled, &next, sink);
}

/* Makes the map from the tractogram, and with --groups the table of its volumes. */
static gls_status map(mapping *m)
{
    gls_tractogram_reader *reader = NULL;
    gls_sink sink = {0};
    gls_status status = gls_tract_weights_open(&m->weights, m->o->weights, m->run, m->in, true);
    if (!status && m->o->image) status = gls_image_read(m->o->image, GLS_IMAGE_3D, &m->image);
    if (!status && m->o->image)
        status = gls_image_bring(&m->image, &m->transform, GLS_RESAMPLE_LINEAR, NAN, m->o->image);
    if (!status) status = gls_tract_open(m->run, m->in, false, &reader);
    const gls_tractogram_info *info = status ? NULL : gls_tractogram_reader_info(reader);
    m->options.weights = m->weights.column;
    /* upper bound of the sum of weights, by which fixed-point sums are scaled */
    m->options.sum_weights = m->weights.max * (double)m->weights.n;
    /* the statistic of an image becomes a column only on the way to the map */
    if (!status && !m->o->image) status = gls_tract_column_check(info, m->in, m->options.column);
    if (!status) status = choose_grid(m, info);
    if (!status) status = choose_upsampling(m, info);
    if (!status) status = choose_groups(m, info);
    if (!status) status = gls_density_create(&m->grid, &m->options, &m->density);
    if (!status) {
        sink = gls_density_sink(m->density);
        status = add_statistic(m, &sink);
        if (!status) status = gls_tract_weights_sink(&m->weights, info, m->in, &sink);
    }
    status = gls_tract_pump(m->run, reader, &sink, status);
    if (!status && m->names) {
        gls_tract_text t;
        status = gls_tract_text_open(m->run, m->names, &t);
        /* table of the volumes, beside the map */
        if (!status) gls_tract_text_printf(&t, "volume\tgroup\n");
        for (size_t g = 0; g < m->options.n_groups && !status; g++) {
            gls_tract_text_printf(&t, "%zu", g);
            gls_tract_text_field(&t, m->group[g]);
            gls_tract_text_end_row(&t);
        }
        status = gls_tract_text_close(&t, status);
    }
    gls_tractogram_reader_close(reader);
    gls_tract_weights_close(&m->weights);
    return status;
}

/* --- Outputs. */

/* With --normalize, sets the factor of the map; with --mask-out, writes the mask. */
static gls_status finish_map(mapping *m)
{
    const gls_density_cli *o = m->o;
    const size_t voxels = gls_grid_voxels(&m->grid), n = voxels * gls_density_volumes(m->density);
    /* the map itself is written elsewhere; without these options there is nothing to do */
    if (!o->normalize && !o->mask_out) return GLS_OK;
    double *value = malloc(n * sizeof *value), largest = 0;
    uint8_t *mask = malloc(voxels);
    gls_status status = value && mask ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "%s: out of memory", m->out);
    if (!status) gls_density_get(m->density, value);
    for (size_t v = 0; v < n && !status; v++) largest = fmax(largest, value[v]);
    /* divisor of the map: sum of weights, largest value, or 1 */
    double by = o->normalize == NORMALIZE_COUNT ? gls_density_get_counts(m->density).weight
                : o->normalize == NORMALIZE_MAX ? largest
                                                : 1;
    if (by > 0 && by != 1) gls_density_set_scale(m->density, 1 / by);
    if (!status && o->normalize && !(by > 0))
        status =
            gls_fail(GLS_ERR_INPUT, "%s: --normalize: there is nothing above 0 to divide by: is the map empty?", m->in);
    /* the threshold applies to the map after the division */
    for (size_t v = 0; v < voxels && !status; v++) mask[v] = value[v] / by > o->threshold;
    if (!status && o->mask_out)
        status = gls_image_write_values(o->mask_out, m->run->files.force, &m->run->files.group, &m->grid,
                                        "density mask", 1, GLS_TYPE_UINT8, mask);
    free(value);
    free(mask);
    return status;
}

/* Adds the counts to the sidecar. Warns if a streamline lies wholly outside the map, or if more than MAX_OUTSIDE of the
 * positions that were looked up do. */
static void report(mapping *m)
{
    const gls_density_counts c = gls_density_get_counts(m->density);
    const uint64_t outside = c.streamlines - c.empty - c.used - c.zero;
    gls_tract_run_count(m->run, "read", c.streamlines);
    gls_tract_run_count(m->run, "used", c.used);
    gls_tract_run_count(m->run, "without_points", c.empty);
    gls_tract_run_count(m->run, "without_value", c.zero);
    gls_tract_run_count(m->run, "outside", outside);
    gls_tract_run_count(m->run, "partly_outside", c.partial);
    gls_tract_run_count(m->run, "places", c.places);
    gls_tract_run_count(m->run, "places_outside", c.places_outside);
    const double share = c.places > 0 ? (double)c.places_outside / (double)c.places : 0;
    if (outside > 0 || share > MAX_OUTSIDE)
        gls_log(GLS_LOG_WARNING,
                "%s: %" PRIu64 " of %" PRIu64
                " streamlines lie outside the map, and with them %.3g %% of all that would be counted",
                m->in, outside, c.streamlines, 100 * share);
    if (m->o->mapping == 0 && m->o->like == 0)
        gls_log(GLS_LOG_INFO, "mapping: segment; --like mrtrix gives the numbers of tckmap");
    gls_tract_run_message(m->run, "%s: %" PRIu64 " streamlines, %" PRIu64 " of them partly outside", m->out, c.used,
                          c.partial);
}

/* Names the table of groups after the map: "x.nii.gz" -> "x_groups.tsv". */
static gls_status name_groups(mapping *m)
{
    if (!m->o->groups) return GLS_OK;
    gls_asprintf(&m->names, "%.*s_groups.tsv", (int)gls_image_stem(m->out), m->out);
    return m->names ? GLS_OK : gls_no_memory();
}

gls_status gls_tract_density(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    mapping m = {.run = run, .o = options, .in = file[0], .out = file[n - 1], .options = gls_density_options_default()};
    gls_status status = check(&m);
    if (!status) status = name_groups(&m);
    if (!status)
        status = gls_tract_run_reads_all(run, GLS_PATHS(m.in, m.o->template_image, m.o->image,
                                                        gls_tract_weights_file(m.o->weights), run->options.reference));
    if (!status) status = gls_chain_note(run, &m.o->transform);
    if (!status) status = gls_tract_run_writes_all(run, GLS_PATHS(m.out, m.o->mask_out, m.names));
    if (!status) status = gls_chain_read(run, &m.o->transform, &m.transform);
    if (!status) status = map(&m);
    if (!status) status = finish_map(&m);
    if (!status) status = gls_density_write_grouped(m.density, m.out, run->files.force, &run->files.group);
    if (!status) report(&m);
    gls_density_destroy(m.density);
    gls_image_destroy(m.image);
    gls_transform_finish(&m.transform);
    free(m.group);
    free(m.names);
    return status;
}
