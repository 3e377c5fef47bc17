/* Any bytes as a gradient table of one file, rows as text and in JSON: an error or a table, never a crash. */
#include <glslines/gradients.h>

#include <math.h>

#include "folder.h"
#include "grid.h"

static void check(const gls_gradients *table, size_t volumes)
{
    if (table->n != volumes || table->n_b0 == 0) abort();
    for (size_t i = 0; i < table->n; i++) {
        const double *v = table->bvec[i], norm = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        if (!table->is_b0[i] && !(fabs(norm - 1) < 1e-6)) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const gls_grid grid = fuzz_grid_sheared();
    fuzz_folder folder = fuzz_folder_make();
    const char *paths[] = {fuzz_folder_put(&folder, "a.b", data, bytes),
                           fuzz_folder_put(&folder, "a.json", data, bytes)};
    for (int kind = 0; kind < 2; kind++)
        for (size_t volumes = 1; volumes <= 6; volumes++) {
            gls_gradients *table = NULL;
            if (!fuzz_ok(gls_gradients_read_table(paths[kind], NULL, &grid, volumes, &table))) continue;
            check(table, volumes);
            gls_gradients_destroy(table);
        }
    fuzz_folder_remove(&folder);
    return 0;
}
