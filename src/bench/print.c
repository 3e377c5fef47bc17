/* Prints the table of the benchmark: a row for each measured quantity, a column for each getter, device and
 * gls_mapping. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "record/run_params.h"
#include "tractogram/writers.h"
#include "util/numbers.h"
#include "util/text.h"

enum { LABEL = 26, CELL = 25 }; /* widths in characters */

/* Prints one cell, right-aligned. */
static void cell(const char *text)
{
    printf("  %*s", CELL, text);
}

static void end_row(void)
{
    putchar('\n');
}

/* Prints the name of a row, left-aligned. */
static void label(const char *text)
{
    printf("%-*s", LABEL, text);
}

/* Writes seconds as milliseconds with at least four digits. */
static void milliseconds(double seconds, char *text, size_t size)
{
    double ms = 1e3 * seconds;
    gls_snprintf(text, size, "%.*f", ms < 9.9995 ? 3 : ms < 99.995 ? 2 : ms < 999.95 ? 1 : 0, ms);
}

/* Prints a row of times: median, least and largest of the repetitions. */
static void time_row(const bench_run *run, const char *name, bench_time time)
{
    label(name);
    for (int i = 0; i < run->n_columns; i++) {
        const bench_column *c = &run->column[i];
        bench_spread s = bench_spread_of(c->seconds[time], c->n);
        char median[24], min[24], max[24], text[80];
        milliseconds(s.median, median, sizeof median);
        milliseconds(s.min, min, sizeof min);
        milliseconds(s.max, max, sizeof max);
        snprintf(text, sizeof text, "%s [%s..%s]", median, min, max);
        cell(text);
    }
    end_row();
}

/* Prints a row of counts: value() of each column. */
static void count_row(const bench_run *run, const char *name, uint64_t (*value)(const bench_column *))
{
    char text[32];
    label(name);
    for (int i = 0; i < run->n_columns; i++) cell(gls_format_count(value(&run->column[i]), text, sizeof text));
    end_row();
}

static uint64_t streamlines_of(const bench_column *c)
{
    return c->result.streamlines;
}

static uint64_t points_of(const bench_column *c)
{
    return c->result.points;
}

static uint64_t commissural_of(const bench_column *c)
{
    return c->commissural;
}

static uint64_t truncated_of(const bench_column *c)
{
    return c->result.truncated;
}

static uint64_t seeds_of(const bench_column *c)
{
    return c->nseeds;
}

/* Prints the heads of the columns: getter, lanes, and device if there are several. */
static void head(const bench_run *run)
{
    char text[80];
    label("");
    for (int i = 0; i < run->n_columns; i++) {
        const bench_column *c = &run->column[i];
        snprintf(text, sizeof text, "%s, %u %s", gls_getter_name((gls_direction_getter)c->dg), c->result.lanes,
                 c->result.lanes == 1 ? "lane" : "lanes");
        if (run->options->n_devices > 1)
            snprintf(text + strlen(text), sizeof text - strlen(text), ", device %d", c->device);
        cell(text);
    }
    end_row();
}

/* Prints three rows of lengths of streamlines. */
static void lengths(const bench_run *run)
{
    char text[32];
    static const char *const names[] = {"mean length, mm", "median length, mm", "longest, mm"};
    for (int row = 0; row < 3; row++) {
        label(names[row]);
        for (int i = 0; i < run->n_columns; i++) {
            const gls_track_result *r = &run->column[i].result;
            gls_snprintf(text, sizeof text, "%.2f",
                         row == 0   ? r->mean_length
                         : row == 1 ? r->median_length
                                    : r->max_length);
            cell(text);
        }
        end_row();
    }
}

/* Prints a row of rates: the points of each column divided by the median of a time. */
static void rate_row(const bench_run *run, const char *name, bench_time time)
{
    char text[32];
    label(name);
    for (int i = 0; i < run->n_columns; i++) {
        double seconds = bench_median(&run->column[i], time);
        cell(gls_format_rate(seconds > 0 ? (double)run->column[i].result.points / seconds : 0, text, sizeof text));
    }
    end_row();
}

/* The double at an offset of a struct. */
static double member(const void *of, size_t offset)
{
    return *(const double *)((const char *)of + offset);
}

/* Prints a row of work per second and, if ceilings were measured, its share of the ceiling, "123 (45 %)". per_point,
 * ceiling: offsets in bench_work and bench_ceilings. */
static void work_row(const bench_run *run, const char *name, size_t per_point, size_t ceiling)
{
    char rate[32], text[64];
    label(name);
    for (int i = 0; i < run->n_columns; i++) {
        const bench_column *c = &run->column[i];
        const bench_ceilings *limits = &run->device[c->device].ceilings;
        double seconds = bench_median(c, BENCH_COMPUTE),
               v = seconds > 0 ? member(&c->work, per_point) * (double)c->result.points / seconds : 0;
        gls_format_rate(v, rate, sizeof rate);
        if (limits->measured)
            gls_snprintf(text, sizeof text, "%s(%.3g %%)", rate, 100 * v / member(limits, ceiling));
        else
            snprintf(text, sizeof text, "%s", rate);
        cell(text);
    }
    end_row();
}

/* Prints a row of a kernel's times, ms, which the device's clock measured in a separate run. */
static void kernel_row(const bench_run *run, const char *name, gls_engine_time time)
{
    char text[32];
    label(name);
    for (int i = 0; i < run->n_columns; i++) {
        milliseconds(run->column[i].kernel[time], text, sizeof text);
        cell(text);
    }
    end_row();
}

/* Median of a rate of plain writes (see bench_plain) over the repetitions. */
static double median_plain(const bench_column *c, bench_plain plain)
{
    return c->n > 0 ? bench_spread_of(c->plain[plain], c->n).median : 0;
}

/* Prints two rows: the writer's rate with its share of the rate of plain writes by one thread; and the rates of plain
 * writes by one thread and by as many threads as the writer has. */
static void file_row(const bench_run *run)
{
    char rate[32], text[80];
    label("written, B/s");
    for (int i = 0; i < run->n_columns; i++) {
        const bench_column *c = &run->column[i];
        double seconds = bench_median(c, BENCH_WRITE), v = seconds > 0 ? (double)c->file_bytes / seconds : 0,
               plain = median_plain(c, BENCH_PLAIN_ONE);
        gls_format_rate(v, rate, sizeof rate);
        gls_snprintf(text, sizeof text, "%s(%.3g %%)", rate, plain > 0 ? 100 * v / plain : 0);
        cell(text);
    }
    end_row();
    snprintf(text, sizeof text, "plain writes, 1 and %d", gls_pieces_threads());
    label(text);
    for (int i = 0; i < run->n_columns; i++) {
        char many[32];
        gls_format_rate(median_plain(&run->column[i], BENCH_PLAIN_ONE), rate, sizeof rate);
        gls_format_rate(median_plain(&run->column[i], BENCH_PLAIN_MANY), many, sizeof many);
        snprintf(text, sizeof text, "%s, %s", rate, many);
        cell(text);
    }
    end_row();
}

/* Prints the devices with their ceilings. */
static void devices(const bench_run *run)
{
    for (int i = 0; i < run->options->n_devices; i++) {
        const bench_device *d = &run->device[i];
        char a[32], b[32], c[32];
        printf("device %d    %s, %s\n", i, d->info->renderer, d->info->version);
        if (d->ceilings.measured)
            printf("ceilings    copy %sB/s, multiply-add %sFLOP/s, trilinear samples %s/s\n",
                   gls_format_rate(d->ceilings.copy_bytes, a, sizeof a),
                   gls_format_rate(d->ceilings.fma_flops, b, sizeof b),
                   gls_format_rate(d->ceilings.fetches, c, sizeof c));
    }
}

void bench_print(const bench_run *run)
{
    const gls_job_inputs *in = &run->data;
    char a[32], text[64];
    printf("phantom     %d x %d x %d voxels, %zu volumes; seeds in %s voxels\n", in->grid->dim[0], in->grid->dim[1],
           in->grid->dim[2], in->series.dwi->n_volumes, gls_format_count(in->seed_voxels, a, sizeof a));
    devices(run);
    printf("times       ms, median of %d [least..largest]\n\n", run->options->repeat);
    head(run);
    time_row(run, "pass 1", BENCH_INITIAL);
    time_row(run, "prefix sum", BENCH_SCAN);
    time_row(run, "pass 2", BENCH_TRACK);
    time_row(run, "gather", BENCH_GATHER);
    time_row(run, "readback", BENCH_READBACK);
    time_row(run, "kernels and transfers", BENCH_COMPUTE);
    kernel_row(run, "kernel of pass 1, device", GLS_TIME_INITIAL);
    kernel_row(run, "kernel of pass 2, device", GLS_TIME_TRACK);
    kernel_row(run, "kernel of gather, device", GLS_TIME_GATHER);
    if (!run->options->no_write) time_row(run, "write (other thread)", BENCH_WRITE);
    time_row(run, "wait for the writer", BENCH_WAIT);
    time_row(run, "whole", BENCH_WHOLE);
    count_row(run, "seeds", seeds_of);
    count_row(run, "streamlines", streamlines_of);
    count_row(run, "points", points_of);
    lengths(run);
    count_row(run, "cut at 500 mm", truncated_of);
    count_row(run, "commissural", commissural_of);
    rate_row(run, "points/s, kernels", BENCH_COMPUTE);
    rate_row(run, "points/s, whole", BENCH_WHOLE);
    work_row(run, "samples/s", offsetof(bench_work, fetches), offsetof(bench_ceilings, fetches));
    work_row(run, "texels, B/s", offsetof(bench_work, fetched_bytes), offsetof(bench_ceilings, copy_bytes));
    work_row(run, "FLOP/s", offsetof(bench_work, flops), offsetof(bench_ceilings, fma_flops));
    if (!run->options->no_write) file_row(run);
    label("device memory");
    for (int i = 0; i < run->n_columns; i++) cell(gls_format_bytes(run->column[i].device_bytes, text, sizeof text));
    end_row();
    label("fit, upload and compile, s");
    for (int i = 0; i < run->n_columns; i++) {
        const bench_column *c = &run->column[i];
        gls_snprintf(text, sizeof text, "%.2f + %.2f + %.2f", c->seconds_fit, c->result.seconds_upload,
                     c->result.seconds_compile);
        cell(text);
    }
    end_row();
}
