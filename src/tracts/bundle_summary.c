/* The table of bundles: how many streamlines each has, how long they are, and which tests of its rule failed. */
#include "tracts/bundle_summary.h"

#include "tracts/tract_text.h"

gls_status gls_bundle_table_write(const gls_bundles *bundles, const double *volume, const char *path, bool overwrite,
                                  gls_output_group *group)
{
    static const char *const names[] = {"bundle",  "count",     "weight", "turned",
                                        "mean_mm", "median_mm", "sd_mm",  "volume_mm3"};
    gls_tract_text t;
    gls_status status = gls_tract_text_create(path, overwrite, group, &t);
    if (status) return status;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) gls_tract_text_field(&t, names[k]);
    for (int test = 0; test < GLS_BUNDLE_TESTS; test++)
        gls_tract_text_printf(&t, "%cfailed_%s", t.separator, gls_bundle_test_name((gls_bundle_test)test));
    gls_tract_text_end_row(&t);
    for (size_t k = 0, n = gls_bundles_count(bundles); k < n; k++) {
        const gls_bundle_info b = gls_bundles_get(bundles, k);
        const double value[] = {(double)b.count, b.weight,    (double)b.turned, b.mean_length,
                                b.median_length, b.sd_length, volume[k]};
        gls_tract_text_field(&t, b.name);
        for (size_t i = 0; i < sizeof value / sizeof *value; i++) gls_tract_text_number(&t, value[i]);
        for (int test = 0; test < GLS_BUNDLE_TESTS; test++) gls_tract_text_number(&t, (double)b.failed[test]);
        gls_tract_text_end_row(&t);
    }
    return gls_tract_text_close(&t, GLS_OK);
}
