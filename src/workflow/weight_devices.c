/* Opens the devices that compute weights on a thread, while the FODs are read. */
#include "workflow/weight_files.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "util/status.h"
#include "weights/weight_model.h"

/* Opens the devices and loads their kernels; with "auto" the CPU computes where there is no GPU. */
static gls_status open_devices(gls_weight_devices *d)
{
    gls_device_set *set = &d->set;
    gls_status status = GLS_OK;
    if (strcmp(d->name, "cpu") != 0) status = gls_device_set_open(set, d->name, (size_t)d->n, d->api);
    if (status == GLS_ERR_DEVICE && strcmp(d->name, "auto") == 0) status = GLS_OK;
    if (status) return status;
    /* the CPU kernels are faster than a software renderer */
    if (set->n > 0 && strcmp(d->name, "auto") == 0 && gls_device_get_info(set->device[0])->software)
        gls_device_set_close(set);
    if (set->n == 0) gls_log(GLS_LOG_INFO, "weights: on the CPU itself");
    for (size_t i = 0; i < set->n; i++) gls_weights_load_kernels(set->device[i], d->method, i == 0);
    return GLS_OK;
}

static void *work(void *user)
{
    gls_weight_devices *d = user;
    d->status = open_devices(d);
    if (d->status) snprintf(d->message, sizeof d->message, "%s", gls_last_error());
    return NULL;
}

void gls_weight_devices_begin(gls_weight_devices *d, const char *name, int n, gls_graphics api,
                              gls_weights_method method)
{
    *d = (gls_weight_devices){.name = name, .n = n, .api = api, .method = method};
    d->running = omp_get_max_threads() > 1 && pthread_create(&d->thread, NULL, work, d) == 0;
    if (!d->running) work(d);
}

gls_status gls_weight_devices_end(gls_weight_devices *d)
{
    if (d->running) pthread_join(d->thread, NULL);
    d->running = false;
    return d->status ? gls_fail(d->status, "%s", d->message) : GLS_OK;
}
