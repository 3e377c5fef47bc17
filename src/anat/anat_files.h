/* The files of an anatomy: what is read, and where what was made is written, by the names of BIDS. */
#ifndef GLS_ANAT_ANAT_FILES_H
#define GLS_ANAT_ANAT_FILES_H

#include "anat/anat.h"
#include "util/output_file.h"

/* Names of files, and choices; NULL: not given. All are borrowed. */
typedef struct gls_anat_sources {
    const char *t1;
    const char *dwi, *bval, *bvec; /* dwi: a series, or an image without diffusion weighting; bval, bvec: "-": see
                                      gls_series_find_table() */
    const char *dwi_mask;
    const char *fixed, *fixed_mask; /* the template */
    const char *prior;              /* WM,GM,CSF */
    const char *labels;             /* LABELS[,NAMES] */
    const char *lesion;
    const double *deep; /* labels of deep grey matter; else the names, or FreeSurfer's numbers, say */
    size_t n_deep;
    bool boundary; /* the map of the T1 to the series follows the border of white matter, where that is much better */
    bool hippocampus; /* amygdala and hippocampus are deep grey matter, too */
} gls_anat_sources;

/* Lists all files that the sources name, from malloc each. Returns their number, at most GLS_ANAT_MAX_FILES.
 * GLS_ERR_ARGUMENT: a list of names has another length than it must have. */
#define GLS_ANAT_MAX_FILES 16
gls_status gls_anat_sources_list(const gls_anat_sources *sources, char *path[GLS_ANAT_MAX_FILES], size_t *n);
/* Reads all images, and takes over the choices; sets neither device nor go_on. */
gls_status gls_anat_inputs_read(const gls_anat_sources *sources, gls_anat_inputs *inputs);

/* Reads the labels alone, and which of them are deep grey matter and brain stem. */
gls_status gls_anat_labels_read(const gls_anat_sources *sources, gls_anat_inputs *inputs);

/* --- Outputs. */

/* The files that are made. */
typedef enum gls_anat_file {
    GLS_ANAT_MASK,
    GLS_ANAT_B0, /* the series without diffusion weighting */
    GLS_ANAT_T1,
    GLS_ANAT_GM,
    GLS_ANAT_WM,
    GLS_ANAT_CSF,
    GLS_ANAT_FIVE,
    GLS_ANAT_TO_SERIES,
    GLS_ANAT_FROM_SERIES,
    GLS_ANAT_TO_TEMPLATE, /* this and the next: with a template alone */
    GLS_ANAT_FROM_TEMPLATE,
    GLS_ANAT_LABELS, /* with labels alone */
    GLS_ANAT_LABEL_NAMES,
    GLS_ANAT_N_FILES
} gls_anat_file;

/* Paths of what is made; NULL: it is not made. */
typedef struct gls_anat_names {
    char *path[GLS_ANAT_N_FILES];
    char *sidecar;
} gls_anat_names;

/* End of the name of the five tissues. */
#define GLS_ANAT_FIVE_END "_desc-5tt_probseg.nii.gz"
/* Names the files in a folder. subject: begins their names, such as "sub-01_"; NULL: as the name of the T1 says.
 * series: name of the space of the series. template_name NULL: as the name of the template says. */
gls_status gls_anat_names_init(gls_anat_names *names, const gls_anat_sources *sources, const char *folder,
                               const char *subject, const char *series, const char *template_name);
void gls_anat_names_finish(gls_anat_names *names);
/* Writes all files but the sidecar. */
gls_status gls_anat_write(const gls_anat *anat, const gls_anat_sources *sources, const gls_anat_names *names,
                          bool force, gls_output_group *group);

#endif
