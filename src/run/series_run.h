/* A command that makes files from a series, its gradient table and a mask: `fit` and `response`. */
#ifndef GLS_RUN_SERIES_RUN_H
#define GLS_RUN_SERIES_RUN_H

#include <glslines/workflow.h>

#include "dwi/series.h"
#include "record/run.h"

struct cJSON;

/* Adds to a sidecar the gradient table and the shells. */
void gls_sidecar_add_gradients(struct cJSON *root, const gls_series *series);

/* Positions in gls_series_run.file. */
enum { SERIES_DWI, SERIES_BVAL, SERIES_BVEC, SERIES_MASK, SERIES_N_FILES, SERIES_MAX_FILES = 16 };

/* Inputs of `fit` and `response`: files, series and mask. */
typedef struct gls_series_run {
    /* names of inputs and outputs of the run */
    gls_run run;
    /* for progress; may be NULL */
    const gls_monitor *monitor;
    /* series, table, mask and further files */
    gls_input_file file[SERIES_MAX_FILES];
    /* number of elements of `file` */
    size_t n_files;
    char *bval, *bvec; /* paths of the table found beside the series, owned; NULL: the user named them */
    gls_series series;
    gls_image *mask;      /* read from a file, or computed from the series */
    uint64_t mask_voxels; /* voxels in the mask */
    double seconds_read;
} gls_series_run;

/* Begins the run and adds its inputs: the files of the series (bval, bvec and mask may be NULL) and n others. Call
 * gls_series_run_end() afterwards, also after a failure. */
gls_status gls_series_run_begin(gls_series_run *run, bool force, const char *const first[SERIES_N_FILES],
                                const gls_input_file *others, size_t n);
/* Reads the series and logs its shells. */
gls_status gls_series_run_read(gls_series_run *run, const gls_model_options *options);
/* Reads or computes the mask, checks that there is signal in it, and hashes all inputs. */
gls_status gls_series_run_read_mask(gls_series_run *run);
/* Makes the sidecar with description, software, inputs, grid and gradient table. NULL: out of memory. */
struct cJSON *gls_series_run_sidecar(const gls_series_run *run, const char *description, int argc, char *const *argv);
/* Writes root as the sidecar and gives all outputs their final names. Fails with GLS_ERR_CANCELLED if the user has
 * cancelled. Takes ownership of root. */
gls_status gls_series_run_commit(gls_series_run *run, struct cJSON *root);
/* Frees everything and discards outputs that were not committed. */
void gls_series_run_end(gls_series_run *run);

#endif
