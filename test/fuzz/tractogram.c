/* Any bytes as a tractogram of each format: an error or streamlines whose every value is there, never a crash. */
#include <glslines/filters.h>
#include <glslines/tractogram.h>

#include "file.h"

static volatile double sink;

/* Touches every value, so that a sanitizer sees those that were never set. */
static void touch(const gls_column *columns, size_t n, uint64_t rows)
{
    for (size_t k = 0; k < n; k++)
        for (uint64_t i = 0; i < rows * columns[k].components; i++) sink = gls_column_value(&columns[k], i);
}

static gls_status take(void *user, const gls_streamlines *s)
{
    uint64_t *count = user;
    if (s->offset[0] != 0) abort();
    for (size_t i = 0; i < s->n; i++)
        if (s->offset[i + 1] < s->offset[i]) abort();
    for (uint64_t p = 0; p < 3 * s->offset[s->n]; p++) sink = s->point[p / 3][p % 3];
    touch(s->dps, s->n_dps, s->n);
    touch(s->group, s->n_groups, s->n);
    touch(s->dpv, s->n_dpv, s->offset[s->n]);
    *count += s->n;
    return GLS_OK;
}

static void read_all(const char *path, const gls_tractogram_read_options *options)
{
    static const double affine[3][4] = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}};
    gls_tractogram_reader *reader;
    gls_filter_counts counts;
    uint64_t count = 0;
    gls_sink last = {.append = take, .user = &count}, moved, filter;
    if (!fuzz_ok(gls_tractogram_reader_open(path, options, &reader))) return;
    if (gls_filter_transform_create(affine, &last, &moved) != GLS_OK) abort();
    if (gls_filter_length_create(0, 1e30, &counts, &moved, &filter) != GLS_OK) abort();
    gls_status status = gls_tractogram_pump(reader, &filter, NULL, NULL);
    if (gls_sink_finish(&filter) != GLS_OK || counts.kept != count || counts.kept > counts.taken) abort();
    if (status != GLS_OK && gls_last_error()[0] == '\0') abort();
    const gls_tractogram_info *info = gls_tractogram_reader_info(reader);
    for (size_t i = 0; i < info->n_dpg; i++) touch(&info->dpg[i].column, 1, 1);
    gls_tractogram_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[64];
    gls_grid reference;
    static const double affine[3][4] = {{-2, 0, 0, 8}, {0, 2, 0, -7}, {0, 0, 2, -6}};
    int fd = fuzz_file(data, bytes, path);
    if (gls_grid_init(&reference, (const int32_t[3]){10, 11, 12}, affine) != GLS_OK) abort();
    read_all(path, NULL);
    gls_tractogram_read_options lenient = gls_tractogram_read_options_default();
    lenient.reference = &reference;
    lenient.vtk_space = GLS_VTK_SPACE_LPS;
    lenient.recover = true;
    lenient.allow_invalid = true;
    read_all(path, &lenient);
    close(fd);
    return 0;
}
