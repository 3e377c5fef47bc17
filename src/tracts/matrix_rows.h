/* The rows of a connectome: which labels have one, and their names, by --labels and --lut. */
#ifndef GLS_TRACTS_MATRIX_ROWS_H
#define GLS_TRACTS_MATRIX_ROWS_H

#include <glslines/connectome.h>

#include "image/label_table.h"
#include "transform/bring.h"

/* Rows of a matrix. All zero: the labels that occur, without a table. */
typedef struct gls_matrix_rows {
    gls_connectome_rows labels;
    const char *lut; /* path of the table; NULL: none; borrowed */
    gls_label_table table;
    int32_t *listed; /* the labels of the table; for gls_connectome_options.rows */
    char **name;     /* names of the n rows of the matrix */
    size_t n;
} gls_matrix_rows;

/* Reads the table at `lut` (NULL: none), before the streamlines are read or tracked. GLS_ERR_ARGUMENT: GLS_LABELS_LUT
 * without a table. Call gls_matrix_rows_finish() also after a failure. */
gls_status gls_matrix_rows_read(gls_matrix_rows *rows, gls_connectome_rows labels, const char *lut);
/* Reads the labels at `path`, or by GLS_LABELS_SOFT and GLS_LABELS_MAX probabilities, brings them to the space of the
 * streamlines, and makes the connectome with the rows. options: without rows. */
gls_status gls_matrix_rows_connect(const gls_matrix_rows *rows, const char *path, const gls_transform *transform,
                                   const gls_connectome_options *options, gls_connectome **connectome);
/* Names the rows of a matrix by the table, or by their labels, with _ for each blank, comma, quote and control
 * character, for programs that do not read quotes. Names that stand twice get their labels behind them. Warns of labels
 * that the table lacks, and of names that stand twice. */
gls_status gls_matrix_rows_name(gls_matrix_rows *rows, const gls_connectome *connectome);
/* Frees all but `lut`. */
void gls_matrix_rows_finish(gls_matrix_rows *rows);

#endif
