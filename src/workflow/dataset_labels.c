/* White matter in a segmentation whose numbers a table tells: the numbers of a plain dseg differ between programs. */
#include "workflow/dataset_labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/file.h"
#include "util/plain.h"
#include "util/status.h"
#include "workflow/dataset_names.h"

#define MAX_TABLE ((size_t)1 << 20)

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

/* Cuts a line at its tabs; returns how many cells there are. */
static int cut(char *line, char **cell, int max)
{
    int n = 0;
    line[strcspn(line, "\r")] = '\0';
    while (line && n < max) {
        char *tab = strchr(line, '\t');
        if (tab) *tab++ = '\0';
        cell[n++] = line;
        line = tab;
    }
    return n;
}

static void read_rows(char *text, gls_bids_labels *labels)
{
    char *cell[32], *state = NULL;
    int index = -1, named = -1, abbreviated = -1;
    bool head = true;
    for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state), head = false) {
        int n = cut(line, cell, (int)(sizeof cell / sizeof *cell));
        for (int i = 0; head && i < n; i++) {
            if (strcmp(cell[i], "index") == 0) index = i;
            if (strcmp(cell[i], "name") == 0) named = i;
            if (strcmp(cell[i], "abbreviation") == 0) abbreviated = i;
        }
        if (head || index < 0 || index >= n) continue;
        bool white = (named >= 0 && named < n && is_white_matter(cell[named])) ||
                     (abbreviated >= 0 && abbreviated < n && is_white_matter(cell[abbreviated]));
        char *end;
        long value = strtol(cell[index], &end, 10);
        if (white && end != cell[index] && !*end && labels->n < GLS_BIDS_MAX_LABELS)
            labels->value[labels->n++] = (int)value;
    }
}

gls_status gls_bids_white_matter(const char *root, const char *folder, const char *image, gls_bids_labels *labels)
{
    const char *slash = strrchr(image, '/');
    char *stem = gls_bids_stem(slash ? slash + 1 : image), *text = NULL;
    *labels = (gls_bids_labels){.n = 0};
    if (!stem) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    char *table = gls_bids_inherited(root, folder, stem, "dseg", ".tsv");
    size_t bytes;
    gls_status status = table ? gls_file_read(table, MAX_TABLE, &text, &bytes) : GLS_OK;
    if (!status && text) read_rows(text, labels);
    free(text);
    free(table);
    free(stem);
    return status;
}
