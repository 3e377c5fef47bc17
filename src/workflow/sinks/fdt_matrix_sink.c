/* track --fdt-matrix1, --fdt-matrix2 and --fdt-matrix3: probtrackx2's sparse matrices of the voxels that streamlines
 * meet, and the files that say which voxel each row and column is. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "image/formats.h"
#include "util/file.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"
#include "workflow/job.h"
#include "workflow/sinks/fdt.h"

/* --- Voxels of a mask, numbered from 0, x fastest; and sparse sums. */

/* The voxels that are rows, or columns, of a matrix. */
typedef struct locations {
    /* grid of the mask, for the files that name voxels */
    gls_grid grid;
    /* lookup of points in this grid */
    gls_fdt_grid at;
    uint32_t *number; /* number of each voxel, from 1; 0: not in the mask */
    /* number of voxels in the mask */
    uint32_t n;
} locations;

/* Numbers the voxels of a mask from 1, x fastest; 0 are voxels outside it. */
static gls_status number_voxels(const gls_image *mask, const char *name, locations *l)
{
    const size_t n = gls_grid_voxels(&mask->grid);
    l->grid = mask->grid;
    gls_fdt_grid_init(&l->at, &mask->grid);
    l->number = calloc(n, sizeof *l->number);
    if (!l->number) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory for its voxels", name);
    for (size_t v = 0; v < n; v++)
        if (mask->data[v] > 0) l->number[v] = ++l->n;
    return l->n > 0 ? GLS_OK : gls_fail(GLS_ERR_INPUT, "%s: has no voxel above 0", name);
}

/* Number, from 1, of the mask voxel in which a point lies; 0: the point is not in the mask. */
static uint32_t location_of(const locations *l, const float point[3])
{
    const int64_t voxel = gls_fdt_voxel(&l->at, point);
    return voxel < 0 ? 0 : l->number[voxel];
}

/* A cell of the hash table. */
typedef struct cell {
    uint64_t key; /* column in the upper half, row in the lower, both from 1; 0: free */
    double value;
} cell;

/* A sparse matrix: a hash table with open addressing, at most half full. */
typedef struct sparse {
    size_t n, slots; /* slots: a power of two */
    cell *cell;
} sparse;

/* The cell of a key, or the free cell where the key belongs. The table must have a free cell. Fibonacci hashing: 2^64
 * divided by the golden ratio spreads neighbouring keys. */
static cell *find(const sparse *m, uint64_t key)
{
    size_t at = (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (m->slots - 1);
    while (m->cell[at].key && m->cell[at].key != key) at = (at + 1) & (m->slots - 1);
    return &m->cell[at];
}

/* Doubles the hash table. Returns false if memory ran out. */
static bool grow(sparse *m)
{
    sparse larger = {m->n, m->slots ? 2 * m->slots : 1024, NULL};
    larger.cell = calloc(larger.slots, sizeof *larger.cell);
    if (!larger.cell) return false;
    for (size_t i = 0; i < m->slots; i++)
        if (m->cell[i].key) *find(&larger, m->cell[i].key) = m->cell[i];
    free(m->cell);
    *m = larger;
    return true;
}

/* Adds to a cell of the matrix. Returns false if memory ran out. */
static bool add(sparse *m, uint32_t row, uint32_t column, double value)
{
    if (2 * (m->n + 1) > m->slots && !grow(m)) return false;
    cell *c = find(m, (uint64_t)column << 32 | row);
    m->n += c->key == 0;
    c->key = (uint64_t)column << 32 | row;
    c->value += value;
    return true;
}

/* --- The matrices. */

/* State of a matrix sink. */
typedef struct matrix_state {
    locations seeds, target; /* target: of matrices 2 and 3 */
    const gls_fdt_rois *rois;
    /* the matrix so far */
    sparse sum;
    /* --distance-correction: lengths in mm in place of counts */
    bool by_length;
    /* step size, mm */
    double step;
    /* State of the streamline that is being counted, number `line`. met: the n_met voxels that it has met. For each
     * voxel: last: number of the last streamline that met it; length: its distance along that streamline, mm. */
    uint32_t *met, n_met;
    uint64_t *last, line;
    double *length;
} matrix_state;

/* Text of the option of this matrix; NULL: not wanted. */
static const char *text_of(const gls_sink_kind *kind, const gls_job_options *o)
{
    return kind == &gls_fdt_matrix1_kind   ? o->fdt_matrix1
           : kind == &gls_fdt_matrix2_kind ? o->fdt_matrix2
                                           : o->fdt_matrix3;
}

/* Notes that the streamline meets a voxel at this length. Of several lengths for a voxel the smallest is kept. */
static void note(matrix_state *t, uint32_t location, double length)
{
    if (t->last[location] != t->line) {
        t->last[location] = t->line;
        t->length[location] = length;
        t->met[t->n_met++] = location;
    } else if (length < t->length[location]) {
        t->length[location] = length;
    }
}

/* Matrix 1: adds to the row of the seed voxel and the column of each other seed voxel that the streamline meets. As in
 * probtrackx2, the length of point k is k - 1 steps; that of the first point is 1 in the first half, a step in the
 * second. */
static bool add_seeds(matrix_state *t, const gls_fdt_half half[2])
{
    const uint32_t own = location_of(&t->seeds, *half[0].seed);
    for (int h = 0; h < 2; h++)
        for (size_t k = 1; k < half[h].n; k++) {
            const uint32_t location = location_of(&t->seeds, gls_fdt_point(&half[h], k));
            if (location > 0 && location != own)
                note(t, location, k > 1 ? (double)(k - 1) * t->step : h == 0 ? 1.0 : t->step);
        }
    /* a seed outside the mask has no row */
    bool added = true;
    for (uint32_t i = 0; i < t->n_met && own > 0 && added; i++)
        added = add(&t->sum, own, t->met[i], t->by_length ? t->length[t->met[i]] : 1);
    return added;
}

/* Matrix 2: adds to the row of the seed voxel and the column of each target voxel that the streamline meets. As
 * probtrackx2 does, the length is the step size times the number of target voxels that this half has met so far. */
static bool add_targets(matrix_state *t, const gls_fdt_half half[2])
{
    const uint32_t own = location_of(&t->seeds, *half[0].seed);
    bool added = true;
    for (int h = 0; h < 2 && own > 0; h++) {
        double length = t->step;
        for (size_t k = 0; k < half[h].n && added; k++) {
            const uint32_t location = location_of(&t->target, gls_fdt_point(&half[h], k));
            /* each target counts once for a streamline, over both halves */
            if (location == 0 || t->last[location] == t->line) continue;
            note(t, location, length);
            added = add(&t->sum, own, location, t->by_length ? length : 1);
            length += t->step;
        }
    }
    return added;
}

/* For qsort(): numbers in ascending order. */
static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Matrix 3: adds to each pair of target voxels that the streamline meets, without its seed point. Lengths along the
 * second half are negative, so that differences are distances along the streamline; for a voxel that is met several
 * times, the smallest length counts. */
static bool add_pairs(matrix_state *t, const gls_fdt_half half[2])
{
    bool added = true;
    for (int h = 0; h < 2; h++)
        for (size_t k = 1; k < half[h].n; k++) {
            const uint32_t location = location_of(&t->target, gls_fdt_point(&half[h], k));
            if (location > 0) note(t, location, (h == 0 ? 1 : -1) * (double)k * t->step);
        }
    /* by rising number, so that the pair is in the upper triangle */
    qsort(t->met, t->n_met, sizeof *t->met, by_number);
    for (uint32_t i = 0; i < t->n_met && added; i++)
        for (uint32_t k = i + 1; k < t->n_met && added; k++) {
            const double between = t->length[t->met[i]] - t->length[t->met[k]];
            added = add(&t->sum, t->met[i], t->met[k], !t->by_length ? 1 : between < 0 ? -between : between);
        }
    return added;
}

/* Takes --fdt-matrix1 FILE, or --fdt-matrix2 and 3 MASK:FILE. */
static gls_status take_matrix(gls_run_sink *sink, gls_job *job)
{
    const char *text = text_of(sink->kind, &job->options);
    if (!text) return GLS_OK;
    sink->wanted = true;
    gls_status status = gls_fdt_check(sink, job);
    if (status) return status;
    return sink->kind == &gls_fdt_matrix1_kind ? gls_sink_writes(sink, job, text)
                                               : gls_sink_takes_pair(sink, job, text, "MASK:FILE");
}

/* Counts a block of streamlines, half by half; each() adds one streamline to its matrix. */
static gls_status append(void *user, const gls_streamlines *s, bool (*each)(matrix_state *, const gls_fdt_half[2]))
{
    matrix_state *t = user;
    for (size_t i = 0; i < s->n; i++) {
        gls_fdt_half half[2];
        t->line++;
        t->n_met = 0;
        if (gls_fdt_halves(s, i, t->rois, half) && !each(t, half))
            return gls_fail(GLS_ERR_MEMORY, "out of memory for a matrix of %zu values", t->sum.n);
    }
    return GLS_OK;
}

/* Function `append` of the sink of matrix 1. */
static gls_status append1(void *user, const gls_streamlines *s)
{
    return append(user, s, add_seeds);
}

/* Function `append` of the sink of matrix 2. */
static gls_status append2(void *user, const gls_streamlines *s)
{
    return append(user, s, add_targets);
}

/* Function `append` of the sink of matrix 3. */
static gls_status append3(void *user, const gls_streamlines *s)
{
    return append(user, s, add_pairs);
}

/* Numbers the voxels of the seed mask and of the target, which become rows and columns. */
static gls_status number_all(gls_run_sink *sink, const gls_job *job)
{
    matrix_state *t = sink->state;
    gls_image *target = NULL;
    char name[64];
    gls_status status = GLS_OK;
    if (sink->kind != &gls_fdt_matrix3_kind) {
        if (!job->inputs.roi)
            return gls_fail(GLS_ERR_ARGUMENT, "--%s: needs a seed mask: give --roi FILE", gls_sink_option(sink, name));
        status = number_voxels(job->inputs.roi, "the seed mask", &t->seeds);
    }
    if (!status && sink->n_inputs > 0) status = gls_image_read(sink->input[0], GLS_IMAGE_3D, &target);
    if (!status && target) status = number_voxels(target, sink->input[0], &t->target);
    gls_image_destroy(target);
    return status;
}

/* Numbers the voxels of rows and columns, and makes room for the state of a streamline. */
static gls_status open_matrix(gls_run_sink *sink, gls_job *job, gls_sink *tractogram, gls_sink *own)
{
    matrix_state *t = sink->state;
    (void)tractogram;
    gls_status status = number_all(sink, job);
    if (status) return status;
    /* met, last and length have an element for each number, from 1 */
    const size_t n = (size_t)(t->target.n > 0 ? t->target.n : t->seeds.n) + 1;
    t->rois = gls_fdt_find_rois(job);
    t->by_length = job->options.distance_correction;
    t->step = job->params.step_size;
    t->met = calloc(n, sizeof *t->met);
    t->last = calloc(n, sizeof *t->last);
    t->length = calloc(n, sizeof *t->length);
    if (!t->met || !t->last || !t->length) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", sink->output);
    own->user = t;
    own->append = sink->kind == &gls_fdt_matrix1_kind   ? append1
                  : sink->kind == &gls_fdt_matrix2_kind ? append2
                                                        : append3;
    return GLS_OK;
}

/* For qsort(): cells by column, then by row. */
static int by_key(const void *a, const void *b)
{
    const uint64_t x = ((const cell *)a)->key, y = ((const cell *)b)->key;
    return (x > y) - (x < y);
}

/* Writes the values that are not 0, column by column, then the size. Empties the matrix. */
static gls_status write_matrix(gls_run_sink *sink, gls_job *job)
{
    matrix_state *t = sink->state;
    const bool third = sink->kind == &gls_fdt_matrix3_kind, first = sink->kind == &gls_fdt_matrix1_kind;
    gls_text text = {0};
    size_t n = 0;
    /* the cells of the table move to its start, which empties it */
    for (size_t i = 0; i < t->sum.slots; i++)
        if (t->sum.cell[i].key) t->sum.cell[n++] = t->sum.cell[i];
    if (n > 0) qsort(t->sum.cell, n, sizeof *t->sum.cell, by_key);
    for (size_t i = 0; i < n; i++)
        if (t->sum.cell[i].value != 0)
            gls_text_printf(&text, "%u  %u  %.10g\n", (unsigned)t->sum.cell[i].key,
                            (unsigned)(t->sum.cell[i].key >> 32), t->sum.cell[i].value);
    t->sum.n = t->sum.slots = 0;
    /* the last line has the size with the value 0, from which readers of .dot files make a matrix */
    gls_text_printf(&text, "%u  %u  0\n", third ? t->target.n : t->seeds.n, first ? t->seeds.n : t->target.n);
    return gls_text_write(&text, sink->output, job->run.force, &job->run.group, GLS_OK);
}

/* Frees the state; calloc() set members that were never made to NULL. */
static void finish_matrix(gls_run_sink *sink)
{
    matrix_state *t = sink->state;
    free(t->seeds.number);
    free(t->target.number);
    free(t->sum.cell);
    free(t->met);
    free(t->last);
    free(t->length);
}

#define MATRIX_KIND(name)                                                  \
    const gls_sink_kind gls_##name##_kind = {.role = #name,                \
                                             .size = sizeof(matrix_state), \
                                             .take = take_matrix,          \
                                             .open = open_matrix,          \
                                             .write = write_matrix,        \
                                             .finish = finish_matrix}
MATRIX_KIND(fdt_matrix1);
MATRIX_KIND(fdt_matrix2);
MATRIX_KIND(fdt_matrix3);

/* --- Files beside a matrix, in its folder. Their names are a word and the name of the matrix without .dot. */

/* The matrix beside which a file lies. */
static const gls_sink_kind *matrix_of(const gls_sink_kind *kind)
{
    return kind == &gls_fdt_coords1_kind   ? &gls_fdt_matrix1_kind
           : kind == &gls_fdt_coords3_kind ? &gls_fdt_matrix3_kind
                                           : &gls_fdt_matrix2_kind;
}

/* Names the files beside a matrix as probtrackx2 does: coords_for_fdt_matrix1, tract_space_coords_for_... and
 * lookup_tractspace_... in the same folder. */
static gls_status take_beside(gls_run_sink *sink, gls_job *job)
{
    const bool lookup = sink->kind == &gls_fdt_lookup2_kind;
    const char *word = lookup                                 ? "lookup_tractspace_"
                       : sink->kind == &gls_fdt_columns2_kind ? "tract_space_coords_for_"
                                                              : "coords_for_";
    const gls_run_sink *matrix = gls_sink_find(job, matrix_of(sink->kind));
    /* without the matrix there is no file beside it */
    if (!matrix) return GLS_OK;
    const char *name = gls_file_name(matrix->output);
    const size_t length = strlen(name), n = length > 4 && strcmp(name + length - 4, ".dot") == 0 ? length - 4 : length;
    gls_text text = {0};
    gls_text_append(&text, matrix->output, (size_t)(name - matrix->output));
    gls_text_puts(&text, word);
    gls_text_append(&text, name, n);
    if (lookup) gls_text_puts(&text, ".nii.gz");
    sink->wanted = true;
    sink->output = gls_text_take(&text);
    return sink->output ? GLS_OK : gls_no_memory();
}

/* Writes a line for each voxel of the rows, or of the columns: x, y, z, 1, and its number counted from 0. */
static gls_status write_coords(gls_run_sink *sink, gls_job *job)
{
    const matrix_state *t = gls_sink_find(job, matrix_of(sink->kind))->state;
    const bool rows = sink->kind == &gls_fdt_coords1_kind || sink->kind == &gls_fdt_coords2_kind;
    const locations *l = rows ? &t->seeds : &t->target;
    const int32_t *dim = l->grid.dim;
    const size_t n = gls_grid_voxels(&l->grid);
    gls_text text = {0};
    for (size_t v = 0; v < n; v++)
        if (l->number[v] > 0)
            gls_text_printf(&text, "%zu  %zu  %zu  1  %u\n", v % (size_t)dim[0], v / (size_t)dim[0] % (size_t)dim[1],
                            v / ((size_t)dim[0] * (size_t)dim[1]), l->number[v] - 1);
    return gls_text_write(&text, sink->output, job->run.force, &job->run.group, GLS_OK);
}

/* Writes an image whose voxels hold the number of their column, counted from 1. */
static gls_status write_lookup(gls_run_sink *sink, gls_job *job)
{
    const matrix_state *t = gls_sink_find(job, &gls_fdt_matrix2_kind)->state;
    return gls_nifti_write(sink->output, job->run.force, &job->run.group, &t->target.grid, "columns", 1,
                           GLS_TYPE_UINT32, t->target.number);
}

#define BESIDE_KIND(name, writer) \
    const gls_sink_kind gls_##name##_kind = {.role = #name, .size = 1, .take = take_beside, .write = writer}
BESIDE_KIND(fdt_coords1, write_coords);
BESIDE_KIND(fdt_coords2, write_coords);
BESIDE_KIND(fdt_coords3, write_coords);
BESIDE_KIND(fdt_columns2, write_coords);
BESIDE_KIND(fdt_lookup2, write_lookup);
