/* Which participants, sessions, series and units the options ask for, and which files of each unit: values of options
 * with entities in braces, such as sub-{subject}/[ses-{session}/]peaks.nii.gz. */
#ifndef GLS_BIDS_DATASET_SELECT_H
#define GLS_BIDS_DATASET_SELECT_H

#include <glslines/common.h>
#include <glslines/params_fields.h>
#include <glslines/workflow.h>

#include "bids/dataset.h"
#include "bids/dataset_parts.h"
#include "record/run_params.h"
#include "util/text.h"

/* Sets the choice. shard: "I/N", "auto" or NULL. */
gls_status gls_dataset_choose(gls_dataset_choice *choice, const char *unit, const char *shard);
/* Checks the choice and the options. GLS_ERR_INPUT: the chosen unit does not exist. GLS_ERR_ARGUMENT: --roi beside
 * --seed-region, braces around a word that is no entity, or one file given for several units each of which needs a file
 * of its own. */
gls_status gls_dataset_check(const gls_dataset_options *options, const gls_dataset *dataset,
                             const gls_dataset_choice *choice);
/* Whether the unit at index `place` (from 0) is chosen. */
bool gls_dataset_chosen(const gls_dataset *dataset, const gls_dataset_choice *choice, size_t place);
/* Reads a filter file of BIDS apps and adds the entities of its object dwi to filters, as KEY=VALUE. The caller frees
 * the texts, also after an error. GLS_ERR_INPUT: no such file, or unknown keys. */
gls_status gls_dataset_filters_read(const char *path, gls_strings *filters);
/* Whether values of this parameter may name files that are read. */
bool gls_dataset_names_files(const gls_param *param);
/* Pointer to the next value in `job` that may name a file and has braces; NULL: no more. *row: the parameter of this
 * value. Begin with *row = gls_params and *next = 0. */
const char **gls_dataset_next_braces(gls_job_options *job, const gls_param **row, int *next);
/* Sets the members `value` and `files` of a unit that has its name. A missing file becomes the unit's `problem`. */
gls_status gls_dataset_find_values(const gls_job_options *job, gls_dataset_unit *unit);
/* Sets the members `bundle_transform`, `bundle_chain` and `bundle_image` of a unit that has its name. A missing file
 * becomes the unit's `problem`. */
gls_status gls_dataset_find_for_bundles(const gls_dataset_options *options, gls_dataset_unit *unit);
/* Replaces the values with braces in `job` by the values of the unit, which stay owned by the unit. */
void gls_dataset_take_values(const gls_dataset_unit *unit, gls_job_options *job);
/* GLS_ERR_ARGUMENT: an option of bundles without their atlas. */
gls_status gls_dataset_check_atlas(const gls_dataset_options *options);
/* Appends the names of the columns of --bundle-profile, with commas between them. fa: FA is the first. */
void gls_dataset_columns(const gls_dataset_options *options, bool fa, gls_text *names);
/* Checks the options of track. GLS_ERR_ARGUMENT: --roi beside --seed-region; braces without an entity in them; or, if
 * `several` is true, a file without braces that all units would share although each brain has its own. */
gls_status gls_dataset_check_values(const gls_dataset_options *options, bool several);
/* Frees the texts of a list. */
void gls_dataset_texts_finish(gls_dataset_texts *list);
/* Whether a folder sub-LABEL or ses-LABEL is one that the options ask for by these labels. prefix: "sub-" or "ses-". */
bool gls_dataset_takes(const gls_strings *labels, const char *prefix, const char *folder);
/* The label of a folder sub-LABEL or ses-LABEL if the options ask for it and it is invalid in BIDS; else NULL. */
const char *gls_dataset_bad_label(const gls_strings *labels, const char *prefix, const char *folder);
/* Whether a file by its name belongs to this participant and session and has the entities of all filters except filters
 * of desc. Warns of invalid names, and of files of other participants and sessions. */
bool gls_dataset_takes_file(const gls_dataset_options *options, const char *folder, const char *name,
                            const char *subject, const char *session);
/* Whether a name has the entities of all filters except those of the key `except` (or NULL). run-1 equals run-01. */
bool gls_dataset_passes(const gls_dataset_options *options, const char *name, const char *except);
/* Visits, in the output folder, the folder of each participant that the options ask for, then the folders of its
 * sessions that they ask for. Ends with the first failure. */
gls_status gls_dataset_walk(const gls_dataset_options *options, gls_dataset_visit visit, void *user);
/* Takes the files in the folders dwi of all these that are wanted and belong there by their names; warns of wanted ones
 * that do not. Ends with the first failure. */
gls_status gls_dataset_walk_files(const gls_dataset_options *options, gls_dataset_want want, gls_dataset_take take,
                                  void *user);
/* Whether a file's name agrees with the folder of this participant and session ("": none). */
bool gls_dataset_belongs(const char *name, const char *subject, const char *session);
/* GLS_ERR_INPUT unless each participant asked for has a folder in names[], and each session asked for lies in one. */
gls_status gls_dataset_check_labels(const gls_dataset_options *options, char *const *names);

#endif
