/* The benchmark: measures each getter that is asked for, with each gls_mapping and on each device that are asked for.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "bench/all.h"
#include "bench/bench.h"
#include "bench/data.h"
#include "bench/measure.h"
#include "record/run_params.h"
#include "run/job_inputs.h"
#include "track/getter/getters.h"
#include "util/status.h"
#include "util/text.h"

enum { SEEDS_HARDWARE = 100000, SEEDS_SOFTWARE = 5000 };

/* Opens the devices in the order of the command line. Chooses the number of seeds unless the user gave it: the smaller
 * default if any device is a software renderer, so that all devices track the same seeds. */
static gls_status open_devices(bench_run *run)
{
    bool software = false;
    for (int i = 0; i < run->options->n_devices; i++) {
        bench_device *d = &run->device[i];
        gls_status status = gls_device_open(run->options->device[i], run->options->api, &d->device);
        if (status) return status;
        d->info = gls_device_get_info(d->device);
        software = software || d->info->software;
        gls_log(GLS_LOG_INFO, "device: %s, %s", d->info->renderer, d->info->version);
    }
    run->nseeds = run->options->nseeds ? run->options->nseeds : software ? SEEDS_SOFTWARE : SEEDS_HARDWARE;
    return GLS_OK;
}

/* Makes a temporary folder, run->directory, for the tractograms whose writing is timed; none with --no-write. */
static gls_status make_directory(bench_run *run)
{
    const char *place = getenv("TMPDIR");
    if (run->options->no_write) return GLS_OK;
    if (!place || !*place) place = "/tmp";
    if (gls_asprintf(&run->directory, "%s/glslines-bench-XXXXXX", place) < 0) return gls_no_memory();
    if (mkdtemp(run->directory)) return GLS_OK;
    free(run->directory);
    run->directory = NULL;
    return gls_fail(GLS_ERR_OUTPUT,
                    "cannot make a temporary folder in %s: %s; set TMPDIR to another folder, or give --no-write, which "
                    "needs none",
                    place, strerror(errno));
}

/* Measures one getter on each device with each gls_mapping. A gls_mapping that a device lacks is left out with a
 * warning. */
static gls_status measure_columns(bench_run *run, int dg, const bench_model *model)
{
    gls_status status = GLS_OK;
    for (int d = 0; !status && d < run->options->n_devices; d++)
        for (int m = 0; !status && m < run->options->n_mapping; m++) {
            bench_column *c = &run->column[run->n_columns];
            *c = (bench_column){.dg = dg, .device = d, .mapping = run->options->mapping[m]};
            if (c->mapping == GLS_MAPPING_SUBGROUP && run->device[d].info->subgroup_size == 0) {
                gls_log(GLS_LOG_WARNING,
                        "%s: the device has no subgroups: its column of --mapping subgroup is left out",
                        run->device[d].info->renderer);
                continue;
            }
            gls_log(GLS_LOG_INFO, "%s on %s", gls_getter_name((gls_direction_getter)dg), run->device[d].info->renderer);
            status = bench_measure(run, model, c);
            run->n_columns += !status;
        }
    return status;
}

/* Fits the model of one getter and measures its columns. */
static gls_status measure_getter(bench_run *run, int dg)
{
    bench_model model;
    gls_status status = bench_model_fit(run, dg, &model);
    if (!status) {
        /* temporary files exist only in the phase of tracking, which begins after the fit */
        gls_monitor_begin(run->monitor, GLS_PHASE_TRACK);
        status = make_directory(run);
        if (!status) status = measure_columns(run, dg, &model);
        if (run->directory) rmdir(run->directory);
        free(run->directory);
        run->directory = NULL;
        gls_monitor_end(run->monitor, GLS_PHASE_TRACK);
    }
    bench_model_finish(&model);
    return status;
}

/* Measures all requested getters. GLS_ERR_UNSUPPORTED if no column could be measured. */
static gls_status measure_getters(bench_run *run)
{
    gls_status status = GLS_OK;
    for (int i = 0; !status && i < run->options->n_dg; i++) status = measure_getter(run, run->options->dg[i]);
    if (!status && run->n_columns == 0)
        status =
            gls_fail(GLS_ERR_UNSUPPORTED,
                     "--mapping subgroup: none of the devices has subgroups: choose another --mapping or --device");
    return status;
}

gls_status bench_measure_all(bench_run *run, const bench_options *o, const gls_monitor *monitor)
{
    *run = (bench_run){.options = o, .monitor = monitor, .started = time(NULL), .job = gls_job_options_default()};
    run->busy = bench_busy_now();
    run->job.model = o->model;
    run->job.mask_stop = o->mask_stop;
    gls_warnings_begin(&run->warnings);
    gls_status status = open_devices(run);
    if (!status) status = bench_data_make(run);
    return status ? status : measure_getters(run);
}

void bench_finish(bench_run *run)
{
    gls_job_inputs_finish(&run->data);
    for (int i = 0; i < run->options->n_devices; i++) gls_device_close(run->device[i].device);
    gls_warnings_end(&run->warnings);
}
