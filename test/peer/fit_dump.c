/* Writes what the library fits to NIfTI files, for the comparisons with other packages in this folder. */
#include "fit_dump.h"

#include <stdio.h>
#include <string.h>

static void print_line(void *user, gls_log_level level, const char *line)
{
    (void)user;
    (void)level;
    fprintf(stderr, "%s\n", line);
}

static gls_status write_image(const char *prefix, const char *name, const gls_image *image)
{
    char path[4096];
    snprintf(path, sizeof path, "%s_%s.nii.gz", prefix, name);
    return gls_image_write(path, image, GLS_IMAGE_FLOAT32);
}

/* tensor DWI BVAL BVEC OUTPREFIX [image|fsl|world]: OUTPREFIX_fa.nii.gz, _tensor.nii.gz, _evals.nii.gz; the frame is
 * image unless given. */
static gls_status dump_tensor(int argc, char **argv)
{
    gls_image *dwi = NULL, *fa = NULL, *tensor = NULL, *evals = NULL;
    gls_gradients *gradients = NULL;
    gls_gradients_options table_options = gls_gradients_options_default();
    gls_tensor_options options = gls_tensor_options_default();
    const char *frame = argc > 4 ? argv[4] : "image";
    table_options.frame = !strcmp(frame, "fsl")     ? GLS_BVEC_FSL
                          : !strcmp(frame, "world") ? GLS_BVEC_WORLD
                                                    : GLS_BVEC_IMAGE;
    gls_status status = gls_image_read(argv[0], GLS_IMAGE_4D, &dwi);
    if (status == GLS_OK)
        status = gls_gradients_read(argv[1], argv[2], &table_options, &dwi->grid, dwi->n_volumes, &gradients);
    if (status == GLS_OK) status = gls_tensor_fit(dwi, gradients, NULL, &options, &fa, &tensor, &evals);
    if (status == GLS_OK) status = write_image(argv[3], "fa", fa);
    if (status == GLS_OK) status = write_image(argv[3], "tensor", tensor);
    if (status == GLS_OK) status = write_image(argv[3], "evals", evals);
    gls_gradients_destroy(gradients);
    gls_image_destroy(dwi);
    gls_image_destroy(fa);
    gls_image_destroy(tensor);
    gls_image_destroy(evals);
    return status;
}

static const struct {
    const char *name;
    int min_arguments;
    const char *usage;
    gls_status (*run)(int argc, char **argv);
} commands[] = {
    {"tensor", 4, "DWI BVAL BVEC OUTPREFIX [image|fsl|world]", dump_tensor},
    {"csd", 7, "DWI BVAL BVEC MASK|- RESPONSE|auto[:FA] ORDER OUTPREFIX [SPHERE|small [BVAL]]", dump_csd},
    {"sh", 5, "IMAGE BASIS FRAME SPHERE|default|small OUTPREFIX", dump_sh},
    {"amplitudes", 4, "IMAGE DIRECTIONS FRAME OUTPREFIX", dump_amplitudes},
    {"msmt", 8, "DWI BVAL BVEC MASK|- OUTPREFIX DIRECTIONS|- ORDER RESPONSE..", dump_msmt},
    {"responses", 6, "DWI BVAL BVEC MASK dhollander|fa|tournier OUTPREFIX [DIRECTIONS [ERODE]]", dump_responses},
    {"normalise", 3, "MASK OUTPREFIX TISSUE..", dump_normalise},
    {"mask", 4, "DWI BVAL BVEC OUT", dump_mask},
    {"convert", 6, "IMAGE BASIS FRAME BASIS FRAME OUT", dump_convert},
};

int main(int argc, char **argv)
{
    gls_log_set(print_line, NULL, GLS_LOG_DEBUG);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (argc < 2 + commands[i].min_arguments || strcmp(argv[1], commands[i].name)) continue;
        if (commands[i].run(argc - 2, argv + 2) == GLS_OK) return 0;
        fprintf(stderr, "%s\n", gls_last_error());
        return 1;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(stderr, "usage: %s %s %s\n", argv[0], commands[i].name, commands[i].usage);
    return 2;
}
