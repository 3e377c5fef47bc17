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

/* Finds the labels of white matter in the table *dseg.tsv (columns index, and name or abbreviation) that BIDS
 * inheritance gives to `image`, which lies in `folder` below root. labels->n is 0 without a table. */
gls_status gls_bids_white_matter(const char *root, const char *folder, const char *image, gls_bids_labels *labels);

/* --- Names of BIDS: key-value_key-value_suffix.extension. */

/* Writes FOLDER/NAME to path and returns path. Writes "" (no file has this name) if size is too small. */
char *gls_bids_join(const char *folder, const char *name, char *path, size_t size);
/* Whether the name ends in _SUFFIX and the extension. */
bool gls_bids_has_suffix(const char *name, const char *suffix, const char *extension);
/* The fault of an invalid label, and with it the remedy for a folder, for messages. */
#define GLS_BIDS_LABELS "labels of BIDS have letters, digits and + alone"
#define GLS_BIDS_BAD_LABEL GLS_BIDS_LABELS "; rename the folder and its files"
/* Whether the part of the name before the suffix is KEY-VALUE_KEY-VALUE..., of letters, digits and +. */
bool gls_bids_is_valid(const char *name);
/* The name without suffix and extension. From malloc, like the texts below; NULL: out of memory. */
char *gls_bids_stem(const char *name);
/* The stem without the entity of this key. */
char *gls_bids_without(const char *name, const char *key);
/* Path of the nearest file with this suffix and extension all of whose entities the stem has, too (BIDS inheritance).
 * Looks in `folder`, which is relative to root, and in the folders above it up to root. NULL: none. */
char *gls_bids_inherited(const char *root, const char *folder, const char *stem, const char *suffix,
                         const char *extension);
/* The end KEY-VALUE_SUFFIX of a name. */
typedef struct gls_bids_ending {
    /* parts of the name; gls_bids_split() refuses longer ones */
    char key[32], value[64], suffix[32];
} gls_bids_ending;
/* Splits the text KEY-VALUE_SUFFIX. Returns false if the text has another form or a part that does not fit. */
bool gls_bids_split(const char *text, gls_bids_ending *ending);
/* An image in a folder with this suffix, space and value of key. key NULL: an image without desc, label, seg and atlas.
 * series: name of the series that lies beside the image. An image of another scan (by entities of_scan in
 * dataset_parts.h) is rejected. Each of these entities that an image shares with the series counts 1, each that the
 * series lacks -1; the first image of the largest sum is chosen. series NULL: the first image. */
char *gls_bids_find(const char *folder, const char *key, const char *value, const char *space, const char *suffix,
                    const char *series);

/* --- Data sets. */

struct gls_output_group;

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
    gls_strings atlases; /* names of atlases; a connectome is made with each atlas */
    gls_dataset_region region;
    /* with GLS_DATASET_FILE: end of the name of the image of the region */
    gls_bids_ending region_file;
    /* threshold of GLS_DATASET_FA, 0 to 1 */
    double fa;
    const gls_job_options *job; /* options of track, without the files that the data set has */
    bool raw;                   /* true: accept a data set that is not preprocessed */
    bool force;                 /* true: track series again that were tracked with other parameters */
    bool tissue;                /* true: take label-WM_probseg, GM and CSF as fractions of tissue */
    bool fit_outputs;           /* true: also write FA and spherical harmonics */
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
    char *mask, *region;     /* region NULL: seeds from FA */
    char *tissue[3];         /* fractions of white and grey matter and CSF, with gls_dataset_options.tissue */
    gls_dataset_region kind; /* kind of `region`; GLS_DATASET_AUTO: seeds where the named image is above 0 */
    gls_bids_labels labels;  /* labels of white matter, for GLS_DATASET_DSEG */
    gls_dataset_texts value; /* the options of track whose values have entities in braces, in the order of params.def:
                                their values for this unit */
    gls_dataset_texts files; /* the files that `value` names */
    char *problem;           /* why the series cannot be tracked; NULL: the series can be tracked */
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

/* Finds the units, sorted by name. Free with gls_dataset_finish(). GLS_ERR_INPUT: the input is no folder, has nothing
 * to track, lacks a participant or session that is asked for, or is not preprocessed. */
gls_status gls_dataset_open(const gls_dataset_options *options, gls_dataset *dataset);
/* Frees the units. After a failure of gls_dataset_open() there is nothing to free. */
void gls_dataset_finish(gls_dataset *dataset);

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

/* Writes the files that a data set of derivatives needs. Keeps existing files, but adds this version of glslines to the
 * dataset_description.json of another version. */
gls_status gls_dataset_describe(const gls_dataset_options *options);
/* Tracks a unit with the given options and the files that the data set holds for it. If it was tracked before with the
 * same options and from files of the same contents, makes only what is missing, such as fits and connectomes. Succeeds
 * with GLS_UNIT_BUSY if another process tracks the unit. On failure *state is GLS_UNIT_FAILED; a failure before the new
 * files get their final names leaves earlier files unchanged. */
gls_status gls_dataset_track(const gls_dataset_options *options, const gls_dataset_unit *unit,
                             const gls_job_options *job, const gls_monitor *monitor, gls_dataset_state *state);
/* Which units to process. */
typedef struct gls_dataset_choice {
    /* name of the only unit to process */
    const char *unit; /* NULL: all */
    /* units index, index + count, index + 2 count ..., counted from 1; index 1, count 1: all units */
    size_t index, count;
    /* whether the first unit that fails ends the run */
    bool stop_on_error;
} gls_dataset_choice;
/* Sets the choice. shard: "I/N", "auto" or NULL. */
gls_status gls_dataset_choose(gls_dataset_choice *choice, const char *unit, const char *shard);
/* Checks the choice and the options. GLS_ERR_INPUT: the chosen unit does not exist. GLS_ERR_ARGUMENT: --roi beside
 * --seed-region, braces around a word that is no entity, or one file given for several units each of which needs a file
 * of its own. */
gls_status gls_dataset_check(const gls_dataset_options *options, const gls_dataset *dataset,
                             const gls_dataset_choice *choice);
/* Whether the unit at index `place` (from 0) is chosen. */
bool gls_dataset_chosen(const gls_dataset *dataset, const gls_dataset_choice *choice, size_t place);
/* A table with a header and one line for each chosen unit, columns separated by tabs. From malloc; NULL: out of
 * memory. */
char *gls_dataset_list(const gls_dataset_options *options, const gls_dataset *dataset,
                       const gls_dataset_choice *choice);
/* Paths of the files of a unit. */
typedef struct gls_dataset_files {
    char tractogram[GLS_DATASET_MAX_PATH], sidecar[GLS_DATASET_MAX_PATH], report[GLS_DATASET_MAX_PATH],
        picture[GLS_DATASET_MAX_PATH], logs[GLS_DATASET_MAX_PATH];
} gls_dataset_files;
/* Makes the paths of the files of a unit. */
void gls_dataset_name(const gls_dataset_options *options, const gls_dataset_unit *unit, const gls_job_options *job,
                      gls_dataset_files *files);
/* Reads a filter file of BIDS apps and adds the entities of its object dwi to filters, as KEY=VALUE. The caller frees
 * the texts, also after an error. GLS_ERR_INPUT: no such file, or unknown keys. */
gls_status gls_dataset_filters_read(const char *path, gls_strings *filters);
/* Whether a file that each run rewrites may be written: it does not exist, or glslines wrote it, which the text `mark`
 * within its first 64 KiB shows. */
bool gls_dataset_owns(const char *path, const char *mark);
/* gls_dataset_owns(), with a warning that the file is left as it is. */
bool gls_dataset_may_write(const char *path, const char *mark);
/* Writes the file if gls_dataset_owns() is true, else fails with GLS_ERR_OUTPUT. group: gives the file its name later,
 * together with its other files; NULL: the file gets its name at once. */
gls_status gls_dataset_rewrite(const char *path, const char *mark, const char *text, size_t bytes,
                               struct gls_output_group *group);
/* Writes group.tsv, a table of the tractograms of the output, and index.html, a page of them; both or neither. *n:
 * number of tractograms of the participants, sessions and entities that the options ask for. Writes nothing if *n is 0.
 */
gls_status gls_dataset_group(const gls_dataset_options *options, size_t *n);
/* Writes tract_profiles.csv in the output: the rows of all *_desc-profiles_tractography.csv by `glslines profile` or
 * pyAFQ, with the columns subjectID and sessionID. *n: number of tables; 0: nothing is written. pyAFQ writes a file of
 * the same name; a file without the tract_profiles.json of glslines is not replaced. GLS_ERR_INPUT: two tables of one
 * session, or a file that is not such a table. */
gls_status gls_dataset_profiles(const gls_dataset_options *options, size_t *n);

/* Writes connectomes_seg-ATLAS.tsv in the output for each atlas: a line for each connectome and pair of regions whose
 * value is not 0. *n: number of atlases. GLS_ERR_INPUT: a file that is no matrix. */
gls_status gls_dataset_connectomes(const gls_dataset_options *options, size_t *n);

/* Path of the labels of an atlas for a unit: seg-ATLAS, else atlas-ATLAS, else desc-ATLAS, suffix dseg, each in the
 * data set or else in the derivatives. NULL: none. *root: the data set that has it. */
char *gls_dataset_find_atlas(const gls_dataset_options *options, const gls_dataset_unit *unit, const char *atlas,
                             const char **root);
/* Path of the table with the names of the labels of an image, beside it or in a folder above. root: the data set that
 * has the image. NULL: none. */
char *gls_dataset_find_names(const char *labels, const char *root);
/* Sets the member Sources of the sidecar `root`, which BIDS asks for: the series of the unit and its gradient table if
 * `series` is true, then the n files of path[], any of which may be NULL. If unit is not NULL, adds the member
 * SpatialReference, too. */
void gls_dataset_add_sources(const gls_dataset_options *options, const gls_dataset_unit *unit, bool series,
                             const char *const *path, size_t n, struct cJSON *root);
/* Writes a connectome for each atlas from the tractogram of a unit: STEM_seg-ATLAS_relmat.tsv with its sidecar, and
 * STEM_seg-ATLAS_nodes.tsv. weights: as for `glslines connectome`, or NULL. Leaves a connectome from the same inputs as
 * it is unless force is set. GLS_ERR_OUTPUT: an output would replace a file of another program. */
gls_status gls_dataset_connect(const gls_dataset_options *options, const gls_dataset_unit *unit, const char *tractogram,
                               const char *stem, const char *weights);

/* Makes two images with values 0 and 1 on the grid of the series: the brain mask, and the seed region. */
gls_status gls_dataset_images(const gls_dataset_options *options, const gls_dataset_unit *unit,
                              const gls_model_options *model, gls_image **mask, gls_image **seeds);

/* The value of a key in a name of BIDS; "" if the key is absent. Returns value. */
const char *gls_bids_value(const char *name, const char *key, char *value, size_t size);
/* Names in a folder that are not hidden, sorted by bytes, NULL-terminated. Free with gls_bids_names_free(). A folder
 * that does not exist has no names. */
gls_status gls_bids_names(const char *folder, char ***names);
/* Frees `names`, which may be NULL. */
void gls_bids_names_free(char **names);

/* --- logs/units.tsv: the latest outcome for each series. */

#define GLS_DATASET_LOG_HEADER "unit\tstate\treason"

/* Adds lines "NAME, tab, state, tab, reason". They replace older lines of the same series, except that a line with the
 * state busy replaces none. Keeps the lines of all other series. */
gls_status gls_dataset_log_add(const gls_dataset_options *options, const char *lines);

#endif
