/* `glslines edit`: selects streamlines of one or more files, changes their points, and writes them. Builds the chain of
 * filters from the writer backwards. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/filters.h>
#include <glslines/select.h>

#include "image/grid.h"
#include "streamlines/filter_groups.h"
#include "tools/edge_sets.h"
#include "tools/edges.h"
#include "tools/matrix_file.h"
#include "tools/orient.h"
#include "tools/streamline_weights.h"
#include "tools/tract_sources.h"
#include "tools/writer.h"
#include "tools/tract_results.h"
#include "tools/chain.h"
#include "tracts/other_space.h"
#include "transform/field_meaning.h"
#include "util/json_text.h"
#include "util/maths.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text_tables.h"

/* values of --invalid and --like, in the order of their choices */
enum { INVALID_ERROR, INVALID_DROP, INVALID_CUT, INVALID_KEEP };
enum { LIKE_NONE, LIKE_MRTRIX, LIKE_DIPY };

/* State of `glslines edit`. */
typedef struct edit {
    gls_tract_run *run;
    const gls_edit_cli *o;
    gls_tract_sources sources;
    gls_tract_weights weights;
    /* the tests that the options ask for */
    gls_selection *selection;
    /* with indices and --invalid drop, cut or keep: the test of indices, which comes first; NULL: `selection` tests the
     * indices, if there are any */
    gls_selection *listed;
    /* regions of the tests */
    gls_select_region *region;
    /* indices of the streamlines that --ids and --connect select, in ascending order */
    uint64_t *id;
    uint64_t last_id; /* largest index of --ids */
    /* labels of --assignments */
    gls_tract_lists labels;
    gls_edge_sets edges; /* of --edges-to-groups */
    gls_image *warp;     /* image of --warp; NULL: none */
    /* sets of streamlines. seen: those that --unique has let pass; minus: those of --minus; both: those of --and */
    gls_line_set *seen, *minus, *both;
    gls_transform space; /* from the space of streamlines to that of the regions */
    /* --transform, or its inverse; world mm to world mm */
    double map[3][4];
    /* direction of --orient */
    gls_tract_orient orient;
    /* numbers of streamlines that each filter took and kept */
    gls_filter_counts valid, warped, unique, minus_counts, both_counts, number, random, written;
    /* number of streamlines that --orient flipped */
    uint64_t n_turned;
    /* true: --random was given */
    bool is_random;
    uint64_t largest; /* for --random: streamlines whose random key is at most this number are kept */
} edit;

/* Reads --warp, an image of three volumes: the world position to which each voxel is moved. */
static gls_status read_warp(edit *e)
{
    if (!e->o->warp) return GLS_OK;
    gls_status status = gls_image_read(e->o->warp, GLS_IMAGE_ANY, &e->warp);
    if (!status && e->warp->n_volumes != 3)
        status =
            gls_fail(GLS_ERR_INPUT,
                     "%s: has %zu volume%s, but a warp has three: x, y and z of the position to which a voxel goes",
                     e->o->warp, GLS_VOLUMES(e->warp->n_volumes));
    return status ? status : gls_field_require_positions(e->warp, e->o->warp);
}

/* Comparison for qsort(): numbers in ascending order. */
static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Reads --assignments. With --edges-to-groups, numbers the pairs of labels. With --connect, selects the streamlines
 * that join one of its pairs; if --ids is given, too, only streamlines that --ids lists. */
static gls_status read_pairs(edit *e, gls_select_options *options)
{
    const gls_edit_cli *o = e->o;
    uint64_t *joined = NULL;
    size_t n = 0, kept = 0;
    if (!o->assignments) return GLS_OK;
    const gls_edge_choice choice = {.kind = GLS_SETS_EDGES, .keep_self = true, .min_count = o->min_count};
    gls_status status = gls_tract_lists_read(&e->labels, o->assignments);
    if (!status && o->edges) status = gls_edge_sets_make(&e->labels, &choice, &e->edges);
    if (!status && e->edges.n > GLS_MAX_EDGES)
        status = gls_fail(GLS_ERR_UNSUPPORTED,
                          "--edges-to-groups: there are %zu pairs of labels, but at most %d groups can be written: "
                          "raise --min-count",
                          e->edges.n, GLS_MAX_EDGES);
    if (status || o->connect.n == 0) return status;
    status = gls_tract_lists_select(&e->labels, &o->connect, &joined, &n);
    /* joined[] and e->id[] are in ascending order */
    for (size_t i = 0, k = 0; i < n && !status; i++) {
        while (k < options->n_ids && e->id && e->id[k] < joined[i]) k++;
        if (!e->id || (k < options->n_ids && e->id[k] == joined[i])) joined[kept++] = joined[i];
    }
    free(e->id);
    options->id = e->id = joined;
    options->n_ids = kept;
    return status;
}

/* Reads --ids, whole numbers from 0 on, and sorts them. */
static gls_status read_ids(edit *e, gls_select_options *options)
{
    double *values = NULL;
    size_t rows, columns;
    if (!e->o->ids) return GLS_OK;
    gls_status status = gls_table_read(e->o->ids, &values, &rows, &columns);
    if (status) return status;
    size_t n = rows * columns;
    e->id = malloc(n * sizeof *e->id);
    if (!e->id) status = gls_fail(GLS_ERR_MEMORY, "%s: out of memory", e->o->ids);
    for (size_t i = 0; i < n && !status; i++) {
        /* doubles hold whole numbers exactly up to 2^53 */
        if (!(values[i] >= 0 && values[i] < 0x1p53 && values[i] == floor(values[i])))
            status = gls_fail(GLS_ERR_INPUT, "%s: entry %zu is no whole number from 0 on", e->o->ids, i + 1);
        else
            e->id[i] = (uint64_t)values[i];
    }
    free(values);
    if (status) return status;
    qsort(e->id, n, sizeof *e->id, by_value);
    e->last_id = n > 0 ? e->id[n - 1] : 0;
    options->id = e->id;
    options->n_ids = n;
    return GLS_OK;
}

/* Roles of regions in `glslines edit`. offset: where gls_edit_cli has the regions that options give this role. */
static const struct {
    gls_region_role role;
    size_t offset;
} roles[] = {
#define GLS_REGION_FILTER(symbol, field, ...) {symbol, offsetof(gls_edit_cli, field)},
#include <glslines/regions.def>
};
enum { N_ROLES = sizeof roles / sizeof *roles };

/* The regions that the options give for the role at index `role` of the table. */
static const gls_strings *regions_of(const gls_edit_cli *o, int role)
{
    return (const gls_strings *)((const char *)o + roles[role].offset);
}

/* Whether there is a region that streamlines must meet or avoid. */
static bool has_regions(const gls_edit_cli *o)
{
    int named = 0;
    for (int i = 0; i < N_ROLES; i++) named += regions_of(o, i)->n;
    return named > 0;
}

/* Whether there is a test that --inverse can invert. */
static bool has_tests(const gls_edit_cli *o)
{
    return has_regions(o) || o->group.n + o->not_group.n + o->connect.n > 0 || o->ids || o->min_points > 0 ||
           o->min_length > 0 || isfinite(o->max_length) || isfinite(o->min_weight) || isfinite(o->max_weight) ||
           isfinite(o->max_turn) || isfinite(o->max_winding);
}

/* Slack of tckedit at limits of length, mm: a tenth of the step in the header, or for downsampled files half the step
 * divided by the factor of downsampling; 0: the headers state no step, or different steps. */
static double tract_sources_length_slack(const gls_tract_sources *s)
{
    const double share = s->downsample_factor > 0 ? 0.5 / s->downsample_factor : 0.1;
    return s->step_size > 0 ? share * s->step_size : 0;
}

/* Makes the selection from all tests of the options. */
static gls_status create_selection(edit *e)
{
    const gls_edit_cli *o = e->o;
    gls_select_options options = gls_select_options_default();
    e->region = calloc((size_t)N_ROLES * GLS_MAX_STRINGS, sizeof *e->region);
    if (!e->region) return gls_no_memory();
    for (int i = 0; i < N_ROLES; i++)
        for (int k = 0; k < regions_of(o, i)->n; k++)
            e->region[options.n_regions++] = (gls_select_region){roles[i].role, regions_of(o, i)->value[k]};
    options.region = e->region;
    /* --like: tests look at points only, as tckedit and DIPY do */
    options.test = o->like ? GLS_ROI_TEST_VERTEX : (gls_roi_test)o->roi_test;
    options.either_way = o->either_way;
    options.distance = o->distance;
    const double slack = o->like == LIKE_MRTRIX ? tract_sources_length_slack(&e->sources) : 0;
    options.min_length = fmax(0, o->min_length - slack);
    options.max_length = o->max_length + slack;
    if (isfinite(o->min_weight) || isfinite(o->max_weight)) options.weights = e->weights.column;
    options.min_weight = o->min_weight;
    options.max_weight = o->max_weight;
    options.min_points = o->min_points;
    options.max_turn = o->max_turn;
    options.max_winding = o->max_winding;
    options.group = o->group.value;
    options.n_groups = (size_t)o->group.n;
    options.not_group = o->not_group.value;
    options.n_not_groups = (size_t)o->not_group.n;
    options.inverse = o->inverse && has_tests(o); /* without tests --inverse inverts only the crop */
    gls_status status = read_ids(e, &options);
    if (!status) status = read_pairs(e, &options);
    /* --invalid may drop streamlines before the tests, but indices count all streamlines of the file: select by index
     * first, in a selection of its own */
    if (!status && options.id && o->invalid != INVALID_ERROR) {
        gls_select_options places = gls_select_options_default();
        places.id = options.id;
        places.n_ids = options.n_ids;
        options.id = NULL;
        status = gls_selection_create(&places, &e->listed);
    }
    return status ? status : gls_selection_create_in(&options, &e->space, &e->selection);
}

/* Reads the streamlines of a file into a set. path NULL: nothing. */
static gls_status read_set(edit *e, const char *path, gls_line_set **set)
{
    gls_tractogram_reader *reader = NULL;
    if (!path) return GLS_OK;
    gls_status status =
        gls_line_set_create(e->o->precision, e->o->either_way ? GLS_LINES_EITHER_WAY : GLS_LINES_DIRECTED, set);
    if (!status) status = gls_tract_open(e->run, path, false, &reader);
    gls_sink sink = {0};
    if (!status) sink = gls_line_set_sink(*set);
    status = gls_tract_pump(e->run, reader, &sink, status);
    gls_tractogram_reader_close(reader);
    return status;
}

/* If `wanted`, replaces *sink by the filter that `call` makes, which passes on to `next`, the old *sink. Does nothing
 * after a failure. */
#define IN_FRONT(wanted, call)                    \
    do {                                          \
        const gls_sink next = *sink;              \
        if ((wanted) && !status) status = (call); \
    } while (0)

/* Adds the filters that change points of selected streamlines. */
static gls_status add_shapes(edit *e, gls_sink *sink)
{
    const gls_edit_cli *o = e->o;
    const bool mrtrix = o->like == LIKE_MRTRIX;
    gls_interpolation how = mrtrix ? GLS_INTERPOLATE_HERMITE : (gls_interpolation)o->interp;
    gls_crop_options cropping = gls_crop_options_default();
    cropping.test = mrtrix || o->crop_at ? GLS_ROI_TEST_VERTEX : GLS_ROI_TEST_SEGMENT;
    cropping.side = o->inverse ? GLS_CROP_OUTSIDE : GLS_CROP_INSIDE;
    cropping.pieces = (gls_crop_pieces)o->pieces;
    /* filters are added from the writer backwards: streamlines pass the last one of this list first */
    gls_status status = GLS_OK;
    IN_FRONT(true, gls_filter_valid_create(&e->written, &next, sink));
    IN_FRONT(o->compress > 0, gls_filter_compress_create(o->compress, o->max_segment, &next, sink));
    IN_FRONT(o->points > 0, gls_filter_points_create((uint32_t)o->points, how, &next, sink));
    IN_FRONT(o->step > 0 && !o->step_from, gls_filter_step_create(o->step, how, &next, sink));
    IN_FRONT(o->step > 0 && o->step_from, gls_filter_middle_step_create(o->step, how, &next, sink));
    IN_FRONT(o->upsample > 0, gls_filter_upsample_create((uint32_t)o->upsample, how, &next, sink));
    IN_FRONT(o->downsample > 0, gls_filter_downsample_create((uint32_t)o->downsample, &next, sink));
    IN_FRONT(o->endpoints, gls_filter_downsample_create(0, &next, sink));
    IN_FRONT(o->orient, gls_filter_orient_create(&e->orient.orientation, &e->n_turned, &next, sink));
    IN_FRONT(o->crop, gls_filter_crop_create_in(o->crop, &cropping, &e->space, &next, sink));
    return status;
}

/* Puts the filters that select streamlines in front of *sink. Each pass over the file calls this once and so gets a
 * new, empty set for --unique. */
static gls_status add_selection(edit *e, const gls_grid *grid, bool randomly, gls_sink *sink)
{
    const gls_edit_cli *o = e->o;
    /* numbered: --skip or --number is given, which count the streamlines that pass all tests, before --random */
    const bool numbered = o->skip > 0 || o->number > 0;
    gls_status status = GLS_OK;
    /* streamlines pass the filters below in the opposite order: the filter that is added last sees them first */
    IN_FRONT(randomly, gls_filter_random_create(o->seed, e->largest, &e->random, &next, sink));
    IN_FRONT(numbered,
             gls_filter_every_create(o->skip, 1, o->number > 0 ? o->number : UINT64_MAX, &e->number, &next, sink));
    gls_line_set_destroy(e->seen);
    e->seen = NULL;
    if (!status && o->unique)
        status = gls_line_set_create(o->precision, o->either_way ? GLS_LINES_EITHER_WAY : GLS_LINES_DIRECTED, &e->seen);
    IN_FRONT(o->unique, gls_filter_set_create(e->seen, GLS_KEEP_NEW, &e->unique, &next, sink));
    IN_FRONT(o->both, gls_filter_set_create(e->both, GLS_KEEP_MEMBERS, &e->both_counts, &next, sink));
    IN_FRONT(o->minus, gls_filter_set_create(e->minus, GLS_KEEP_OTHERS, &e->minus_counts, &next, sink));
    IN_FRONT(true, gls_selection_filter(e->selection, &next, sink));
    if (o->invalid == INVALID_DROP || o->invalid == INVALID_CUT)
        IN_FRONT(true, gls_filter_inside_create(grid, o->invalid == INVALID_DROP ? GLS_INSIDE_WHOLE : GLS_INSIDE_PART,
                                                &e->valid, &next, sink));
    else if (o->invalid == INVALID_KEEP)
        IN_FRONT(true, gls_filter_valid_create(&e->valid, &next, sink));
    IN_FRONT(o->warp && o->invalid == INVALID_ERROR, gls_filter_valid_create(&e->warped, &next, sink));
    /* streamlines get weights and groups, then pass --transform, --warp, the test of indices, and the filters above */
    IN_FRONT(e->listed, gls_selection_filter(e->listed, &next, sink));
    IN_FRONT(o->warp, gls_filter_warp_create(e->warp, &next, sink));
    IN_FRONT(o->transform, gls_filter_transform_create((const double(*)[4])e->map, &next, sink));
    if (!status && o->edges) status = gls_edge_sets_groups(&e->edges, o->assignments, sink);
    return status ? status
                  : gls_tract_weights_sink(&e->weights, gls_tract_sources_info(&e->sources), e->sources.path[0], sink);
}

/* Function `append` of a sink that counts streamlines. */
static gls_status count_only(void *user, const gls_streamlines *s)
{
    *(uint64_t *)user += s->n;
    return GLS_OK;
}

/* Parses --random "N" or "P%", and sets e->largest. For "N", a first pass counts the selected streamlines. */
static gls_status plan_random(edit *e, const gls_grid *grid)
{
    const char *text = e->o->random;
    size_t length = text ? strlen(text) : 0;
    uint64_t n = 0, total = 0;
    double percent;
    char number[64];
    if (!text) return GLS_OK;
    e->is_random = true;
    if (length > 1 && length < sizeof number && text[length - 1] == '%') {
        memcpy(number, text, length - 1);
        number[length - 1] = '\0';
        if (!gls_parse_double(number, &percent) || !(percent > 0 && percent <= 100))
            return gls_fail(GLS_ERR_ARGUMENT, "--random %s: must be more than 0 and at most 100 percent", text);
        /* a streamline is kept if its random key, of 64 bits, is not larger than this share of all keys */
        e->largest = percent < 100 ? (uint64_t)ldexp(percent / 100, 64) : UINT64_MAX;
        return GLS_OK;
    }
    if (!gls_parse_count(text, &n) || n == 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--random %s: must be a number of streamlines or percent, as in 1000 or 5%%",
                        text);
    /* a first pass through the selection counts what there is to choose from */
    gls_sink counter = {.append = count_only, .user = &total}, *sink = &counter;
    gls_status status = add_selection(e, grid, false, sink);
    status = gls_tract_sources_pump(&e->sources, sink, status);
    return status ? status : gls_random_largest(e->o->seed, total, n, &e->largest);
}

/* Writes counts to the sidecar, and checks what is known only at the end: points outside the warp, indices beyond the
 * last streamline, a wrong number of lines in --assignments, an empty result. */
static gls_status report(edit *e, const char *out)
{
    static const char *const tests[GLS_SELECT_N_TESTS] = {"id",     "group", "weight", "points",
                                                          "length", "shape", "region"};
    gls_tract_run *run = e->run;
    gls_select_counts c = gls_selection_get_counts(e->selection);
    uint64_t read = e->o->invalid == INVALID_ERROR ? c.taken : e->valid.taken;
    /* the selection by index comes before all tests and has seen all streamlines */
    if (e->listed) {
        const gls_select_counts listed = gls_selection_get_counts(e->listed);
        c.failed[GLS_SELECT_BY_ID] = listed.taken - listed.kept;
        read = listed.taken;
    }
    gls_tract_run_count(run, "read", read);
    if (e->o->invalid != INVALID_ERROR) gls_tract_run_count(run, "invalid", e->valid.taken - e->valid.kept);
    cJSON *failed = cJSON_AddObjectToObject(run->counts, "failed_by");
    for (int t = 0; t < GLS_SELECT_N_TESTS; t++) gls_json_uint(failed, tests[t], c.failed[t]);
    gls_tract_run_count(run, "selected", c.kept);
    if (e->o->unique) gls_tract_run_count(run, "repeated", e->unique.taken - e->unique.kept);
    if (e->o->orient) gls_tract_run_count(run, "turned_round", e->n_turned);
    gls_tract_run_count(run, "without_points", e->written.taken - e->written.kept);
    gls_tract_run_count(run, "written", e->written.kept);
    /* points that the warp does not cover are an error, unless --invalid says otherwise */
    if (e->warped.kept < e->warped.taken)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: %" PRIu64 " streamlines leave the warp or have no points: --invalid drop leaves them out, "
                        "--invalid cut keeps their longest parts inside",
                        e->o->warp, e->warped.taken - e->warped.kept);
    if (e->o->ids && e->last_id >= read)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: names streamline %" PRIu64 ", but there are only %" PRIu64 " streamlines, counted from 0",
                        e->o->ids, e->last_id, read);
    gls_status status =
        e->o->connect.n > 0 ? gls_line_labels_require(e->o->assignments, e->labels.n, read, true) : GLS_OK;
    if (status) return status;
    const char *far = gls_selection_far_region(e->selection), *graded = gls_selection_graded_region(e->selection);
    if (far) gls_log(GLS_LOG_WARNING, "%s: lies outside the box of all streamlines: is it in the same space?", far);
    if (graded) gls_log(GLS_LOG_WARNING, "%s: has values between 0 and 1, which count as inside", graded);
    if (e->o->fail_if_empty && e->written.kept == 0)
        return gls_fail(GLS_ERR_EMPTY, "%s: is not written, because no streamline is left (--fail-if-empty)", out);
    gls_tract_run_message(run, "%s: %" PRIu64 " streamlines of %" PRIu64, out, e->written.kept, read);
    return GLS_OK;
}

/* Checks combinations of options. */
static gls_status check(const gls_edit_cli *o)
{
    int shapes = (o->points > 0) + (o->step > 0) + (o->downsample > 0) + (o->upsample > 0) + o->endpoints;
    if (shapes > 1)
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "--points, --step-size, --downsample, --upsample and --endpoints exclude each other: give one of them");
    if ((isfinite(o->min_weight) || isfinite(o->max_weight)) && !o->weights)
        return gls_fail(GLS_ERR_ARGUMENT, "--min-weight and --max-weight need --weights");
    if (o->min_length > o->max_length)
        return gls_fail(GLS_ERR_ARGUMENT, "--min-length: %g mm is more than --max-length %g mm", o->min_length,
                        o->max_length);
    if ((o->connect.n > 0 || o->edges) != (o->assignments != NULL))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--assignments needs --connect or --edges-to-groups, and these need --assignments");
    if (o->step_from && !(o->step > 0)) return gls_fail(GLS_ERR_ARGUMENT, "--step-from: needs --step-size");
    if (o->inverse && !o->crop && !has_tests(o))
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "--inverse: there is nothing to invert: give a test, such as --include or --min-length, or --crop");
    if (o->inverse && (o->ids || o->connect.n > 0) && o->invalid != INVALID_ERROR)
        return gls_fail(GLS_ERR_ARGUMENT, "--inverse: not with --ids or --connect if --invalid drop, cut or keep is "
                                          "given: use --inverse in one run and --invalid in the next");
    if (o->invert && !o->transform) return gls_fail(GLS_ERR_ARGUMENT, "--invert: needs --transform");
    if (o->space.n > 0 && !o->crop && !has_regions(o))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--space-transform: there is no region to bring, such as of --include or --crop");
    return GLS_OK;
}

/* Adds all files that the command line names to the run. */
static gls_status note_files(edit *e, const char *const *file, size_t n)
{
    const gls_edit_cli *o = e->o;
    gls_tract_run *run = e->run;
    gls_status status = gls_tract_run_reads_all(run, file, n - 1);
    if (!status)
        status = gls_tract_run_reads_all(run, GLS_PATHS(run->options.reference, gls_tract_weights_file(o->weights),
                                                        o->ids, o->minus, o->both, o->transform, o->warp,
                                                        o->assignments, gls_tract_orient_file(o->orient), o->crop));
    for (int i = 0; i < N_ROLES && !status; i++)
        status = gls_tract_run_reads_all(run, regions_of(o, i)->value, (size_t)regions_of(o, i)->n);
    if (!status) status = gls_chain_note(run, &o->space);
    return status ? status : gls_tract_run_writes(run, file[n - 1]);
}

/* Builds the chain of filters in front of the writer, and sends all streamlines through it. */
static gls_status write(edit *e, const gls_grid *grid, const char *out)
{
    gls_sink sink = {0};
    /* "common" needs no filter: gls_tract_sources_open() has left out the columns that a file lacks */
    const bool common = e->o->fields && strcmp(e->o->fields, "common") == 0;
    gls_tract_output output = {.path = out,
                               .grid = grid,
                               .info = gls_tract_sources_lead(&e->sources),
                               .fields = common ? NULL : e->o->fields,
                               .half_precision = e->o->half,
                               /* values of groups have no meaning for several files */
                               .drops_group_data = common || e->sources.n > 1};
    if (output.drops_group_data && e->sources.has_group_data && output.info->n_dpg == 0)
        gls_tract_warn_no_group_data(out); /* the writer warns of those of `info` */
    if (e->weights.values) output.added[0] = e->weights.column;
    gls_status status = gls_tract_writer_create(e->run, &output, &sink);
    if (!status) status = add_shapes(e, &sink);
    if (!status) status = add_selection(e, grid, e->is_random, &sink);
    return gls_tract_sources_pump(&e->sources, &sink, status);
}

gls_status gls_tract_edit(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    edit e = {.run = run, .o = options};
    /* chosen: grid of the output; NULL: the format needs none, and no grid is known */
    const gls_edit_cli *o = options;
    gls_tractogram_format format;
    gls_grid grid;
    const gls_grid *chosen = NULL;
    /* files need not agree on columns that none of the output has */
    const bool common = o->fields && (strcmp(o->fields, "common") == 0 || strcmp(o->fields, "none") == 0);
    gls_status status = check(o);
    if (!status) status = gls_tractogram_format_parse(file[n - 1], &format);
    if (!status) status = note_files(&e, file, n);
    if (!status) status = gls_tract_weights_open(&e.weights, o->weights, run, file[0], false);
    if (!status)
        status = gls_tract_sources_open(&e.sources, run, file, n - 1, o->invalid != INVALID_ERROR, common,
                                        o->group_by_file, e.weights.values ? NULL : e.weights.column);
    if (!status &&
        (gls_tract_needs_grid(format) || run->options.reference || gls_tract_sources_info(&e.sources)->has_grid)) {
        status = gls_tract_grid_choose(run, file[0], gls_tract_sources_info(&e.sources), file[n - 1], &grid);
        chosen = &grid;
    }
    if (!status) status = e.o->transform ? gls_matrix_file_read(e.o->transform, e.o->invert, e.map) : GLS_OK;
    if (!status) status = read_warp(&e);
    if (!status) status = gls_chain_read(run, &o->space, &e.space);
    if (!status) status = gls_tract_orient_read(&e.orient, run, o->orient);
    if (!status) status = read_set(&e, o->minus, &e.minus);
    if (!status) status = read_set(&e, o->both, &e.both);
    /* --random may need a pass of its own before the one that writes */
    if (!status) status = create_selection(&e);
    if (!status) status = plan_random(&e, chosen);
    if (!status) status = write(&e, chosen, file[n - 1]);
    if (!status) status = report(&e, file[n - 1]);
    gls_selection_destroy(e.selection);
    gls_selection_destroy(e.listed);
    gls_tract_sources_close(&e.sources);
    gls_tract_weights_close(&e.weights);
    gls_line_set_destroy(e.seen);
    gls_line_set_destroy(e.minus);
    gls_line_set_destroy(e.both);
    free(e.region);
    free(e.id);
    gls_tract_lists_finish(&e.labels);
    gls_edge_sets_finish(&e.edges);
    gls_image_destroy(e.warp);
    gls_transform_finish(&e.space);
    gls_tract_orient_finish(&e.orient);
    return status;
}
