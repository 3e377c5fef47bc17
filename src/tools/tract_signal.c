/* `glslines weights --method commit`: weights of streamlines from the diffusion signal. */
#include "tools/tract_signal.h"

#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/devices.h"
#include "image/image_write.h"
#include "tractogram/pump.h"
#include "util/status.h"
#include "util/text.h"
#include "util/threads.h"

#define BATCHES_AHEAD 16 /* batches of streamlines that are read in advance */

/* Checks combinations of options. */
static gls_status check(const gls_weights_cli *o)
{
    if (o->d_perp.n > 0 && !o->peaks) return gls_fail(GLS_ERR_ARGUMENT, "--d-perp: needs --peaks");
    if (o->lambda > 0 && !o->groups) return gls_fail(GLS_ERR_ARGUMENT, "--lambda: needs --groups");
    if (o->debias && !(o->lambda > 0)) return gls_fail(GLS_ERR_ARGUMENT, "--debias: needs --lambda");
    if (o->normalise_maps && !o->maps) return gls_fail(GLS_ERR_ARGUMENT, "--normalise-maps: needs --maps");
    const bool cylinder = o->kernel == GLS_SIGNAL_CYLINDER;
    const char *own = o->radii.n > 0            ? "radii"
                      : o->pulse_duration > 0   ? "pulse-duration"
                      : o->pulse_separation > 0 ? "pulse-separation"
                                                : NULL;
    if (own && !cylinder) return gls_fail(GLS_ERR_ARGUMENT, "--%s: needs --kernel cylinder", own);
    if (cylinder && o->radii.n == 0) return gls_fail(GLS_ERR_ARGUMENT, "--kernel cylinder: needs --radii");
    if ((o->pulse_duration > 0) != (o->pulse_separation > 0) || o->pulse_separation < o->pulse_duration)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--pulse-duration and --pulse-separation: give both, of which the separation, "
                        "from start to start, is not the shorter one");
    if ((o->kernel == GLS_SIGNAL_LIFE || o->kernel == GLS_SIGNAL_SCALAR) && (o->peaks || o->d_iso.n > 0))
        return gls_fail(GLS_ERR_ARGUMENT, "--kernel life and scalar have no --peaks and no --d-iso");
    if (o->kernel == GLS_SIGNAL_LIFE && o->walk == GLS_SIGNAL_VISITS)
        return gls_fail(GLS_ERR_ARGUMENT, "--kernel life counts points: leave out --walk");
    return GLS_OK;
}

gls_status gls_tract_signal_name(gls_tract_signal *s, gls_tract_run *run, const gls_weights_cli *o, const char *series)
{
    gls_status status = check(o);
    if (!status) status = gls_signal_input_name(&s->input, run, o, series);
    if (!status) status = gls_tract_run_reads_all(run, GLS_PATHS(gls_signal_names_file(o->groups)));
    for (int k = 0; k < GLS_SIGNAL_N_MAPS && o->maps && !status; k++) {
        status = gls_run_writes_named(&run->files, o->maps, gls_signal_map_end((gls_signal_map)k), &s->map[k]);
        if (!status) gls_tract_run_lists_output(run, s->map[k]);
    }
    return status;
}

/* Callback of the solver: logs an iteration. Returns whether to go on. */
static bool go_on(void *user, uint64_t iteration, double objective)
{
    const gls_tract_run *run = user;
    gls_log(GLS_LOG_DETAIL, "iteration %" PRIu64 ": objective %.9g", iteration, objective);
    return !run->go_on || run->go_on(NULL, 0);
}

/* Translates the options of the command. */
static gls_signal_options options_of(const gls_weights_cli *o, gls_tract_run *run)
{
    gls_signal_options to = gls_signal_options_default();
    to.kernels.kernel = (gls_signal_kernel)o->kernel;
    to.kernels.d_par = o->d_par > 0 ? o->d_par : o->kernel == GLS_SIGNAL_LIFE ? 1e-3 : to.kernels.d_par;
    to.kernels.d_par_ec = o->d_par_ec > 0 ? o->d_par_ec : to.kernels.d_par;
    to.kernels.radii = o->radii;
    if (o->d_perp.n > 0) to.kernels.d_perp = o->d_perp;
    if (o->d_iso.n > 0) to.kernels.d_iso = o->d_iso;
    to.limits = (gls_signal_limits){(gls_signal_walk)o->walk, o->min_piece, o->min_length, o->max_length};
    if (o->kernel == GLS_SIGNAL_LIFE) to.limits.walk = GLS_SIGNAL_POINTS;
    to.solver = (gls_signal_solver){o->tol_fun, o->tol_x, (int)o->model.max_iters, go_on, run};
    to.directions = o->directions;
    to.share = o->lambda;
    to.peer = o->group_rule;
    to.debias = o->debias;
    to.replacement = o->replace_bad;
    to.memory.bytes = o->device_memory * 1000000;
    /* two blocks of entries of 6 bytes are in use at a time, and take together a quarter */
    if (o->device_memory > 0 && to.memory.block_entries > to.memory.bytes / 48)
        to.memory.block_entries = (size_t)(to.memory.bytes / 48);
    return to;
}

/* The devices of the run, which are opened beside the reading of the streamlines. */
typedef struct signal_devices {
    gls_device_set set; /* empty: the CPU computes */
    const gls_weights_cli *o;
} signal_devices;

static gls_status open_devices(void *user)
{
    signal_devices *d = user;
    return gls_device_set_open_gpus(&d->set, d->o->device, (size_t)d->o->ngpus, (gls_graphics)d->o->api,
                                    "weights: computed on the CPU, without a device");
}

/* Takes all streamlines. */
static gls_status map(gls_tract_signal *s, gls_tract_run *run, const gls_weights_cli *o, const char *tracks,
                      gls_tractogram_reader *reader)
{
    const gls_sink sinks[2] = {gls_signal_sink(&s->signal), gls_signal_names_sink(&s->names)};
    gls_sink tee = {0};
    gls_status status = gls_sink_tee(sinks, o->groups ? 2 : 1, &tee);
    if (!status) status = gls_tract_pump(run, reader, &tee, status);
    if (!status && o->groups) status = gls_signal_names_check(&s->names, tracks);
    if (!status && o->groups) status = gls_signal_set_groups(&s->signal, s->names.of, s->names.n);
    return status;
}

gls_status gls_tract_signal_solve(gls_tract_signal *s, gls_tract_run *run, const gls_weights_cli *o, const char *tracks,
                                  const char *series)
{
    const gls_signal_options options = options_of(o, run);
    gls_tractogram_reader *reader = NULL;
    signal_devices devices = {.o = o};
    gls_beside opening = {
        .name = "open devices", .work = open_devices, .user = &devices, .at_once = omp_get_max_threads() == 1};
    gls_status status = gls_tract_open(run, tracks, false, &reader); /* reports errors before the series is read */
    if (!status) status = gls_beside_begin(&opening);
    if (!status) status = gls_reader_ahead_start(reader, BATCHES_AHEAD);
    if (!status) status = gls_signal_input_read(&s->input, o, series);
    if (!status && o->groups) status = gls_signal_names_open(&s->names, o->groups);
    if (!status) {
        const gls_signal_source source = {.name = series,
                                          .table = s->input.series.gradients,
                                          .timing = s->input.timing,
                                          .peaks = s->input.peaks,
                                          .peaks_ratio = o->peaks_ratio,
                                          .b0_min = o->b0_min,
                                          .all_voxels = o->all_voxels};
        status = gls_signal_begin(&s->signal, &options, &source, s->input.series.dwi, s->input.mask);
    }
    if (!status) status = map(s, run, o, tracks, reader);
    gls_tractogram_reader_close(reader);
    status = gls_beside_end(&opening, status);
    if (!status) status = gls_signal_end(&s->signal, devices.set.device, devices.set.n);
    gls_device_set_close(&devices.set);
    if (!status) gls_signal_log(&s->signal);
    return status;
}

/* Divides the signal fractions of each voxel by their sum. */
static void normalise(float *fraction[3], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double sum = (double)fraction[0][i] + (double)fraction[1][i] + (double)fraction[2][i] + 1e-16;
        for (int k = 0; k < 3; k++) fraction[k][i] = (float)((double)fraction[k][i] / sum);
    }
}

/* Writes the images of --maps. */
static gls_status write_maps(gls_tract_signal *s, gls_tract_run *run, const gls_weights_cli *o)
{
    const gls_signal *signal = &s->signal;
    gls_image *image[GLS_SIGNAL_N_MAPS] = {NULL};
    gls_status status = GLS_OK;
    for (int k = 0; k < GLS_SIGNAL_N_MAPS && !status; k++)
        status = gls_signal_map_make(signal, (gls_signal_map)k, &image[k]);
    if (!status && o->normalise_maps)
        normalise((float *[3]){image[0]->data, image[1]->data, image[2]->data}, gls_grid_voxels(&signal->rows.grid));
    for (int k = 0; k < GLS_SIGNAL_N_MAPS; k++) {
        if (!status)
            status =
                gls_image_write_grouped(s->map[k], run->files.force, &run->files.group, image[k], GLS_IMAGE_FLOAT32);
        gls_image_destroy(image[k]);
    }
    return status;
}

/* Writes the table of --csv: a row for the start, then one for each iteration. */
static gls_status write_iterations(const gls_signal_fit *fit, const char *path, gls_tract_run *run)
{
    gls_text text = {0};
    gls_text_puts(&text, "Iteration,Objective,Step\n");
    for (size_t i = 0; i <= fit->iterations; i++)
        gls_text_printf(&text, "%zu,%.9g,%.9g\n", i, fit->iteration[i].objective, fit->iteration[i].step);
    return gls_text_write(&text, path, run->files.force, &run->files.group, GLS_OK);
}

gls_status gls_tract_signal_write(gls_tract_signal *s, gls_tract_run *run, const gls_weights_cli *o)
{
    gls_status status = o->maps ? write_maps(s, run, o) : GLS_OK;
    return status || !o->csv ? status : write_iterations(&s->signal.fit, o->csv, run);
}

void gls_tract_signal_finish(gls_tract_signal *s)
{
    gls_signal_finish(&s->signal);
    gls_signal_names_finish(&s->names);
    gls_signal_input_finish(&s->input);
}
