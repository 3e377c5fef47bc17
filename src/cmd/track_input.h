/* What `glslines track` works on: read from files or made as the built-in phantom, checked, and fitted. */
#ifndef GLS_CMD_TRACK_INPUT_H
#define GLS_CMD_TRACK_INPUT_H

#include "cmd/model.h"
#include "cmd/track_options.h"

enum {
    TRACK_DWI,
    TRACK_BVAL,
    TRACK_BVEC,
    TRACK_MASK,
    TRACK_ROI,
    TRACK_FA,
    TRACK_SH,
    TRACK_ODF,
    TRACK_RESPONSE,
    TRACK_SEEDS,
    TRACK_SPHERE,
    TRACK_N_FILES
};

typedef struct track_input {
    cmd_file file[TRACK_N_FILES];
    gls_phantom *phantom;  /* owns the series, mask and roi where it is not NULL */
    cmd_series series;     /* empty with --sh or --odf alone */
    gls_image *mask, *roi; /* roi is NULL where a list of seeds takes its place */
    gls_image *odf_image;  /* of --sh or --odf */
    gls_image *stop_map;
    const gls_grid *grid; /* of all of them */
    cmd_model model;
    gls_sphere *sphere;  /* NULL with --odf, where the directions are those of its samples */
    gls_odf_source *odf; /* prob, det and ptt */
    gls_bvec_frame odf_frame;
    gls_seeds *seeds;
    uint64_t mask_voxels, seed_voxels;
    double voxel_mm; /* of a length given in voxels: the smallest side */
    double seconds_read, seconds_fit;
} track_input;

/* Checks that the named files can be read, before anything slow is done. All functions return an exit code, the message
 * printed. */
int track_input_init(track_input *input, const track_options *options, const cmd_arguments *arguments);
/* Reads the images and the table, or makes the phantom; compares grids; makes seeds and the sphere; chooses and prints
 * the shells. */
int track_input_read(track_input *input, const track_options *options);
/* For --dry-run, in place of the fit: whether the ODF files or the table can be used, and empty images where the fit's
 * would be. */
int track_input_plan(track_input *input, const track_options *options);
/* The stop map, and the model's matrices or ODFs. */
int track_input_fit(track_input *input, const track_options *options);
/* What a tracker takes; once fitted or planned. */
gls_track_input track_input_tracker(const track_input *input, const track_options *options);
void track_input_finish(track_input *input);

#endif
