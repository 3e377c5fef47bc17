/* Text files of tables, written line by line in an output group. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracts/tract_text.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

/* Bytes of text that are collected before they are written. */
#define TEXT_BYTES 65536

/* Appends n bytes, TEXT_BYTES at most, to the buffer. If they do not fit, writes the buffer to the file first. */
static void append_bytes(gls_tract_text *text, const char *data, size_t n)
{
    if (text->n + n > TEXT_BYTES && !text->failed) {
        text->failed = gls_output_write(&text->output, text->buffer, text->n);
        text->n = 0;
    }
    if (text->failed) return;
    memcpy(text->buffer + text->n, data, n);
    text->n += n;
}

/* Appends n bytes of text, which may be more than the buffer holds, and frees `line`. line NULL: memory ran out. */
static void append_line(gls_tract_text *text, char *line, size_t n)
{
    if (!line && !text->failed) text->failed = gls_fail(GLS_ERR_MEMORY, "%s: out of memory", text->output.path);
    for (size_t done = 0, piece; line && done < n; done += piece) { /* in pieces that fit into the buffer */
        piece = n - done < TEXT_BYTES ? n - done : TEXT_BYTES;
        append_bytes(text, line + done, piece);
    }
    free(line);
}

/* Appends a number; `number` begins with a separator, which is left out at the start of a line. */
static void append_number(gls_tract_text *text, const char *number)
{
    const size_t skipped = text->begun ? 0 : 1;
    append_bytes(text, number + skipped, strlen(number) - skipped);
    text->begun = true;
}

gls_status gls_tract_text_create(const char *path, bool overwrite, gls_output_group *group, gls_tract_text *text)
{
    const char *dot = strrchr(path, '.');
    *text = (gls_tract_text){.output = GLS_OUTPUT_NONE, .separator = dot && strcmp(dot, ".csv") == 0 ? ',' : '\t'};
    text->buffer = malloc(TEXT_BYTES);
    if (!text->buffer) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    gls_status status = gls_output_create(path, overwrite, &text->output);
    text->output.group = group;
    if (!status) return GLS_OK;
    free(text->buffer);
    text->buffer = NULL;
    return status;
}

void gls_tract_text_printf(gls_tract_text *text, const char *format, ...)
{
    char *line = NULL;
    va_list args;
    va_start(args, format);
    const int n = gls_vasprintf(&line, format, args);
    va_end(args);
    if (n > 0) text->begun = line[n - 1] != '\n';
    append_line(text, n < 0 ? NULL : line, (size_t)n);
}

void gls_tract_text_field(gls_tract_text *text, const char *field)
{
    gls_text all = {0};
    if (text->begun) gls_text_append(&all, &text->separator, 1);
    gls_field_append(&all, field, text->separator);
    const size_t n = all.length;
    text->begun = true;
    append_line(text, gls_text_take(&all), n);
}

void gls_tract_text_component(gls_tract_text *text, const char *name, size_t i, size_t n)
{
    char *whole = NULL;
    if (n > 1 && gls_asprintf(&whole, "%s_%zu", name, i) < 0) whole = NULL;
    if (n > 1 && !whole && !text->failed) text->failed = gls_no_memory();
    gls_tract_text_field(text, whole ? whole : name);
    free(whole);
}

void gls_tract_text_end_row(gls_tract_text *text)
{
    append_bytes(text, "\n", 1);
    text->begun = false;
}

void gls_tract_text_number(gls_tract_text *text, double value)
{
    char number[40] = {text->separator};
    if (isfinite(value))
        gls_format_double(value, number + 1, sizeof number - 1);
    else
        snprintf(number + 1, sizeof number - 1, "%s",
                 isnan(value) ? text->missing ? text->missing : "nan"
                 : value > 0  ? "inf"
                              : "-inf");
    append_number(text, number);
}

void gls_tract_text_value(gls_tract_text *text, const gls_column *column, uint64_t i)
{
    char number[24] = {text->separator};
    int64_t value;
    if (column->type != GLS_TYPE_INT64 && column->type != GLS_TYPE_UINT64) {
        gls_tract_text_number(text, gls_column_value(column, i));
        return;
    }
    memcpy(&value, (const char *)column->data + i * sizeof value, sizeof value);
    if (column->type == GLS_TYPE_INT64)
        snprintf(number + 1, sizeof number - 1, "%" PRId64, value);
    else
        snprintf(number + 1, sizeof number - 1, "%" PRIu64, (uint64_t)value);
    append_number(text, number);
}

gls_status gls_tract_text_close(gls_tract_text *text, gls_status status)
{
    if (!text->buffer) return status;
    if (!status) status = text->failed;
    if (!status && text->n > 0) status = gls_output_write(&text->output, text->buffer, text->n);
    if (!status)
        status = gls_output_commit(&text->output);
    else
        gls_output_discard(&text->output);
    free(text->buffer);
    text->buffer = NULL;
    return status;
}
