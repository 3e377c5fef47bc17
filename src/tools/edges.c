/* The labels that streamlines join, from a file of assignments or from a connectome; selects streamlines by them. */
#include "tools/edges.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/allocation.h"
#include "util/file.h"
#include "util/status.h"

/* largest file of assignments, bytes */
#define MAX_BYTES ((size_t)1 << 33)

/* Reads the label at *at, and moves *at behind the label and the blanks and commas after it. */
static bool parse_label(char **at, int32_t *label)
{
    char *end;
    long value = strtol(*at, &end, 10);
    if (end == *at || value < 0 || value > INT32_MAX) return false;
    *label = (int32_t)value;
    *at = end + strspn(end, " ,\t\r");
    return true;
}

void gls_tract_lists_add(void *lists, const int32_t *label, size_t n)
{
    gls_tract_lists *l = lists;
    const size_t labels = l->n > 0 ? (size_t)l->first[l->n] : 0;
    if (!gls_list_grow(&l->first, (size_t)l->n + 2, &l->capacity, sizeof *l->first) ||
        !gls_list_grow(&l->label, labels + n + 1, &l->label_capacity, sizeof *l->label)) {
        l->failed = true;
        return;
    }
    if (n > 0) memcpy(l->label + labels, label, n * sizeof *label);
    l->first[0] = 0;
    l->first[++l->n] = labels + n;
}

void gls_tract_lists_finish(gls_tract_lists *l)
{
    free(l->first);
    free(l->label);
    *l = (gls_tract_lists){.n = 0};
}

/* Parses the labels of a streamline and adds them. Returns false if the line is no list of labels, or empty. */
static bool parse_line(char *line, gls_tract_lists *lists, int32_t **memory, size_t *capacity)
{
    size_t n = 0;
    for (char *at = line + strspn(line, " ,\t\r"); *at; n++) {
        lists->failed = lists->failed || !gls_list_reserve(memory, n, capacity, 16, sizeof **memory);
        if (lists->failed || !parse_label(&at, &(*memory)[n])) return false;
    }
    if (n > 0) gls_tract_lists_add(lists, *memory, n);
    return n > 0;
}

gls_status gls_tract_lists_read(gls_tract_lists *l, const char *path)
{
    char *text = NULL;
    int32_t *memory = NULL;
    size_t size = 0, capacity = 0;
    *l = (gls_tract_lists){.n = 0};
    gls_status status = gls_file_read_text(path, MAX_BYTES, &text, &size);
    for (char *rest = text, *line; !status && (line = strsep(&rest, "\n"));) {
        /* skip comments, and the empty line behind the last line end */
        if (*line == '#' || (!*line && !rest)) continue;
        if (!parse_line(line, l, &memory, &capacity) && !l->failed)
            status =
                gls_fail(GLS_ERR_INPUT, "%s: the line of streamline %" PRIu64 " (counted from 0) is no list of labels",
                         path, l->n);
        if (l->failed) status = gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    }
    free(memory);
    free(text);
    return status;
}

gls_status gls_tract_lists_select(const gls_tract_lists *l, const gls_strings *pairs, uint64_t **id, size_t *n)
{
    int32_t wanted[GLS_MAX_STRINGS][2];
    for (int k = 0; k < pairs->n; k++) {
        char *at = (char *)pairs->value[k];
        if (!parse_label(&at, &wanted[k][0]) || !parse_label(&at, &wanted[k][1]) || *at || !wanted[k][0] ||
            !wanted[k][1])
            return gls_fail(GLS_ERR_ARGUMENT, "--connect %s: must be two labels above 0, as in 3,7", pairs->value[k]);
        /* store the labels in ascending order */
        if (wanted[k][0] > wanted[k][1]) {
            int32_t keep = wanted[k][0];
            wanted[k][0] = wanted[k][1];
            wanted[k][1] = keep;
        }
    }
    *id = malloc((size_t)(l->n + 1) * sizeof **id);
    if (!*id) return gls_fail(GLS_ERR_MEMORY, "out of memory for streamlines");
    *n = 0;
    for (uint64_t i = 0; i < l->n; i++) {
        const int32_t *label = l->label + l->first[i];
        if (l->first[i + 1] - l->first[i] != 2) continue;
        const int32_t low = label[0] < label[1] ? label[0] : label[1], high = label[0] < label[1] ? label[1] : label[0];
        int k = 0;
        while (k < pairs->n && (low != wanted[k][0] || high != wanted[k][1])) k++;
        if (k < pairs->n) (*id)[(*n)++] = i;
    }
    return GLS_OK;
}
