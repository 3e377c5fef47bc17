/* Memory of a run: estimates it before tracking, and makes batches smaller to stay within a limit. */

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "run/job_memory.h"
#include "image/nifti_read.h"
#include "dwi/fit_model.h"
#include "image/formats.h"
#include "image/nifti_header.h"
#include "image/stream.h"
#include "record/run_params.h"
#include "run/job_inputs.h"
#include "run/job_inputs_parts.h"
#include "run/job_parts.h"
#include "track/run/journal.h"
#include "util/threads.h"
#include "weights/signal_fit.h"
#include "weights/weights_estimate.h"

/* Unit of --memory-limit. */
#define MB UINT64_C(1000000)

/* Memory of the program with its libraries and of the driver with its compiler: the largest values that were measured,
 * with a GPU and with a software renderer, whose compiler takes more. */
#define PROGRAM_BYTES (64 * MB)
#define PROGRAM_BYTES_SOFTWARE (112 * MB)

/* Memory of a run in bytes, estimated before it starts. */
typedef struct figures {
    uint64_t images;          /* images in memory during the fit */
    uint64_t kept;            /* images kept while tracking */
    uint64_t program;         /* program and driver */
    uint64_t batches;         /* host memory of the tracker's batches */
    uint64_t device;          /* volumes and buffers on each device */
    gls_dynamic_memory seeds; /* of --seed-dynamic, on the first device */
    uint64_t weights;         /* of --weights */
    uint64_t host;            /* maximum in host memory */
    uint64_t asked;           /* batch_seeds of the parameters that the batches are for */
    bool shared;              /* true: device memory is host memory */
} figures;

/* Bytes of the values of an image; 0 if there is no image, or only its header was read. */
static uint64_t image_bytes(const gls_image *image)
{
    return image && image->data ? gls_grid_voxels(&image->grid) * image->n_volumes * sizeof *image->data : 0;
}

gls_status gls_job_memory_check(const gls_job_inputs *inputs, const gls_job_options *options)
{
    /* images that may be as large as the memory; maps of one volume are small */
    static const int large[] = {GLS_FILE_DWI, GLS_FILE_SH, GLS_FILE_ODF, GLS_FILE_PEAKS};
    const uint64_t limit_mb = options->memory_limit;
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof large / sizeof *large && limit_mb > 0; i++) {
        const char *path = inputs->file[large[i]].path;
        gls_image *header = NULL;
        if (large[i] == GLS_FILE_DWI && !gls_job_inputs_need_series(inputs, options)) continue;
        /* leave a header that cannot be read to the reader of images, which reports it */
        if (path && gls_image_read_header(path, GLS_IMAGE_ANY, &header) == GLS_OK)
            sum += gls_grid_voxels(&header->grid) * header->n_volumes * sizeof *header->data;
        gls_image_destroy(header);
    }
    if (sum <= limit_mb * MB) return GLS_OK;
    return gls_fail(GLS_ERR_ARGUMENT,
                    "--memory-limit %" PRIu64 ": the input images alone take at least %s of memory: raise the limit",
                    limit_mb, GLS_BYTES(sum));
}

/* Adds the bytes of the run's images to *f. planned: the inputs with the images that the fit will make. */
static void add_images(const gls_job_inputs *planned, figures *f)
{
    const uint64_t map = image_bytes(planned->stop_map);
    const bool tensors = planned->method.tensors;
    f->kept = image_bytes(planned->mask) + image_bytes(planned->roi) + map +
              (tensors || (planned->wants_fa && planned->stop_map_open) ? map : 0) + image_bytes(planned->odf_image) +
              image_bytes(planned->peaks) + image_bytes(planned->model.sh);
    /* the tensors, six volumes, are freed before tracking */
    f->images =
        f->kept + image_bytes(planned->series.dwi) + image_bytes(planned->series.tensor_dwi) + tensors * 6 * map;
    if (planned->method.series) f->kept = f->images;
}

/* Number of voxels of a grid in which the first volume of an image on it is not 0; all, if image or values are not
 * there. */
static uint64_t count_voxels(const gls_grid *grid, const gls_image *image)
{
    const uint64_t n = gls_grid_voxels(grid);
    uint64_t count = 0;
    if (!image || !image->data) return n;
    for (uint64_t v = 0; v < n; v++) count += image->data[v] != 0;
    return count;
}

/* Adds the memory of --seed-dynamic to *f. */
static gls_status add_seeds(const gls_job *job, const gls_job_inputs *planned, figures *f)
{
    const gls_job_options *o = &job->options;
    const bool other = o->seed_dynamic && !gls_is_auto(o->seed_dynamic);
    const gls_dynamic_options options = {.device_bytes = gls_job_seeds_device_bytes(job),
                                         .round_seeds = o->dynamic_batch};
    const gls_image *fod = o->sh ? planned->odf_image : planned->model.sh;
    gls_image *header = NULL;
    if (!o->seed_dynamic) return GLS_OK;
    gls_status status = other ? gls_image_read_header(o->seed_dynamic, GLS_IMAGE_ANY, &header) : GLS_OK;
    if (status) return status;
    if (other) fod = header;
    const uint64_t n = gls_grid_voxels(&fod->grid);
    /* the fit fills the mask with FODs */
    f->seeds = gls_dynamic_seeds_memory(n, other ? n : count_voxels(&fod->grid, o->sh ? fod : planned->mask),
                                        job->device, &options);
    /* the other FODs are in memory until they are segmented */
    if (other) f->seeds.host += n * fod->n_volumes * sizeof *fod->data;
    gls_image_destroy(header);
    return GLS_OK;
}

/* Adds the memory of --weights to *f. A run that ends after a number of seeds keeps at most a streamline each. */
static gls_status add_weights(const gls_job *job, const gls_job_inputs *planned, figures *f)
{
    const gls_job_options *o = &job->options;
    const uint64_t select = job->params.select, n = select > 0 ? select : gls_job_seeds(job);
    const gls_image *mask = planned->mask, *fod = o->sh ? planned->odf_image : planned->model.sh;
    gls_image *header = NULL;
    if (o->weights == GLS_RUN_WEIGHTS_SIFT2 && fod)
        f->weights = gls_weights_bytes(&fod->grid, count_voxels(&fod->grid, o->sh ? fod : mask), n);
    if (o->weights != GLS_RUN_WEIGHTS_COMMIT) return GLS_OK;
    const gls_status status = gls_image_read_header(o->dwi, GLS_IMAGE_4D, &header);
    if (status) return status;
    f->weights =
        gls_signal_bytes(&header->grid, count_voxels(mask ? &mask->grid : &header->grid, mask), header->n_volumes, n);
    gls_image_destroy(header);
    return GLS_OK;
}

/* Sets in *f the memory of tracking and of the host. The host needs memory for the program, plus the larger of what the
 * fit and what tracking needs. */
static void add_tracker(const gls_track_memory *memory, size_t n_devices, figures *f)
{
    f->batches = memory->host_bytes;
    f->device = memory->device_bytes + f->seeds.device;
    uint64_t tracking = f->kept + f->batches + f->seeds.host + f->weights + (f->shared ? n_devices * f->device : 0);
    f->host = f->program + (tracking > f->images ? tracking : f->images);
}

/* Copies the inputs to *planned, with images of zeros in place of the images that the fit will make. Images of zeros
 * take no memory until their values are used. */
static gls_status plan_inputs(gls_job *job, gls_job_inputs *planned)
{
    const bool qball = job->inputs.method.source == GLS_FROM_QBALL;
    gls_status status = qball ? gls_series_model_prepare(&job->inputs.model, job->inputs.mask, NULL) : GLS_OK;
    *planned = job->inputs;
    if (status) return status;
    gls_log_mute_info(true); /* Mute the log, because the fit logs the same lines again. */
    status = gls_job_inputs_plan(planned, &job->options);
    gls_log_mute_info(false);
    return status;
}

/* Frees what was made only to measure memory. */
static void drop_planned(const gls_job_inputs *inputs, gls_job_inputs *planned)
{
    gls_odf_source_destroy(planned->odf);
    gls_image_destroy(planned->peaks);
    /* destroy only what the plan made, whose pointers differ from the pointers of the inputs */
    if (planned->model.sh != inputs->model.sh) gls_image_destroy(planned->model.sh);
    if (planned->model.qball != inputs->model.qball) gls_qball_destroy(planned->model.qball);
    if (planned->stop_map != inputs->stop_map) gls_image_destroy(planned->stop_map);
}

/* Fails because even the smallest batches exceed the limit; the message says how much memory they need. */
static gls_status too_small(const gls_job *job, const figures *f)
{
    return gls_fail(GLS_ERR_ARGUMENT,
                    "--memory-limit %" PRIu64 ": even with the smallest batches this run takes %s of the host's memory "
                    "(with %s for images, %s for batches%s%s%s%s) and %s of %s: raise the limit",
                    job->options.memory_limit, GLS_BYTES(f->host), GLS_BYTES(f->images), GLS_BYTES(f->batches),
                    f->seeds.host > 0 ? ", for dynamic seeds " : "", f->seeds.host > 0 ? GLS_BYTES(f->seeds.host) : "",
                    f->weights > 0 ? ", for weights " : "", f->weights > 0 ? GLS_BYTES(f->weights) : "",
                    GLS_BYTES(f->device), f->shared ? "this for the device" : "each device's memory");
}

uint64_t gls_job_seeds_device_bytes(const gls_job *job)
{
    return job->options.memory_limit * MB / 4;
}

/* Halves batches until device and host memory are within --memory-limit, and host memory is within the limit of the
 * control group. To exceed the limit of the control group is only a warning, because the estimate is an upper bound. */
static gls_status keep_limit(gls_job *job, const gls_track_input *input, figures *f)
{
    /* first: seeds of a batch before it was halved */
    uint64_t limit = job->options.memory_limit * MB, first = 0, group = gls_cgroup_limits()->memory_bytes;
    /* seeds for each device, rounded up */
    assert(job->devices.n > 0);
    const uint64_t seeds = gls_job_seeds(job), each = seeds / job->devices.n + (seeds % job->devices.n > 0);
    /* The largest batch that keeps --memory-limit: taken if even one seed exceeds the limit of the control group. */
    figures largest = {0};
    uint64_t n_largest = 0;
    job->params.batch_seeds = gls_tracker_short_batch(job->device, &job->params, input, each);
    for (;;) {
        gls_track_memory memory;
        gls_status status = gls_track_plan_memory(job->device, job->devices.n, &job->params, input, &memory);
        if (status) return status;
        add_tracker(&memory, job->devices.n, f);
        f->asked = job->params.batch_seeds;
        if (first == 0) first = memory.batch_seeds;
        bool small = limit == 0 || (f->host <= limit && f->device <= limit);
        if (small && largest.host == 0) largest = *f, n_largest = memory.batch_seeds;
        const bool in_group = group == 0 || f->host <= group;
        if (small && (in_group || memory.batch_seeds <= 1)) {
            uint64_t n = memory.batch_seeds;
            if (!in_group) {
                *f = largest;
                n = n_largest;
                job->params.batch_seeds = f->asked;
                gls_log(GLS_LOG_WARNING, "memory: the control group allows %s, and this run may take %s",
                        GLS_BYTES(group), GLS_BYTES(f->host));
            }
            if (n < first)
                gls_log(GLS_LOG_INFO, "memory: batches of %" PRIu64 " instead of %" PRIu64 " seeds keep %s", n, first,
                        limit ? "--memory-limit" : "the control group's limit");
            return GLS_OK;
        }
        if (memory.batch_seeds <= 1) return too_small(job, f);
        job->params.batch_seeds = memory.batch_seeds / 2;
    }
}

/* Logs the estimate. */
static void log_figures(const figures *f)
{
    const char *host = GLS_BYTES(f->host), *device = GLS_BYTES(f->device);
    if (f->shared)
        gls_log(GLS_LOG_INFO, "memory: at most about %s of the host, %s of it for the device", host, device);
    else
        gls_log(GLS_LOG_INFO, "memory: at most about %s of the host and %s of each device", host, device);
}

gls_status gls_job_memory_plan(gls_job *job)
{
    /* integrated GPUs report no memory of their own */
    job->shared_memory = job->device->software || job->device->memory_bytes == 0;
    figures f = {.shared = job->shared_memory,
                 .program = job->device->software ? PROGRAM_BYTES_SOFTWARE : PROGRAM_BYTES};
    uint64_t limit = job->options.memory_limit * MB;
    gls_job_inputs planned;
    gls_status status = GLS_OK;
    /* limit the devices before the plan is made, which depends on their free memory */
    for (size_t i = 0; i < job->devices.n && !status && limit > 0; i++)
        status = gls_device_limit_memory(job->devices.device[i], limit);
    if (status) return status;
    status = plan_inputs(job, &planned);
    if (!status) {
        gls_track_input input = gls_job_inputs_tracker_input(&planned);
        add_images(&planned, &f);
        status = add_seeds(job, &planned, &f);
        if (!status) status = add_weights(job, &planned, &f);
        if (!status) status = keep_limit(job, &input, &f);
    }
    if (!status) log_figures(&f);
    job->memory_bytes = f.host;
    drop_planned(&job->inputs, &planned);
    return status;
}

/* Frees the values of an image, and keeps its grid and number of volumes, which are read later. */
static void release_values(gls_image *image)
{
    if (!image) return;
    free(image->data);
    image->data = NULL;
}

void gls_job_memory_release(gls_job *job)
{
    if (job->inputs.method.series) return;
    release_values(job->inputs.series.dwi);
    release_values(job->inputs.series.tensor_dwi);
}
