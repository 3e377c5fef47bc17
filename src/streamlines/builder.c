/* Builds new streamlines from incoming ones and hands them on in blocks; shares the streamlines of a block among
 * threads; computes points on the spline of MRtrix3. */
#include "streamlines/builder.h"
#include "streamlines/filter_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/maths.h"
#include "util/status.h"
#include "util/threads.h"

/* A block of streamlines that gls_lines_parallel() hands out one by one. */
typedef struct line_work {
    const gls_streamlines *lines;
    /* called for one streamline at a time, by several threads at once */
    gls_line_task task;
    /* first argument of the task */
    void *user;
} line_work;

/* Calls the task for streamlines from .. until - 1 on one thread. */
static void work_on_some(void *user, int thread, size_t from, size_t until)
{
    const line_work *w = user;
    for (size_t i = from; i < until; i++) w->task(w->user, thread, w->lines, i);
}

void gls_lines_parallel(const gls_streamlines *lines, size_t grain, int n_threads, gls_line_task task, void *user)
{
    gls_parallel(lines->n, grain, n_threads, work_on_some, &(line_work){lines, task, user});
}

/* Function `finish` of the sink of a filter. user: the state of the filter, which begins with the builder. */
static gls_status finish(void *user)
{
    gls_builder *b = user;
    gls_status status = gls_sink_finish(&b->next);
    b->discard(user);
    return status;
}

gls_sink gls_builder_sink(gls_builder *b, const gls_sink *next,
                          gls_status (*append)(void *user, const gls_streamlines *streamlines),
                          void (*discard)(void *user))
{
    *b = (gls_builder){.next = *next, .discard = discard};
    return (gls_sink){append, finish, discard, b};
}

void gls_builder_finish(gls_builder *b)
{
    gls_sink_abort(&b->next);
    for (size_t k = 0; b->memory && k < b->n_columns; k++) free(b->memory[k]);
    free(b->memory);
    free(b->column);
    free(b->offset);
    free(b->point);
    *b = (gls_builder){0};
}

/* Returns the error for all failed allocations of this file. */
static gls_status out_of_memory(void)
{
    return gls_fail(GLS_ERR_MEMORY, "out of memory for streamlines");
}

/* Whether column k has a value for each point (dpv). Columns for each streamline (dps, groups) come first. */
static bool is_per_point(const gls_builder *b, size_t k)
{
    return k >= b->in->n_dps + b->in->n_groups;
}

/* Allocates memory for n streamlines of n_points points in all, with their columns. Contents stay. */
static gls_status reserve(gls_builder *b, size_t n, uint64_t n_points)
{
    /* one offset more than streamlines; the first is always 0 */
    if (n > b->line_capacity || !b->offset) {
        uint64_t *offset = realloc(b->offset, (n + 1) * sizeof *offset);
        if (!offset) return out_of_memory();
        b->offset = offset;
        b->offset[0] = 0;
    }
    if (n_points > b->point_capacity || !b->point) {
        if (n_points == 0) n_points = 1;
        float(*point)[3] = realloc(b->point, n_points * sizeof *point);
        if (!point) return out_of_memory();
        b->point = point;
    }
    /* columns of points have a row for each point, other columns a row for each streamline */
    for (size_t k = 0; k < b->n_columns; k++) {
        size_t rows = is_per_point(b, k) ? (size_t)n_points : n,
               had = is_per_point(b, k) ? (size_t)b->point_capacity : b->line_capacity;
        if (rows <= had && b->memory[k]) continue;
        void *memory = realloc(b->memory[k], (rows + 1) * gls_column_row_bytes(&b->column[k]));
        if (!memory) return out_of_memory();
        b->column[k].data = b->memory[k] = memory;
    }
    /* the capacities change last, so that after a failure they are still right for all arrays */
    if (n > b->line_capacity) b->line_capacity = n;
    if (n_points > b->point_capacity) b->point_capacity = n_points;
    return GLS_OK;
}

gls_status gls_builder_begin(gls_builder *b, const gls_streamlines *in)
{
    const size_t n = in->n_dps + in->n_groups + in->n_dpv;
    b->in = in;
    if (b->column && (n != b->n_columns || in->n_dps != b->n_dps || in->n_groups != b->n_groups))
        return gls_fail(GLS_ERR_ARGUMENT, "streamlines have other columns than those before");
    if (!b->column) {
        b->column = calloc(n + 1, sizeof *b->column);
        b->memory = calloc(n + 1, sizeof *b->memory);
        if (!b->column || !b->memory) return out_of_memory();
        b->n_columns = n;
        b->n_dps = in->n_dps;
        b->n_groups = in->n_groups;
    }
    /* columns may have other types or data in each block, but not rows of another size */
    for (size_t k = 0; k < n; k++) {
        const gls_column *c = k < in->n_dps                  ? &in->dps[k]
                              : k < in->n_dps + in->n_groups ? &in->group[k - in->n_dps]
                                                             : &in->dpv[k - in->n_dps - in->n_groups];
        if (b->memory[k] && gls_column_row_bytes(c) != gls_column_row_bytes(&b->column[k]))
            return gls_fail(GLS_ERR_ARGUMENT,
                            "the column %s has another type or number of components than in the streamlines before",
                            c->name);
        b->column[k] = *c;
        b->column[k].data = b->memory[k];
    }
    /* the block is at most as large as the input, unless a filter adds points; gls_builder_add() grows it then */
    b->n = 0;
    b->n_points = 0;
    return reserve(b, in->n, in->offset[in->n]);
}

gls_status gls_builder_flush(gls_builder *b)
{
    if (b->n == 0) return GLS_OK;
    const gls_column *c = b->column;
    gls_streamlines out = {.n = b->n,
                           .offset = b->offset,
                           .point = (const float(*)[3])b->point,
                           .n_dps = b->in->n_dps,
                           .n_dpv = b->in->n_dpv,
                           .n_groups = b->in->n_groups,
                           .dps = c,
                           .group = c + b->in->n_dps,
                           .dpv = c + b->in->n_dps + b->in->n_groups};
    /* the sink has read everything when it returns, so the memory serves the next block */
    b->n = 0;
    b->n_points = 0;
    return gls_sink_append(&b->next, &out);
}

gls_status gls_builder_add(gls_builder *b, size_t i, uint64_t n, uint64_t *first)
{
    /* hand on a full block first */
    gls_status status = gls_builder_fits(b, n) ? GLS_OK : gls_builder_flush(b);
    if (!status && (b->n + 1 > b->line_capacity || b->n_points + n > b->point_capacity))
        status = reserve(b, b->n + 1 + b->n / 2, b->n_points + n + b->n_points / 2);
    if (status) return status;
    for (size_t k = 0; k < b->in->n_dps + b->in->n_groups; k++) {
        const gls_column *c = k < b->in->n_dps ? &b->in->dps[k] : &b->in->group[k - b->in->n_dps];
        size_t bytes = gls_column_row_bytes(c);
        memcpy((char *)b->memory[k] + b->n * bytes, (const char *)c->data + i * bytes, bytes);
    }
    *first = b->n_points;
    b->n_points += n;
    b->offset[++b->n] = b->n_points;
    return GLS_OK;
}

void gls_builder_copy(gls_builder *b, uint64_t to, uint64_t from, uint64_t n)
{
    const size_t first = b->in->n_dps + b->in->n_groups;
    if (n == 0) return;
    memcpy(b->point[to], b->in->point[from], (size_t)n * sizeof *b->point);
    for (size_t k = 0; k < b->in->n_dpv; k++) {
        size_t bytes = gls_column_row_bytes(&b->in->dpv[k]);
        memcpy((char *)b->memory[first + k] + to * bytes, (const char *)b->in->dpv[k].data + from * bytes, n * bytes);
    }
}

/* Sets row `to` of a column to the value between rows `from` and from + 1, at share 0 .. 1 of the way. Floating-point
 * values are interpolated, in double precision; integers and bools are copied from the nearer row. */
static void mix_values(const gls_column *c, void *memory, uint64_t to, uint64_t from, double share)
{
    const size_t row = gls_column_row_bytes(c);
    char *out = (char *)memory + to * row;
    if (!gls_type_is_float(c->type)) {
        memcpy(out, (const char *)c->data + (share < 0.5 ? from : from + 1) * row, row);
        return;
    }
    for (uint32_t j = 0; j < c->components; j++) {
        double a = gls_column_value(c, from * c->components + j),
               e = gls_column_value(c, (from + 1) * c->components + j), value = a + share * (e - a);
        float single = (float)value;
        uint16_t half = gls_half(single);
        const void *source = c->type == GLS_TYPE_FLOAT64   ? (const void *)&value
                             : c->type == GLS_TYPE_FLOAT32 ? (const void *)&single
                                                           : (const void *)&half;
        memcpy(out + j * gls_type_size(c->type), source, gls_type_size(c->type));
    }
}

void gls_builder_mix(gls_builder *b, uint64_t to, uint64_t from, double share)
{
    const size_t first = b->in->n_dps + b->in->n_groups;
    if (share == 0) {
        gls_builder_copy(b, to, from, 1);
        return;
    }
    const float *p = b->in->point[from], *q = b->in->point[from + 1];
    for (int r = 0; r < 3; r++) b->point[to][r] = (float)(p[r] + share * ((double)q[r] - p[r]));
    for (size_t k = 0; k < b->in->n_dpv; k++) mix_values(&b->in->dpv[k], b->memory[first + k], to, from, share);
}

double gls_builder_distance(const gls_streamlines *s, uint64_t point, uint64_t other)
{
    const float *p = s->point[point], *q = s->point[other];
    double x = (double)q[0] - p[0], y = (double)q[1] - p[1], z = (double)q[2] - p[2];
    return sqrt(x * x + y * y + z * z);
}

double gls_builder_length(const gls_streamlines *s, size_t i)
{
    double length = 0;
    for (uint64_t p = s->offset[i] + 1; p < s->offset[i + 1]; p++) length += gls_builder_distance(s, p - 1, p);
    return length;
}

/* Weights of the four points around position mu, 0 .. 1, on a cardinal spline of tension 0.1, in MRtrix3's order of
 * operations. */
static void spline_weights(float mu, float w[4])
{
    const float t = 0.5f * 0.1f, h = 0.5f, p2 = mu * mu, p3 = mu * p2;
    w[0] = (h - t) * (2 * p2 - p3 - mu);
    w[1] = 1 + (1.5f + t) * p3 - (2.5f + t) * p2;
    w[2] = (2 + 2 * t) * p2 + (h - t) * mu - (1.5f + t) * p3;
    w[3] = (h - t) * (p3 - p2);
}

void gls_spline_at(float mu, const float *a, const float *b, const float *c, const float *d, float q[3])
{
    float w[4];
    spline_weights(mu, w);
    for (int r = 0; r < 3; r++) {
        float x0 = w[0] * a[r], x1 = w[1] * b[r], x2 = w[2] * c[r], x3 = w[3] * d[r];
        q[r] = ((x0 + x1) + x2) + x3;
    }
}
