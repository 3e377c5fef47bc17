/* Any bytes as the lists of words and numbers that go with labels and streamlines: names of labels, pairs of labels,
 * colours of groups, directions of a constraint: an error or what they name, never a crash. */
#include <glslines/render.h>
#include <glslines/msmt.h>

#include "render/picture_plan.h"
#include "render/scene_parts.h"
#include "tools/edge_sets.h"
#include "tools/edges.h"
#include "folder.h"
#include "image/label_table.h"

static void read_names(const char *path)
{
    gls_label_table table;
    if (fuzz_ok(gls_label_table_read(&table, path))) {
        if (table.n == 0) abort();
        for (size_t i = 0; i < table.n; i++) {
            const gls_label_entry *e = &table.entry[i];
            if (e->label < 0 || !*e->name || gls_label_table_name(&table, e->label) != e->name) abort();
            if (i > 0 && e->label <= e[-1].label) abort();
        }
    }
    gls_label_table_finish(&table);
}

static void read_pairs(const char *path)
{
    gls_tract_lists lists;
    gls_edge_sets sets = {.n = 0};
    const gls_edge_choice choice = {.kind = GLS_SETS_EDGES, .keep_self = true, .min_count = 1};
    gls_strings wanted = {.n = 1, .value = {"1,2"}};
    uint64_t *id = NULL;
    size_t n;
    if (fuzz_ok(gls_tract_lists_read(&lists, path)) && fuzz_ok(gls_edge_sets_make(&lists, &choice, &sets)) &&
        fuzz_ok(gls_tract_lists_select(&lists, &wanted, &id, &n)) && n > lists.n)
        abort();
    for (size_t i = 0; i < sets.n; i++)
        if (sets.label[i][0] > sets.label[i][1] || sets.label[i][0] < 0) abort();
    free(id);
    gls_edge_sets_finish(&sets);
    gls_tract_lists_finish(&lists);
}

static void read_colours(const char *path)
{
    gls_render_options options = gls_render_options_default();
    gls_render_plan plan;
    options.colors = path;
    fuzz_ok(gls_render_plan_make(&options, 1, &plan));
    gls_render_plan_finish(&plan);
}

static void read_directions(const char *path)
{
    double(*direction)[3] = NULL;
    size_t n = 0;
    if (fuzz_ok(gls_csd_directions_read(path, &direction, &n)) && n == 0) abort();
    free(direction);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes > 1 << 14) return 0; /* each direction is compared with all others */
    fuzz_folder folder = fuzz_folder_make();
    const char *text = fuzz_folder_put(&folder, "list.txt", data, bytes);
    read_names(text);
    read_names(fuzz_folder_put(&folder, "list.tsv", data, bytes));
    read_pairs(text);
    read_colours(text);
    read_directions(text);
    fuzz_folder_remove(&folder);
    return 0;
}
