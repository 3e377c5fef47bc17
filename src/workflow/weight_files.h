/* Weights of streamlines: FODs, devices, and the files that are written. */
#ifndef GLS_WORKFLOW_WEIGHT_FILES_H
#define GLS_WORKFLOW_WEIGHT_FILES_H

#include <cJSON.h>
#include <pthread.h>

#include <glslines/fixels.h>
#include <glslines/tractogram.h>
#include <glslines/weights.h>
#include <glslines/workflow.h>

#include "util/output_file.h"
#include "workflow/devices.h"

/* --- From files of FODs to fixels. */

typedef struct gls_fod_options {
    const char *sh;
    gls_sh_basis basis;
    gls_frame frame;
    const char *act;       /* image of five tissues; NULL: none */
    const char *proc_mask; /* NULL: none */
    bool no_dilate;        /* in place of fixel.dilate */
    bool fd_scale_gm;      /* with act: less density in grey matter */
    gls_fixel_options fixel;
} gls_fod_options;

typedef struct gls_fod {
    gls_fixels *fixels;
    gls_image *mask, *scale; /* of what each voxel counts, and of its densities; NULL: 1 */
} gls_fod;

/* The share of voxels, of those that are not 0, in which the first volume of SH coefficients cannot be that of an ODF;
 * NAN: there are no voxels. */
double gls_fod_share_unlike(const gls_image *sh);
/* GLS_ERR_INPUT where an image that was given for SH coefficients holds something else, such as peaks; warns of doubt.
 */
gls_status gls_fod_check(const gls_image *sh, const char *name);
/* To be finished whatever comes. */
gls_status gls_fod_read(const gls_fod_options *options, gls_fod *fod);
/* The same from an image of tournier07 coefficients in scanner axes. */
gls_status gls_fod_segment(const gls_fod_options *options, const gls_image *sh, gls_fod *fod);
void gls_fod_finish(gls_fod *fod);

/* --- Devices that weigh streamlines, opened while the FODs are read. */

typedef struct gls_weight_devices {
    gls_device_set set; /* after the end: none: the CPU */
    const char *name;
    int n;
    gls_graphics api;
    gls_weights_method method;
    bool running;
    pthread_t thread;
    gls_status status;
    char message[1024];
} gls_weight_devices;

/* Begins to open the devices that these options name, and to load the kernels of the method. name is borrowed. The CPU
 * takes the place of a software renderer that nobody asked for. */
void gls_weight_devices_begin(gls_weight_devices *devices, const char *name, int n, gls_graphics api,
                              gls_weights_method method);
/* Waits for it. To be called once behind each begin; the set is to be closed. */
gls_status gls_weight_devices_end(gls_weight_devices *devices);

/* --- Weights of streamlines: how the streamlines are walked, and the files that come of it. */

/* Names of the columns of a tractogram with weights. */
#define GLS_DPS_WEIGHTS "sift2_weights"
#define GLS_DPS_COEFFICIENTS "sift2_coefficients"

/* Steps of streamlines, as a sink that is never finished. */
typedef struct gls_step_range {
    double max, sum;
    uint64_t n;
} gls_step_range;
gls_sink gls_step_range_sink(gls_step_range *range);

/* step: mm; 0: range has what was measured. Says what it chose where that is a guess. */
gls_status gls_weights_choose_walk(gls_weights *weights, double step, const gls_step_range *range,
                                   const gls_grid *grid);

/* Logs what was mapped, and what became of it. */
void gls_weights_log(const gls_weights *weights);

/* n values as MRtrix3 reads them: a comment, and one row of them. factor: of all. group: NULL: none. */
gls_status gls_weights_write_text(const char *path, bool overwrite, gls_output_group *group, const float *value,
                                  uint64_t n, double factor, const char *comment);
/* 0 and 1, a line each. */
gls_status gls_weights_write_selection(const gls_weights *weights, const char *path, bool overwrite,
                                       gls_output_group *group);
gls_status gls_weights_write_mu(const gls_weights *weights, const char *path, bool overwrite, gls_output_group *group);
/* A line for each iteration, with the columns of tcksift2. */
gls_status gls_weights_write_iterations(const gls_weights *weights, const char *path, bool overwrite,
                                        gls_output_group *group);
/* Fixel directory with all values. */
gls_status gls_weights_write_fixels(const gls_weights *weights, const gls_fixels *fixels, const char *directory,
                                    bool overwrite, gls_output_group *group);
/* What came of it, for a sidecar. */
void gls_weights_describe(cJSON *root, const gls_weights *weights);

#endif
