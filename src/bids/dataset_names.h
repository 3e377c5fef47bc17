/* Names of BIDS: entities, suffixes, inheritance, and the search for images that belong to a series. */
#ifndef GLS_BIDS_DATASET_NAMES_H
#define GLS_BIDS_DATASET_NAMES_H

#include <glslines/common.h>

#include "bids/dataset.h"
#include "bids/dataset_parts.h"

/* Writes FOLDER/NAME to path and returns path. Writes "" (no file has this name) if size is too small. */
char *gls_bids_join(const char *folder, const char *name, char *path, size_t size);
/* Whether the name ends in _SUFFIX and the extension. */
bool gls_bids_has_suffix(const char *name, const char *suffix, const char *extension);
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
/* Splits the text KEY-VALUE_SUFFIX. Returns false if the text has another form or a part that does not fit. */
bool gls_bids_split(const char *text, gls_bids_ending *ending);
/* An image in a folder with this suffix, space and value of key. key NULL: an image without desc, label, seg and atlas.
 * series: name of the series that lies beside the image. An image of another scan (by entities of_scan in
 * dataset_parts.h) is rejected. Each of these entities that an image shares with the series counts 1, each that the
 * series lacks -1; the first image of the largest sum is chosen. series NULL: the first image. */
char *gls_bids_find(const char *folder, const char *key, const char *value, const char *space, const char *suffix,
                    const char *series);
/* The value of a key in a name of BIDS; "" if the key is absent. Returns value. */
const char *gls_bids_value(const char *name, const char *key, char *value, size_t size);
/* Names in a folder that are not hidden, sorted by bytes, NULL-terminated. Free with gls_bids_names_free(). A folder
 * that does not exist has no names. */
gls_status gls_bids_names(const char *folder, char ***names);
/* Frees `names`, which may be NULL. */
void gls_bids_names_free(char **names);
/* All of them; the last has the key NULL. */
extern const gls_bids_entity gls_bids_entities[17];
/* The entity with this key or this name in pybids; NULL: none. */
const gls_bids_entity *gls_bids_entity_find(const char *name);
/* Whether values of this key are numbers. */
bool gls_bids_is_index(const char *key);

#endif
