/* The signal as a linear function of streamlines, peaks and balls (Daducci et al. 2015): kernels, columns, and the
 * products with the matrix, which is never stored: entries are first added up by voxel and direction, and the sums
 * multiplied by the kernels. */
#include "weights/signal_model.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "util/status.h"

#define LANES 8 /* partial sums of a product of two signals, so that compilers use vector instructions */

/* --- Bins and columns. */

/* Bits of the bins that occur, and how many stand before each word. */
typedef struct bin_set {
    uint64_t *word;
    uint32_t *before;
    size_t n_words;
} bin_set;

/* The number of a bin among those that occur. */
static uint32_t bin_number(const bin_set *set, uint64_t bin)
{
    const uint64_t below = ((uint64_t)1 << bin % 64) - 1;
    return set->before[bin / 64] + (uint32_t)__builtin_popcountll(set->word[bin / 64] & below);
}

/* Marks the bins that occur. */
static void mark_bins(const gls_signal_rows *rows, uint64_t *word)
{
    const uint64_t n_entries = rows->start[rows->n];
#pragma omp parallel for schedule(static)
    for (uint64_t i = 0; i < n_entries; i++) {
        const uint64_t bit = (uint64_t)1 << rows->bin[i] % 64;
        uint64_t *to = &word[rows->bin[i] / 64], now;
#pragma omp atomic read
        now = *to;
        if (now & bit) continue;
#pragma omp atomic
        *to |= bit;
    }
}

/* Finds the bins that occur, and stores the first bin of each voxel and the direction of each bin. */
static gls_status list_bins(gls_signal_model *m, bin_set *set)
{
    const gls_signal_rows *rows = m->rows;
    const size_t n_directions = rows->directions->n, n_all = m->n_voxels * n_directions;
    set->n_words = n_all / 64 + 1;
    set->word = calloc(set->n_words, sizeof *set->word);
    set->before = malloc(set->n_words * sizeof *set->before);
    m->first_bin = calloc(m->n_voxels + 1, sizeof *m->first_bin);
    if (!set->word || !set->before || !m->first_bin) return gls_no_memory();
    mark_bins(rows, set->word);
    size_t n = 0;
    for (size_t i = 0; i < set->n_words; i++) {
        set->before[i] = (uint32_t)n;
        n += (size_t)__builtin_popcountll(set->word[i]);
    }
    m->n_bins = n;
    m->direction = malloc((n + 1) * sizeof *m->direction);
    if (!m->direction) return gls_no_memory();
#pragma omp parallel for schedule(static)
    for (size_t v = 0; v < m->n_voxels; v++) {
        uint32_t at = bin_number(set, (uint64_t)v * n_directions);
        for (size_t d = 0; d < n_directions; d++) {
            const uint64_t bin = (uint64_t)v * n_directions + d;
            if (set->word[bin / 64] >> bin % 64 & 1) m->direction[at++] = (uint16_t)d;
        }
        m->first_bin[v + 1] = at;
    }
    return GLS_OK;
}

/* Gives bins their numbers among those that occur, and counts the entries of bin b in first[b + 2]. */
static void number_bins(const gls_signal_model *m, gls_signal_rows *rows, const bin_set *set)
{
    const uint64_t n_entries = rows->start[rows->n];
#pragma omp parallel for schedule(static)
    for (uint64_t i = 0; i < n_entries; i++) {
        const uint32_t bin = bin_number(set, rows->bin[i]);
        rows->bin[i] = bin;
#pragma omp atomic
        m->first[bin + 2]++;
    }
}

/* The first bin whose column begins at entry `at` or behind it. first[b + 1]: where the column of bin b begins. */
static size_t find_column(const gls_signal_model *m, uint64_t at)
{
    size_t low = 0, high = m->n_bins;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (m->first[middle + 1] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Fills the columns of bins from .. until - 1. first[b + 1]: the place of the next entry of bin b, in the end the first
 * entry of bin b + 1. Each thread reads all entries and takes those of its own bins: they stay in the order of
 * streamlines, and no thread waits for another. */
static void fill_columns(const gls_signal_model *m, size_t from, size_t until)
{
    const gls_signal_rows *rows = m->rows;
    const uint32_t first = (uint32_t)from, n = (uint32_t)(until - from);
    for (size_t s = 0; s < rows->n && n > 0; s++)
        for (uint64_t i = rows->start[s]; i < rows->start[s + 1]; i++) {
            const uint32_t bin = rows->bin[i];
            if (bin - first >= n) continue;
            const uint64_t at = m->first[bin + 1]++;
            m->line[at] = (uint32_t)s;
            m->length[at] = rows->length[i];
        }
}

/* Replaces the bins of entries by their numbers, and makes the columns: the entries of each bin, in the order of
 * streamlines. */
static gls_status make_columns(gls_signal_model *m, gls_signal_rows *rows)
{
    bin_set set = {.n_words = 0};
    const uint64_t n_entries = rows->start[rows->n];
    gls_status status = list_bins(m, &set);
    if (!status) {
        m->first = calloc(m->n_bins + 2, sizeof *m->first);
        m->line = malloc((n_entries + 1) * sizeof *m->line);
        m->length = malloc((n_entries + 1) * sizeof *m->length);
        m->bin_value = malloc((m->n_bins + 1) * sizeof *m->bin_value);
        if (!m->first || !m->line || !m->length || !m->bin_value) status = gls_no_memory();
    }
    if (!status) {
        number_bins(m, rows, &set);
        for (size_t b = 2; b < m->n_bins + 2; b++) m->first[b] += m->first[b - 1];
#pragma omp parallel
        {
            const uint64_t n = (uint64_t)omp_get_num_threads(), t = (uint64_t)omp_get_thread_num();
            const size_t from = find_column(m, n_entries * t / n);
            const size_t until = t + 1 < n ? find_column(m, n_entries * (t + 1) / n) : m->n_bins;
#pragma omp barrier
            fill_columns(m, from, until);
        }
    }
    free(set.word);
    free(set.before);
    return status;
}

/* Lists the peaks of each voxel: those of at least this share of the largest one. */
static gls_status list_peaks(gls_signal_model *m, const gls_signal_source *source)
{
    const gls_signal_rows *rows = m->rows;
    const gls_image *peaks = source->peaks;
    const size_t each = peaks ? peaks->n_volumes / 3 : 0, n = gls_grid_voxels(&rows->grid);
    m->peak = calloc(m->n_voxels + 1, sizeof *m->peak);
    m->peak_direction = malloc((m->n_voxels * each + 1) * sizeof *m->peak_direction);
    if (!m->peak || !m->peak_direction) return gls_no_memory();
    for (size_t v = 0; v < m->n_voxels; v++) {
        double largest = 0;
        for (int pass = 0; pass < 2; pass++)
            for (size_t k = 0; k < each; k++) {
                double p[3], length;
                for (size_t a = 0; a < 3; a++) p[a] = (double)peaks->data[(3 * k + a) * n + rows->voxel[v]];
                length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
                if (pass == 0)
                    largest = fmax(largest, length);
                else if (length > 0 && length >= source->peaks_ratio * largest)
                    m->peak_direction[m->n_peaks++] = (uint16_t)gls_signal_directions_nearest(rows->directions, p);
            }
        m->peak[v + 1] = (uint32_t)m->n_peaks;
    }
    return GLS_OK;
}

/* --- Kernels. */

/* Volumes of the model: all, or for LiFE the weighted ones. *volume: from malloc. */
static gls_status choose_volumes(gls_signal_model *m, const gls_signal_kernels *k, const gls_signal_source *source,
                                 size_t **volume)
{
    const size_t n = source->dwi->n_volumes;
    *volume = malloc(n * sizeof **volume);
    if (!*volume) return gls_no_memory();
    for (size_t t = 0; t < n; t++)
        if (k->kernel != GLS_SIGNAL_LIFE || !source->table->is_b0[t]) (*volume)[m->m++] = t;
    return GLS_OK;
}

/* Stores the signal of one compartment for each of n directions u: exp(-b (d[1] + (d[0] - d[1]) (g u)^2)). across:
 * exponents in place of b d[1] for each volume of the model; NULL: none. */
static void fill_kernel(const gls_signal_model *m, const gls_signal_source *source, const size_t *volume,
                        const double (*u)[3], size_t n, const double d[2], const double *across, bool centred,
                        float *to, double *norm)
{
    double signal[GLS_SIGNAL_MAX_VOLUMES] = {0};
    for (size_t i = 0; i < n; i++) {
        double sum = 0, squares = 0;
        for (size_t t = 0; t < m->m; t++) {
            const gls_gradients *table = source->table;
            double s = 1;
            if (table && !table->is_b0[volume[t]]) {
                const double *g = table->bvec[volume[t]];
                const double c = u ? g[0] * u[i][0] + g[1] * u[i][1] + g[2] * u[i][2] : 0;
                const double b = table->bval[volume[t]], side = across ? across[t] : b * d[1];
                s = exp(-(side + (b * d[0] - side) * c * c));
            }
            signal[t] = s;
            sum += s;
        }
        for (size_t t = 0; t < m->m; t++) {
            if (centred) signal[t] -= sum / (double)m->m;
            squares += signal[t] * signal[t];
        }
        if (i == 0) *norm = sqrt(squares);
        for (size_t t = 0; t < m->m; t++) to[i * m->m + t] = (float)(signal[t] / *norm);
    }
}

/* Computes the kernels of streamlines for the k-th radius, which are those of its own directions. */
static void fill_cylinders(const gls_signal_model *m, const gls_signal_kernels *kernels,
                           const gls_signal_source *source, const size_t *volume, size_t k)
{
    const gls_signal_directions *d = m->rows->directions;
    const size_t n = d->n / m->n_radii;
    double b[GLS_SIGNAL_MAX_VOLUMES], across[GLS_SIGNAL_MAX_VOLUMES];
    gls_pulse_timing timing[GLS_SIGNAL_MAX_VOLUMES];
    for (size_t t = 0; t < m->m; t++) {
        b[t] = source->table->bval[volume[t]];
        timing[t] = source->timing[volume[t]];
    }
    gls_cylinder_across(b, timing, m->m, kernels->d_par, 1e-3 * kernels->radii.value[k], across);
    fill_kernel(m, source, volume, d->direction, n, (const double[]){kernels->d_par, 0}, across, false,
                m->stick + k * n * m->m, &m->stick_norm[k]);
}

/* Computes all kernels. */
static gls_status make_kernels(gls_signal_model *m, const gls_signal_kernels *k, const gls_signal_source *source,
                               const size_t *volume)
{
    const gls_signal_directions *d = m->rows->directions;
    const size_t each = d->n * m->m;
    m->stick = malloc((each + 1) * sizeof *m->stick);
    m->zeppelin = malloc((each * m->n_perp + 1) * sizeof *m->zeppelin);
    m->ball = malloc((m->m * m->n_iso + 1) * sizeof *m->ball);
    m->stick_norm = malloc(m->n_radii * sizeof *m->stick_norm);
    m->zeppelin_norm = malloc((m->n_perp + 1) * sizeof *m->zeppelin_norm);
    m->ball_norm = malloc((m->n_iso + 1) * sizeof *m->ball_norm);
    if (!m->stick || !m->zeppelin || !m->ball || !m->stick_norm || !m->zeppelin_norm || !m->ball_norm)
        return gls_no_memory();
    const double stick[2] = {k->kernel == GLS_SIGNAL_SCALAR ? 0 : k->d_par, 0};
    for (size_t i = 0; i < m->n_radii && k->kernel == GLS_SIGNAL_CYLINDER; i++) fill_cylinders(m, k, source, volume, i);
    if (k->kernel != GLS_SIGNAL_CYLINDER)
        fill_kernel(m, source, volume, d->direction, d->n, stick, NULL, k->kernel == GLS_SIGNAL_LIFE, m->stick,
                    m->stick_norm);
    for (size_t i = 0; i < m->n_perp; i++)
        fill_kernel(m, source, volume, d->direction, d->n, (const double[]){k->d_par_ec, k->d_perp.value[i]}, NULL,
                    false, m->zeppelin + i * each, &m->zeppelin_norm[i]);
    for (size_t i = 0; i < m->n_iso; i++)
        fill_kernel(m, source, volume, NULL, 1, (const double[]){k->d_iso.value[i], k->d_iso.value[i]}, NULL, false,
                    m->ball + i * m->m, &m->ball_norm[i]);
    return GLS_OK;
}

/* --- Signals. */

/* Mean b = 0 signal of a voxel of the grid; 0 if there is no b = 0. */
static double mean_b0(const gls_signal_source *source, size_t n, size_t voxel)
{
    double sum = 0;
    for (size_t t = 0; t < source->dwi->n_volumes; t++)
        if (source->table->is_b0[t]) sum += (double)source->dwi->data[t * n + voxel];
    return source->table->n_b0 > 0 ? sum / (double)source->table->n_b0 : 0;
}

/* Mean over voxels of their b = 0 signals that are above 0. */
static double mean_of_b0s(const gls_signal_source *source, size_t n)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        const double b0 = mean_b0(source, n, i);
        if (b0 > 0) sum += b0, count++;
    }
    return count > 0 ? sum / (double)count : 0;
}

/* Stores the signals of the voxels, divided by b = 0. */
static gls_status make_signals(gls_signal_model *m, gls_signal_kernel kernel, const gls_signal_source *source,
                               const size_t *volume)
{
    const size_t n = gls_grid_voxels(&m->rows->grid);
    m->y = malloc((m->n_voxels * m->m + 1) * sizeof *m->y);
    m->voxel_sum = malloc((m->n_voxels + 1) * sizeof *m->voxel_sum);
    if (!m->y || !m->voxel_sum) return gls_no_memory();
    const bool divides = source->table && source->table->n_b0 > 0;
    const double least = divides ? source->b0_min * mean_of_b0s(source, n) : 0;
#pragma omp parallel for schedule(static)
    for (size_t v = 0; v < m->n_voxels; v++) {
        const size_t voxel = m->rows->voxel[v];
        const double b0 = divides ? mean_b0(source, n, voxel) : 1;
        const double factor = b0 > 0 && b0 > least ? 1 / b0 : 0;
        double sum = 0;
        for (size_t t = 0; t < m->m; t++) sum += (double)source->dwi->data[volume[t] * n + voxel] * factor;
        const double mean = kernel == GLS_SIGNAL_LIFE ? sum / (double)m->m : 0;
        for (size_t t = 0; t < m->m; t++)
            m->y[v * m->m + t] = (float)((double)source->dwi->data[volume[t] * n + voxel] * factor - mean);
    }
    return GLS_OK;
}

/* --- The model. */

/* Allocates and fills the factors of streamlines. */
static gls_status make_scales(gls_signal_model *m)
{
    const gls_signal_rows *rows = m->rows;
    m->scale = malloc((rows->n + 1) * sizeof *m->scale);
    m->line_scaled = malloc((rows->n + 1) * sizeof *m->line_scaled);
    if (!m->scale || !m->line_scaled) return gls_no_memory();
    for (size_t s = 0; s < rows->n; s++) m->scale[s] = rows->norm[s] > 0 ? rows->unit / rows->norm[s] : 0;
    return GLS_OK;
}

gls_status gls_signal_model_init(gls_signal_model *m, gls_signal_rows *rows, const gls_signal_kernels *k,
                                 const gls_signal_source *source)
{
    size_t *volume = NULL;
    uint32_t number;
    gls_status status = GLS_OK;
    *m = (gls_signal_model){
        .rows = rows, .n_streamlines = rows->n, .n_radii = k->kernel == GLS_SIGNAL_CYLINDER ? (size_t)k->radii.n : 1};
    for (size_t v = 0; source->all_voxels && v < gls_grid_voxels(&rows->grid) && !status; v++)
        if (!rows->inside || rows->inside[v]) status = gls_signal_rows_number(rows, v, &number);
    m->n_voxels = rows->n_voxels;
    if (!status && source->dwi->n_volumes > GLS_SIGNAL_MAX_VOLUMES)
        status = gls_fail(GLS_ERR_UNSUPPORTED, "%s: has %zu volumes; at most %d can be used", source->name,
                          source->dwi->n_volumes, GLS_SIGNAL_MAX_VOLUMES);
    if (!status) status = choose_volumes(m, k, source, &volume);
    if (!status && (k->kernel == GLS_SIGNAL_STICK || k->kernel == GLS_SIGNAL_CYLINDER)) {
        m->n_perp = source->peaks ? (size_t)k->d_perp.n : 0;
        m->n_iso = (size_t)k->d_iso.n;
    }
    if (!status) status = make_columns(m, rows);
    if (!status) status = list_peaks(m, source);
    if (!status) status = make_kernels(m, k, source, volume);
    if (!status) status = make_signals(m, k->kernel, source, volume);
    if (!status) status = make_scales(m);
    m->first_peak = m->n_streamlines;
    m->first_ball = m->first_peak + m->n_peaks * m->n_perp;
    m->n = m->first_ball + m->n_voxels * m->n_iso;
    free(volume);
    return status;
}

void gls_signal_model_finish(gls_signal_model *m)
{
    void *const memory[] = {m->stick, m->stick_norm, m->zeppelin,       m->ball,        m->zeppelin_norm, m->ball_norm,
                            m->y,     m->first_bin,  m->direction,      m->first,       m->line,          m->length,
                            m->scale, m->peak,       m->peak_direction, m->line_scaled, m->bin_value,     m->voxel_sum};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) free(memory[i]);
    *m = (gls_signal_model){.m = 0};
}

/* --- Products. */

/* to += factor * signal */
static inline void add_signal(float *restrict to, const float *restrict signal, float factor, size_t m)
{
    for (size_t t = 0; t < m; t++) to[t] += factor * signal[t];
}

/* Product of two signals. */
static inline float dot(const float *restrict a, const float *restrict b, size_t m)
{
    float lane[LANES] = {0};
    size_t t = 0;
    for (; t + LANES <= m; t += LANES)
        for (size_t k = 0; k < LANES; k++) lane[k] += a[t + k] * b[t + k];
    for (size_t k = 0; t < m; t++, k++) lane[k] += a[t] * b[t];
    return ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}

/* Sum of x times length over the column of a bin. */
static inline double column_sum(const gls_signal_model *m, size_t bin)
{
    double sum = 0;
    for (uint64_t i = m->first[bin]; i < m->first[bin + 1]; i++) sum += m->line_scaled[m->line[i]] * m->length[i];
    return sum;
}

/* Adds what the columns predict in voxel v to the signal r. */
static void predict(const gls_signal_model *m, const double *x, size_t v, float *r)
{
    const size_t n_directions = m->rows->directions->n;
    for (size_t b = m->first_bin[v]; b < m->first_bin[v + 1]; b++) {
        const double q = column_sum(m, b);
        if (q != 0) add_signal(r, m->stick + m->direction[b] * m->m, (float)q, m->m);
    }
    for (size_t k = 0; k < m->n_perp; k++)
        for (size_t p = m->peak[v]; p < m->peak[v + 1]; p++) {
            const double q = x[m->first_peak + k * m->n_peaks + p];
            if (q != 0) add_signal(r, m->zeppelin + (k * n_directions + m->peak_direction[p]) * m->m, (float)q, m->m);
        }
    for (size_t k = 0; k < m->n_iso; k++)
        add_signal(r, m->ball + k * m->m, (float)x[m->first_ball + k * m->n_voxels + v], m->m);
}

/* Fills line_scaled. */
static void scale_lines(const gls_signal_model *m, const double *x)
{
#pragma omp parallel for schedule(static)
    for (size_t s = 0; s < m->n_streamlines; s++) m->line_scaled[s] = x[s] * m->scale[s];
}

/* Half the sum of voxel_sum, in the order of voxels. */
static double half_sum(const gls_signal_model *m)
{
    double sum = 0;
    for (size_t v = 0; v < m->n_voxels; v++) sum += m->voxel_sum[v];
    return sum / 2;
}

double gls_signal_model_apply(const gls_signal_model *m, const double *x, bool plain, float *r)
{
    scale_lines(m, x);
#pragma omp parallel for schedule(dynamic, 64)
    for (size_t v = 0; v < m->n_voxels; v++) {
        float *to = r + v * m->m;
        double squares = 0;
        memset(to, 0, m->m * sizeof *to);
        predict(m, x, v, to);
        for (size_t t = 0; t < m->m; t++) {
            if (!plain) to[t] -= m->y[v * m->m + t];
            squares += (double)to[t] * (double)to[t];
        }
        m->voxel_sum[v] = squares;
    }
    return half_sum(m);
}

/* Products of the signal `from` with the columns of voxel v. */
static void correlate(const gls_signal_model *m, size_t v, const float *from, double *g)
{
    const size_t n_directions = m->rows->directions->n;
    for (size_t b = m->first_bin[v]; b < m->first_bin[v + 1]; b++)
        m->bin_value[b] = dot(from, m->stick + m->direction[b] * m->m, m->m);
    for (size_t k = 0; k < m->n_perp; k++)
        for (size_t p = m->peak[v]; p < m->peak[v + 1]; p++)
            g[m->first_peak + k * m->n_peaks + p] =
                (double)dot(from, m->zeppelin + (k * n_directions + m->peak_direction[p]) * m->m, m->m);
    for (size_t k = 0; k < m->n_iso; k++)
        g[m->first_ball + k * m->n_voxels + v] = (double)dot(from, m->ball + k * m->m, m->m);
}

double gls_signal_model_transpose(const gls_signal_model *m, const float *r, const float *before, float momentum,
                                  double *g)
{
#pragma omp parallel for schedule(dynamic, 64)
    for (size_t v = 0; v < m->n_voxels; v++) {
        float s[GLS_SIGNAL_MAX_VOLUMES];
        double squares = 0;
        for (size_t t = 0, i = v * m->m; t < m->m; t++, i++) {
            s[t] = r[i] + momentum * (r[i] - before[i]);
            squares += (double)s[t] * (double)s[t];
        }
        m->voxel_sum[v] = squares;
        correlate(m, v, s, g);
    }
    const gls_signal_rows *rows = m->rows;
#pragma omp parallel for schedule(dynamic, 256)
    for (size_t s = 0; s < m->n_streamlines; s++) {
        double sum = 0;
        for (uint64_t i = rows->start[s]; i < rows->start[s + 1]; i++)
            sum += (double)m->bin_value[rows->bin[i]] * rows->length[i];
        g[s] = sum * m->scale[s];
    }
    return half_sum(m);
}

void gls_signal_model_leave_out(gls_signal_model *m, const double *x, double least)
{
    for (size_t s = 0; s < m->n_streamlines; s++)
        if (x[s] < least) m->scale[s] = 0;
    if (m->n_iso > 0) return; /* balls predict something everywhere */
    for (size_t v = 0; v < m->n_voxels; v++) {
        bool empty = m->n_perp == 0 || m->peak[v] == m->peak[v + 1];
        for (size_t b = m->first_bin[v]; b < m->first_bin[v + 1] && empty; b++)
            for (uint64_t i = m->first[b]; i < m->first[b + 1] && empty; i++) empty = m->scale[m->line[i]] == 0;
        if (empty) memset(m->y + v * m->m, 0, m->m * sizeof *m->y);
    }
}

/* The value of a map in a voxel of the model. */
static double map_value(const gls_signal_model *m, gls_signal_map map, const double *x, const float *r, size_t v)
{
    double sum = 0, squares = 0;
    switch (map) {
    case GLS_SIGNAL_MAP_IC:
        for (size_t b = m->first_bin[v]; b < m->first_bin[v + 1]; b++)
            sum += column_sum(m, b) / m->stick_norm[m->direction[b] / (m->rows->directions->n / m->n_radii)];
        return sum;
    case GLS_SIGNAL_MAP_EC:
        for (size_t k = 0; k < m->n_perp; k++)
            for (size_t p = m->peak[v]; p < m->peak[v + 1]; p++)
                sum += x[m->first_peak + k * m->n_peaks + p] / m->zeppelin_norm[k];
        return sum;
    case GLS_SIGNAL_MAP_ISO:
        for (size_t k = 0; k < m->n_iso; k++) sum += x[m->first_ball + k * m->n_voxels + v] / m->ball_norm[k];
        return sum;
    default: break;
    }
    for (size_t t = 0; t < m->m; t++) {
        const double residual = (double)r[v * m->m + t], y = (double)m->y[v * m->m + t];
        sum += residual * residual;
        squares += y * y;
    }
    if (map == GLS_SIGNAL_MAP_RMSE) return sqrt(sum / (double)m->m);
    return squares < 1e-12 ? 0 : sqrt(sum / squares);
}

const char *gls_signal_map_end(gls_signal_map map)
{
    static const char *const ends[GLS_SIGNAL_N_MAPS] = {"_ic.nii.gz", "_ec.nii.gz", "_iso.nii.gz", "_rmse.nii.gz",
                                                        "_nrmse.nii.gz"};
    return ends[map];
}

void gls_signal_model_map(const gls_signal_model *m, gls_signal_map map, const double *x, const float *r, float *out)
{
    memset(out, 0, gls_grid_voxels(&m->rows->grid) * sizeof *out);
    scale_lines(m, x);
#pragma omp parallel for schedule(dynamic, 64)
    for (size_t v = 0; v < m->n_voxels; v++) out[m->rows->voxel[v]] = (float)map_value(m, map, x, r, v);
}
