/* Dice of the labels of two images that `glslines register` aligned. */
#ifndef GLS_TOOLS_REGISTER_LABELS_H
#define GLS_TOOLS_REGISTER_LABELS_H

#include "image/label_table.h"
#include "record/tract_run.h"
#include "registration/align.h"
#include "registration/label_overlap.h"

/* The labels of --labels. All zero is empty. */
typedef struct gls_register_labels {
    char *text;                 /* owned copy of the option, cut into the names of the files */
    const char *moving, *fixed; /* names of the images, in `text` */
    char *table;                /* name of the table of names, owned; NULL: none */
    gls_labels *of_moving, *of_fixed;
    gls_label_table names;
    gls_label_overlap overlap;
} gls_register_labels;

/* Reads the images and the table of MOVING,FIXED[,NAMES]. Without NAMES a table beside FIXED or MOVING is taken, whose
 * name differs in its suffix alone, and which is no output of the run: name the outputs before. GLS_ERR_ARGUMENT: the
 * option has another form. GLS_ERR_INPUT: no label occurs in both images. Call gls_register_labels_finish() also after
 * a failure. */
gls_status gls_register_labels_read(gls_tract_run *run, const char *option, gls_register_labels *labels);
/* Compares the labels before and after the registration, and warns if none meets its own or they agree less than
 * before. */
gls_status gls_register_labels_compare(gls_alignment *alignment, gls_register_labels *labels);
/* Writes a table with a row for each label. */
gls_status gls_register_labels_write(gls_tract_run *run, const gls_register_labels *labels, const char *path);
/* Adds numbers of labels and mean Dice to the sidecar. */
void gls_register_labels_describe(const gls_register_labels *labels, cJSON *root);
void gls_register_labels_finish(gls_register_labels *labels);

#endif
