/* The arithmetic of nonlinear registration on a device: one kernel for each step, on planes of floats that stay on the
 * device through a level. Only the cost of an iteration comes back. */
#include "registration/velocity_device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/buffer.h"
#include "registration/smooth.h"
#include "util/status.h"

/* Work groups along x; more are arranged in rows, because drivers promise only 65535 for an axis. */
#define MAX_GROUPS_X 32768u
#define GROUP 64u
#define N_SUMS 5

enum { SQUARE, WARP_FIXED, WARP_MOVING, WINDOW_FIRST, WINDOW, FORCES, GAUSS, LARGEST, CHANGE, N_KERNELS };

/* One pair of images on the device: values and masks, and the map of the moving one. */
typedef struct device_pair {
    gls_buffer *fixed, *moving, *map;
    int32_t dim[3];
    float weight;
} device_pair;

/* Buffers of a level. v, a, b, w, spare: three planes; pair: f, m, inside; sums, other: N_SUMS planes. */
enum { V, A, B, W, SPARE, PAIR, SUMS, OTHER, TOTALS, N_BUFFERS };

typedef struct device_solver {
    gls_velocity_solver base;
    const gls_velocity_options *options;
    gls_device *device;
    gls_kernel *kernel[N_KERNELS];
    gls_buffer *taps[2]; /* weights of the smoothing of forces, and of the velocity */
    int radius[2];       /* radius of each of both smoothings */
    gls_buffer *buffer[N_BUFFERS];
    device_pair pair[GLS_VELOCITY_CHANNELS];
    size_t n_pairs, n;
    int32_t dim[3];
} device_solver;

/* Runs a kernel with one invocation for each of n values. */
static gls_status run(const device_solver *s, int kernel, size_t n, const gls_arg *args, size_t n_args)
{
    const uint32_t groups = (uint32_t)((n + GROUP - 1) / GROUP);
    const uint32_t grid[3] = {groups < MAX_GROUPS_X ? groups : MAX_GROUPS_X, (groups + MAX_GROUPS_X - 1) / MAX_GROUPS_X,
                              1};
    return gls_kernel_run(s->kernel[kernel], grid, args, n_args, NULL);
}
#define RUN(kernel, n, ...) \
    run(s, kernel, n, (const gls_arg[]){__VA_ARGS__}, sizeof((const gls_arg[]){__VA_ARGS__}) / sizeof(gls_arg))
/* The arguments 0, 1 and 2 of most kernels: the size of the level. */
#define SIZE gls_arg_int(0, s->dim[0]), gls_arg_int(1, s->dim[1]), gls_arg_int(2, s->dim[2])

/* --- Building. */

/* Uploads values and mask of an image. */
static gls_status fill_image(gls_device *device, const gls_level *level, const char *label, gls_buffer **buffer)
{
    const size_t n = gls_grid_voxels(&level->grid);
    float *mask = malloc(n * sizeof *mask);
    if (!mask) return gls_no_memory();
    for (size_t v = 0; v < n; v++) mask[v] = level->mask[v];
    gls_status status = gls_storage_create(device, label, 2 * n * sizeof *mask, NULL, buffer);
    if (!status) status = gls_buffer_write(*buffer, 0, n * sizeof *mask, level->value);
    if (!status) status = gls_buffer_write(*buffer, n * sizeof *mask, n * sizeof *mask, mask);
    free(mask);
    return status;
}

static gls_status begin(gls_velocity_solver *solver, const gls_velocity_pair *pair, size_t n_pairs, const float *v)
{
    static const char *const names[N_BUFFERS] = {"velocity", "half back", "half forth", "forces", "spare field",
                                                 "pair",     "sums",      "other sums", "totals"};
    device_solver *s = (device_solver *)solver;
    const size_t n = gls_grid_voxels(&pair->fixed.grid), plane = n * sizeof *v;
    gls_status status = GLS_OK;
    s->n = n;
    s->n_pairs = n_pairs;
    memcpy(s->dim, pair->fixed.grid.dim, sizeof s->dim);
    for (int k = 0; k < N_BUFFERS && !status; k++) {
        const bool sums = k == SUMS || k == OTHER;
        const size_t bytes = k == TOTALS || (sums && s->options->ssd) ? 16 : (sums ? N_SUMS : 3) * plane;
        status = gls_storage_create(s->device, names[k], bytes, k == V ? v : NULL, &s->buffer[k]);
    }
    for (size_t k = 0; k < n_pairs && !status; k++) {
        device_pair *p = &s->pair[k];
        p->weight = pair[k].weight;
        memcpy(p->dim, pair[k].moving.grid.dim, sizeof p->dim);
        status = fill_image(s->device, &pair[k].fixed, "fixed image", &p->fixed);
        if (!status) status = fill_image(s->device, &pair[k].moving, "moving image", &p->moving);
        if (!status)
            status = gls_storage_create(s->device, "map", sizeof pair[k].to_moving, pair[k].to_moving, &p->map);
    }
    return status;
}

/* --- Steps. */

/* Computes the flow along factor * v into `to`. The number of squarings is odd, so that the last one writes to `to`. */
static gls_status flow(device_solver *s, float factor, gls_buffer *to)
{
    gls_buffer *from = s->buffer[V], *next = to;
    float scale = factor / (1 << GLS_VELOCITY_SQUARINGS);
    gls_status status = GLS_OK;
    for (int k = 0; k < GLS_VELOCITY_SQUARINGS && !status; k++) {
        status = RUN(SQUARE, s->n, SIZE, gls_arg_float(3, scale), gls_arg_buffer(0, from), gls_arg_buffer(1, next));
        from = next;
        next = from == to ? s->buffer[SPARE] : to;
        scale = 1;
    }
    return status;
}

/* Computes the sums over the windows of the pair into SUMS. */
static gls_status sum_windows(device_solver *s)
{
    gls_buffer *const from[3] = {s->buffer[PAIR], s->buffer[SUMS], s->buffer[OTHER]};
    gls_buffer *const to[3] = {s->buffer[SUMS], s->buffer[OTHER], s->buffer[SUMS]};
    gls_status status = GLS_OK;
    for (int axis = 0; axis < 3 && !status; axis++)
        status = RUN(axis == 0 ? WINDOW_FIRST : WINDOW, s->n, SIZE, gls_arg_int(3, s->options->radius),
                     gls_arg_int(4, axis), gls_arg_buffer(0, from[axis]), gls_arg_buffer(1, to[axis]));
    return status;
}

/* Computes the cost of one pair, and adds its forces to those of the pairs before it. */
static gls_status measure_pair(device_solver *s, size_t k, double *cost)
{
    const device_pair *p = &s->pair[k];
    uint32_t total[4];
    gls_status status = gls_buffer_clear(s->buffer[TOTALS]);
    if (!status)
        status = RUN(WARP_FIXED, s->n, SIZE, gls_arg_int(3, s->dim[0]), gls_arg_int(4, s->dim[1]),
                     gls_arg_int(5, s->dim[2]), gls_arg_buffer(0, p->fixed), gls_arg_buffer(1, s->buffer[A]),
                     gls_arg_buffer(2, s->buffer[PAIR]), gls_arg_buffer(3, p->map));
    if (!status)
        status = RUN(WARP_MOVING, s->n, SIZE, gls_arg_int(3, p->dim[0]), gls_arg_int(4, p->dim[1]),
                     gls_arg_int(5, p->dim[2]), gls_arg_buffer(0, p->moving), gls_arg_buffer(1, s->buffer[B]),
                     gls_arg_buffer(2, s->buffer[PAIR]), gls_arg_buffer(3, p->map));
    if (!status && !s->options->ssd) status = sum_windows(s);
    if (!status)
        status = RUN(FORCES, s->n, SIZE, gls_arg_int(3, s->options->radius), gls_arg_float(4, p->weight),
                     gls_arg_int(5, k > 0), gls_arg_buffer(0, s->buffer[PAIR]), gls_arg_buffer(1, s->buffer[SUMS]),
                     gls_arg_buffer(2, s->buffer[W]), gls_arg_buffer(3, s->buffer[TOTALS]));
    if (!status) status = gls_buffer_read(s->buffer[TOTALS], 0, sizeof total, total);
    if (!status)
        *cost = ((double)total[1] * 4294967296.0 + total[0]) / (double)GLS_VELOCITY_COST_UNIT / fmax(total[2], 1);
    return status;
}

static gls_status measure(gls_velocity_solver *solver, double *cost)
{
    device_solver *s = (device_solver *)solver;
    gls_status status = flow(s, -0.5f, s->buffer[A]);
    if (!status) status = flow(s, 0.5f, s->buffer[B]);
    *cost = 0;
    for (size_t k = 0; k < s->n_pairs && !status; k++) {
        double one = 0;
        status = measure_pair(s, k, &one);
        *cost += (double)s->pair[k].weight * one;
    }
    return status;
}

/* Smooths a field of three planes, *field, along all axes; *field becomes the buffer with the result. */
static gls_status smooth(device_solver *s, int which, int *field)
{
    gls_status status = GLS_OK;
    int spare = A; /* flows are computed anew in each iteration */
    for (int axis = 0; axis < 3 && s->radius[which] > 0 && !status; axis++) {
        status = RUN(GAUSS, s->n, SIZE, gls_arg_int(3, s->radius[which]), gls_arg_int(4, axis),
                     gls_arg_buffer(0, s->buffer[*field]), gls_arg_buffer(1, s->buffer[spare]),
                     gls_arg_buffer(2, s->taps[which]));
        gls_buffer *made = s->buffer[spare];
        s->buffer[spare] = s->buffer[*field];
        s->buffer[*field] = made;
    }
    return status;
}

static gls_status update(gls_velocity_solver *solver)
{
    device_solver *s = (device_solver *)solver;
    int w = W, v = V;
    gls_status status = smooth(s, 0, &w);
    if (!status)
        status = RUN(LARGEST, s->n, gls_arg_uint(0, (uint32_t)s->n), gls_arg_buffer(0, s->buffer[W]),
                     gls_arg_buffer(1, s->buffer[TOTALS]));
    if (!status)
        status =
            RUN(CHANGE, 3 * s->n, gls_arg_uint(0, (uint32_t)(3 * s->n)), gls_arg_float(1, 2 * (float)s->options->step),
                gls_arg_buffer(0, s->buffer[V]), gls_arg_buffer(1, s->buffer[W]), gls_arg_buffer(2, s->buffer[TOTALS]));
    return status ? status : smooth(s, 1, &v);
}

static gls_status end(gls_velocity_solver *solver, float *v)
{
    device_solver *s = (device_solver *)solver;
    gls_status status = v ? gls_buffer_read(s->buffer[V], 0, 3 * s->n * sizeof *v, v) : GLS_OK;
    for (int k = 0; k < N_BUFFERS; k++) {
        gls_buffer_destroy(s->buffer[k]);
        s->buffer[k] = NULL;
    }
    for (size_t k = 0; k < GLS_VELOCITY_CHANNELS; k++) {
        gls_buffer_destroy(s->pair[k].fixed);
        gls_buffer_destroy(s->pair[k].moving);
        gls_buffer_destroy(s->pair[k].map);
        s->pair[k] = (device_pair){.fixed = NULL};
    }
    return status;
}

static void destroy(gls_velocity_solver *solver)
{
    device_solver *s = (device_solver *)solver;
    end(solver, NULL);
    for (int k = 0; k < N_KERNELS; k++) gls_kernel_destroy(s->kernel[k]);
    for (int k = 0; k < 2; k++) gls_buffer_destroy(s->taps[k]);
    free(s);
}

gls_status gls_velocity_device_create(const gls_velocity_options *options, gls_device *device,
                                      gls_velocity_solver **solver)
{
    static const struct {
        const char *file, *define;
    } kernels[N_KERNELS] = {
        [SQUARE] = {"registration/square.comp", NULL},        [WARP_FIXED] = {"registration/warp.comp", NULL},
        [WARP_MOVING] = {"registration/warp.comp", "MOVING"}, [WINDOW_FIRST] = {"registration/window.comp", "PRODUCTS"},
        [WINDOW] = {"registration/window.comp", NULL},        [FORCES] = {"registration/forces.comp", NULL},
        [GAUSS] = {"registration/gauss.comp", NULL},          [LARGEST] = {"registration/largest.comp", NULL},
        [CHANGE] = {"registration/change.comp", NULL},
    };
    device_solver *s = calloc(1, sizeof *s);
    char group[12];
    gls_status status = s ? GLS_OK : gls_no_memory();
    if (status) return status;
    s->base = (gls_velocity_solver){begin, measure, update, end, destroy};
    s->options = options;
    s->device = device;
    snprintf(group, sizeof group, "%u", GROUP);
    for (int k = 0; k < N_KERNELS && !status; k++) {
        const char *define = k == FORCES && options->ssd ? "SSD" : kernels[k].define;
        const gls_define defines[] = {{"GROUP_SIZE", group, false, NULL}, {define, "", false, NULL}};
        status = gls_kernel_load(device, kernels[k].file, defines, define ? 2 : 1, &s->kernel[k]);
    }
    for (int k = 0; k < 2 && !status; k++) {
        const gls_smooth_taps taps = gls_smooth_gauss(k == 0 ? options->smooth_update : options->smooth_total);
        s->radius[k] = taps.radius;
        status = gls_storage_create(device, "taps", sizeof taps.weight, taps.weight, &s->taps[k]);
    }
    if (status)
        destroy(&s->base);
    else
        *solver = &s->base;
    return status;
}
