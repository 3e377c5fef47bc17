/* A filter that adds groups. */
#ifndef GLS_STREAMLINES_FILTER_GROUPS_H
#define GLS_STREAMLINES_FILTER_GROUPS_H

#include <glslines/common.h>
#include <glslines/streamlines.h>

/* Groups of streamlines. Everything is borrowed. */
typedef struct gls_line_groups {
    const char *const *name; /* n names */
    size_t n;
    const uint32_t *index; /* group of each streamline; n or more: in none */
    uint64_t rows;         /* number of streamlines */
    const char *path;      /* file that the groups come from, named in messages */
    /* where the groups of each streamline begin in index[], rows + 1 elements; NULL: each has one element there */
    const uint64_t *first;
} gls_line_groups;

/* Requires that a file of labels fits its tractogram. path: the file, for messages; rows: the number of streamlines
 * that it has labels of; n: streamlines of the tractogram so far; complete: there are no more. GLS_ERR_INPUT if not. */
gls_status gls_line_labels_require(const char *path, uint64_t rows, uint64_t n, bool complete);

/* Makes a filter that adds the groups behind those that streamlines have. GLS_ERR_INPUT if the number of streamlines
 * differs from rows. */
gls_status gls_filter_groups_create(const gls_line_groups *groups, const gls_sink *next, gls_sink *filter);

#endif
