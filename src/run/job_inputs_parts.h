/* The inputs of a run of tracking: files are read, or the built-in phantom is made; all is checked and fitted. */
#ifndef GLS_RUN_JOB_INPUTS_PARTS_H
#define GLS_RUN_JOB_INPUTS_PARTS_H

#include <glslines/gradients.h>
#include <glslines/image.h>
#include <glslines/odf.h>
#include <glslines/phantom.h>
#include <glslines/regions.h>
#include <glslines/seeds.h>
#include <glslines/sphere.h>
#include <glslines/tissue.h>
#include <glslines/workflow.h>

#include "dwi/fit_model_parts.h"
#include "dwi/model_options.h"
#include "dwi/series.h"
#include "image/region_store_parts.h"
#include "record/inputs.h"
#include "record/method.h"
#include "record/run_params.h"
#include "run/series_run.h"
#include "transform/transform.h"

/* --- What is read and what is made from it. */

#define GLS_MAX_PEAK_FILES 8 /* limit for --peaks, and for --peaks-values */
/* The input files except files of peaks. ROW(position, role, path): the enumerator is GLS_FILE_ and position; role is
 * the key in the sidecar, by which --skip-existing compares the file; path is an expression of `options`, NULL: not
 * given. */
#define GLS_INPUT_FILES(ROW)                                                                             \
    ROW(DWI, "dwi", options->dwi)                                                                        \
    ROW(BVAL, "bval", gls_table_path(options->bval))                                                     \
    ROW(BVEC, "bvec", gls_table_path(options->bvec))                                                     \
    ROW(MASK, "mask", options->mask)                                                                     \
    ROW(ROI, "roi", options->roi)                                                                        \
    ROW(FA, "fa", options->fa)                                                                           \
    ROW(SH, "sh", options->sh)                                                                           \
    ROW(ODF, "odf", options->odf)                                                                        \
    ROW(RESPONSE, "response", options->model.response)                                                   \
    ROW(RESPONSE_WM, "response_wm", options->model.response_wm)                                          \
    ROW(RESPONSE_GM, "response_gm", options->model.response_gm)                                          \
    ROW(RESPONSE_CSF, "response_csf", options->model.response_csf)                                       \
    ROW(DIRECTIONS, "csd_directions", gls_csd_directions_file(&options->model))                          \
    ROW(SEEDS, "seeds", options->seeds)                                                                  \
    ROW(SPHERE, "sphere", gls_sphere_is_built_in(options->sphere) ? NULL : options->sphere)              \
    ROW(T1, "t1", options->t1)                                                                           \
    ROW(ACT, "act", options->act)                                                                        \
    ROW(PVE_WM, "pve_wm", options->pve_wm)                                                               \
    ROW(PVE_GM, "pve_gm", options->pve_gm)                                                               \
    ROW(PVE_CSF, "pve_csf", options->pve_csf)                                                            \
    ROW(PVE_SGM, "pve_sgm", options->pve_sgm)                                                            \
    ROW(MAP_INCLUDE, "map_include", options->map_include)                                                \
    ROW(MAP_EXCLUDE, "map_exclude", options->map_exclude)                                                \
    ROW(SEED_REJECTION, "seed_rejection", options->seed_rejection)                                       \
    ROW(SEED_GMWMI, "seed_gmwmi", gls_is_auto(options->seed_gmwmi) ? NULL : options->seed_gmwmi)         \
    ROW(SEED_DYNAMIC, "seed_dynamic", gls_is_auto(options->seed_dynamic) ? NULL : options->seed_dynamic) \
    ROW(BEDPOSTX, "bedpostx", options->bedpostx)

/* Positions of the input files. */
enum {
#define ROW(position, role, path) GLS_FILE_##position,
    GLS_INPUT_FILES(ROW)
#undef ROW
        GLS_FILE_PEAKS, /* first of GLS_MAX_PEAK_FILES */
    GLS_FILE_PEAKS_VALUES = GLS_FILE_PEAKS + GLS_MAX_PEAK_FILES,
    GLS_FILE_N_FILES = GLS_FILE_PEAKS_VALUES + GLS_MAX_PEAK_FILES
};

/* A region in which streamlines end, besides those of the options. */
typedef struct gls_job_stop {
    gls_region_area area; /* in the space of the run */
    char *text;           /* for messages */
} gls_job_stop;

/* Everything that tracking starts from. Owns all that it points to, except where another owner is named. */
typedef struct gls_job_inputs {
    gls_method method; /* what the options ask for */
    /* paths, NULL where the run has no such file */
    gls_input_file file[GLS_FILE_N_FILES];
    gls_phantom *phantom;     /* the owner of mask and roi; NULL: no phantom */
    gls_series series;        /* empty if --sh, --odf, --peaks or --bedpostx takes the place of the series */
    gls_image *mask, *roi;    /* roi: the seed mask; NULL: seeds need none, or the fit makes it later */
    bool mask_made, roi_made; /* true: the mask, or the seed mask, was computed, not read from a file */
    const char *region;       /* rule of the seed mask that was computed, "of FA above ..."; NULL: none was */
    bool seeds_move;          /* the seeds of the options stand in for those of a sphere that is moved */
    gls_image *odf_image;     /* the image of --sh, --odf, --peaks or --bedpostx */
    uint32_t peak_samples;    /* samples in odf_image, with --bedpostx; else 0 */
    gls_image *peaks; /* peaks of ODFs or tensors for getters that follow peaks; NULL: not needed, or in odf_image */
    gls_image *stop_map;
    bool stop_map_open;   /* stop_map is 1 in the whole mask, because there is no map */
    bool wants_fa;        /* an output shows FA: fit it if the stop map is open and there is a series */
    gls_image *fa;        /* FA that came with peaks of tensors, or was fitted as the stop map is open; NULL: none */
    gls_regions *regions; /* NULL: none */
    const gls_job_stop *stop; /* n_stops further regions, borrowed while regions are read */
    size_t n_stops;
    gls_tissue *tissue;  /* NULL: none */
    gls_transform space; /* chain of --transform, which brings images of another space; empty without */
    /* borrowed from the first image: of the series, the ODFs or peaks, or a mask */
    const gls_grid *grid; /* grid of all images */
    gls_series_model model;
    gls_sphere *sphere;  /* NULL with --odf, whose volumes have directions of their own */
    gls_odf_source *odf; /* NULL: the getter reads no ODFs */
    /* axes in which the coefficients or directions of `odf`, or the vectors of the first file of --peaks, are given */
    gls_bvec_frame odf_frame;
    bool directs_seeds; /* each seed has a direction of its own (--seed-dynamic) */
    gls_seeds *seeds;   /* NULL until the fit if the seed region comes from the fit */
    /* voxels of the mask, and of the seed region within the mask */
    uint64_t mask_voxels, seed_voxels;
    double voxel_mm; /* smallest voxel side, mm: the unit of lengths that users give in voxels */
    /* wall time in seconds */
    double seconds_read, seconds_fit;
} gls_job_inputs;

/* Name of an input file for messages. Borrowed. */
static inline const char *gls_job_inputs_name(const gls_job_inputs *inputs, int which)
{
    if (which == GLS_FILE_MASK && inputs->mask_made) return "the mask made from the series";
    if (which == GLS_FILE_MASK && !inputs->file[which].path && inputs->file[GLS_FILE_BEDPOSTX].path)
        return inputs->file[GLS_FILE_BEDPOSTX].path;
    if (which == GLS_FILE_ROI && inputs->roi_made) return "the seed region made from the fit";
    return inputs->file[which].path ? inputs->file[which].path : "built-in phantom";
}

/* --- Stages: init, read, then plan or fit. */

/* --- Getters that follow peaks: peaks from files, or from ODFs. */

/* --- Where streamlines start and what they may enter: tissue, seeds, regions. */

#endif
