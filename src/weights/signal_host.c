/* The products of the signal's matrix on the CPU. */
#include <stdlib.h>
#include <string.h>

#include "util/status.h"
#include "weights/signal_products.h"

/* Products on the CPU, with both residuals. */
typedef struct host_products {
    gls_signal_products base;
    float *r, *before;
} host_products;

static gls_status host_apply(gls_signal_products *products, const double *x, bool plain, double *cost)
{
    const host_products *h = (const host_products *)products;
    *cost = gls_signal_model_apply(products->model, x, plain, h->r);
    return GLS_OK;
}

static void host_keep(gls_signal_products *products)
{
    host_products *h = (host_products *)products;
    float *r = h->r;
    h->r = h->before;
    h->before = r;
}

static gls_status host_gradient(gls_signal_products *products, double momentum, double *g, double *cost)
{
    const host_products *h = (const host_products *)products;
    *cost = gls_signal_model_transpose(products->model, h->r, h->before, (float)momentum, g);
    return GLS_OK;
}

static gls_status host_read(gls_signal_products *products, float *r)
{
    const host_products *h = (const host_products *)products;
    memcpy(r, h->r, products->model->n_voxels * products->model->m * sizeof *r);
    return GLS_OK;
}

static void host_destroy(gls_signal_products *products)
{
    host_products *h = (host_products *)products;
    free(h->r);
    free(h->before);
    free(h);
}

gls_status gls_signal_host_create(const gls_signal_model *model, gls_signal_products **products)
{
    static const gls_signal_products_kind kind = {host_apply, host_keep, host_gradient, host_read, host_destroy};
    const size_t n = model->n_voxels * model->m;
    host_products *h = calloc(1, sizeof *h);
    if (!h) return gls_no_memory();
    h->base = (gls_signal_products){&kind, model, 1e-9};
    h->r = malloc((n + 1) * sizeof *h->r);
    h->before = calloc(n + 1, sizeof *h->before);
    if (!h->r || !h->before) {
        host_destroy(&h->base);
        return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu signals", n);
    }
    *products = &h->base;
    return GLS_OK;
}
