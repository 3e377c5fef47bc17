/* track --fdt-matrix1, --fdt-matrix2 and --fdt-matrix3: probtrackx2's sparse matrices of the voxels that streamlines
 * meet, and the files that say which voxel each row and column is. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "image/image_write.h"
#include "sinks/fdt.h"
#include "sinks/fdt_network_sink.h"
#include "sinks/sink_files.h"
#include "sinks/sinks.h"
#include "util/file.h"
#include "util/status.h"
#include "util/text.h"

/* --- A sparse matrix. */

/* A cell of the hash table. */
typedef struct cell {
    uint64_t key; /* column in the upper 32 bits, row in the lower 32 bits, both counted from 1; 0: free */
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

/* Doubles the hash table; the first one has 1024 cells. Returns false if memory ran out. */
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

/* The numbered voxels that the current streamline has met. met: the numbers of these n_met voxels. last and length are
 * indexed by the number of a voxel. last: number of the last streamline that met the voxel; length: distance along that
 * streamline from its seed to the voxel, mm, see add_seeds(), add_targets() and add_pairs(). */
typedef struct meetings {
    gls_fdt_numbering numbering;
    uint32_t *met, n_met;
    uint64_t *last;
    double *length;
} meetings;

/* State of a matrix sink. seeds: rows and columns of matrix 1, rows of matrix 2; target: columns of matrix 2, rows and
 * columns of matrix 3; columns: with --fdt-lrtarget3 the columns of matrix 3, else empty. line: number of the current
 * streamline, from 1. */
typedef struct matrix_state {
    meetings seeds, target, columns;
    const gls_fdt_numbering *rois;
    sparse sum;
    /* --distance-correction: sum lengths in mm, not counts */
    bool by_length;
    /* step size, mm */
    double step;
    uint64_t line;
} matrix_state;

/* The kinds of this file, in the order of gls_fdt_matrix_kinds: each matrix, then the files beside it. */
enum { MATRIX1, COORDS1, MATRIX2, COORDS2, COLUMNS2, LOOKUP2, MATRIX3, COORDS3, COLUMNS3 };

static int kind_of(const gls_run_sink *sink)
{
    return (int)(sink->kind - gls_fdt_matrix_kinds);
}

/* The matrix that a sink makes, or to which its file belongs. */
static int matrix_of(const gls_run_sink *sink)
{
    return kind_of(sink) >= MATRIX3 ? MATRIX3 : kind_of(sink) >= MATRIX2 ? MATRIX2 : MATRIX1;
}

/* Notes that streamline `line` meets the voxel with the number `place` at `length` mm, which may be negative. Where a
 * streamline meets a voxel several times, keeps the smallest length. */
static void note(meetings *m, uint64_t line, uint32_t place, double length)
{
    if (m->last[place] != line) {
        m->last[place] = line;
        m->length[place] = length;
        m->met[m->n_met++] = place;
    } else if (length < m->length[place]) {
        m->length[place] = length;
    }
}

/* Matrix 1: adds to the row of the seed voxel and the column of each other seed voxel that the streamline meets. As in
 * probtrackx2, the length at point k > 1 (the seed is point 0) is k - 1 steps; at point 1 it is 1 mm in the first
 * half-streamline, one step in the second. */
static bool add_seeds(matrix_state *t, const gls_fdt_half half[2])
{
    meetings *m = &t->seeds;
    const uint32_t own = gls_fdt_number_at(&m->numbering, *half[0].seed);
    for (int h = 0; h < 2; h++)
        for (size_t k = 1; k < half[h].n; k++) {
            const uint32_t place = gls_fdt_number_at(&m->numbering, gls_fdt_point(&half[h], k));
            if (place > 0 && place != own)
                note(m, t->line, place, k > 1 ? (double)(k - 1) * t->step : h == 0 ? 1.0 : t->step);
        }
    /* a seed outside the mask has no row */
    bool added = true;
    for (uint32_t i = 0; i < m->n_met && own > 0 && added; i++)
        added = add(&t->sum, own, m->met[i], t->by_length ? m->length[m->met[i]] : 1);
    return added;
}

/* Matrix 2: adds to the row of the seed voxel and the column of each target voxel that the streamline meets. As in
 * probtrackx2, the length at the n-th target voxel that a half-streamline adds is n times the step size. */
static bool add_targets(matrix_state *t, const gls_fdt_half half[2])
{
    meetings *m = &t->target;
    const uint32_t own = gls_fdt_number_at(&t->seeds.numbering, *half[0].seed);
    bool added = true;
    for (int h = 0; h < 2 && own > 0; h++) {
        double length = t->step;
        for (size_t k = 0; k < half[h].n && added; k++) {
            const uint32_t place = gls_fdt_number_at(&m->numbering, gls_fdt_point(&half[h], k));
            if (place == 0 || m->last[place] == t->line) continue;
            note(m, t->line, place, length);
            added = add(&t->sum, own, place, t->by_length ? length : 1);
            length += t->step;
        }
    }
    return added;
}

/* Comparison for qsort(): numbers in ascending order. */
static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Matrix 3: adds to each pair of target voxels that the streamline meets; with --fdt-lrtarget3, to each pair of a
 * target voxel and a voxel of that mask. The seed point does not count. Lengths along the second half-streamline are
 * negative, so that differences are distances along the streamline. If a voxel is met several times, its smallest
 * length counts; among negative lengths that is the one farthest from the seed. */
static bool add_pairs(matrix_state *t, const gls_fdt_half half[2])
{
    const bool two = t->columns.numbering.n > 0;
    meetings *set[2] = {&t->target, &t->columns};
    for (int h = 0; h < 2; h++)
        for (size_t k = 1; k < half[h].n; k++)
            for (int which = 0; which <= two; which++) {
                const uint32_t place = gls_fdt_number_at(&set[which]->numbering, gls_fdt_point(&half[h], k));
                if (place > 0) note(set[which], t->line, place, (h == 0 ? 1 : -1) * (double)k * t->step);
            }
    const meetings *row = set[0], *column = set[two];
    qsort(row->met, row->n_met, sizeof *row->met, by_number);
    bool added = true;
    for (uint32_t i = 0; i < row->n_met && added; i++)
        for (uint32_t k = two ? 0 : i + 1; k < column->n_met && added; k++) {
            const double between = row->length[row->met[i]] - column->length[column->met[k]];
            added = add(&t->sum, row->met[i], column->met[k], !t->by_length ? 1 : between < 0 ? -between : between);
        }
    return added;
}

/* Takes --fdt-matrix1 FILE, --fdt-matrix2 MASK:FILE, or --fdt-matrix3 MASK:FILE with --fdt-lrtarget3. */
static gls_status take_matrix(gls_run_sink *sink, gls_run_sinks *sinks)
{
    const gls_job_options *o = sinks->options;
    const int kind = kind_of(sink);
    const char *text = kind == MATRIX1 ? o->fdt_matrix1 : kind == MATRIX2 ? o->fdt_matrix2 : o->fdt_matrix3;
    if (!text && kind == MATRIX3 && o->fdt_lrtarget3)
        return gls_fail(GLS_ERR_ARGUMENT, "--fdt-lrtarget3: needs --fdt-matrix3, of which FILE sets the columns");
    if (!text) return GLS_OK;
    sink->wanted = true;
    gls_status status = gls_fdt_check(sink, sinks, false);
    if (status) return status;
    if (kind == MATRIX1) return gls_sink_writes(sink, sinks, text);
    status = gls_sink_takes_pair(sink, sinks, text, "MASK:FILE");
    const char *columns = kind == MATRIX3 ? o->fdt_lrtarget3 : NULL;
    return !status && columns ? gls_sink_reads(sink, columns, strlen(columns)) : status;
}

/* Adds a block of streamlines to the matrix: calls each() for every streamline that counts. */
static gls_status append(void *user, const gls_streamlines *s, bool (*each)(matrix_state *, const gls_fdt_half[2]))
{
    matrix_state *t = user;
    for (size_t i = 0; i < s->n; i++) {
        gls_fdt_half half[2];
        t->line++;
        t->seeds.n_met = t->target.n_met = t->columns.n_met = 0;
        if (gls_fdt_halves(s, i, t->rois, half) && !each(t, half))
            return gls_fail(GLS_ERR_MEMORY, "out of memory for a matrix of %zu values", t->sum.n);
    }
    return GLS_OK;
}

static gls_status append1(void *user, const gls_streamlines *s)
{
    return append(user, s, add_seeds);
}

static gls_status append2(void *user, const gls_streamlines *s)
{
    return append(user, s, add_targets);
}

static gls_status append3(void *user, const gls_streamlines *s)
{
    return append(user, s, add_pairs);
}

/* Allocates memory for the voxels that a streamline meets. */
static gls_status make_room(const gls_run_sink *sink, meetings *m)
{
    const size_t n = (size_t)m->numbering.n + 1;
    m->met = calloc(n, sizeof *m->met);
    m->last = calloc(n, sizeof *m->last);
    m->length = calloc(n, sizeof *m->length);
    return m->met && m->last && m->length ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "%s: out of memory", sink->output);
}

/* Numbers the voxels of the masks that options name. */
static gls_status prepare(gls_run_sink *sink, gls_run_sinks *sinks)
{
    matrix_state *t = sink->state;
    meetings *const named[] = {&t->target, &t->columns};
    gls_status status = GLS_OK;
    for (size_t i = 0; i < sink->n_inputs && !status; i++)
        status = gls_fdt_numbering_of_mask(sink, sinks, sink->input[i], &named[i]->numbering);
    return status;
}

/* Numbers the voxels of the seed mask, which matrix 3 does not use, and allocates memory for the voxels that a
 * streamline meets. */
static gls_status open_matrix(gls_run_sink *sink, gls_run_sinks *sinks, gls_sink *tractogram, gls_sink *own)
{
    matrix_state *t = sink->state;
    meetings *const all[] = {&t->seeds, &t->target, &t->columns};
    (void)tractogram;
    gls_status status = GLS_OK;
    if (kind_of(sink) != MATRIX3) status = gls_fdt_numbering_of_mask(sink, sinks, NULL, &t->seeds.numbering);
    for (int i = 0; i < 3 && !status; i++) status = make_room(sink, all[i]);
    if (status) return status;
    t->rois = gls_fdt_find_rois(sinks);
    t->by_length = sinks->options->distance_correction;
    t->step = sinks->step_size;
    own->user = t;
    own->append = kind_of(sink) == MATRIX1 ? append1 : kind_of(sink) == MATRIX2 ? append2 : append3;
    return GLS_OK;
}

/* Comparison for qsort(): cells by column, then by row. */
static int by_key(const void *a, const void *b)
{
    const uint64_t x = ((const cell *)a)->key, y = ((const cell *)b)->key;
    return (x > y) - (x < y);
}

/* The numbering of the voxels that are rows of a matrix. */
static const gls_fdt_numbering *rows_of(int matrix, const matrix_state *t)
{
    return matrix == MATRIX3 ? &t->target.numbering : &t->seeds.numbering;
}

/* The numbering of the voxels that are columns of a matrix. */
static const gls_fdt_numbering *columns_of(int matrix, const matrix_state *t)
{
    if (matrix == MATRIX1) return &t->seeds.numbering;
    return t->columns.numbering.n > 0 ? &t->columns.numbering : &t->target.numbering;
}

/* Writes the values that are not 0, column by column, then a line with the number of rows, the number of columns and 0.
 * Empties the matrix. */
static gls_status write_matrix(gls_run_sink *sink, gls_run_sinks *sinks)
{
    matrix_state *t = sink->state;
    const gls_fdt_numbering *rows = rows_of(kind_of(sink), t), *columns = columns_of(kind_of(sink), t);
    gls_text text = {0};
    size_t n = 0;
    /* move the used cells to the start of the table, which is no hash table any more */
    for (size_t i = 0; i < t->sum.slots; i++)
        if (t->sum.cell[i].key) t->sum.cell[n++] = t->sum.cell[i];
    if (n > 0) qsort(t->sum.cell, n, sizeof *t->sum.cell, by_key);
    for (size_t i = 0; i < n; i++)
        if (t->sum.cell[i].value != 0)
            gls_text_printf(&text, "%u  %u  %.10g\n", (unsigned)t->sum.cell[i].key,
                            (unsigned)(t->sum.cell[i].key >> 32), t->sum.cell[i].value);
    t->sum.n = t->sum.slots = 0;
    gls_text_printf(&text, "%u  %u  0\n", rows->n, columns->n);
    return gls_text_write(&text, sink->output, sinks->run->force, &sinks->run->group, GLS_OK);
}

/* Frees the arrays of the state; arrays that were never made are NULL. */
static void finish_matrix(gls_run_sink *sink)
{
    matrix_state *t = sink->state;
    meetings *const all[] = {&t->seeds, &t->target, &t->columns};
    for (int i = 0; i < 3; i++) {
        gls_fdt_numbering_finish(&all[i]->numbering);
        free(all[i]->met);
        free(all[i]->last);
        free(all[i]->length);
    }
    free(t->sum.cell);
}

/* --- Files beside a matrix, in its folder. Each name is a prefix and the name of the matrix without .dot; that of the
 * lookup image also ends in .nii.gz. */

/* Whether a file beside a matrix says which voxels are columns of the matrix. */
static bool is_of_columns(const gls_run_sink *sink)
{
    return kind_of(sink) == COLUMNS2 || kind_of(sink) == COLUMNS3;
}

/* Names a file beside a matrix as probtrackx2 does. Beside fdt_matrix2.dot: coords_for_fdt_matrix2,
 * tract_space_coords_for_fdt_matrix2 or lookup_tractspace_fdt_matrix2.nii.gz. */
static gls_status take_beside(gls_run_sink *sink, gls_run_sinks *sinks)
{
    const bool lookup = kind_of(sink) == LOOKUP2;
    const char *word = lookup ? "lookup_tractspace_" : is_of_columns(sink) ? "tract_space_coords_for_" : "coords_for_";
    const gls_run_sink *matrix = gls_sink_find(sinks, &gls_fdt_matrix_kinds[matrix_of(sink)]);
    if (!matrix || (kind_of(sink) == COLUMNS3 && !sinks->options->fdt_lrtarget3)) return GLS_OK;
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

/* Writes a line for each voxel that is a row, or a column, of the matrix: the voxel's indices x, y, z from 0, then 1,
 * then the index of the row or column from 0. */
static gls_status write_coords(gls_run_sink *sink, gls_run_sinks *sinks)
{
    const int matrix = matrix_of(sink);
    const matrix_state *t = gls_sink_find(sinks, &gls_fdt_matrix_kinds[matrix])->state;
    const gls_fdt_numbering *l = is_of_columns(sink) ? columns_of(matrix, t) : rows_of(matrix, t);
    const int32_t *dim = l->image.dim;
    const size_t n = gls_grid_voxels(&l->image);
    gls_text text = {0};
    for (size_t v = 0; v < n; v++)
        if (l->number[v] > 0)
            gls_text_printf(&text, "%zu  %zu  %zu  1  %u\n", v % (size_t)dim[0], v / (size_t)dim[0] % (size_t)dim[1],
                            v / ((size_t)dim[0] * (size_t)dim[1]), l->number[v] - 1);
    return gls_text_write(&text, sink->output, sinks->run->force, &sinks->run->group, GLS_OK);
}

/* Writes an image whose voxels hold the number of their column, counted from 1; 0: the voxel is no column. */
static gls_status write_lookup(gls_run_sink *sink, gls_run_sinks *sinks)
{
    const matrix_state *t = gls_sink_find(sinks, &gls_fdt_matrix_kinds[MATRIX2])->state;
    return gls_image_write_values(sink->output, sinks->run->force, &sinks->run->group, &t->target.numbering.image,
                                  "columns", 1, GLS_TYPE_UINT32, t->target.numbering.number);
}

#define MATRIX(name)                                                                                            \
    {                                                                                                           \
        .role = name, .size = sizeof(matrix_state), .by_length = true, .take = take_matrix, .prepare = prepare, \
        .open = open_matrix, .write = write_matrix, .finish = finish_matrix                                     \
    }
#define BESIDE(name, writer)                                          \
    {                                                                 \
        .role = name, .size = 1, .take = take_beside, .write = writer \
    }
const gls_sink_kind gls_fdt_matrix_kinds[] = {MATRIX("fdt_matrix1"),
                                              BESIDE("fdt_coords1", write_coords),
                                              MATRIX("fdt_matrix2"),
                                              BESIDE("fdt_coords2", write_coords),
                                              BESIDE("fdt_columns2", write_coords),
                                              BESIDE("fdt_lookup2", write_lookup),
                                              MATRIX("fdt_matrix3"),
                                              BESIDE("fdt_coords3", write_coords),
                                              BESIDE("fdt_columns3", write_coords)};
