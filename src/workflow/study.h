/* What a run of tracking works on: read from files or made as the built-in phantom, checked, and fitted. */
#ifndef GLS_WORKFLOW_TRACK_INPUT_H
#define GLS_WORKFLOW_TRACK_INPUT_H

#include "workflow/model.h"

/* The files that a run reads. */
enum {
    GLS_FILE_DWI,
    GLS_FILE_BVAL,
    GLS_FILE_BVEC,
    GLS_FILE_MASK,
    GLS_FILE_ROI,
    GLS_FILE_FA,
    GLS_FILE_SH,
    GLS_FILE_ODF,
    GLS_FILE_RESPONSE,
    GLS_FILE_DIRECTIONS,
    GLS_FILE_SEEDS,
    GLS_FILE_SPHERE,
    GLS_FILE_N_FILES
};

typedef struct gls_study {
    gls_input_file file[GLS_FILE_N_FILES];
    gls_phantom *phantom;  /* owns the series, mask and roi where it is not NULL */
    gls_series series;     /* empty with --sh or --odf alone */
    gls_image *mask, *roi; /* roi is NULL where a list of seeds takes its place */
    gls_image *odf_image;  /* of --sh or --odf */
    gls_image *stop_map;
    gls_regions *regions; /* NULL: none */
    const gls_grid *grid; /* of all of them */
    gls_model model;
    gls_sphere *sphere;  /* NULL with --odf, where the directions are those of its samples */
    gls_odf_source *odf; /* prob, det and ptt */
    gls_bvec_frame odf_frame;
    gls_seeds *seeds;
    uint64_t mask_voxels, seed_voxels;
    double voxel_mm; /* of a length given in voxels: the smallest side */
    double seconds_read, seconds_fit;
} gls_study;

/* Checks that the named files can be read, before anything slow is done. */
gls_status gls_study_init(gls_study *input, const gls_job_options *options);
/* Reads the images and the table, or makes the phantom; compares grids; makes seeds and the sphere; chooses and logs
 * the shells. */
gls_status gls_study_read(gls_study *input, const gls_job_options *options);
/* In place of the fit: whether the ODF files or the table can be used, and empty images where the fit's
 * would be. */
gls_status gls_study_plan(gls_study *input, const gls_job_options *options);
/* The stop map, and the model's matrices or ODFs. */
gls_status gls_study_fit(gls_study *input, const gls_job_options *options, const gls_monitor *monitor);
/* What a tracker takes; once fitted or planned. */
gls_track_input gls_study_tracker_input(const gls_study *input, const gls_job_options *options);
void gls_study_finish(gls_study *input);

#endif
