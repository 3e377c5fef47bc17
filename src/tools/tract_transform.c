/* `glslines transform`: brings images and tractograms of a moving image to a fixed image. Images are resampled by the
 * transform, which maps fixed points to moving points; points of streamlines go by its inverse. */
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/filters.h>
#include <glslines/sample.h>

#include "dwi/fod_turn.h"
#include "image/grid.h"
#include "image/image_write.h"
#include "image/labels.h"
#include "image/nifti_read.h"
#include "image/reorient.h"
#include "tools/chain.h"
#include "tools/image_info.h"
#include "tools/tract_results.h"
#include "tools/transform_compose.h"
#include "tools/transform_gradients.h"
#include "tools/writer.h"
#include "transform/move_points.h"
#include "transform/resample.h"
#include "transform/transform.h"
#include "util/json_text.h"
#include "util/status.h"
#include "util/text.h"

enum { OUTSIDE_CUT, OUTSIDE_DROP, OUTSIDE_IDENTITY };
enum { INTERPOLATE_AUTO, INTERPOLATE_NEAREST, INTERPOLATE_LINEAR, INTERPOLATE_CUBIC, INTERPOLATE_LABEL };

/* --- Tractograms. */

static gls_status transform_tracks(gls_tract_run *run, const gls_transform_cli *o, const char *in,
                                   const gls_transform *transform)
{
    gls_tractogram_reader *reader = NULL;
    gls_tractogram_format format;
    gls_grid grid;
    gls_sink sink = {0};
    gls_move_counts c = {0};
    gls_status status = gls_tractogram_format_parse(o->output, &format);
    if (!status && gls_tract_needs_grid(format) && !o->template_image)
        status = gls_fail(GLS_ERR_ARGUMENT, "%s: needs the grid of the fixed image: give --template IMAGE", o->output);
    if (!status && o->template_image) status = gls_grid_read(o->template_image, &grid);
    if (!status && o->template_image) status = gls_transform_check_image(transform, false, &grid, o->template_image);
    if (!status && o->template_image) status = gls_chain_check_sides(&o->transform, &grid, NULL, in);
    if (!status) status = gls_tract_open(run, in, false, &reader);
    if (!status) {
        const gls_tract_output output = {
            .path = o->output, .grid = o->template_image ? &grid : NULL, .info = gls_tractogram_reader_info(reader)};
        status = gls_tract_writer_create(run, &output, &sink);
    }
    if (!status) {
        const gls_sink next = sink;
        status = gls_filter_move_create(transform, o->outside == OUTSIDE_CUT, &c, &next, &sink);
    }
    status = gls_tract_pump(run, reader, &sink, status);
    gls_tractogram_reader_close(reader);
    if (status) return status;
    gls_tract_run_count(run, "read", c.streamlines);
    gls_tract_run_count(run, "written", c.written);
    gls_tract_run_count(run, "split_or_shortened", c.split);
    gls_tract_run_count(run, "left_out", c.dropped);
    gls_tract_run_count(run, "points", c.points);
    gls_tract_run_count(run, "points_outside", c.outside);
    if (c.points > 0 && c.outside == c.points)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: no point has a place in the fixed image: is the transform one of this image, and not its "
                        "inverse?",
                        in);
    if (c.outside > 0)
        gls_log(GLS_LOG_WARNING,
                "%s: points outside of the transform: %" PRIu64 " of %" PRIu64
                "; streamlines that are split or shortened: %" PRIu64 ", left out: %" PRIu64,
                in, c.outside, c.points, c.split, c.dropped);
    gls_tract_run_message(run, "%s: %" PRIu64 " streamlines of %" PRIu64, o->output, c.written, c.streamlines);
    return GLS_OK;
}

/* --- Images. */

/* Checks that values and fill value of an image that is written as int32 are such numbers. */
static gls_status check_labels(const char *in, const gls_image *image, double fill)
{
    const size_t n = gls_grid_voxels(&image->grid) * image->n_volumes;
    bool whole = true;
    if (!(fill == trunc(fill) && fill >= INT32_MIN && fill <= INT32_MAX))
        return gls_fail(GLS_ERR_ARGUMENT, "--fill %g: an image of labels has whole numbers from %d to %d", fill,
                        INT32_MIN, INT32_MAX);
#pragma omp parallel for reduction(&& : whole) schedule(static)
    for (size_t i = 0; i < n; i++) {
        const double value = (double)image->data[i];
        whole = whole && value == trunc(value) && fabs(value) <= 0x1p31;
    }
    if (whole) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT,
                    "%s: has values that are no whole numbers from %d to %d: --interpolation label is for images of "
                    "labels; take nearest or linear",
                    in, INT32_MIN, INT32_MAX);
}

/* Checks that an image has a value in each voxel, since each has a part in all splines along its row. */
static gls_status check_finite(const char *in, const gls_image *image)
{
    const size_t n = gls_grid_voxels(&image->grid) * image->n_volumes;
    uint64_t bad = 0;
#pragma omp parallel for reduction(+ : bad) schedule(static)
    for (size_t i = 0; i < n; i++) bad += !isfinite(image->data[i]);
    if (bad == 0) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT,
                    "%s: has values that are not finite (%" PRIu64
                    "), and --interpolation cubic needs all of them: take linear, or give these voxels a value",
                    in, bad);
}

/* Replaces labels that float has rounded by their places in a table, which float holds. place 0: label 0; the place
 * behind the last label: `fill`. *table comes from malloc, also after a failure. GLS_ERR_INPUT: several volumes, or
 * values that are no labels. */
static gls_status number_labels(const char *in, gls_image *image, double fill, int32_t **table, size_t *last)
{
    gls_labels *labels = NULL;
    int32_t *label = NULL;
    size_t n = 0;
    gls_status status = gls_labels_read(in, &labels);
    if (!status) status = gls_labels_distinct(labels, in, &label, &n);
    if (!status && !(*table = calloc(n + 2, sizeof **table))) status = gls_no_memory();
    for (size_t v = 0; !status && v < gls_grid_voxels(&image->grid); v++)
        image->data[v] = labels->data[v] > 0 ? (float)(gls_labels_index(label, n, labels->data[v]) + 1) : 0;
    if (!status) {
        memcpy(*table + 1, label, n * sizeof *label);
        (*table)[n + 1] = (int32_t)fill;
        *last = n + 1;
    }
    gls_labels_destroy(labels);
    free(label);
    return status;
}

/* Writes an image; one of labels as int32. table: of number_labels(); NULL: the values are the labels. */
static gls_status write_image(gls_tract_run *run, const char *path, const gls_image *image, bool labels,
                              const int32_t *table)
{
    const size_t n = gls_grid_voxels(&image->grid) * image->n_volumes;
    int32_t *value = labels ? malloc(n * sizeof *value) : NULL;
    if (labels && !value) return gls_no_memory();
    for (size_t i = 0; i < n && labels; i++) value[i] = table ? table[(size_t)image->data[i]] : (int32_t)image->data[i];
    gls_status status =
        labels ? gls_image_write_values(path, run->files.force, &run->files.group, &image->grid, "labels",
                                        image->n_volumes, GLS_TYPE_INT32, value)
               : gls_image_write_grouped(path, run->files.force, &run->files.group, image, GLS_IMAGE_FLOAT32);
    free(value);
    return status;
}

static gls_status transform_image(gls_tract_run *run, const gls_transform_cli *o, const char *in,
                                  const gls_transform *transform)
{
    gls_image *moving = NULL, *made = NULL;
    gls_grid grid;
    uint64_t outside = 0;
    int32_t *table = NULL;
    size_t last = 0; /* place of the fill value in `table` */
    bool rounded = false;
    gls_status status = gls_image_name_check(o->output);
    if (!status) status = gls_image_read_rounded(in, GLS_IMAGE_ANY, &moving, &rounded);
    if (!status) grid = moving->grid;
    if (!status) status = gls_transform_check_image(transform, true, &grid, in);
    if (!status && o->template_image) status = gls_grid_read(o->template_image, &grid);
    if (!status && o->template_image) status = gls_transform_check_image(transform, false, &grid, o->template_image);
    if (!status && o->template_image) status = gls_chain_check_sides(&o->transform, &grid, &moving->grid, in);
    if (!status && o->peaks && moving->n_volumes % 3 != 0)
        status = gls_fail(GLS_ERR_INPUT, "%s: has %zu volume%s, but --peaks needs three for each vector", in,
                          GLS_VOLUMES(moving->n_volumes));
    if (status) {
        gls_image_destroy(moving);
        return status;
    }
    const bool labels =
        o->interpolation == INTERPOLATE_LABEL || (o->interpolation == INTERPOLATE_AUTO && gls_image_has_labels(moving));
    const gls_resampling how = labels                                                ? GLS_RESAMPLE_LABEL
                               : o->interpolation == INTERPOLATE_NEAREST || o->peaks ? GLS_RESAMPLE_NEAREST
                               : o->interpolation == INTERPOLATE_CUBIC               ? GLS_RESAMPLE_CUBIC
                                                                                     : GLS_RESAMPLE_LINEAR;
    if (labels && o->interpolation == INTERPOLATE_AUTO)
        gls_log(GLS_LOG_INFO, "%s: an image of labels: each voxel gets the label with the largest share", in);
    if (labels) status = check_labels(in, moving, o->fill);
    if (!status && labels && !gls_image_has_labels(moving))
        gls_log(GLS_LOG_WARNING, "%s: its values are at most 0 and 1: is it an image of labels?", in);
    const bool between = how == GLS_RESAMPLE_LINEAR || how == GLS_RESAMPLE_CUBIC;
    if (!status && how == GLS_RESAMPLE_CUBIC) status = check_finite(in, moving);
    if (!status && rounded && between) gls_image_warn_rounded(in);
    if (!status && rounded && !between) status = number_labels(in, moving, o->fill, &table, &last);
    if (!status)
        status =
            gls_image_resample(moving, transform, &grid, how, table ? (float)last : (float)o->fill, &made, &outside);
    gls_image_destroy(moving);
    if (!status && o->peaks) gls_image_turn_vectors(made, transform);
    if (!status && o->fod) status = gls_fod_turn(made, in, transform, (gls_modulation)o->modulate);
    const uint64_t voxels = gls_grid_voxels(&grid);
    if (!status && outside == voxels)
        status =
            gls_fail(GLS_ERR_INPUT,
                     "%s: the transform maps no voxel of the fixed grid into this image: is it one of these images, "
                     "and not its inverse?",
                     in);
    if (!status) status = write_image(run, o->output, made, labels || table, table);
    gls_image_destroy(made);
    free(table);
    if (status) return status;
    gls_tract_run_count(run, "voxels", voxels);
    gls_tract_run_count(run, "voxels_outside", outside);
    gls_tract_run_message(run, "%s: %" PRIu64 " of %" PRIu64 " voxels lie in the image", o->output, voxels - outside,
                          voxels);
    return GLS_OK;
}

/* --- The command. */

/* Kinds of inputs, one bit each. */
enum { IMAGE = 1, TRACKS = 2, TABLE_FSL = 4, TABLE_WORLD = 8, CHAIN = 16 };

static int kind_of(const char *in)
{
    if (strcmp(in, "compose") == 0) return CHAIN;
    if (gls_gradients_is_name(in)) return gls_case_ends(in, ".b") ? TABLE_WORLD : TABLE_FSL;
    return gls_image_is_name(in) ? IMAGE : TRACKS;
}

/* Refuses options that an input of this kind does not have. */
static gls_status check_options(const gls_transform_cli *o, const char *in, int kind)
{
    const struct {
        const char *name;
        bool given;
        int kinds;
    } rows[] = {{"template", o->template_image, IMAGE | TRACKS | TABLE_FSL | CHAIN},
                {"to", o->to, CHAIN},
                {"moving", o->moving, CHAIN | TABLE_FSL},
                {"interpolation", o->interpolation, IMAGE},
                {"peaks", o->peaks, IMAGE},
                {"fod", o->fod, IMAGE},
                {"modulate", o->modulate, IMAGE},
                {"fill", o->fill != 0, IMAGE},
                {"outside drop", o->outside == OUTSIDE_DROP, TRACKS},
                {"outside identity", o->outside == OUTSIDE_IDENTITY, IMAGE | TRACKS | CHAIN}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].given && !(rows[i].kinds & kind))
            return gls_fail(GLS_ERR_ARGUMENT, "--%s: has no effect on %s, %s: leave it out", rows[i].name, in,
                            kind == IMAGE         ? "an image"
                            : kind == TRACKS      ? "a tractogram"
                            : kind == TABLE_FSL   ? "a table of FSL"
                            : kind == TABLE_WORLD ? "a table along the scanner axes"
                                                  : "a chain in one file");
    return GLS_OK;
}

/* Adds all files that the options name to the run. */
static gls_status note_files(gls_tract_run *run, const gls_transform_cli *o, const char *in)
{
    gls_status status =
        gls_tract_run_reads_all(run, GLS_PATHS(in, o->template_image, o->moving, run->options.reference));
    if (!status) status = gls_chain_note(run, &o->transform);
    return status ? status : gls_tract_run_writes(run, o->output);
}

gls_status gls_tract_transform(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    const gls_transform_cli *o = options;
    gls_transform transform = {.n = 0};
    (void)n;
    if (!o->output) return gls_fail(GLS_ERR_ARGUMENT, "transform: needs --output FILE");
    if (o->transform.n == 0) return gls_fail(GLS_ERR_ARGUMENT, "transform: needs -t FILE, the transform");
    const int kind = kind_of(file[0]);
    gls_status status = check_options(o, file[0], kind);
    if (status) return status;
    if (o->peaks && o->fod)
        return gls_fail(GLS_ERR_ARGUMENT, "--peaks and --fod exclude each other: leave out one of them");
    if (o->peaks && o->interpolation > INTERPOLATE_NEAREST)
        return gls_fail(GLS_ERR_ARGUMENT, "--peaks: takes the vectors of the nearest voxel: leave out --interpolation");
    if (o->modulate && !o->fod) return gls_fail(GLS_ERR_ARGUMENT, "--modulate: needs --fod");
    status = note_files(run, o, kind == CHAIN ? NULL : file[0]);
    if (!status) status = gls_chain_read(run, &o->transform, &transform);
    transform.identity_outside = o->outside == OUTSIDE_IDENTITY;
    if (!status)
        status = kind == CHAIN    ? gls_transform_compose_chain(run, o, &transform)
                 : kind == IMAGE  ? transform_image(run, o, file[0], &transform)
                 : kind == TRACKS ? transform_tracks(run, o, file[0], &transform)
                                  : gls_transform_gradients(run, o, file[0], &transform);
    gls_transform_finish(&transform);
    return status;
}
