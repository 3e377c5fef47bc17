/* One array used by both sides in turn: iterations on the device, a look from the host now and then, and no copy that
 * is not needed. */
#include <glslines/compute.h>
#include <math.h>
#include <stdio.h>

#define N 500

int main(void)
{
    gls_device *device = NULL;
    gls_unified *unified = NULL;
    gls_elementwise *newton = NULL;
    gls_array *array;
    double *x = NULL, worst = 0;

    gls_status status = gls_device_open("auto", GLS_GRAPHICS_AUTO, &device);
    if (!status) status = gls_unified_create(device, GLS_TYPE_FLOAT64, N, "roots", &unified);
    if (!status)
        status = gls_elementwise_create(device, "newton", "inout float x[]",
                                        "float a = float(i + 1u); x = 0.5 * (x + a / x)", &newton);
    if (!status) status = gls_unified_host(unified, GLS_ACCESS_WRITE, (void **)&x);
    for (int i = 0; i < N && !status; i++) x[i] = 1 + 0.5 * i;
    for (int round = 0; round < 10 && !status; round++) {
        status = gls_unified_device(unified, GLS_ACCESS_READ_WRITE, &array); /* copies in the first round only */
        if (!status) status = gls_elementwise_run(newton, N, (gls_operand[]){gls_operand_array(array)}, 1, NULL);
    }
    if (!status) status = gls_unified_host(unified, GLS_ACCESS_READ, (void **)&x); /* copies back */
    for (int i = 0; i < N && !status; i++) worst = fmax(worst, fabs(x[i] / sqrt(i + 1.0) - 1));
    gls_unified_state state = gls_unified_get_state(unified);
    if (status)
        fprintf(stderr, "%s\n", gls_last_error());
    else
        printf("roots to %.1g; %d copies to the device, %d from it\n", worst, (int)state.to_device, (int)state.to_host);

    gls_elementwise_destroy(newton);
    gls_unified_destroy(unified);
    gls_device_close(device);
    return status || worst > 1e-6 || state.to_device != 1 || state.to_host != 1;
}
