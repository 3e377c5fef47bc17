/* Files beside the tractogram of a unit, such as a connectome or an anatomy: recognised by later runs, which make them
 * anew only if an input has changed. */
#ifndef GLS_BIDS_DATASET_DERIVED_H
#define GLS_BIDS_DATASET_DERIVED_H

#include <cJSON.h>

#include <glslines/common.h>

#include "bids/dataset.h"
#include "record/tract_run.h"

#define GLS_DERIVED_MAX 24 /* largest number of files */
#define GLS_DERIVED_SOURCES 3

/* Files in one folder, and the sidecar of one of them. */
typedef struct gls_dataset_derived {
    char output[GLS_DERIVED_MAX][GLS_DATASET_MAX_PATH], sidecar[GLS_DATASET_MAX_PATH];
    size_t n;                                /* number of outputs */
    const char *description;                 /* in the sidecar */
    const char *source[GLS_DERIVED_SOURCES]; /* files that they are made of; NULL: none */
    cJSON *inputs;                           /* what they depend on; owned */
    cJSON *parameters;                       /* in the sidecar; owned */
    /* Runs the command that makes them, in a run that is begun. */
    gls_status (*make)(gls_tract_run *run, const struct gls_dataset_derived *derived, const void *user);
    const void *user;
} gls_dataset_derived;

/* Begins with empty inputs and parameters. */
void gls_dataset_derived_init(gls_dataset_derived *derived);
/* Adds to the inputs, under the key `role`, a hash of the contents of a file or folder, or the word "none" if path is
 * NULL. */
gls_status gls_dataset_derived_add(gls_dataset_derived *derived, const char *role, const char *path);
/* Makes the files, unless an earlier run has made them from the same inputs. GLS_ERR_OUTPUT: a file of another program
 * has one of the names, or was changed. */
gls_status gls_dataset_derive(const gls_dataset_options *options, gls_dataset_derived *derived);
/* Removes the files of an earlier run, with their sidecar, if an input of `derived` was another one then.
 * GLS_ERR_OUTPUT: a file was changed since, or cannot be removed. */
gls_status gls_dataset_derived_remove_others(const gls_dataset_options *options, const gls_dataset_derived *derived);
/* Frees inputs and parameters. */
void gls_dataset_derived_finish(gls_dataset_derived *derived);

#endif
