/* The tracker: checks what it is given, and keeps the engine of its device. */
#include "track/internal.h"

#include <stdlib.h>

#include "util/status.h"

/* The model's volumes are those that the table weights, one for one: anything else would read past the series. */
static bool is_of_table(const gls_qball *qball, const gls_gradients *gradients)
{
    size_t n = 0;
    for (size_t t = 0; t < gradients->n; t++) {
        if (gradients->is_b0[t]) continue;
        if (n == qball->n || qball->volume[n] != t) return false;
        n++;
    }
    return n == qball->n;
}

static gls_status check_input(const gls_track_params *params, const gls_track_input *input)
{
    GLS_REQUIRE(input->stop_map);
    GLS_REQUIRE(input->stop_map->n_volumes == 1);
    if (params->dg == GLS_DG_BOOT) {
        GLS_REQUIRE(input->dwi && input->gradients && input->qball && input->sphere);
        if (!input->sphere->antipodal) return gls_fail(GLS_ERR_ARGUMENT, "the bootstrap needs an antipodally symmetric sphere");
        if (input->gradients->n != input->dwi->n_volumes)
            return gls_fail(GLS_ERR_ARGUMENT, "the gradient table has %zu entries, the series %zu volumes", input->gradients->n, input->dwi->n_volumes);
        if (!is_of_table(input->qball, input->gradients)) return gls_fail(GLS_ERR_ARGUMENT, "the q-ball model was made from another gradient table");
        return gls_grid_require_equal(&input->dwi->grid, "the series", &input->stop_map->grid, "the stop map");
    }
    GLS_REQUIRE(input->odf);
    return gls_grid_require_equal(&input->odf->image->grid, "the ODFs", &input->stop_map->grid, "the stop map");
}

gls_status gls_tracker_create(gls_device *device, const gls_track_params *params, const gls_track_input *input, gls_tracker **out)
{
    GLS_REQUIRE(device && params && input && out);
    gls_status status = gls_track_params_check(params);
    if (status == GLS_OK) status = check_input(params, input);
    if (status != GLS_OK) return status;
    gls_tracker *t = calloc(1, sizeof *t);
    if (!t) return gls_fail(GLS_ERR_MEMORY, "out of memory for the tracker");
    status = gls_engine_create(device, params, input, &t->engine);
    if (status == GLS_OK) *out = t;
    else gls_tracker_destroy(t);
    return status;
}

void gls_tracker_destroy(gls_tracker *t)
{
    if (!t) return;
    gls_engine_destroy(t->engine);
    free(t);
}
