/* track --connectome LABELS:FILE: for each pair of labels, the number of streamlines that join them, or with --weights
 * the sum of their weights. Each time that the option is given has a sink of its own. */
#include <cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "record/sidecar.h"
#include "sinks/sink_files.h"
#include "sinks/sinks.h"
#include "sinks/weights_sink.h"
#include "tracts/connectome_matrix.h"
#include "tracts/matrix_rows.h"
#include "transform/bring.h"
#include "util/json_text.h"
#include "util/status.h"
#include "weights/weight_files.h"

/* State of --connectome. */
typedef struct matrix_state {
    /* the matrix so far */
    gls_connectome *connectome;
    gls_matrix_rows rows; /* rows by --labels and --lut, and their names */
    bool header;          /* value of --header */
    /* With --weights: the regions of the ends of each streamline, kept because weights are known only after the last
     * streamline. n: number of streamlines; capacity: number of pairs for which memory is allocated. */
    int32_t (*pair)[2];
    size_t n, capacity;
} matrix_state;

/* Which of the options --connectome a sink is for, counted from 0. */
static int number_of(const gls_run_sink *sink)
{
    return (int)(sink->kind - gls_connectome_kinds);
}

static gls_status take(gls_run_sink *sink, gls_run_sinks *sinks)
{
    const gls_job_options *o = sinks->options;
    matrix_state *s = sink->state;
    const char *alone = o->labels ? "labels" : o->lut ? "lut" : o->header ? "header" : NULL;
    const int k = number_of(sink), most = sizeof gls_connectome_kinds / sizeof(gls_sink_kind);
    if (o->connectome.n == 0 && alone) return gls_fail(GLS_ERR_ARGUMENT, "--%s: needs --connectome", alone);
    if (o->connectome.n > most)
        return gls_fail(GLS_ERR_ARGUMENT, "--connectome: is given %d times, but at most %d times is possible",
                        o->connectome.n, most);
    if (k >= o->connectome.n) return GLS_OK;
    gls_status status = gls_sink_adds_up(sink, sinks);
    if (status) return status;
    if (o->lut && o->labels != GLS_LABELS_LUT && !o->header)
        return gls_fail(GLS_ERR_ARGUMENT, "--lut: needs --labels lut, --header, or both");
    s->rows.labels = o->labels;
    s->header = o->header;
    status = gls_sink_takes_pair(sink, sinks, o->connectome.value[k], "LABELS:FILE");
    if (status || !o->lut) return status;
    char *path = gls_text_copy(o->lut);
    if (!path) return gls_no_memory();
    sink->input[sink->n_inputs++] = path;
    return GLS_OK;
}

/* Keeps the regions of the ends of streamlines until their weights are known. */
static gls_status keep_pairs(void *user, const gls_streamlines *streamlines)
{
    matrix_state *s = user;
    const size_t n = s->n + streamlines->n;
    if (n > s->capacity) {
        int32_t(*pair)[2] = realloc(s->pair, 2 * n * sizeof *pair);
        if (!pair) return gls_fail(GLS_ERR_MEMORY, "out of memory for the ends of %zu streamlines", n);
        s->pair = pair;
        s->capacity = 2 * n;
    }
    gls_status status = gls_connectome_find_pairs(s->connectome, streamlines, s->pair + s->n);
    if (!status) s->n = n;
    return status;
}

/* Reads the table and the labels, and makes the matrix. */
static gls_status prepare(gls_run_sink *sink, gls_run_sinks *sinks)
{
    gls_labels *labels = NULL;
    gls_connectome_options options = gls_connectome_options_default();
    if (sinks->options->weights) options.weights = GLS_DPS_WEIGHTS;
    matrix_state *s = sink->state;
    gls_status status = gls_matrix_rows_read(&s->rows, s->rows.labels, sink->input[1]);
    if (!status) gls_matrix_rows_choose(&s->rows, &options);
    if (!status) status = gls_labels_read(sink->input[0], &labels);
    if (!status) status = gls_labels_bring(&labels, sinks->transform, sink->input[0]);
    if (!status) status = gls_connectome_create(labels, sink->input[0], &options, &s->connectome);
    gls_labels_destroy(labels);
    return status;
}

/* Streamlines are added to the matrix as they arrive, or with --weights by complete(). */
static gls_status open_matrix(gls_run_sink *sink, gls_run_sinks *sinks, gls_sink *tractogram, gls_sink *own)
{
    matrix_state *s = sink->state;
    (void)tractogram;
    *own = sinks->options->weights ? (gls_sink){.append = keep_pairs, .user = s} : gls_connectome_sink(s->connectome);
    return GLS_OK;
}

/* Whether streamlines are assigned to regions by more than their end points. */
static bool needs_points(const gls_run_sink *sink, const gls_grid *tracked)
{
    (void)tracked;
    return gls_connectome_needs_points(((const matrix_state *)sink->state)->connectome);
}

/* With --weights: adds each streamline to the matrix with its weight. */
static gls_status complete(gls_run_sink *sink, gls_run_sinks *sinks, gls_tractogram_writer *writer)
{
    matrix_state *s = sink->state;
    gls_run_sink *weights = gls_sink_find(sinks, gls_weights_kinds);
    const float *weight = NULL;
    uint64_t n = 0;
    (void)writer;
    if (!weights) return GLS_OK;
    gls_status status = gls_weights_sink_solve(weights, sinks, &weight, &n);
    if (status) return status;
    GLS_REQUIRE(n == s->n);
    return gls_connectome_add_pairs(s->connectome, (const int32_t(*)[2])s->pair, weight, s->n);
}

static gls_status write_matrix(gls_run_sink *sink, gls_run_sinks *sinks)
{
    matrix_state *s = sink->state;
    gls_status status = s->header ? gls_matrix_rows_name(&s->rows, s->connectome) : GLS_OK;
    if (status) return status;
    return gls_connectome_write_grouped(s->connectome, sink->output, sinks->run->force, &sinks->run->group,
                                        (const char *const *)s->rows.name, "nan");
}

/* Adds the image of labels, of the first matrix also the table, to the inputs in the sidecar, unless a file can no
 * longer be read. */
static void describe(const gls_run_sink *sink, cJSON *root)
{
    const int k = number_of(sink);
    char labels[32] = "labels";
    if (k > 0) snprintf(labels, sizeof labels, "labels_%d", k + 1);
    const char *const role[] = {labels, "lut"};
    for (size_t i = 0; i < (k > 0 ? 1 : sink->n_inputs); i++) {
        gls_input_file file = {.role = role[i], .path = sink->input[i]};
        if (!gls_input_file_check(&file) && !gls_input_file_hash(&file))
            gls_sidecar_add_file(gls_json_at(root, "inputs"), &file);
    }
}

/* Hash of --labels and --header, 0 for the defaults. */
static uint64_t choice(const gls_run_sink *sink)
{
    const matrix_state *s = sink->state;
    return (uint64_t)s->rows.labels << 1 | s->header;
}

static void finish(gls_run_sink *sink)
{
    matrix_state *s = sink->state;
    gls_connectome_destroy(s->connectome);
    gls_matrix_rows_finish(&s->rows);
    free(s->pair);
}

/* clang-format off */
#define KIND {.role = "connectome", .size = sizeof(matrix_state), .writes_text = true, .take = take, \
              .prepare = prepare, .open = open_matrix, .needs_points = needs_points, .complete = complete, \
              .write = write_matrix, .describe = describe, .choice = choice, .finish = finish}
#define FOUR_KINDS KIND, KIND, KIND, KIND
const gls_sink_kind gls_connectome_kinds[] = {FOUR_KINDS, FOUR_KINDS, FOUR_KINDS, FOUR_KINDS};
/* clang-format on */
