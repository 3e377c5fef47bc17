/* Prints the table of the benchmark: a row for each measured quantity, a column for each getter, device and
 * gls_mapping. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "bench/print.h"
#include "bench/bench.h"
#include "bench/bench_stats.h"
#include "bench/measure.h"
#include "record/run_params.h"
#include "tractogram/pieces.h"
#include "util/numbers.h"
#include "util/text.h"

enum { LABEL = 26, CELL = 25, TEXT = 80 }; /* widths of labels and cells, largest text of a cell, characters */

/* A row of the table: its label, left-aligned, and a function that writes the text of a cell. which: what the function
 * shows; for some functions an offset in bench_column. */
typedef struct row {
    const char *label;
    void (*write)(const bench_run *run, const bench_column *c, size_t which, char text[TEXT]);
    size_t which;
} row;

static void print_row(const bench_run *run, const row *r)
{
    char text[TEXT];
    printf("%-*s", LABEL, r->label);
    for (int i = 0; i < run->n_columns; i++) {
        r->write(run, &run->column[i], r->which, text);
        printf("  %*s", CELL, text);
    }
    putchar('\n');
}

/* The double at an offset of a struct. */
static double member(const void *of, size_t offset)
{
    return *(const double *)((const char *)of + offset);
}

/* Writes seconds as milliseconds with at least four digits. */
static void milliseconds(double seconds, char *text, size_t size)
{
    double ms = 1e3 * seconds;
    gls_snprintf(text, size, "%.*f", ms < 9.9995 ? 3 : ms < 99.995 ? 2 : ms < 999.95 ? 1 : 0, ms);
}

/* Head of a column: getter, lanes, and device if there are several. */
static void write_head(const bench_run *run, const bench_column *c, size_t which, char text[TEXT])
{
    (void)which;
    int n = snprintf(text, TEXT, "%s, %u %s", gls_getter_name((gls_direction_getter)c->dg), c->result.lanes,
                     c->result.lanes == 1 ? "lane" : "lanes");
    if (run->options->n_devices > 1) snprintf(text + n, TEXT - (size_t)n, ", device %d", c->device);
}

/* Writes median, least and largest of the repetitions of a bench_time. */
static void write_time(const bench_run *run, const bench_column *c, size_t which, char text[TEXT])
{
    (void)run;
    bench_spread s = bench_spread_of(c->seconds[which], c->n);
    char median[24], min[24], max[24];
    milliseconds(s.median, median, sizeof median);
    milliseconds(s.min, min, sizeof min);
    milliseconds(s.max, max, sizeof max);
    snprintf(text, TEXT, "%s [%s..%s]", median, min, max);
}

/* Writes the time of a kernel in a separate run. which: offset in bench_column of a double, seconds. */
static void write_kernel(const bench_run *run, const bench_column *c, size_t which, char text[TEXT])
{
    (void)run;
    milliseconds(member(c, which), text, TEXT);
}

/* Writes a count. which: offset in bench_column of a uint64_t. */
static void write_count(const bench_run *run, const bench_column *c, size_t which, char text[TEXT])
{
    (void)run;
    gls_format_count(*(const uint64_t *)((const char *)c + which), text, TEXT);
}

/* Writes a length. which: offset in bench_column of a double, mm. */
static void write_length(const bench_run *run, const bench_column *c, size_t which, char text[TEXT])
{
    (void)run;
    gls_snprintf(text, TEXT, "%.2f", member(c, which));
}

/* Writes the points divided by the median of a bench_time. */
static void write_rate(const bench_run *run, const bench_column *c, size_t which, char text[TEXT])
{
    (void)run;
    double seconds = bench_median(c, (bench_time)which);
    gls_format_rate(seconds > 0 ? (double)c->result.points / seconds : 0, text, TEXT);
}

/* Median of a rate of plain writes (see bench_plain) over the repetitions. */
static double median_plain(const bench_column *c, bench_plain plain)
{
    return c->n > 0 ? bench_spread_of(c->plain[plain], c->n).median : 0;
}

/* The writer's rate with its share of the rate of plain writes by one thread. */
static void write_file(const bench_run *run, const bench_column *c, size_t which, char text[TEXT])
{
    (void)run;
    (void)which;
    char rate[32];
    double seconds = bench_median(c, BENCH_WRITE), v = seconds > 0 ? (double)c->file_bytes / seconds : 0,
           plain = median_plain(c, BENCH_PLAIN_ONE);
    gls_format_rate(v, rate, sizeof rate);
    gls_snprintf(text, TEXT, "%s(%.3g %%)", rate, plain > 0 ? 100 * v / plain : 0);
}

/* Rates of plain writes by one thread and by as many threads as the writer has. */
static void write_plain(const bench_run *run, const bench_column *c, size_t which, char text[TEXT])
{
    (void)run;
    (void)which;
    char one[32], many[32];
    gls_format_rate(median_plain(c, BENCH_PLAIN_ONE), one, sizeof one);
    gls_format_rate(median_plain(c, BENCH_PLAIN_MANY), many, sizeof many);
    snprintf(text, TEXT, "%s, %s", one, many);
}

static void write_memory(const bench_run *run, const bench_column *c, size_t which, char text[TEXT])
{
    (void)run;
    (void)which;
    gls_format_bytes(c->device_bytes, text, TEXT);
}

static void write_start(const bench_run *run, const bench_column *c, size_t which, char text[TEXT])
{
    (void)run;
    (void)which;
    gls_snprintf(text, TEXT, "%.2f + %.2f + %.2f", c->seconds_fit, c->result.seconds_upload, c->result.seconds_compile);
}

/* Prints the devices. */
static void devices(const bench_run *run)
{
    for (int i = 0; i < run->options->n_devices; i++)
        printf("device %d    %s, %s\n", i, run->device[i].info->renderer, run->device[i].info->version);
}

void bench_print(const bench_run *run)
{
    const gls_job_inputs *in = &run->data;
    char count[32], plain[64];
    snprintf(plain, sizeof plain, "plain writes, 1 and %d", gls_pieces_threads());
#define IN(member) offsetof(bench_column, member)
    const row rows[] = {{"", write_head, 0},
                        {"pass 1", write_time, BENCH_INITIAL},
                        {"prefix sum", write_time, BENCH_SCAN},
                        {"pass 2", write_time, BENCH_TRACK},
                        {"gather", write_time, BENCH_GATHER},
                        {"readback", write_time, BENCH_READBACK},
                        {"kernels and transfers", write_time, BENCH_COMPUTE},
                        {"kernel of pass 1, device", write_kernel, IN(kernel[GLS_TIME_INITIAL])},
                        {"kernel of pass 2, device", write_kernel, IN(kernel[GLS_TIME_TRACK])},
                        {"kernel of gather, device", write_kernel, IN(kernel[GLS_TIME_GATHER])},
                        {"write (other thread)", write_time, BENCH_WRITE},
                        {"wait for the writer", write_time, BENCH_WAIT},
                        {"whole", write_time, BENCH_WHOLE},
                        {"seeds", write_count, IN(nseeds)},
                        {"streamlines", write_count, IN(result.streamlines)},
                        {"points", write_count, IN(result.points)},
                        {"mean length, mm", write_length, IN(result.mean_length)},
                        {"median length, mm", write_length, IN(result.median_length)},
                        {"longest, mm", write_length, IN(result.max_length)},
                        {"cut at 500 mm", write_count, IN(result.truncated)},
                        {"commissural", write_count, IN(commissural)},
                        {"points/s, kernels", write_rate, BENCH_COMPUTE},
                        {"points/s, whole", write_rate, BENCH_WHOLE},
                        {"written, B/s", write_file, 0},
                        {plain, write_plain, 0},
                        {"device memory", write_memory, 0},
                        {"fit, upload and compile, s", write_start, 0}};
#undef IN
    printf("phantom     %d x %d x %d voxels, %zu volumes; seeds in %s voxels\n", in->grid->dim[0], in->grid->dim[1],
           in->grid->dim[2], in->series.dwi->n_volumes, gls_format_count(in->seed_voxels, count, sizeof count));
    devices(run);
    printf("times       ms, median of %d [least..largest]\n\n", run->options->repeat);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const bool of_file = rows[i].write == write_file || rows[i].write == write_plain ||
                             (rows[i].write == write_time && rows[i].which == BENCH_WRITE);
        if (!of_file || !run->options->no_write) print_row(run, &rows[i]);
    }
}
