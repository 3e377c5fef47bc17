/* What a run of tracking works on, as those see it who read, fit and track it. */
#ifndef GLS_WORKFLOW_STUDY_STATE_H
#define GLS_WORKFLOW_STUDY_STATE_H

#include "workflow/model.h"

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

typedef struct gls_study {
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
} gls_study;

/* A file's name for messages. */
static inline const char *gls_study_name(const gls_study *study, int which)
{
    if (which == GLS_FILE_MASK && study->mask_made) return "the mask made from the series";
    if (which == GLS_FILE_ROI && study->roi_made) return "the seed region made from the fit";
    return study->file[which].path ? study->file[which].path : "built-in phantom";
}

#endif
