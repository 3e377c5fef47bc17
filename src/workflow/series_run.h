/* A command that makes files of a diffusion series, its gradient table and a mask: what `fit` and `response` share. */
#ifndef GLS_WORKFLOW_SERIES_RUN_H
#define GLS_WORKFLOW_SERIES_RUN_H

#include "workflow/run.h"
#include "workflow/series.h"

/* The first inputs of such a command. */
enum { SERIES_DWI, SERIES_BVAL, SERIES_BVEC, SERIES_MASK, SERIES_N_FILES, SERIES_MAX_FILES = 16 };

typedef struct gls_series_run {
    gls_run run;
    const gls_monitor *monitor;
    gls_input_file file[SERIES_MAX_FILES];
    size_t n_files;
    char *bval, *bvec; /* found beside the series; NULL: given */
    gls_series series;
    gls_image *mask; /* read, or made from the series */
    uint64_t mask_voxels;
    double seconds_read;
} gls_series_run;

/* Begins the run and notes its inputs: those that a series has, of which bval, bvec and mask may be NULL, and n others.
 * To be ended by gls_series_run_end(), whatever comes. */
gls_status gls_series_run_begin(gls_series_run *run, bool force, const char *const first[SERIES_N_FILES],
                                const gls_input_file *others, size_t n);
/* Reads the series, and says which shells it has. */
gls_status gls_series_run_read(gls_series_run *run, const gls_model_options *options);
/* Reads or makes the mask, checks the signal in it, and takes the checksums of all inputs. */
gls_status gls_series_run_read_mask(gls_series_run *run);
/* What a sidecar begins with; NULL: memory ran out. */
struct cJSON *gls_series_run_sidecar(const gls_series_run *run, const char *description, int argc, char *const *argv);
/* Writes the sidecar, unless the user cancels by now; all outputs get their names. root is the run's from here on. */
gls_status gls_series_run_commit(gls_series_run *run, struct cJSON *root);
void gls_series_run_end(gls_series_run *run);

#endif
