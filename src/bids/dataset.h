/* BIDS data sets: finds the series of a data set that can be tracked, here called its units, and writes their
 * tractograms, connectomes and tables to another data set. */
#ifndef GLS_BIDS_DATASET_H
#define GLS_BIDS_DATASET_H

#include <cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include <glslines/common.h>
#include <glslines/workflow.h>

/* --- Labels of segmentations, as their tables in the data set (_dseg.tsv) name them. */

/* largest number of labels of white matter in a table; more labels are an error */
enum { GLS_BIDS_MAX_LABELS = 16 };

/* Labels of a segmentation that count as white matter. */
typedef struct gls_bids_labels {
    /* labels and their number */
    int32_t value[GLS_BIDS_MAX_LABELS];
    int n;
} gls_bids_labels;

/* --- Names of BIDS: key-value_key-value_suffix.extension. */

/* The fault of an invalid label, and with it the remedy for a folder, for messages. */
#define GLS_BIDS_LABELS "labels of BIDS have letters, digits and + alone"
#define GLS_BIDS_BAD_LABEL GLS_BIDS_LABELS "; rename the folder and its files"

/* The end KEY-VALUE_SUFFIX of a name. */
typedef struct gls_bids_ending {
    /* parts of the name; gls_bids_split() refuses longer ones */
    char key[32], value[64], suffix[32];
} gls_bids_ending;

/* --- Data sets. */

/* Longest path that the user may give for a folder. The names of a participant, a session and a file are appended. */
#define GLS_DATASET_MAX_FOLDER 480
/* longest path of a folder below a data set: sub-LABEL/ses-LABEL/dwi */
#define GLS_DATASET_MAX_BELOW 520
/* longest path of a file */
#define GLS_DATASET_MAX_PATH 1536
/* longest URI: each byte of a path may become %XX */
#define GLS_DATASET_MAX_URI (3 * 4096 + 32)

/* Where seeds come from. GLS_DATASET_AUTO: the first of WM, ASEG and DSEG that exists, else FA. */
typedef enum gls_dataset_region {
    GLS_DATASET_AUTO,
    GLS_DATASET_WM,   /* label-WM_probseg above 0.5 */
    GLS_DATASET_ASEG, /* white matter and brain stem in desc-aseg_dseg (FreeSurfer's labels) */
    GLS_DATASET_DSEG, /* white matter in an image _dseg, whose table names the labels */
    GLS_DATASET_FA,   /* FA above gls_dataset_options.fa, in the mask */
    GLS_DATASET_FILE  /* image of region_file: above 0, or a probability above 0.5 */
} gls_dataset_region;

/* Options of `glslines bids`. The texts belong to the caller. */
typedef struct gls_dataset_options {
    const char *input, *output; /* folders */
    /* participants, sessions: labels with or without sub- or ses-; filters: KEY=VALUE; derivatives: further data sets
     */
    gls_strings participants, sessions, filters, derivatives;
    gls_strings atlases;          /* names of atlases; a connectome is made with each atlas */
    const char *bundle_atlas;     /* atlas of bundles that are recognised in each tractogram; NULL: none */
    const char *bundle_transform; /* matrix from the atlas to each series, with entities in braces; NULL: none */
    gls_strings bundle_chain;     /* transforms from each series to the atlas, with entities in braces */
    gls_strings bundle_images;    /* images whose profiles along the bundles are written, with entities in braces */
    gls_dataset_region region;
    /* with GLS_DATASET_FILE: end of the name of the image of the region */
    gls_bids_ending region_file;
    /* threshold of GLS_DATASET_FA, 0 to 1 */
    double fa;
    const gls_job_options *job; /* options of track, without the files that the data set has; each series completes
                                   them again, by job->given */
    bool raw;                   /* true: accept a data set that is not preprocessed */
    bool force;                 /* true: track series again that were tracked with other parameters */
    bool tissue;                /* true: take label-WM_probseg, GM and CSF as fractions of tissue */
    bool t1;                    /* true: make tissue from the T1 image of the participant */
    const char *t1_atlas;       /* TEMPLATE,LABELS[,MASK[,NAMES]] for the T1 image; NULL: that of `job` */
    bool fit_outputs;           /* true: also write FA and spherical harmonics */
    bool wide;                  /* true: group also writes connectomes with a line for each tractogram */
    bool legacy_names;          /* true: use the suffix _tractography.trk of the BIDS draft that pyAFQ follows */
} gls_dataset_options;

/* A list of texts from malloc. */
typedef struct gls_dataset_texts {
    /* the texts, NULL if there are none */
    char **text;
    /* number of texts */
    size_t n;
} gls_dataset_texts;

/* A series to track. All texts are from malloc. */
typedef struct gls_dataset_unit {
    char *name;              /* entities of the series without desc */
    char *subject, *session; /* session: "" if there is none */
    char *space;             /* "" if there is none */
    char *folder;            /* folder of its files in the data set, e.g. sub-01/ses-1/dwi */
    char *dwi, *bval, *bvec; /* bvec "-": bval is a file with the whole table */
    char *table; /* a gradient table in a single file (MRtrix's .b) that exists besides bval and bvec; NULL: none */
    char *mask, *region;     /* region NULL: seeds from FA, or on the interface */
    char *t1;                /* T1 image of which tissue is made; NULL: none */
    bool interface;          /* seeds lie on the interface of grey and white matter of `t1` */
    char *tissue[3];         /* fractions of white and grey matter and CSF, with gls_dataset_options.tissue */
    gls_dataset_region kind; /* kind of `region`; GLS_DATASET_AUTO: seeds where the named image is above 0 */
    gls_bids_labels labels;  /* labels of white matter, for GLS_DATASET_DSEG */
    gls_dataset_texts value; /* the options of track whose values have entities in braces, in the order of params.def:
                                their values for this unit */
    gls_dataset_texts files; /* the files that `value` names */
    char *bundle_transform;  /* gls_dataset_options.bundle_transform for this unit; NULL: none */
    gls_dataset_texts bundle_chain; /* the same of bundle_chain */
    gls_dataset_texts bundle_image; /* the same of bundle_images */
    char *problem;                  /* why the series cannot be tracked; NULL: the series can be tracked */
} gls_dataset_unit;

/* The series that were found in a data set. Owned; the caller frees it by gls_dataset_finish(). */
typedef struct gls_dataset {
    /* the units, in the order of names */
    gls_dataset_unit *unit;
    /* number of series */
    size_t n;
    size_t n_ignored; /* number of folders and series that are skipped because of their names */
    char *ignored;    /* path of the first skipped folder or series, relative to the data set; NULL: none */
} gls_dataset;

/* Outcome for a unit. */
typedef enum gls_dataset_state {
    /* files are new */
    GLS_UNIT_TRACKED,
    /* the unit was not tracked again, because an earlier run had the same options and inputs */
    GLS_UNIT_UP_TO_DATE,
    /* another process tracks the unit */
    GLS_UNIT_BUSY,
    GLS_UNIT_FAILED
} gls_dataset_state;

/* Which units to process. */
typedef struct gls_dataset_choice {
    /* name of the only unit to process */
    const char *unit; /* NULL: all */
    /* units index, index + count, index + 2 count ..., counted from 1; index 1, count 1: all units */
    size_t index, count;
    /* whether the first unit that fails ends the run */
    bool stop_on_error;
} gls_dataset_choice;

/* Paths of the files of a unit. */
typedef struct gls_dataset_files {
    char tractogram[GLS_DATASET_MAX_PATH], sidecar[GLS_DATASET_MAX_PATH], report[GLS_DATASET_MAX_PATH],
        picture[GLS_DATASET_MAX_PATH], logs[GLS_DATASET_MAX_PATH];
} gls_dataset_files;

/* --- logs/units.tsv: the latest outcome for each series. */

#define GLS_DATASET_LOG_HEADER "unit\tstate\treason"

#endif
