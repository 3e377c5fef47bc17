/* `glslines permute`: permutation tests of connectomes, or of vectors, of several subjects. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/tract_results.h"
#include "tracts/permutation.h"
#include "util/allocation.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

/* values of --type and --enhance, in the order of their choices */
enum { TYPE_EDGES, TYPE_VECTOR };
_Static_assert(GLS_ENHANCE_NONE == 0 && GLS_ENHANCE_TFNBS == 2, "the choices of --enhance");

/* Largest list of files, and largest file of a subject, bytes. */
#define MAX_LIST ((size_t)64 << 20)
#define MAX_FILE ((size_t)1 << 30)
/* Fewer distinct shuffles than this give a warning. */
#define FEW_SHUFFLES 20

/* A matrix of numbers. */
typedef struct numbers {
    double *value;
    size_t rows, columns;
} numbers;

/* The files of a hypothesis that have a number for each element, in the order in which they are written. */
typedef enum file_kind {
    STATISTIC,
    Z,
    ENHANCED,
    CORRECTED,
    UNCORRECTED,
    CONTRIBUTIONS,
    ABS_EFFECT,
    STD_EFFECT,
    N_KINDS
} file_kind;

/* The outputs of a hypothesis; all names are borrowed. */
typedef struct outputs {
    char name[32]; /* of the hypothesis, such as t1 */
    const char *file[N_KINDS];
    const char *null; /* file of the largest values; NULL: that of another hypothesis has them */
} outputs;

/* State of `glslines permute`. */
typedef struct permuting {
    gls_tract_run *run;
    const gls_permute_cli *o;
    const char *const *file; /* FILES, DESIGN, CONTRASTS */
    char *list;              /* text of FILES, in which the names lie */
    char **name;             /* of each subject */
    size_t n, capacity;
    size_t n_nodes, n_elements;
    int32_t (*edge)[2]; /* nodes of each element; NULL: vectors */
    double *y;          /* n x n_elements */
    numbers design, contrast, ftests;
    uint32_t *permutation; /* n x n_shuffles */
    size_t n_shuffles, n_distinct;
    gls_hypothesis *hypothesis;
    double **rows; /* rows of contrasts of each F-test */
    size_t n_hypotheses;
    gls_permutation_result *result; /* one for each hypothesis */
    gls_effects effects;
    outputs *output;      /* one for each hypothesis */
    const char **of_data; /* names of the files of the columns of the design, and of std_dev; borrowed */
} permuting;

/* --- Inputs. */

/* Reads a matrix of finite numbers. */
static gls_status read_numbers(permuting *p, const char *path, numbers *m)
{
    gls_status status = gls_tract_run_reads(p->run, path);
    if (!status) status = gls_table_read(path, &m->value, &m->rows, &m->columns);
    for (size_t i = 0; !status && i < m->rows * m->columns; i++)
        if (!isfinite(m->value[i]))
            status = gls_fail(GLS_ERR_INPUT, "%s: column %zu of row %zu is not finite: write a number", path,
                              i % m->columns + 1, i / m->columns + 1);
    return status;
}

/* Reads the names of the files of the subjects, which are relative to the folder of the list. */
static gls_status read_list(permuting *p)
{
    const char *path = p->file[0];
    const size_t folder = (size_t)(gls_file_name(path) - path);
    size_t bytes;
    gls_status status = gls_tract_run_reads(p->run, path);
    if (!status) status = gls_file_read_text(path, MAX_LIST, &p->list, &bytes);
    for (char *rest = p->list, *line; !status && (line = strsep(&rest, "\n"));) {
        line += strspn(line, " \t");
        for (size_t n = strlen(line); n > 0 && strchr(" \t\r", line[n - 1]); n--) line[n - 1] = '\0';
        if (!*line || *line == '#') continue;
        if (!gls_list_reserve(&p->name, p->n, &p->capacity, 64, sizeof *p->name)) return gls_no_memory();
        if (gls_asprintf(&p->name[p->n], "%.*s%s", *line == '/' ? 0 : (int)folder, path, line) < 0)
            return gls_no_memory();
        p->n++;
    }
    if (!status && p->n == 0) status = gls_fail(GLS_ERR_INPUT, "%s: names no file of a subject", path);
    return status;
}

/* Reads the numbers of a subject. A matrix may have names as a header line and a first column. */
static gls_status read_subject(const char *path, numbers *m)
{
    char *text = NULL;
    size_t bytes;
    gls_status status = gls_file_read_text(path, MAX_FILE, &text, &bytes);
    if (status) return status;
    const bool named = *text == '\t' || *text == ',';
    char *to = text;
    /* without the header line and the first column the names are gone */
    for (char *rest = text, *line; named && (line = strsep(&rest, "\n"));) {
        const size_t name = strcspn(line, "\t,");
        if (line == text || !line[name]) continue;
        const size_t n = strlen(line + name + 1);
        memmove(to, line + name + 1, n);
        to[n] = '\n';
        to += n + 1;
    }
    if (named) bytes = (size_t)(to - text), *to = '\0';
    status = gls_table_parse(path, text, bytes, &m->value, &m->rows, &m->columns);
    free(text);
    return status;
}

/* Checks that a connectome has no directions: below the diagonal 0, or the same as above. */
static gls_status check_matrix(const char *path, const numbers *m)
{
    bool zero = true, mirrored = true;
    if (m->rows != m->columns)
        return gls_fail(GLS_ERR_INPUT, "%s: has %zu rows and %zu columns, but a connectome is square: --type vector?",
                        path, m->rows, m->columns);
    for (size_t i = 0; i < m->rows; i++)
        for (size_t k = 0; k < i; k++) {
            const double below = m->value[i * m->columns + k], above = m->value[k * m->columns + i];
            zero = zero && below == 0;
            mirrored = mirrored && fabs(below - above) <= 1e-6 * fmax(fabs(below), fabs(above));
        }
    return zero || mirrored
               ? GLS_OK
               : gls_fail(GLS_ERR_INPUT, "%s: has directions: the values below the diagonal are others", path);
}

/* Prepares the measurements for the size of the first file. */
static gls_status make_elements(permuting *p, const numbers *m)
{
    const bool edges = p->o->type == TYPE_EDGES;
    p->n_nodes = edges ? m->rows : 0;
    p->n_elements = edges ? m->rows * (m->rows + 1) / 2 : m->rows * m->columns;
    p->y = malloc(p->n * p->n_elements * sizeof *p->y);
    p->edge = edges ? malloc(p->n_elements * sizeof *p->edge) : NULL;
    if (!p->y || (edges && !p->edge)) return gls_no_memory();
    for (size_t i = 0, e = 0; i < p->n_nodes; i++)
        for (size_t k = i; k < p->n_nodes; k++, e++) p->edge[e][0] = (int32_t)i, p->edge[e][1] = (int32_t)k;
    return GLS_OK;
}

/* Reads the files of all subjects. */
static gls_status read_subjects(permuting *p)
{
    gls_status status = GLS_OK;
    const bool edges = p->o->type == TYPE_EDGES;
    for (size_t s = 0; s < p->n && !status; s++) {
        const char *path = p->name[s];
        numbers m = {.value = NULL};
        status = gls_run_reads(&p->run->files, path);
        if (!status) status = read_subject(path, &m);
        if (!status && edges) status = check_matrix(path, &m);
        if (!status && s == 0) status = make_elements(p, &m);
        if (!status && (edges ? m.rows != p->n_nodes : m.rows * m.columns != p->n_elements))
            status =
                gls_fail(GLS_ERR_INPUT, "%s: has %zu x %zu numbers, unlike %s", path, m.rows, m.columns, p->name[0]);
        for (size_t e = 0; e < p->n_elements && !status; e++) {
            const double v = edges ? m.value[(size_t)p->edge[e][0] * m.columns + (size_t)p->edge[e][1]] : m.value[e];
            p->y[s * p->n_elements + e] = v;
            if (!isfinite(v))
                status = gls_fail(GLS_ERR_INPUT,
                                  "%s: has a value that is not finite: leave the subject out, or write 0", path);
        }
        free(m.value);
    }
    return status;
}

/* --- Hypotheses. */

/* Makes a t-test of each row of the contrasts, and the F-tests. */
static gls_status make_hypotheses(permuting *p)
{
    const size_t columns = p->design.columns, rows = p->contrast.rows, most = rows + p->ftests.rows;
    if (p->design.rows != p->n)
        return gls_fail(GLS_ERR_INPUT, "%s: has %zu rows, but %s names %zu subjects", p->file[1], p->design.rows,
                        p->file[0], p->n);
    if (p->contrast.columns != columns)
        return gls_fail(GLS_ERR_INPUT, "%s: has %zu columns, but the design has %zu", p->file[2], p->contrast.columns,
                        columns);
    if (p->ftests.rows > 0 && p->ftests.columns != rows)
        return gls_fail(GLS_ERR_INPUT, "%s: has %zu columns, but there are %zu contrasts", p->o->ftests,
                        p->ftests.columns, rows);
    p->hypothesis = calloc(most + 1, sizeof *p->hypothesis);
    p->rows = calloc(most + 1, sizeof *p->rows);
    p->result = calloc(most + 1, sizeof *p->result);
    if (!p->hypothesis || !p->rows || !p->result) return gls_no_memory();
    for (size_t r = 0; r < rows && !p->o->fonly; r++)
        p->hypothesis[p->n_hypotheses++] = (gls_hypothesis){p->contrast.value + r * columns, 1, false};
    for (size_t f = 0; f < p->ftests.rows; f++) {
        gls_hypothesis *h = &p->hypothesis[p->n_hypotheses];
        double *own = p->rows[p->n_hypotheses++] = malloc(rows * columns * sizeof *own);
        if (!own) return gls_no_memory();
        *h = (gls_hypothesis){own, 0, true};
        for (size_t r = 0; r < rows; r++) {
            const double use = p->ftests.value[f * rows + r];
            if (use != 0 && use != 1)
                return gls_fail(GLS_ERR_INPUT, "%s: has the number %g, but F-tests have 0 and 1", p->o->ftests, use);
            if (use == 1) memcpy(own + h->n_rows++ * columns, p->contrast.value + r * columns, columns * sizeof *own);
        }
        if (h->n_rows == 0) return gls_fail(GLS_ERR_INPUT, "%s: row %zu has no contrast", p->o->ftests, f + 1);
    }
    return GLS_OK;
}

/* --- Shuffles. */

/* Reads --permutations. */
static gls_status read_permutations(permuting *p)
{
    const char *path = p->o->permutations;
    numbers m = {.value = NULL};
    gls_status status = read_numbers(p, path, &m);
    if (!status && m.rows != p->n)
        status = gls_fail(GLS_ERR_INPUT, "%s: has %zu rows, but there are %zu subjects", path, m.rows, p->n);
    p->n_shuffles = m.columns;
    if (!status && !(p->permutation = malloc(p->n * m.columns * sizeof *p->permutation))) status = gls_no_memory();
    double base = INFINITY;
    for (size_t i = 0; i < p->n && !status; i++) base = fmin(base, m.value[i * m.columns]);
    for (size_t k = 0; k < m.columns && !status; k++) {
        uint8_t *seen = calloc(p->n, 1);
        bool good = seen != NULL;
        for (size_t i = 0; i < p->n && good; i++) {
            const double v = m.value[i * m.columns + k] - base;
            good = v >= 0 && v < (double)p->n && v == floor(v) && !seen[(size_t)v]++;
            if (good) p->permutation[i * m.columns + k] = (uint32_t)v;
        }
        if (!good)
            status = gls_fail(GLS_ERR_INPUT, "%s: column %zu has not each of %zu subjects once", path, k + 1, p->n);
        free(seen);
    }
    if (!status && base != 0 && base != 1)
        status = gls_fail(GLS_ERR_INPUT, "%s: subjects are counted from %g, but must be from 0 or 1", path, base);
    free(m.value);
    return status;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Counts the distinct shuffles, and warns if they are few. */
static gls_status count_shuffles(permuting *p)
{
    uint64_t *hash = malloc((p->n_shuffles + 1) * sizeof *hash);
    uint32_t *column = malloc(p->n * sizeof *column);
    for (size_t k = 0; hash && column && k < p->n_shuffles; k++) {
        for (size_t i = 0; i < p->n; i++) column[i] = p->permutation[i * p->n_shuffles + k];
        hash[k] = gls_hash(column, p->n * sizeof *column);
    }
    const bool good = hash && column;
    if (good) qsort(hash, p->n_shuffles, sizeof *hash, by_number);
    for (size_t k = 0; good && k < p->n_shuffles; k++) p->n_distinct += k == 0 || hash[k] != hash[k - 1];
    free(hash);
    free(column);
    if (good && p->n_distinct < FEW_SHUFFLES)
        gls_log(GLS_LOG_WARNING, "only %zu shuffles differ: no p-value can be below %.3g", p->n_distinct,
                1 / (double)p->n_distinct);
    return good ? GLS_OK : gls_no_memory();
}

static gls_status make_shuffles(permuting *p)
{
    if (p->o->notest) return GLS_OK;
    if (p->o->permutations) {
        gls_status status = read_permutations(p);
        return status ? status : count_shuffles(p);
    }
    p->n_shuffles = (size_t)p->o->nshuffles;
    p->permutation = malloc(p->n * p->n_shuffles * sizeof *p->permutation);
    if (!p->permutation) return gls_no_memory();
    gls_permutations_draw(p->o->seed, p->n, p->n_shuffles, p->permutation);
    return count_shuffles(p);
}

/* --- Outputs. */

/* Adds the output PREFIX_WHAT[_NAME].END, and checks that it can be written. */
static gls_status add_output(permuting *p, const char *what, const char *name, const char *end, const char **path)
{
    char suffix[96];
    snprintf(suffix, sizeof suffix, "_%s%s%s.%s", what, *name ? "_" : "", name, end);
    gls_status status = gls_run_writes_named(&p->run->files, p->o->output, suffix, path);
    if (!status) gls_tract_run_lists_output(p->run, *path);
    return status;
}

/* Adds the outputs of one hypothesis. */
static gls_status add_outputs(permuting *p, const gls_hypothesis *h, outputs *out, bool first)
{
    const gls_permute_cli *o = p->o;
    const char *const what[N_KINDS] = {[STATISTIC] = h->is_f ? "Fvalue" : "tvalue",
                                       [Z] = "Zstat",
                                       [ENHANCED] = o->enhance ? "enhanced" : NULL,
                                       [CORRECTED] = o->notest ? NULL : "fwe_1mpvalue",
                                       [UNCORRECTED] = o->notest ? NULL : "uncorrected_pvalue",
                                       [CONTRIBUTIONS] = o->notest ? NULL : "null_contributions",
                                       [ABS_EFFECT] = h->is_f ? NULL : "abs_effect",
                                       [STD_EFFECT] = h->is_f ? NULL : "std_effect"};
    gls_status status = GLS_OK;
    for (int k = 0; k < N_KINDS && !status; k++)
        if (what[k]) status = add_output(p, what[k], out->name, "csv", &out->file[k]);
    /* with --strong all hypotheses have one distribution */
    if (!status && !o->notest && (first || !o->strong))
        status = add_output(p, "null_dist", o->strong ? "" : out->name, "txt", &out->null);
    return status;
}

/* Names and checks all outputs, before the test takes its time. */
static gls_status plan(permuting *p)
{
    const size_t columns = p->design.columns;
    size_t n[2] = {0, 0}; /* t-tests, F-tests */
    p->output = calloc(p->n_hypotheses + 1, sizeof *p->output);
    p->of_data = calloc(columns + 1, sizeof *p->of_data);
    gls_status status = p->output && p->of_data ? GLS_OK : gls_no_memory();
    for (size_t k = 0; k <= columns && !status; k++) {
        char name[32] = "";
        if (k < columns) snprintf(name, sizeof name, "%zu", k);
        status = add_output(p, k < columns ? "beta" : "std_dev", name, "csv", &p->of_data[k]);
    }
    for (size_t h = 0; h < p->n_hypotheses && !status; h++) {
        const bool is_f = p->hypothesis[h].is_f;
        snprintf(p->output[h].name, sizeof p->output[h].name, "%c%zu", is_f ? 'F' : 't', ++n[is_f]);
        status = add_outputs(p, &p->hypothesis[h], &p->output[h], h == 0);
    }
    return status ? status : gls_run_writes_sidecar(&p->run->files, p->o->output, ".json");
}

/* Writes a number for each element: a square matrix of edges, or a line each. */
static gls_status write_values(permuting *p, const char *path, const double *value)
{
    gls_tract_text text;
    gls_status status = gls_tract_text_open(p->run, path, &text);
    if (status) return status;
    for (size_t i = 0; i < p->n_nodes; i++) {
        for (size_t k = 0; k < p->n_nodes; k++) {
            const size_t a = i < k ? i : k, b = i < k ? k : i, e = a * p->n_nodes - a * (a + 1) / 2 + b;
            gls_tract_text_number(&text, value[e]);
        }
        gls_tract_text_end_row(&text);
    }
    for (size_t e = 0; e < p->n_elements && p->n_nodes == 0; e++) {
        gls_tract_text_number(&text, value[e]);
        gls_tract_text_end_row(&text);
    }
    return gls_tract_text_close(&text, GLS_OK);
}

/* Writes the largest values of the shuffles. */
static gls_status write_null(permuting *p, const char *path, const gls_permutation_result *r)
{
    gls_tract_text text;
    gls_status status = gls_tract_text_open(p->run, path, &text);
    if (status) return status;
    for (size_t k = 0; k < p->n_shuffles; k++) {
        gls_tract_text_number(&text, r->null_max[k]);
        gls_tract_text_end_row(&text);
    }
    return gls_tract_text_close(&text, GLS_OK);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Share of the sorted null distribution up to a value, 0 for a value of 0 or below. */
static double corrected(const double *sorted, size_t n, double value)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (sorted[middle] <= value)
            low = middle + 1;
        else
            high = middle;
    }
    return value > 0 ? (double)low / (double)n : 0;
}

/* Sets value[] to what a file of hypothesis h holds. sorted: its sorted null distribution. */
static void fill(const permuting *p, size_t h, file_kind kind, const double *sorted, double *value)
{
    const gls_permutation_result *r = &p->result[h];
    for (size_t e = 0; e < p->n_elements; e++) {
        const double deviation = p->effects.deviation[e] > 0 ? p->effects.deviation[e] : p->effects.noise[e];
        double effect = 0;
        for (size_t k = 0; k < p->design.columns && kind >= ABS_EFFECT; k++)
            effect += p->hypothesis[h].contrast[k] * p->effects.beta[k * p->n_elements + e];
        value[e] = kind == STATISTIC       ? r->statistic[e]
                   : kind == Z             ? r->z[e]
                   : kind == ENHANCED      ? r->enhanced[e]
                   : kind == CORRECTED     ? corrected(sorted, p->n_shuffles, r->enhanced[e])
                   : kind == UNCORRECTED   ? (double)r->below[e] / (double)p->n_shuffles
                   : kind == CONTRIBUTIONS ? (double)r->contributions[e]
                   : kind == ABS_EFFECT    ? effect
                   : r->statistic[e] != 0  ? effect / deviation
                                           : 0;
    }
}

/* Writes the files of one hypothesis, and counts the elements with a corrected p-value below 0.05, which is never below
 * the share of one shuffle. */
static gls_status write_hypothesis(permuting *p, size_t h, size_t *n_found)
{
    const outputs *out = &p->output[h];
    double *value = malloc(p->n_elements * sizeof *value), *sorted = malloc((p->n_shuffles + 1) * sizeof *sorted);
    gls_status status = value && sorted ? GLS_OK : gls_no_memory();
    *n_found = 0;
    if (!status && !p->o->notest) {
        memcpy(sorted, p->result[h].null_max, p->n_shuffles * sizeof *sorted);
        qsort(sorted, p->n_shuffles, sizeof *sorted, by_value);
    }
    for (int k = 0; k < N_KINDS && !status; k++) {
        if (!out->file[k]) continue;
        fill(p, h, (file_kind)k, sorted, value);
        status = write_values(p, out->file[k], value);
        for (size_t e = 0; e < p->n_elements && k == CORRECTED && p->n_distinct > FEW_SHUFFLES; e++)
            *n_found += value[e] > 0.95;
    }
    if (!status && out->null) status = write_null(p, out->null, &p->result[h]);
    free(value);
    free(sorted);
    return status;
}

/* --- The command. */

/* Tests all hypotheses. */
static gls_status test(permuting *p)
{
    const gls_enhancer enhancer = {.kind = (gls_enhancement)p->o->enhance,
                                   .edge = (const int32_t(*)[2])p->edge,
                                   .n_nodes = p->n_nodes,
                                   .threshold = p->o->threshold,
                                   .dh = p->o->dh,
                                   .extent = p->o->extent,
                                   .height = p->o->height};
    gls_progress progress = {.phase = GLS_PHASE_TEST, .total = p->n_hypotheses * p->n_shuffles};
    gls_status status = GLS_OK;
    gls_monitor_begin(p->run->monitor, GLS_PHASE_TEST);
    for (size_t h = 0; h < p->n_hypotheses && !status; h++) {
        gls_linear_model model;
        status = gls_linear_model_init(&model, p->y, p->n, p->n_elements, p->design.value, p->design.columns,
                                       &p->hypothesis[h]);
        if (!status)
            status = gls_permutation_run(&model, &enhancer, p->permutation, p->n_shuffles, p->run->monitor, &progress,
                                         &p->result[h]);
        gls_linear_model_finish(&model);
    }
    gls_monitor_end(p->run->monitor, GLS_PHASE_TEST);
    /* --strong: the largest value of a shuffle is that of all hypotheses */
    for (size_t k = 0; k < p->n_shuffles && p->o->strong && !status; k++) {
        double largest = -INFINITY;
        for (size_t h = 0; h < p->n_hypotheses; h++) largest = fmax(largest, p->result[h].null_max[k]);
        for (size_t h = 0; h < p->n_hypotheses; h++) p->result[h].null_max[k] = largest;
    }
    if (!status) status = gls_effects_find(&p->effects, p->y, p->n, p->n_elements, p->design.value, p->design.columns);
    return status;
}

/* Writes all files, and a line of the sidecar for each hypothesis. */
static gls_status write_all(permuting *p)
{
    cJSON *list = cJSON_AddArrayToObject(p->run->root, "hypotheses");
    const size_t columns = p->design.columns;
    gls_status status = GLS_OK;
    size_t all = 0;
    for (size_t k = 0; k <= columns && !status; k++)
        status =
            write_values(p, p->of_data[k], k < columns ? p->effects.beta + k * p->n_elements : p->effects.deviation);
    for (size_t h = 0; h < p->n_hypotheses && !status; h++) {
        size_t found;
        status = write_hypothesis(p, h, &found);
        cJSON *own = cJSON_CreateObject();
        cJSON_AddItemToArray(list, own);
        cJSON_AddStringToObject(own, "name", p->output[h].name);
        if (!p->o->notest) cJSON_AddNumberToObject(own, "corrected_p_below_0.05", (double)found);
        all += found;
    }
    gls_tract_run_count(p->run, "subjects", p->n);
    gls_tract_run_count(p->run, "elements", p->n_elements);
    gls_tract_run_count(p->run, "shuffles", p->n_shuffles);
    gls_tract_run_message(p->run, "%s: %zu subjects, %zu %s, %zu hypotheses, %zu with a corrected p below 0.05",
                          p->o->output, p->n, p->n_elements, p->edge ? "edges" : "elements", p->n_hypotheses, all);
    return status;
}

static gls_status check(const gls_permute_cli *o)
{
    if (!o->output) return gls_fail(GLS_ERR_ARGUMENT, "permute: needs --output PREFIX");
    if (o->enhance && o->type != TYPE_EDGES)
        return gls_fail(GLS_ERR_ARGUMENT, "--enhance: nbs and tfnbs need --type edges");
    if ((o->enhance == GLS_ENHANCE_NBS) != (o->threshold > 0))
        return gls_fail(GLS_ERR_ARGUMENT, "--enhance nbs and --threshold, which is above 0, need each other");
    if (o->fonly && !o->ftests) return gls_fail(GLS_ERR_ARGUMENT, "--fonly: needs --ftests");
    return GLS_OK;
}

gls_status gls_tract_permute(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    const gls_permute_cli *o = options;
    permuting p = {.run = run, .o = o, .file = file};
    (void)n;
    gls_status status = check(o);
    if (!status) status = read_list(&p);
    if (!status) status = read_numbers(&p, file[1], &p.design);
    if (!status) status = read_numbers(&p, file[2], &p.contrast);
    if (!status && o->ftests) status = read_numbers(&p, o->ftests, &p.ftests);
    if (!status) status = make_hypotheses(&p);
    if (!status) status = plan(&p);
    if (!status) status = make_shuffles(&p);
    if (!status) status = read_subjects(&p);
    if (!status) status = test(&p);
    if (!status) status = write_all(&p);
    for (size_t h = 0; h < p.n_hypotheses; h++) {
        gls_permutation_result_finish(&p.result[h]);
        free(p.rows[h]);
    }
    for (size_t s = 0; s < p.n; s++) free(p.name[s]);
    free(p.name);
    free(p.list);
    free(p.edge);
    free(p.y);
    free(p.design.value);
    free(p.contrast.value);
    free(p.ftests.value);
    free(p.permutation);
    free(p.hypothesis);
    free(p.rows);
    free(p.result);
    free(p.output);
    free(p.of_data);
    gls_effects_finish(&p.effects);
    return status;
}
