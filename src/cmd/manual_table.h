/* What the terminal's and the manual pages' tables share. */
#ifndef GLS_CMD_MANUAL_TABLE_H
#define GLS_CMD_MANUAL_TABLE_H

#include <stdbool.h>
#include <stddef.h>

enum {
    MANUAL_MAX_COLUMNS = 24,
    MANUAL_GAP = 2 /* blanks between columns */
};

/* Spans without their marks; links to topics name the command that shows them. With quote, code of several words stands
 * in quotes. From malloc; NULL where memory ran out. */
char *manual_plain_text(const char *text, bool quote);
/* The same for n cells, to be freed by manual_free_cells(), which accepts NULL. */
char **manual_plain_cells(char *const *cells, size_t n);
void manual_free_cells(char **cells, size_t n);

/* Widths of columns: as the cells need, then the widest made smaller until a row fits into width characters. False
 * where even the longest words do not fit. */
bool manual_fit_columns(char *const *cells, size_t rows, size_t columns, size_t width, size_t *column_width);

#endif
