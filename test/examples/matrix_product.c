/* Rotates points: the product of a matrix of points, one a row, with a rotation by 30 degrees about z, and how long the
 * device took. */
#include <glslines/compute.h>
#include <math.h>
#include <stdio.h>

#define POINTS 1000

static gls_status multiply(gls_device *device, const float *points, const double *rotation, float *rotated,
                           gls_run_result *result)
{
    gls_array *a = NULL, *b = NULL, *c = NULL;
    gls_status status = gls_array_create(device, GLS_TYPE_FLOAT32, POINTS * 3, "points", &a);
    if (!status) status = gls_array_create(device, GLS_TYPE_FLOAT32, 9, "rotation", &b);
    if (!status) status = gls_array_create(device, GLS_TYPE_FLOAT32, POINTS * 3, "rotated", &c);
    if (!status) status = gls_array_write(a, 0, POINTS * 3, points, GLS_TYPE_FLOAT32);
    if (!status) status = gls_array_write(b, 0, 9, rotation, GLS_TYPE_FLOAT64);
    if (!status) status = gls_matmul(POINTS, 3, 3, a, b, c, result);
    if (!status) status = gls_array_read(c, 0, POINTS * 3, rotated, GLS_TYPE_FLOAT32);
    gls_array_destroy(a);
    gls_array_destroy(b);
    gls_array_destroy(c);
    return status;
}

int main(void)
{
    static float points[POINTS * 3], rotated[POINTS * 3];
    double angle = acos(-1.0) / 6, c = cos(angle), s = sin(angle);
    double rotation[9] = {c, s, 0, -s, c, 0, 0, 0, 1};
    for (int i = 0; i < POINTS; i++) points[3 * i] = (float)i, points[3 * i + 1] = 2, points[3 * i + 2] = -1;

    gls_device *device = NULL;
    gls_run_result result;
    gls_status status = gls_device_open("auto", GLS_GRAPHICS_AUTO, &device);
    if (!status) status = multiply(device, points, rotation, rotated, &result);
    if (status)
        fprintf(stderr, "%s\n", gls_last_error());
    else
        printf("(%g, %g, %g) after %g ms\n", rotated[30], rotated[31], rotated[32], 1e3 * result.gpu_seconds);
    gls_device_close(device);
    if (status) return 1;
    /* point 10 is (10, 2, -1) */
    return fabs(rotated[30] - (10 * c - 2 * s)) > 1e-5 || fabs(rotated[31] - (10 * s + 2 * c)) > 1e-5 ||
           rotated[32] != -1;
}
