/* Tables of labels: the names of the regions of an atlas. */
#ifndef GLS_IMAGE_LABEL_TABLE_H
#define GLS_IMAGE_LABEL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glslines/common.h>

/* One region of a table. */
typedef struct gls_label_entry {
    int32_t label;
    const char *name, *abbreviation; /* in the memory of the table; abbreviation: "": none */
    bool has_colour;
    uint8_t colour[3]; /* red, green, blue */
} gls_label_entry;

/* A table of labels. All zero: no labels. */
typedef struct gls_label_table {
    size_t n;
    gls_label_entry *entry; /* ascending; each label once */
    char *text;             /* contents of the file */
    char **cell;            /* fields of the file */
} gls_label_table;

/* Reads a table of labels: a colour table of FreeSurfer, MRtrix3, AAL or ITK-SNAP; a table whose head names its
 * columns, as BIDS (dseg.tsv), with commas, semicolons, tabs or blanks; or an XML atlas of FSL. Entries without a name,
 * or with a number that no voxel can have, are left out. Of entries with one label and different names the first
 * counts, with a warning. Colours are #RRGGBB, columns that the head names r, g, b or red, green, blue, and three
 * numbers of 0 to 255 behind a name without a head, or in front of it; a table in which all are black has none. path
 * NULL: no labels. GLS_ERR_INPUT names the file, the line and the fault. Call gls_label_table_finish() also after a
 * failure. */
gls_status gls_label_table_read(gls_label_table *table, const char *path);
/* Name of a label; NULL: the table does not have it. */
const char *gls_label_table_name(const gls_label_table *table, int32_t label);
/* Colour of a label: red, green, blue; NULL: the table does not have it. */
const uint8_t *gls_label_table_colour(const gls_label_table *table, int32_t label);
/* Frees the table. */
void gls_label_table_finish(gls_label_table *table);

/* --- Inside. */

/* Splits the XML of an atlas of FSL into entries, in any order, within `text`. name: of the file, for messages. */
gls_status gls_label_table_read_xml(gls_label_table *table, const char *name, char *text);

#endif
