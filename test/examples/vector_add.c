/* Adds two vectors on the best device: double precision on the host, single on the device. */
#include <glslines/compute.h>
#include <stdio.h>

#define N 1000

int main(void)
{
    double x[N], y[N], sum[N];
    gls_device *device = NULL;
    gls_array *a = NULL, *b = NULL, *c = NULL;
    for (int i = 0; i < N; i++) x[i] = i, y[i] = 0.5 * i;

    gls_status status = gls_device_open("auto", GLS_GRAPHICS_AUTO, &device);
    if (!status) status = gls_array_create(device, GLS_TYPE_FLOAT32, N, "a", &a);
    if (!status) status = gls_array_create(device, GLS_TYPE_FLOAT32, N, "b", &b);
    if (!status) status = gls_array_create(device, GLS_TYPE_FLOAT32, N, "c", &c);
    if (!status) status = gls_array_write(a, 0, N, x, GLS_TYPE_FLOAT64);
    if (!status) status = gls_array_write(b, 0, N, y, GLS_TYPE_FLOAT64);
    if (!status) status = gls_vector_add(a, b, c, NULL);
    if (!status) status = gls_array_read(c, 0, N, sum, GLS_TYPE_FLOAT64);
    if (status)
        fprintf(stderr, "%s\n", gls_last_error());
    else
        printf("%g + %g = %g\n", x[N - 1], y[N - 1], sum[N - 1]);

    gls_array_destroy(a);
    gls_array_destroy(b);
    gls_array_destroy(c);
    gls_device_close(device);
    return status || sum[N - 1] != 1.5 * (N - 1);
}
