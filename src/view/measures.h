/* Criteria of streamlines beside regions: length, a column, groups. */
#ifndef GLS_VIEW_MEASURES_H
#define GLS_VIEW_MEASURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glslines/common.h>
#include <glslines/tractogram.h>

#include "util/text.h"
#include "view/messages.h"

/* Lengths and columns that are remembered, beside the groups of one request. */
#define GLS_VIEW_NUMBERS 4
#define GLS_VIEW_MEASURES (GLS_VIEW_GROUPS + GLS_VIEW_NUMBERS)

/* A length, column or group that was read: its values of all streamlines of the tractograms, in their order. */
typedef struct gls_view_measure {
    char *key;      /* "length", "dps:NAME", "group:NAME"; NULL: there is none */
    double *value;  /* of a length or column; NULL: there is none */
    uint64_t *bits; /* of a group, a bit for each of its streamlines; NULL: there is none */
    uint64_t used;  /* number of the last criteria that asked for it */
} gls_view_measure;

/* The measures that were asked for. All zero: none. */
typedef struct gls_view_measures {
    const char *const *path; /* tractograms, borrowed */
    size_t n_paths;
    uint64_t n;                              /* streamlines of all of them */
    const gls_tractogram_read_options *read; /* borrowed */
    bool (*go_on)(void);
    gls_view_measure measure[GLS_VIEW_MEASURES]; /* first those of groups */
    uint64_t n_requests;
} gls_view_measures;

/* Clears in a set of bits the streamlines that do not fit the criteria, by the rules of gls_selection. A measure that
 * is not remembered is read from the files. GLS_ERR_INPUT: a file has not this column or group, or has changed. */
gls_status gls_view_measures_apply(gls_view_measures *m, const gls_view_criteria *criteria, uint64_t *bits);
/* Largest number of words of criteria. */
#define GLS_VIEW_CRITERIA_WORDS (5 + 2 * GLS_VIEW_GROUPS)
/* The words of criteria as options of 'glslines edit'. Returns their number; free each of them. A NULL among them: no
 * memory. */
size_t gls_view_criteria_words(const gls_view_criteria *criteria, char *word[GLS_VIEW_CRITERIA_WORDS]);
/* Whether there are criteria. */
bool gls_view_has_criteria(const gls_view_criteria *criteria);
/* Frees everything. */
void gls_view_measures_finish(gls_view_measures *m);

#endif
