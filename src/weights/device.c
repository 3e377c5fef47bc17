#include "weights/solver.h"
#include "util/status.h"
gls_status gls_device_solver_create(const gls_weight_model *model, const gls_weights_options *options,
                                    gls_device *const *devices, size_t n, gls_solver **solver)
{
    (void)model; (void)options; (void)devices; (void)n; (void)solver;
    return gls_fail(GLS_ERR_UNSUPPORTED, "not yet");
}
