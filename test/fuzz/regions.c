/* Any bytes as the text of a region, and as an image of labels: an error or a region, never a crash. */
#include <string.h>

#include <glslines/regions.h>

#include "file.h"
#include "tracts/rois.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const double affine[3][4] = {{2, 0, 0, -4}, {0, 2, 0, -4}, {0, 0, 2, -4}};
    char path[64], text[300];
    gls_grid grid;
    gls_regions *regions = NULL;
    gls_rois *rois = NULL;
    size_t index, n = bytes < 200 ? bytes : 200;
    int fd = fuzz_file(data, bytes, path);
    if (gls_grid_init(&grid, (const int32_t[3]){5, 5, 5}, affine) != GLS_OK) abort();
    if (gls_regions_create(&grid, &regions) != GLS_OK || gls_rois_create(GLS_ROI_TEST_SEGMENT, NULL, &rois) != GLS_OK)
        abort();
    for (int kind = 0; kind < 3; kind++) {
        if (kind == 0)
            snprintf(text, sizeof text, "%.*s", (int)n, (const char *)data);
        else
            snprintf(text, sizeof text, kind == 1 ? "%s" : "%s:1,3-5", path);
        /* test nothing but spheres, and the text that was given */
        if (kind == 0 && (strchr(text, '/') || strchr(text, '.'))) continue;
        fuzz_ok(gls_regions_add(regions, GLS_REGION_INCLUDE, text, NULL));
        fuzz_ok(gls_rois_add(rois, "include", text, 0, &index));
    }
    if (fuzz_ok(gls_regions_complete(regions)))
        for (int k = -8; k < 8; k++) gls_regions_at(regions, (const float[3]){(float)k, 1, (float)k / 2});
    gls_regions_destroy(regions);
    gls_rois_destroy(rois);
    close(fd);
    return 0;
}
