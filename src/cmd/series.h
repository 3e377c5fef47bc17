/* A diffusion series with its gradient table, as commands read it from files. All functions that return an exit code
 * have printed the message. */
#ifndef GLS_CMD_SERIES_H
#define GLS_CMD_SERIES_H

#include "cmd/model_options.h"

#define SERIES_MAX_SHELLS 64

/* An input file and its size, for messages and the sidecar. */
typedef struct cmd_file {
    const char *role; /* "dwi" and so on */
    const char *path; /* NULL: not a file */
    uint64_t bytes;
} cmd_file;

/* Checks that the file (none: fine) can be read, before anything slow is done, and fills in its size; hint (NULL: none)
 * follows where it does not exist. */
int cmd_file_check(cmd_file *file, const char *hint);

typedef struct cmd_series {
    const char *name; /* of the series, for messages */
    gls_image *dwi;   /* NULL: there is none */
    gls_gradients *gradients;
    gls_shell shell[SERIES_MAX_SHELLS];
    size_t n_shells; /* stored ones */
} cmd_series;

/* From the files of the series, the b-values and the vectors, in this order. */
int cmd_series_read(cmd_series *series, const cmd_file *files, const model_options *options);
/* Replaces what is not finite, which would spread through interpolation, by 0; a series without signal in the mask
 * would give an empty result without a reason. */
int cmd_series_check(cmd_series *series, const gls_image *mask);
/* Notes and prints the shells. */
void cmd_series_print_shells(cmd_series *series);
void cmd_series_finish(cmd_series *series);

/* An image of one volume on this grid, which name_of_grid stands for. */
int cmd_read_on_grid(const gls_grid *grid, const char *name_of_grid, const char *path, gls_image **image);
/* Voxels > 0; none is an error that calls the image by this name and kind. */
int cmd_count_voxels(const gls_image *image, const char *name, const char *kind, uint64_t *count);

#endif
