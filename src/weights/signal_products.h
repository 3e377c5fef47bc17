/* The products of the signal's matrix that the solver needs, on the CPU or on devices. */
#ifndef GLS_WEIGHTS_SIGNAL_PRODUCTS_H
#define GLS_WEIGHTS_SIGNAL_PRODUCTS_H

#include <glslines/common.h>

#include "weights/signal_model.h"

typedef struct gls_signal_products gls_signal_products;

/* Functions of both. They hold two residuals: r, of the last apply(), and one that keep() has set aside, 0 at first. If
 * a device fails, they return its error. */
typedef struct gls_signal_products_kind {
    /* r = A x - y, or with plain A x. *cost: half the sum of the squares of r. */
    gls_status (*apply)(gls_signal_products *products, const double *x, bool plain, double *cost);
    /* Sets r aside. Until the next apply() there is no r. */
    void (*keep)(gls_signal_products *products);
    /* g = A' s with s = r + momentum (r - the residual set aside). *cost: half the sum of the squares of s. */
    gls_status (*gradient)(gls_signal_products *products, double momentum, double *g, double *cost);
    /* Reads r. */
    gls_status (*read)(gls_signal_products *products, float *r);
    /* Frees everything, even if it was made only in part. */
    void (*destroy)(gls_signal_products *products);
} gls_signal_products_kind;

struct gls_signal_products {
    const gls_signal_products_kind *kind;
    const gls_signal_model *model; /* borrowed */
    double noise;                  /* relative rounding error of a cost */
};

/* Makes the products on the CPU. */
gls_status gls_signal_host_create(const gls_signal_model *model, gls_signal_products **products);

#endif
