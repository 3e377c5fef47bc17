/* CSD and ODF parts of fit_dump. */
#include "fit_dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static gls_status get_response(const char *name, const gls_image *dwi, const gls_gradients *shell, const size_t *volume, const gls_gradients *all, double bval,
                               int order, gls_response *response)
{
    gls_response_options options = gls_response_options_default();
    if (!strncmp(name, "auto", 4)) {
        if (name[4] == ':') options.fa_threshold = atof(name + 5);
        return gls_response_estimate(dwi, shell, volume, &options, response);
    }
    return gls_response_read(name, order, all, bval, response);
}

gls_status dump_csd(int argc, char **argv)
{
    gls_image *dwi = NULL, *mask = NULL, *sh = NULL;
    gls_gradients *all = NULL, *shell = NULL;
    gls_sphere *sphere = NULL;
    size_t *volume = NULL;
    gls_response response, zonal;
    double bval = 0, wall, cpu;
    char path[4096];
    gls_gradients_options table_options = gls_gradients_options_default();
    gls_csd_options options = gls_csd_options_default();
    table_options.frame = GLS_BVEC_IMAGE;
    options.sh_order = atoi(argv[5]);
    gls_status status = gls_image_read(argv[0], GLS_IMAGE_4D, &dwi);
    if (status == GLS_OK && strcmp(argv[3], "-")) status = gls_image_read(argv[3], GLS_IMAGE_3D, &mask);
    if (status == GLS_OK) status = gls_gradients_read(argv[1], argv[2], &table_options, &dwi->grid, dwi->n_volumes, &all);
    if (status == GLS_OK && argc > 7 && strcmp(argv[7], "small")) status = gls_sphere_read(argv[7], &sphere);
    options.sphere = sphere;
    if (status == GLS_OK) status = gls_csd_choose_shell(all, argc > 8 ? atof(argv[8]) : 0, &bval);
    if (status == GLS_OK) status = gls_gradients_select_shell(all, bval, &shell, &volume);
    if (status == GLS_OK) status = get_response(argv[4], dwi, shell, volume, all, bval, options.sh_order, &response);
    if (status == GLS_OK) status = gls_response_to_zonal(&response, shell, options.sh_order, &zonal);
    snprintf(path, sizeof path, "%s_response.txt", argv[6]);
    if (status == GLS_OK) status = gls_response_write(path, &response);
    snprintf(path, sizeof path, "%s_zonal.txt", argv[6]);
    if (status == GLS_OK) status = gls_response_write(path, &zonal);
    wall = seconds(CLOCK_MONOTONIC);
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (status == GLS_OK) status = gls_csd_fit(dwi, shell, volume, mask, &response, &options, NULL, NULL, &sh);
    fprintf(stderr, "fit: %.2f s, %.2f s of processors\n", seconds(CLOCK_MONOTONIC) - wall, seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    snprintf(path, sizeof path, "%s_sh.nii", argv[6]);
    if (status == GLS_OK) status = gls_image_write(path, sh, GLS_IMAGE_FLOAT32);
    free(volume);
    gls_sphere_destroy(sphere);
    gls_gradients_destroy(all);
    gls_gradients_destroy(shell);
    gls_image_destroy(dwi);
    gls_image_destroy(mask);
    gls_image_destroy(sh);
    return status;
}
