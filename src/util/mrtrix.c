/* Parses the headers of MRtrix3's files: lines "key: value" up to END. */
#include "util/text_tables.h"

#include <stdio.h>
#include <string.h>

#include "util/numbers.h"
#include "util/text.h"
#include "util/status.h"

/* Whether a character counts as a blank, as NUL bytes do in headers. */
static bool is_blank(char c)
{
    return c == '\0' || gls_is_space((unsigned char)c);
}

/* Whether a line of n bytes is END; blanks and a comment do not count. */
static bool is_end(const char *line, size_t n)
{
    const char *comment = memchr(line, '#', n);
    if (comment) n = (size_t)(comment - line);
    while (n > 0 && is_blank(*line)) line++, n--;
    while (n > 0 && is_blank(line[n - 1])) n--;
    return n == 3 && memcmp(line, "END", 3) == 0;
}

size_t gls_mrtrix_header_bytes(const char *text, size_t n, bool whole)
{
    for (size_t at = 0; at < n;) {
        const char *stop = memchr(text + at, '\n', n - at);
        if (!stop && !whole) return 0;
        size_t next = stop ? (size_t)(stop - text) + 1 : n;
        if (is_end(text + at, next - at)) return next;
        at = next;
    }
    return 0;
}

char *gls_mrtrix_lines(char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] == '\0') text[i] = ' ';
    text[n] = '\0';
    return text + strcspn(text, "\n");
}

/* Removes blanks at both ends, in place. Returns the first character that is left. */
static char *trim(char *text)
{
    while (gls_is_space((unsigned char)*text)) text++;
    for (size_t n = strlen(text); n > 0 && gls_is_space((unsigned char)text[n - 1]); n--) text[n - 1] = '\0';
    return text;
}

char *gls_mrtrix_next(char **rest)
{
    char *line = strsep(rest, "\n");
    if (!line || is_end(line, strlen(line))) return NULL;
    return trim(line);
}

bool gls_mrtrix_split(char *line, char **key, char **value)
{
    line[strcspn(line, "#")] = '\0';
    char *colon = strchr(line, ':');
    if (!colon) return false;
    *colon = '\0';
    *key = trim(line);
    *value = trim(colon + 1);
    return true;
}

void gls_mrtrix_type(const char *name, size_t *n, bool *swapped)
{
    bool little = gls_case_ends(name, "le"), big = gls_case_ends(name, "be"),
         native_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    *n = strlen(name) - (little || big ? 2 : 0);
    *swapped = (little && !native_little) || (big && native_little);
}

gls_status gls_mrtrix_data_file(const char *path, const char *value, char **file, uint64_t *offset)
{
    const char *blank = NULL;
    for (const char *c = value; *c; c++) /* the last blank separates name and offset, so that names may have blanks */
        if (gls_is_space((unsigned char)*c)) blank = c;
    size_t n = blank ? (size_t)(blank - value) : strlen(value);
    *file = NULL;
    *offset = 0;
    while (n > 0 && gls_is_space((unsigned char)value[n - 1])) n--;
    if (n == 0 || (blank && !gls_parse_uint64(blank + 1, offset)))
        return gls_fail(GLS_ERR_INPUT,
                        "%s: cannot read 'file: %.60s' in its header: give the name of the data file, "
                        "then a blank and the offset of the data in bytes",
                        path, value);
    /* ".": the data are in the file of the header; any other relative name counts from the folder of the header */
    if (n == 1 && *value == '.') return GLS_OK;
    const char *slash = strrchr(path, '/');
    int folder = slash && *value != '/' ? (int)(slash + 1 - path) : 0;
    if (gls_asprintf(file, "%.*s%.*s", folder, path, (int)n, value) >= 0) return GLS_OK;
    return gls_fail(GLS_ERR_MEMORY, "%s: no memory", path);
}
