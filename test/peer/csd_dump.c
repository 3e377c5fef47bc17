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

static gls_status get_response(const char *name, const gls_image *dwi, const gls_gradients *shell, const size_t *volume,
                               const gls_gradients *all, double bval, int order, gls_response *response)
{
    gls_response_options options = gls_response_options_default();
    if (!strncmp(name, "auto", 4)) {
        options.min_voxels = 1; /* crops have few */
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
    if (status == GLS_OK)
        status = gls_gradients_read(argv[1], argv[2], &table_options, &dwi->grid, dwi->n_volumes, &all);
    if (status == GLS_OK && argc > 7 && strcmp(argv[7], "small")) status = gls_sphere_read(argv[7], &sphere);
    options.sphere = sphere;
    if (status == GLS_OK) status = gls_csd_choose_shell(all, argc > 8 ? atof(argv[8]) : 0, options.sh_order, &bval);
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
    fprintf(stderr, "fit: %.2f s, %.2f s of processors\n", seconds(CLOCK_MONOTONIC) - wall,
            seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
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

static gls_bvec_frame frame_of(const char *name)
{
    return !strcmp(name, "world") ? GLS_BVEC_WORLD : !strcmp(name, "fsl") ? GLS_BVEC_FSL : GLS_BVEC_IMAGE;
}

static gls_status write_samples(const gls_odf_source *source, const char *prefix)
{
    gls_image *odf = NULL;
    char path[4096];
    gls_status status = gls_odf_sample(source, &odf);
    snprintf(path, sizeof path, "%s_odf.nii", prefix);
    if (status == GLS_OK) status = gls_image_write(path, odf, GLS_IMAGE_FLOAT32);
    snprintf(path, sizeof path, "%s_vertices.txt", prefix);
    FILE *file = status == GLS_OK ? fopen(path, "w") : NULL;
    for (size_t v = 0; file && v < source->sphere->n; v++)
        fprintf(file, "%.17g %.17g %.17g\n", source->sphere->vertex[v][0], source->sphere->vertex[v][1],
                source->sphere->vertex[v][2]);
    if (file) fclose(file);
    gls_image_destroy(odf);
    return status;
}

gls_status dump_sh(int argc, char **argv)
{
    (void)argc;
    gls_image *sh = NULL;
    gls_sphere *sphere = NULL;
    gls_odf_source *source = NULL;
    gls_sh_basis basis;
    gls_odf_options options = {.size = sizeof options, .clip = false};
    gls_status status = gls_sh_basis_parse(argv[1], &basis);
    if (status == GLS_OK) status = gls_image_read(argv[0], GLS_IMAGE_ANY, &sh);
    if (status == GLS_OK)
        status = !strcmp(argv[3], "small") || !strcmp(argv[3], "default") ? gls_sphere_create(argv[3], &sphere)
                                                                          : gls_sphere_read(argv[3], &sphere);
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (status == GLS_OK)
        status = gls_odf_source_create_sh(sh, argv[0], basis, frame_of(argv[2]), sphere, &options, &source);
    if (status == GLS_OK) status = write_samples(source, argv[4]);
    fprintf(stderr, "sampled and written: %.2f s, %.2f s of processors\n", seconds(CLOCK_MONOTONIC) - wall,
            seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    gls_odf_source_destroy(source);
    gls_sphere_destroy(sphere);
    gls_image_destroy(sh);
    return status;
}

gls_status dump_amplitudes(int argc, char **argv)
{
    (void)argc;
    gls_image *odf = NULL;
    double(*direction)[3] = NULL;
    size_t n = 0;
    gls_odf_source *source = NULL;
    gls_odf_options options = {.size = sizeof options, .clip = false};
    gls_status status = gls_image_read(argv[0], GLS_IMAGE_4D, &odf);
    if (status == GLS_OK) status = gls_odf_directions_read(argv[1], &direction, &n);
    if (status == GLS_OK)
        status = gls_odf_source_create_amplitudes(odf, argv[0], (const double(*)[3])direction, n, argv[1],
                                                  frame_of(argv[2]), &options, &source);
    if (status == GLS_OK) status = write_samples(source, argv[3]);
    gls_odf_source_destroy(source);
    gls_image_destroy(odf);
    free(direction);
    return status;
}

gls_status dump_convert(int argc, char **argv)
{
    (void)argc;
    gls_image *sh = NULL, *converted = NULL;
    gls_sh_basis from, to;
    gls_status status = gls_sh_basis_parse(argv[1], &from);
    if (status == GLS_OK) status = gls_sh_basis_parse(argv[3], &to);
    if (status == GLS_OK) status = gls_image_read(argv[0], GLS_IMAGE_ANY, &sh);
    if (status == GLS_OK)
        status = gls_odf_convert_sh(sh, argv[0], from, frame_of(argv[2]), to, frame_of(argv[4]), &converted);
    if (status == GLS_OK) status = gls_image_write(argv[5], converted, GLS_IMAGE_FLOAT32);
    gls_image_destroy(sh);
    gls_image_destroy(converted);
    return status;
}
