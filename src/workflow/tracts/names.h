/* Names of labels from colour tables. */
#ifndef GLS_WORKFLOW_TRACTS_NAMES_H
#define GLS_WORKFLOW_TRACTS_NAMES_H

#include <glslines/common.h>

typedef struct gls_label_names {
    char *text; /* of the file, in which the names end with zeros */
    size_t n;
    struct gls_label_name {
        int32_t label;
        const char *name;
    } * list; /* by label */
} gls_label_names;

/* A colour table of FreeSurfer or MRtrix3 (index name ...), of ITK-SNAP (index, six numbers, "name"), or a table of
 * index and name with or without a header line; NULL path: no names. GLS_ERR_INPUT names the file. Finish it after a
 * failure, too. */
gls_status gls_label_names_read(gls_label_names *names, const char *path);
/* NULL: the table does not have it. */
const char *gls_label_names_find(const gls_label_names *names, int32_t label);
void gls_label_names_finish(gls_label_names *names);

#endif
