/* Any bytes as a table of numbers: an error or rows x cols values, never a crash. */
#include "util/text_tables.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static volatile double sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    double *values;
    size_t rows, cols;
    char *text = malloc(bytes + 1);
    if (!text) return 0;
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    if (gls_table_parse("fuzz", text, bytes, &values, &rows, &cols) == GLS_OK) {
        if (rows == 0 || cols == 0) abort();
        for (size_t i = 0; i < rows * cols; i++) sink = values[i];
        free(values);
    } else if (gls_last_error()[0] == '\0') {
        abort();
    }
    free(text);
    return 0;
}
