/* Any bytes as a table of columns, and as weights of streamlines: an error or values, never a crash. */
#include <math.h>

#include "tools/streamline_weights.h"
#include "tools/tract_convert.h"
#include "file.h"
#include "record/tract_run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[64];
    gls_tract_table table;
    gls_tract_weights weights;
    double sum = 0;
    int fd = fuzz_file(data, bytes, path);
    if (fuzz_ok(gls_tract_table_read(&table, path)))
        for (size_t k = 0; k < table.n; k++)
            for (uint64_t i = 0; i < table.rows * table.column[k].components; i++)
                sum += gls_column_value(&table.column[k], i);
    gls_tract_table_finish(&table);
    if (fuzz_ok(gls_tract_weights_open(&weights, path, NULL, NULL, true))) {
        for (uint64_t i = 0; i < weights.n; i++)
            if (!(fabs(weights.values[i]) <= weights.max)) abort();
        gls_tract_weights_close(&weights);
    }
    close(fd);
    volatile double all = sum;
    (void)all;
    return 0;
}
