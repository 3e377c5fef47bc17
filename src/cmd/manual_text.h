/* Topics of the manual: titles, links, plain text, widths of columns of tables; topics as text for a terminal. */
#ifndef GLS_CMD_MANUAL_TEXT_H
#define GLS_CMD_MANUAL_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "cmd/manual.h"

/* The topic whose name is the first n characters of name. NULL: none. */
const manual_topic *manual_topic_find(const char *name, size_t n);
/* Writes the title of a topic to buffer and returns buffer. */
const char *manual_topic_title(const manual_topic *topic, char *buffer, size_t size);
/* The topic that a link target such as "seeds.md" leads to. NULL: the target is not a topic. */
const manual_topic *manual_link_topic(const char *target, size_t n);
/* Writes a topic as text of at most width columns; lines of code may be longer. bold: headings in bold. */
bool manual_write_text(FILE *out, const manual_topic *topic, int width, bool bold);
/* n cells as plain text, without Markdown. Free with manual_free_cells(), which accepts NULL. */
char **manual_plain_cells(char *const *cells, size_t n);
/* Frees n cells. cells may be NULL. */
void manual_free_cells(char **cells, size_t n);
/* Chooses widths of columns: as wide as the cells, then the widest columns are made narrower until a row, with
 * gaps between its columns, fits into width characters. Returns false if the longest words alone do not fit. */
bool manual_fit_columns(char *const *cells, size_t rows, size_t columns, size_t width, size_t *column_width);

#endif
