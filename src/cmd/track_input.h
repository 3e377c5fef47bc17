/* What `glslines track` works on: read from files or made as the built-in phantom, checked, and fitted. */
#ifndef GLS_CMD_TRACK_INPUT_H
#define GLS_CMD_TRACK_INPUT_H

#include "cmd/track_options.h"

#define TRACK_MAX_SHELLS 64

/* An input file and its size, for messages and the sidecar. */
typedef struct track_file {
    const char *role; /* "dwi" and so on */
    const char *path; /* NULL: not a file */
    uint64_t bytes;
} track_file;

enum { TRACK_DWI, TRACK_BVAL, TRACK_BVEC, TRACK_MASK, TRACK_ROI, TRACK_FA, TRACK_SEEDS, TRACK_SPHERE, TRACK_N_FILES };

typedef struct track_input {
    track_file file[TRACK_N_FILES];
    gls_phantom *phantom; /* owns dwi, gradients, mask and roi where it is not NULL */
    gls_image *dwi, *mask, *roi;
    gls_gradients *gradients;
    gls_image *stop_map;
    gls_qball *qball;
    gls_sphere *sphere;
    gls_seeds *seeds;
    gls_shell shell[TRACK_MAX_SHELLS];
    size_t n_shells; /* stored ones */
    uint64_t mask_voxels, seed_voxels;
    double step_mm;
    double seconds_read, seconds_fit;
} track_input;

/* Checks that the named files can be read, before anything slow is done. All functions return an exit code, the message printed. */
int track_input_init(track_input *input, const track_options *options, const cmd_arguments *arguments);
/* Reads the images and the table, or makes the phantom; compares grids; makes seeds and the sphere; prints the shells. */
int track_input_read(track_input *input, const track_options *options);
/* The model's matrices and the stop map. */
int track_input_fit(track_input *input, const track_options *options);
void track_input_finish(track_input *input);

#endif
