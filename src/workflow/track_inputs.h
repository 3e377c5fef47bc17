/* The inputs of a run of tracking: files, images, model, seeds. */
#ifndef GLS_WORKFLOW_TRACK_INPUTS_H
#define GLS_WORKFLOW_TRACK_INPUTS_H

#include "workflow/fit_model.h"

/* --- What a run of tracking works on, as those see it who read, fit and track it. */

#define GLS_MAX_PEAK_FILES 8 /* of --peaks, and of --peaks-values */

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
    GLS_FILE_RESPONSE_WM,
    GLS_FILE_RESPONSE_GM,
    GLS_FILE_RESPONSE_CSF,
    GLS_FILE_DIRECTIONS,
    GLS_FILE_SEEDS,
    GLS_FILE_SPHERE,
    GLS_FILE_ACT,
    GLS_FILE_PVE_WM,
    GLS_FILE_PVE_GM,
    GLS_FILE_PVE_CSF,
    GLS_FILE_PVE_SGM,
    GLS_FILE_MAP_INCLUDE,
    GLS_FILE_MAP_EXCLUDE,
    GLS_FILE_SEED_REJECTION,
    GLS_FILE_SEED_GMWMI,
    GLS_FILE_PEAKS, /* and those behind it */
    GLS_FILE_PEAKS_VALUES = GLS_FILE_PEAKS + GLS_MAX_PEAK_FILES,
    GLS_FILE_N_FILES = GLS_FILE_PEAKS_VALUES + GLS_MAX_PEAK_FILES
};

typedef struct gls_job_inputs {
    gls_input_file file[GLS_FILE_N_FILES];
    gls_phantom *phantom;     /* owns the series, mask and roi where it is not NULL */
    gls_series series;        /* empty with --sh, --odf or --peaks alone */
    gls_image *mask, *roi;    /* roi is NULL where a list of seeds takes its place, or before it is made */
    bool mask_made, roi_made; /* not read */
    gls_image *odf_image;     /* of --sh, --odf or --peaks */
    gls_image *peaks;         /* of ODFs, for getters along peaks; NULL: none, or odf_image is that of --peaks */
    gls_image *stop_map;
    bool stop_map_open;   /* it is 1 in the whole mask, for want of one */
    bool wants_fa;        /* an output shows FA: where the stop map is open and there is a series, it is fitted */
    gls_image *fa;        /* that one; NULL: none */
    gls_regions *regions; /* NULL: none */
    gls_tissue *tissue;   /* NULL: none */
    const gls_grid *grid; /* of all of them */
    gls_model model;
    gls_sphere *sphere;  /* NULL with --odf, where the directions are those of its samples */
    gls_odf_source *odf; /* prob, det and ptt */
    gls_bvec_frame odf_frame;
    gls_seeds *seeds; /* NULL until the fit where the region of seeds comes from that */
    uint64_t mask_voxels, seed_voxels;
    double voxel_mm; /* of a length given in voxels: the smallest side */
    double seconds_read, seconds_fit;
} gls_job_inputs;

/* A file's name for messages. */
static inline const char *gls_job_inputs_name(const gls_job_inputs *inputs, int which)
{
    if (which == GLS_FILE_MASK && inputs->mask_made) return "the mask made from the series";
    if (which == GLS_FILE_ROI && inputs->roi_made) return "the seed region made from the fit";
    return inputs->file[which].path ? inputs->file[which].path : "built-in phantom";
}

/* --- What a run of tracking works on: read from files or made as the built-in phantom, checked, and fitted. */

/* The files that the options name. */
void gls_job_inputs_files(const gls_job_options *options, gls_input_file file[GLS_FILE_N_FILES]);
/* Checks that the named files can be read, before anything slow is done. */
gls_status gls_job_inputs_init(gls_job_inputs *input, const gls_job_options *options);
/* Reads the images and the table, or makes the phantom; compares grids; makes seeds and the sphere; chooses and logs
 * the shells. */
gls_status gls_job_inputs_read(gls_job_inputs *input, const gls_job_options *options);
/* In place of the fit: whether the ODF files or the table can be used, and empty images where the fit's
 * would be. */
gls_status gls_job_inputs_plan(gls_job_inputs *input, const gls_job_options *options);
/* The stop map, the model's matrices or ODFs, and seeds where they are not there yet. */
gls_status gls_job_inputs_fit(gls_job_inputs *input, const gls_job_options *options, const gls_monitor *monitor);
/* What a tracker takes; once fitted or planned. */
gls_track_input gls_job_inputs_tracker_input(const gls_job_inputs *input, const gls_job_options *options);
/* FA of a inputs that was fitted, or the image of --fa in its place; NULL: none. Never a map that was made up. */
const gls_image *gls_job_inputs_scalar(const gls_job_inputs *inputs);
void gls_job_inputs_finish(gls_job_inputs *input);

/* --- getters along peaks: of files, or of ODFs ---------------------------------- */

/* The axes of a file of --peaks. */
gls_bvec_frame gls_peaks_frame(const gls_job_options *options, int i);

/* Puts the files of --peaks and --peaks-values to their places. */
void gls_job_inputs_peak_files(const gls_job_options *options, gls_input_file file[GLS_FILE_N_FILES]);
/* Reads and joins them to odf_image, on the grid of the series if there is one. */
gls_status gls_job_inputs_read_peaks(gls_job_inputs *inputs, const gls_job_options *options);

/* The peaks of ODFs, for a getter that follows them and has no files of them; others get none. frame: of the source's
 * coefficients. */
gls_status gls_find_peaks(const gls_job_options *options, const gls_odf_source *source, gls_bvec_frame frame,
                          gls_image **peaks);
/* The same for a inputs, once its ODFs are there; or an image without values in their place. */
gls_status gls_job_inputs_find_peaks(gls_job_inputs *inputs, const gls_job_options *options);
gls_status gls_job_inputs_plan_peaks(gls_job_inputs *inputs, const gls_job_options *options);

/* --- The parts of a inputs that say where streamlines start and what they may do: tissue, seeds and regions. */

/* What can be told from the options alone. */
gls_status gls_anatomy_check(const gls_job_options *options);
/* Each once the grid, mask and seed mask are known, in this order. */
gls_status gls_job_inputs_read_tissue(gls_job_inputs *input, const gls_job_options *options);
gls_status gls_job_inputs_make_seeds(gls_job_inputs *input, const gls_job_options *options);
gls_status gls_job_inputs_read_regions(gls_job_inputs *input, const gls_job_options *options);
/* Whether a seed's voxel may lie in a tracking mask, where there are both. */
gls_status gls_job_inputs_check_tracking_mask(const gls_job_inputs *input);
/* Whether the options say where seeds lie without a seed mask. */
bool gls_seeds_need_no_region(const gls_job_options *options);

#endif
