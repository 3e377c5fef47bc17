/* Finds the labels of white matter in a segmentation by its table, because labels of a plain dseg differ between
 * programs. */
#include "workflow/dataset.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/file.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

#define MAX_TABLE ((size_t)1 << 20)
#define MAX_CELLS 32

/* Whether a name or abbreviation in a table means white matter. */
static bool is_white_matter(const char *name)
{
    static const char *const names[] = {"WM",
                                        "white matter",
                                        "white_matter",
                                        "whitematter",
                                        "cerebral white matter",
                                        "left-cerebral-white-matter",
                                        "left_wm",
                                        "right_wm",
                                        "right-cerebral-white-matter",
                                        "white matter left",
                                        "white matter right"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (gls_case_compare(names[i], name) == 0) return true;
    return false;
}

/* Reads a table with the columns index and name or abbreviation, and adds the labels of white matter. */
static gls_status read_rows(const char *path, char *text, gls_bids_labels *labels)
{
    char *cell[MAX_CELLS];
    int index = -1, named = -1, abbreviated = -1;
    bool head = true;
    gls_records records = gls_records_begin(text, '\t');
    for (size_t found; (found = gls_record_next(&records, cell, MAX_CELLS)) > 0;) {
        if (found == 1 && !*cell[0]) continue;
        const int n = found < MAX_CELLS ? (int)found : MAX_CELLS;
        for (int i = 0; head && i < n; i++) {
            if (strcmp(cell[i], "index") == 0) index = i;
            if (strcmp(cell[i], "name") == 0) named = i;
            if (strcmp(cell[i], "abbreviation") == 0) abbreviated = i;
        }
        const bool is_head = head;
        head = false;
        if (is_head || index < 0 || index >= n) continue;
        bool white = (named >= 0 && named < n && is_white_matter(cell[named])) ||
                     (abbreviated >= 0 && abbreviated < n && is_white_matter(cell[abbreviated]));
        if (!white) continue;
        char *end;
        errno = 0;
        const long value = strtol(cell[index], &end, 10);
        if (end == cell[index] || *end || errno || value < 0 || value > INT_MAX)
            return gls_fail(GLS_ERR_INPUT, "%s: '%.40s' is no number of a label", path, cell[index]);
        if (labels->n == GLS_BIDS_MAX_LABELS)
            return gls_fail(GLS_ERR_INPUT, "%s: more than %d labels of white matter", path, GLS_BIDS_MAX_LABELS);
        labels->value[labels->n++] = (int)value;
    }
    return GLS_OK;
}

gls_status gls_bids_white_matter(const char *root, const char *folder, const char *image, gls_bids_labels *labels)
{
    const char *slash = strrchr(image, '/');
    char *stem = gls_bids_stem(slash ? slash + 1 : image), *text = NULL;
    *labels = (gls_bids_labels){.n = 0};
    if (!stem) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    char *table = gls_bids_inherited(root, folder, stem, "dseg", ".tsv");
    size_t bytes;
    gls_status status = table ? gls_file_read_text(table, MAX_TABLE, &text, &bytes) : GLS_OK;
    if (!status && text) status = read_rows(table, text, labels);
    free(text);
    free(table);
    free(stem);
    return status;
}
