/* The labels that streamlines join, from a file of assignments or from a connectome; selects streamlines by them. */
#ifndef GLS_TOOLS_EDGES_H
#define GLS_TOOLS_EDGES_H

#include <glslines/common.h>
#include <glslines/params_fields.h>

/* The labels that each streamline joins. All zero is empty. */
typedef struct gls_tract_lists {
    uint64_t n;      /* number of streamlines */
    uint64_t *first; /* n + 1 elements: index of the first label of each streamline */
    int32_t *label;  /* 0: an end without a region */
    size_t capacity, label_capacity;
    bool failed; /* memory ran out */
} gls_tract_lists;

/* Reads a file with one line of labels for each streamline. Call gls_tract_lists_finish() also after a failure. */
gls_status gls_tract_lists_read(gls_tract_lists *lists, const char *path);
/* Appends the n labels of the next streamline; may be gls_connectome_options.assigned, with lists as its user. */
void gls_tract_lists_add(void *lists, const int32_t *label, size_t n);
/* Frees everything. */
void gls_tract_lists_finish(gls_tract_lists *lists);

/* Sets *id to the indices, ascending, of the streamlines whose two labels are one of the pairs "A,B", and *n to their
 * number. *id comes from malloc. */
gls_status gls_tract_lists_select(const gls_tract_lists *lists, const gls_strings *pairs, uint64_t **id, size_t *n);

#endif
