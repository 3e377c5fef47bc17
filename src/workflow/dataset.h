/* Data sets of BIDS: what can be tracked in one, and tracking it into another. */
#ifndef GLS_WORKFLOW_DATASET_H
#define GLS_WORKFLOW_DATASET_H

#include <cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include <glslines/common.h>
#include <glslines/phantom.h>
#include <glslines/workflow.h>

/* --- Labels of segmentations by the tables that BIDS keeps beside them. */

enum { GLS_BIDS_MAX_LABELS = 16 };

typedef struct gls_bids_labels {
    int value[GLS_BIDS_MAX_LABELS], n;
} gls_bids_labels;

/* The numbers of white matter by the table dseg.tsv (columns index and name) that holds for a segmentation in this
 * folder below root, by inheritance; none without a table. */
gls_status gls_bids_white_matter(const char *root, const char *folder, const char *image, gls_bids_labels *labels);

/* --- Names of BIDS: key-value_key-value_suffix.extension. */

/* FOLDER/NAME, or "", which is the name of no file, where that has more than size - 1 bytes. Returns path. */
char *gls_bids_join(const char *folder, const char *name, char *path, size_t size);
/* A folder and those above it, where they are not there. */
gls_status gls_bids_make_folders(const char *path);
/* Whether it ends in _SUFFIX and the extension. */
bool gls_bids_has_suffix(const char *name, const char *suffix, const char *extension);
/* Whether a text is a label: letters, digits and +, at least one. */
#define GLS_BIDS_BAD_LABEL "labels of BIDS have letters and digits alone; rename the folder and its files"
bool gls_bids_is_label(const char *text);
/* Whether all before the suffix are keys and values of letters, digits and +. */
bool gls_bids_is_valid(const char *name);
/* Without suffix and extension; NULL without memory, as below. */
char *gls_bids_stem(const char *name);
/* The stem without the entity of this key. */
char *gls_bids_without(const char *name, const char *key);
/* The nearest file for a stem in the folders above one: suffix and extension the same, its entities a part of the
 * stem's. NULL: none. */
char *gls_bids_inherited(const char *root, const char *folder, const char *stem, const char *suffix,
                         const char *extension);
/* The end of a name: KEY-VALUE_SUFFIX. */
typedef struct gls_bids_ending {
    char key[32], value[64], suffix[32];
} gls_bids_ending;
/* false: it is none. */
bool gls_bids_split(const char *text, gls_bids_ending *ending);
/* An image in a folder with this suffix, this value of key and this space; key NULL: without desc, label, seg and
 * atlas. series: that it is for, where they lie side by side: none of another run, acquisition or direction is taken,
 * and of several the one that has most entities of the series and fewest of its own; NULL: the first is taken. */
char *gls_bids_find(const char *folder, const char *key, const char *value, const char *space, const char *suffix,
                    const char *series);

/* --- Data sets of BIDS: what can be tracked in one, and tracking it into another. */

struct gls_output_group;

/* Bytes of the name of a folder that is given: behind it come those of a participant, a session and dwi, and of a file.
 */
#define GLS_DATASET_MAX_FOLDER 480
#define GLS_DATASET_MAX_BELOW 520
#define GLS_DATASET_MAX_PATH 1536
#define GLS_DATASET_MAX_URI (3 * 4096 + 32)

/* Where seeds come from, the first that there is for GLS_REGION_AUTO. */
typedef enum gls_dataset_region {
    GLS_DATASET_AUTO,
    GLS_DATASET_WM,   /* label-WM_probseg above 0.5 */
    GLS_DATASET_ASEG, /* white matter and deep grey matter of desc-aseg_dseg, FreeSurfer's numbers */
    GLS_DATASET_DSEG, /* white matter of a dseg by its table */
    GLS_DATASET_FA,   /* FA above fa in the mask */
    GLS_DATASET_FILE  /* region_file: above 0, a probability above 0.5 */
} gls_dataset_region;

typedef struct gls_dataset_options {
    const char *input, *output; /* folders */
    gls_strings participants, sessions, filters, derivatives;
    gls_strings atlases; /* a connectome of each */
    gls_dataset_region region;
    gls_bids_ending region_file;
    double fa;
    bool raw;          /* take a data set that is not preprocessed */
    bool force;        /* track what was tracked with other parameters anew */
    bool fit_outputs;  /* also FA and spherical harmonics */
    bool legacy_names; /* _tractography.trk, as in the draft that pyAFQ follows */
} gls_dataset_options;

/* A series that can be tracked, all paths from malloc. */
typedef struct gls_dataset_unit {
    char *name;              /* its entities less desc */
    char *subject, *session; /* session "" where there is none */
    char *space;             /* "" where there is none */
    char *folder;            /* of its files below the data set, e.g. sub-01/ses-1/dwi */
    char *dwi, *bval, *bvec; /* bvec "-": bval is a table of one file */
    char *table;             /* a table of one file beside bval and bvec; NULL: none */
    char *mask, *region;     /* region NULL: FA */
    gls_dataset_region kind; /* of region; AUTO: a mask */
    gls_bids_labels labels;  /* of GLS_DATASET_DSEG */
    char *problem;           /* why it cannot be tracked; NULL: it can */
} gls_dataset_unit;

typedef struct gls_dataset {
    gls_dataset_unit *unit;
    size_t n;
    size_t n_ignored; /* folders and series that are left out because of their names */
    char *ignored;    /* the first of them, below the data set; NULL: none */
} gls_dataset;

/* The units in the order of their names. GLS_ERR_INPUT: no data set, nothing to track, an unknown participant, a data
 * set that is not preprocessed. */
gls_status gls_dataset_open(const gls_dataset_options *options, gls_dataset *dataset);
void gls_dataset_finish(gls_dataset *dataset);

/* What became of a unit. */
typedef enum gls_dataset_state {
    GLS_UNIT_TRACKED,
    GLS_UNIT_UP_TO_DATE,
    GLS_UNIT_BUSY,
    GLS_UNIT_FAILED
} gls_dataset_state;

/* Files that a data set of derivatives has; those that are there are left. */
gls_status gls_dataset_describe(const gls_dataset_options *options);
/* Tracks a unit with these options, whose files are chosen here, unless it was tracked with them, from files of the
 * same contents, before. On failure GLS_UNIT_FAILED and the status, and files that were there before are as they were,
 * unless the file system fails while they get their names. */
gls_status gls_dataset_track(const gls_dataset_options *options, const gls_dataset_unit *unit,
                             const gls_job_options *job, const gls_monitor *monitor, gls_dataset_state *state);
/* Which units: one, or every count-th from the index-th, counted from 1. */
typedef struct gls_dataset_choice {
    const char *unit; /* NULL: all */
    size_t index, count;
    bool stop_on_error;
} gls_dataset_choice;
/* shard: "I/N", "auto" or NULL. */
gls_status gls_dataset_choose(gls_dataset_choice *choice, const char *unit, const char *shard);
/* GLS_ERR_INPUT: there is no such unit. */
gls_status gls_dataset_check(const gls_dataset *dataset, const gls_dataset_choice *choice);
bool gls_dataset_chosen(const gls_dataset *dataset, const gls_dataset_choice *choice, size_t place);
/* A line for each, tabs between columns, after a header; from malloc, NULL: out of memory. */
char *gls_dataset_list(const gls_dataset_options *options, const gls_dataset *dataset, const gls_dataset_choice *choice,
                       const gls_job_options *job);
/* Where the files of a unit with these options are. */
typedef struct gls_dataset_files {
    char tractogram[GLS_DATASET_MAX_PATH], sidecar[GLS_DATASET_MAX_PATH], report[GLS_DATASET_MAX_PATH],
        picture[GLS_DATASET_MAX_PATH], logs[GLS_DATASET_MAX_PATH];
} gls_dataset_files;
void gls_dataset_name(const gls_dataset_options *options, const gls_dataset_unit *unit, const gls_job_options *job,
                      gls_dataset_files *files);
/* The entities of the object dwi of a filter file of BIDS apps as KEY=VALUE, added to what is there. Each text is
 * from malloc, those after an error, too. GLS_ERR_INPUT: no such file, unknown keys. */
gls_status gls_dataset_filters_read(const char *path, gls_strings *filters);
/* Whether a file that is written anew at each run may be: it is not there, or is of glslines, so that mark stands in
 * its first 64 KiB. */
bool gls_dataset_owns(const char *path, const char *mark);
/* The same; GLS_ERR_OUTPUT names the file. */
gls_status gls_dataset_may_rewrite(const char *path, const char *mark);
/* And writes it, in group unless that is NULL. */
gls_status gls_dataset_rewrite(const char *path, const char *mark, const char *text, size_t bytes,
                               struct gls_output_group *group);
/* A table of the tractograms of the output, group.tsv, and a page of them, index.html, both or neither; *n gets how
 * many there are of participants, sessions and entities that are asked for, without any no file is written. */
gls_status gls_dataset_group(const gls_dataset_options *options, size_t *n);
/* tract_profiles.csv in the output: the rows of all *_desc-profiles_tractography.csv of participants and sessions, as
 * glslines profile and pyAFQ write them, with subjectID and sessionID. *n: how many tables there are; none: no file.
 * pyAFQ writes a table of this name, too: tract_profiles.json tells which is of glslines, and no other is replaced.
 * GLS_ERR_INPUT: two of one session, one that is no such table. */
gls_status gls_dataset_profiles(const gls_dataset_options *options, size_t *n);
/* The page alone, from the text of group.tsv, in this group. */
gls_status gls_dataset_page(const gls_dataset_options *options, const char *table, struct gls_output_group *group);

/* A file of anatomy or of a mask in the space of the unit whose key has this value: in the data set, then in further
 * ones; NULL: none. root: gets the data set. */
char *gls_dataset_find_image(const gls_dataset_options *options, const gls_dataset_unit *unit, const char *key,
                             const char *value, const char *suffix, const char **root);
/* The labels of an atlas for a unit: seg-ATLAS, atlas-ATLAS or desc-ATLAS _dseg. */
char *gls_dataset_find_atlas(const gls_dataset_options *options, const gls_dataset_unit *unit, const char *atlas,
                             const char **root);
/* A URI of a file of the source data set, of the output, or of elsewhere. size: GLS_DATASET_MAX_URI. */
void gls_dataset_uri(const gls_dataset_options *options, const char *path, char *uri, size_t size);
/* Writes a connectome of each atlas from the tractogram of a unit, STEM_seg-ATLAS_relmat.tsv; weights: those of
 * streamlines as glslines connectome takes them, or NULL. One of the same inputs is left unless force; one that is of
 * another program is an error. */
gls_status gls_dataset_connect(const gls_dataset_options *options, const gls_dataset_unit *unit, const char *tractogram,
                               const char *stem, const char *weights);

/* The images of a unit on the grid of its series, 0 or 1: the mask, and where seeds lie. */
gls_status gls_dataset_images(const gls_dataset_options *options, const gls_dataset_unit *unit,
                              const gls_model_options *model, gls_image **mask, gls_image **seeds);

/* The value of a key in a name of BIDS, or "". */
const char *gls_bids_value(const char *name, const char *key, char *value, size_t size);
/* The names in a folder that are not hidden, sorted by bytes; NULL-terminated, to be freed with gls_bids_names_free().
 * A folder that is not there has none. */
gls_status gls_bids_names(const char *folder, char ***names);
void gls_bids_names_free(char **names);

/* --- A data set of phantoms. */

/* Writes DIR/sub-LABEL[/ses-SESSION]/dwi and DIR/sub-LABEL/anat for each label of "LABEL[/SESSION],...": series, tables
 * (FSL's and MRtrix's), brain mask, white matter, sidecars; and the description of the data set. The k-th subject has
 * the seed of params plus k. *n: how many there are. GLS_ERR_ARGUMENT: a label that is none; GLS_ERR_OUTPUT: a file
 * exists, unless overwrite. */
gls_status gls_dataset_phantom(const gls_phantom_params *params, const char *directory, const char *labels,
                               bool overwrite, size_t *n);

/* --- logs/units.tsv: what became of each series when it was last seen to. */

#define GLS_DATASET_LOG_HEADER "unit\tstate\treason"

/* Adds these lines, each NAME, tab and the rest, and keeps those of other series that earlier or other runs wrote. */
gls_status gls_dataset_log_add(const gls_dataset_options *options, const char *lines);

#endif
