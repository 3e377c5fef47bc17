/* Names of BIDS: key-value_key-value_suffix.extension. */
#ifndef GLS_WORKFLOW_DATASET_NAMES_H
#define GLS_WORKFLOW_DATASET_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include <glslines/common.h>

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

#endif
