/* Names of labels from colour tables of FreeSurfer, MRtrix3 and ITK-SNAP. */
#include "tools/tract_files.h"

#include <stdlib.h>
#include <string.h>

#include "util/file.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

/* largest table of names, bytes */
#define MAX_BYTES ((size_t)64 << 20)
/* characters that separate columns */
#define BLANKS " \t\r,"

typedef struct gls_label_name label_name;

/* Comparison for qsort() and bsearch(): by label. */
static int by_label(const void *a, const void *b)
{
    int32_t x = ((const label_name *)a)->label, y = ((const label_name *)b)->label;
    return (x > y) - (x < y);
}

/* Finds the name in the rest of a line: a quoted text, which may follow numbers; else the text up to the next tab or
 * comma; else a word, or if tabs is true all of the rest. NULL: there is no name. */
static char *cut_name(char *rest, bool tabs)
{
    char *quote = strchr(rest, '"'), *end;
    rest += strspn(rest, BLANKS);
    if (quote && (quote == rest || strspn(rest, "0123456789.+- \t") >= (size_t)(quote - rest))) {
        char *name = gls_field_unquote(quote);
        return name && *name ? name : NULL;
    }
    size_t tab = strcspn(rest, "\t,\r");
    bool has_tab = tabs || (rest[tab] != '\0' && rest[tab] != '\r');
    rest[has_tab ? tab : strcspn(rest, BLANKS)] = '\0';
    end = rest + strlen(rest);
    while (end > rest && end[-1] == ' ') *--end = '\0';
    return *rest ? rest : NULL;
}

/* Adds the label and name of one line. Skips comments, and lines that do not begin with a label or have no name. */
static gls_status take_line(gls_label_names *names, char *line, bool tabs, size_t *capacity)
{
    char *end;
    line += strspn(line, " \t");
    /* cut off blanks at the end of the line */
    for (size_t n = strlen(line); n > 0 && strchr(" \t", line[n - 1]); n--) line[n - 1] = '\0';
    long label = strtol(line, &end, 10);
    if (*line == '#' || end == line || !strchr(BLANKS, *end) || !*end || label < 0 || label > INT32_MAX) return GLS_OK;
    char *name = cut_name(end, tabs);
    if (!name) return GLS_OK;
    /* reverse the escapes by which glslines writes names that are not UTF-8 */
    gls_utf8_decode(name);
    if (names->n == *capacity) {
        size_t more = *capacity ? 2 * *capacity : 256;
        label_name *list = realloc(names->list, more * sizeof *list);
        if (!list) return gls_fail(GLS_ERR_MEMORY, "out of memory for names");
        names->list = list;
        *capacity = more;
    }
    names->list[names->n++] = (label_name){(int32_t)label, name};
    return GLS_OK;
}

gls_status gls_label_names_read(gls_label_names *names, const char *path)
{
    size_t size, capacity = 0;
    *names = (gls_label_names){.n = 0};
    if (!path) return GLS_OK;
    const char *dot = strrchr(path, '.');
    /* in .tsv files a name may have blanks */
    const bool tabs = dot && strcmp(dot, ".tsv") == 0;
    gls_status status = gls_file_read_text(path, MAX_BYTES, &names->text, &size);
    for (char *rest = names->text, *line; !status && (line = strsep(&rest, "\n"));)
        status = take_line(names, line, tabs, &capacity);
    if (!status && names->n == 0) status = gls_fail(GLS_ERR_INPUT, "%s: has no line with a label and a name", path);
    if (!status) qsort(names->list, names->n, sizeof *names->list, by_label);
    return status;
}

const char *gls_label_names_find(const gls_label_names *names, int32_t label)
{
    const label_name key = {label, NULL},
                     *found = names->n > 0 ? bsearch(&key, names->list, names->n, sizeof key, by_label) : NULL;
    return found ? found->name : NULL;
}

void gls_label_names_finish(gls_label_names *names)
{
    free(names->text);
    free(names->list);
    *names = (gls_label_names){.n = 0};
}
