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
    size_t n_shuffles;
    gls_hypothesis *hypothesis;
    double **rows; /* rows of contrasts of each F-test */
    size_t n_hypotheses;
    gls_permutation_result *result; /* one for each hypothesis */
} permuting;

/* --- Inputs. */

static gls_status read_numbers(permuting *p, const char *path, numbers *m)
{
    gls_status status = gls_tract_run_reads(p->run, path);
    return status ? status : gls_table_read(path, &m->value, &m->rows, &m->columns);
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

/* Warns of few distinct shuffles. */
static gls_status count_shuffles(const permuting *p)
{
    uint64_t *hash = malloc((p->n_shuffles + 1) * sizeof *hash);
    uint32_t *column = malloc(p->n * sizeof *column);
    size_t distinct = 0;
    for (size_t k = 0; hash && column && k < p->n_shuffles; k++) {
        for (size_t i = 0; i < p->n; i++) column[i] = p->permutation[i * p->n_shuffles + k];
        hash[k] = gls_hash(column, p->n * sizeof *column);
    }
    const bool good = hash && column;
    if (good) qsort(hash, p->n_shuffles, sizeof *hash, by_number);
    for (size_t k = 0; good && k < p->n_shuffles; k++) distinct += k == 0 || hash[k] != hash[k - 1];
    free(hash);
    free(column);
    if (good && distinct < FEW_SHUFFLES)
        gls_log(GLS_LOG_WARNING, "only %zu shuffles differ: no p-value can be below %.3g", distinct,
                1 / (double)distinct);
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

/* Writes a number for each element: a square matrix of edges, or a line each. */
static gls_status write_values(permuting *p, const char *what, const double *value)
{
    gls_tract_text text;
    const char *path;
    char suffix[96];
    snprintf(suffix, sizeof suffix, "_%s.csv", what);
    gls_status status = gls_run_writes_named(&p->run->files, p->o->output, suffix, &path);
    if (status) return status;
    gls_tract_run_lists_output(p->run, path);
    status = gls_tract_text_open(p->run, path, &text);
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
static gls_status write_null(permuting *p, const char *name, const gls_permutation_result *r)
{
    gls_tract_text text;
    const char *path;
    char suffix[96];
    snprintf(suffix, sizeof suffix, "_null_dist%s%s.txt", *name ? "_" : "", name);
    gls_status status = gls_run_writes_named(&p->run->files, p->o->output, suffix, &path);
    if (!status) gls_tract_run_lists_output(p->run, path);
    if (!status) status = gls_tract_text_open(p->run, path, &text);
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

/* Writes the files of one hypothesis, and counts the elements with a corrected p-value below 0.05. */
static gls_status write_hypothesis(permuting *p, const char *name, const gls_permutation_result *r, bool is_f,
                                   const double *null, size_t n_null, size_t *n_found)
{
    const struct {
        const char *what;
        const double *value;
        bool tested;
    } file[] = {{is_f ? "Fvalue" : "tvalue", r->statistic, false},
                {"Zstat", r->z, false},
                {"enhanced", p->o->enhance ? r->enhanced : NULL, false}};
    char what[64];
    double *value = malloc(p->n_elements * sizeof *value), *sorted = malloc((n_null + 1) * sizeof *sorted);
    gls_status status = value && sorted ? GLS_OK : gls_no_memory();
    for (size_t k = 0; k < sizeof file / sizeof *file && !status; k++) {
        snprintf(what, sizeof what, "%s_%s", file[k].what, name);
        if (file[k].value) status = write_values(p, what, file[k].value);
    }
    *n_found = 0;
    if (!status && !p->o->notest) {
        memcpy(sorted, null, n_null * sizeof *sorted);
        qsort(sorted, n_null, sizeof *sorted, by_value);
        for (size_t e = 0; e < p->n_elements; e++) {
            value[e] = corrected(sorted, n_null, r->enhanced[e]);
            *n_found += value[e] > 0.95;
        }
        snprintf(what, sizeof what, "fwe_1mpvalue_%s", name);
        status = write_values(p, what, value);
        for (size_t e = 0; e < p->n_elements; e++) value[e] = (double)r->below[e] / (double)p->n_shuffles;
        snprintf(what, sizeof what, "uncorrected_pvalue_%s", name);
        if (!status) status = write_values(p, what, value);
        for (size_t e = 0; e < p->n_elements; e++) value[e] = (double)r->contributions[e];
        snprintf(what, sizeof what, "null_contributions_%s", name);
        if (!status) status = write_values(p, what, value);
    }
    free(value);
    free(sorted);
    return status;
}

/* Writes coefficients, effects and deviations of the data. */
static gls_status write_effects(permuting *p)
{
    gls_effects f;
    char what[64];
    const size_t columns = p->design.columns;
    double *value = malloc(p->n_elements * sizeof *value);
    gls_status status =
        value ? gls_effects_find(&f, p->y, p->n, p->n_elements, p->design.value, columns) : gls_no_memory();
    if (!value) return status;
    for (size_t k = 0; k < columns && !status; k++) {
        snprintf(what, sizeof what, "beta_%zu", k);
        status = write_values(p, what, f.beta + k * p->n_elements);
    }
    if (!status) status = write_values(p, "std_dev", f.deviation);
    for (size_t h = 0; h < p->n_hypotheses && !status; h++) {
        if (p->hypothesis[h].is_f) continue;
        for (size_t e = 0; e < p->n_elements; e++) {
            value[e] = 0;
            for (size_t k = 0; k < columns; k++)
                value[e] += p->hypothesis[h].contrast[k] * f.beta[k * p->n_elements + e];
        }
        snprintf(what, sizeof what, "abs_effect_t%zu", h + 1);
        status = write_values(p, what, value);
        for (size_t e = 0; e < p->n_elements; e++) value[e] = f.deviation[e] > 0 ? value[e] / f.deviation[e] : 0;
        snprintf(what, sizeof what, "std_effect_t%zu", h + 1);
        if (!status) status = write_values(p, what, value);
    }
    gls_effects_finish(&f);
    free(value);
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
    gls_status status = GLS_OK;
    for (size_t h = 0; h < p->n_hypotheses && !status; h++) {
        gls_linear_model model;
        status = gls_linear_model_init(&model, p->y, p->n, p->n_elements, p->design.value, p->design.columns,
                                       &p->hypothesis[h]);
        if (!status) status = gls_permutation_run(&model, &enhancer, p->permutation, p->n_shuffles, &p->result[h]);
        gls_linear_model_finish(&model);
        if (!status && p->run->go_on && !p->run->go_on(NULL, 0)) status = gls_fail(GLS_ERR_CANCELLED, "interrupted");
    }
    /* --strong: the largest value of a shuffle is that of all hypotheses */
    for (size_t k = 0; k < p->n_shuffles && p->o->strong && !status; k++) {
        double largest = -INFINITY;
        for (size_t h = 0; h < p->n_hypotheses; h++) largest = fmax(largest, p->result[h].null_max[k]);
        for (size_t h = 0; h < p->n_hypotheses; h++) p->result[h].null_max[k] = largest;
    }
    return status;
}

/* Writes all files, and a line of the sidecar for each hypothesis. */
static gls_status write_all(permuting *p)
{
    cJSON *list = cJSON_AddArrayToObject(p->run->root, "hypotheses");
    gls_status status = write_effects(p);
    size_t t = 0, f = 0, all = 0;
    for (size_t h = 0; h < p->n_hypotheses && !status; h++) {
        const bool is_f = p->hypothesis[h].is_f;
        char name[32];
        size_t found;
        snprintf(name, sizeof name, "%c%zu", is_f ? 'F' : 't', is_f ? ++f : ++t);
        status = write_hypothesis(p, name, &p->result[h], is_f, p->result[h].null_max, p->n_shuffles, &found);
        /* with --strong all hypotheses have one distribution */
        if (!status && !p->o->notest && (!p->o->strong || h == 0))
            status = write_null(p, p->o->strong ? "" : name, &p->result[h]);
        cJSON *own = cJSON_CreateObject();
        cJSON_AddItemToArray(list, own);
        cJSON_AddStringToObject(own, "name", name);
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
    return status;
}
