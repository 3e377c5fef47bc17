/* Multi-tissue parts of fit_dump. */
#include "fit_dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Reads series, table and mask from the first four arguments. */
typedef struct input {
    gls_image *dwi, *mask;
    gls_gradients *gradients;
} input;

static gls_status read_input(char **argv, input *in)
{
    gls_gradients_options options = gls_gradients_options_default();
    gls_status status = gls_image_read(argv[0], GLS_IMAGE_4D, &in->dwi);
    if (status == GLS_OK && strcmp(argv[3], "-")) status = gls_image_read(argv[3], GLS_IMAGE_3D, &in->mask);
    if (status == GLS_OK)
        status = gls_gradients_read(argv[1], argv[2], &options, &in->dwi->grid, in->dwi->n_volumes, &in->gradients);
    return status;
}

static void free_input(input *in)
{
    gls_image_destroy(in->dwi);
    gls_image_destroy(in->mask);
    gls_gradients_destroy(in->gradients);
}

static gls_status write_tissue(const char *prefix, size_t t, const gls_image *sh)
{
    char path[4096];
    gls_image *converted = NULL;
    gls_status status = gls_odf_convert_sh(sh, "tissue", GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE, GLS_SH_TOURNIER07,
                                           GLS_BVEC_WORLD, &converted);
    snprintf(path, sizeof path, "%s_%zu.nii", prefix, t);
    if (status == GLS_OK) status = gls_image_write(path, converted, GLS_IMAGE_FLOAT32);
    gls_image_destroy(converted);
    return status;
}

gls_status dump_msmt(int argc, char **argv)
{
    input in = {0};
    gls_tissue_response *response[GLS_MSMT_MAX_TISSUES] = {0};
    gls_image *tissue[GLS_MSMT_MAX_TISSUES] = {0};
    gls_msmt_options options = gls_msmt_options_default();
    double(*direction)[3] = NULL;
    size_t n = (size_t)(argc - 7);
    gls_status status = read_input(argv, &in);
    if (status == GLS_OK && strcmp(argv[5], "-"))
        status = gls_csd_directions_read(argv[5], &direction, &options.n_directions);
    options.direction = (const double(*)[3])direction;
    options.order[0] = atoi(argv[6]);
    for (size_t t = 0; t < n && status == GLS_OK; t++) status = gls_tissue_response_read(argv[7 + t], &response[t]);
    double begin = cpu_seconds();
    if (status == GLS_OK)
        status = gls_msmt_fit(in.dwi, in.gradients, in.mask, (const gls_tissue_response *const *)response, n, &options,
                              NULL, NULL, tissue);
    fprintf(stderr, "fit: %.3f s of processors\n", cpu_seconds() - begin);
    for (size_t t = 0; t < n; t++) {
        if (status == GLS_OK) status = write_tissue(argv[4], t, tissue[t]);
        gls_image_destroy(tissue[t]);
        gls_tissue_response_destroy(response[t]);
    }
    free(direction);
    free_input(&in);
    return status;
}

/* Returns the method by which the responses are estimated, from the arguments. */
static gls_status respond(const char *how, const input *in, const gls_responses_options *options,
                          gls_tissue_response **response, gls_image **voxels)
{
    if (!strcmp(how, "fa")) return gls_responses_fa(in->dwi, in->gradients, in->mask, options, response, voxels);
    if (!strcmp(how, "manual"))
        return gls_responses_manual(in->dwi, in->gradients, in->mask, options, response, voxels);
    if (!strcmp(how, "tournier"))
        return gls_responses_tournier(in->dwi, in->gradients, in->mask, options, response, voxels);
    return gls_responses_dhollander(in->dwi, in->gradients, in->mask, options, response, voxels);
}

gls_status dump_responses(int argc, char **argv)
{
    input in = {0};
    gls_tissue_response *response[3] = {0};
    gls_image *voxels = NULL;
    double(*direction)[3] = NULL;
    char path[4096];
    gls_responses_options options = gls_responses_options_default();
    gls_status status = read_input(argv, &in);
    if (status == GLS_OK && argc > 6) status = gls_csd_directions_read(argv[6], &direction, &options.n_directions);
    if (argc > 7) options.erode = atoi(argv[7]);
    options.direction = (const double(*)[3])direction;
    double begin = cpu_seconds();
    if (status == GLS_OK) status = respond(argv[4], &in, &options, response, &voxels);
    fprintf(stderr, "responses: %.3f s of processors\n", cpu_seconds() - begin);
    for (size_t t = 0; t < 3; t++) {
        snprintf(path, sizeof path, "%s_%zu.txt", argv[5], t);
        if (status == GLS_OK && response[t]) status = gls_tissue_response_write(path, response[t]);
        gls_tissue_response_destroy(response[t]);
    }
    snprintf(path, sizeof path, "%s_voxels.nii", argv[5]);
    if (status == GLS_OK) status = gls_image_write(path, voxels, GLS_IMAGE_FLOAT32);
    gls_image_destroy(voxels);
    free(direction);
    free_input(&in);
    return status;
}

gls_status dump_normalise(int argc, char **argv)
{
    size_t n = (size_t)(argc - 2);
    char path[4096];
    gls_image *mask = NULL, *field = NULL, *tissue[4] = {0};
    gls_normalise_result result = {.n_voxels = 0};
    gls_status status = gls_image_read(argv[0], GLS_IMAGE_3D, &mask);
    for (size_t t = 0; t < n && t < 4 && status == GLS_OK; t++)
        status = gls_image_read(argv[2 + t], GLS_IMAGE_ANY, &tissue[t]);
    if (status == GLS_OK) status = gls_normalise(tissue, n, mask, &field, &result);
    printf("%.17g", result.scale);
    for (size_t t = 0; t < n; t++) printf(" %.17g", result.balance[t]);
    printf("\n");
    snprintf(path, sizeof path, "%s_field.nii", argv[1]);
    if (status == GLS_OK) status = gls_image_write(path, field, GLS_IMAGE_FLOAT32);
    for (size_t t = 0; t < 4; t++) {
        snprintf(path, sizeof path, "%s_%zu.nii", argv[1], t);
        if (status == GLS_OK && tissue[t]) status = gls_image_write(path, tissue[t], GLS_IMAGE_FLOAT32);
        gls_image_destroy(tissue[t]);
    }
    gls_image_destroy(mask);
    gls_image_destroy(field);
    return status;
}

gls_status dump_mask(int argc, char **argv)
{
    (void)argc;
    char *arguments[4] = {argv[0], argv[1], argv[2], "-"};
    input in = {0};
    gls_image *mask = NULL;
    gls_status status = read_input(arguments, &in);
    if (status == GLS_OK) status = gls_mask_estimate(in.dwi, in.gradients, &mask);
    if (status == GLS_OK) status = gls_image_write(argv[3], mask, GLS_IMAGE_UINT8);
    gls_image_destroy(mask);
    free_input(&in);
    return status;
}
