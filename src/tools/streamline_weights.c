/* Weights of streamlines from a text file or from a column. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/tractogram.h>
#include <glslines/summary.h>

#include "tools/streamline_weights.h"
#include "record/tract_run.h"
#include "streamlines/filter_columns.h"
#include "util/status.h"
#include "util/text_tables.h"

const char *gls_tract_weights_file(const char *text)
{
    return text && strncmp(text, "dps:", 4) != 0 ? text : NULL;
}

bool gls_tract_is_empty(const gls_tractogram_info *info)
{
    return info->counts_streamlines && info->n_streamlines == 0;
}

gls_status gls_tract_column_check(const gls_tractogram_info *info, const char *path, const char *name)
{
    const gls_column *column = name ? gls_column_find(info->dps, info->n_dps, name) : NULL;
    /* a writer learns of columns with the first streamlines, so an empty file has none */
    if (!name || gls_tract_is_empty(info) || (column && column->components == 1)) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT,
                    "%s: has no column \"%s\" with one value for each streamline; 'glslines info' lists its columns",
                    path, name);
}

/* Reads the tractogram once to find the largest absolute value of the column and the number of streamlines. */
static gls_status measure_column(gls_tract_weights *w, const gls_tract_run *run, const char *path)
{
    gls_tractogram_reader *reader = NULL;
    gls_summary *summary = NULL;
    gls_status status = gls_tract_open(run, path, false, &reader);
    if (!status) status = gls_summary_create(NULL, &summary);
    if (!status) status = gls_tract_column_check(gls_tractogram_reader_info(reader), path, w->column);
    if (!status) {
        gls_sink sink = gls_summary_sink(summary);
        status = gls_tract_append(run, reader, &sink);
    }
    const gls_summary_result *r = status ? NULL : gls_summary_get(summary);
    for (size_t k = 0; r && k < r->n_columns; k++) {
        const gls_column_summary *c = &r->column[k];
        if (c->kind != GLS_COLUMN_DPS || strcmp(c->name, w->column) != 0) continue;
        if (c->n_not_finite > 0)
            status = gls_fail(GLS_ERR_INPUT,
                              "%s: the column \"%s\" has %llu values that are not finite and cannot be weights", path,
                              w->column, (unsigned long long)c->n_not_finite);
        w->max = fmax(fabs(c->min), fabs(c->max));
        w->n = r->streamlines;
    }
    gls_summary_destroy(summary);
    gls_tractogram_reader_close(reader);
    return status;
}

gls_status gls_tract_weights_open(gls_tract_weights *w, const char *text, const gls_tract_run *run, const char *path,
                                  bool range)
{
    *w = (gls_tract_weights){.column = NULL};
    if (!text) return GLS_OK;
    if (!gls_tract_weights_file(text)) {
        /* dps:NAME: a column of the tractogram itself */
        w->column = text + 4;
        return range ? measure_column(w, run, path) : GLS_OK;
    }
    size_t rows, columns;
    w->column = "weights";
    w->path = text;
    gls_status status = gls_table_read(text, &w->values, &rows, &columns);
    if (status) return status;
    /* the numbers stand in one line or in one column, as MRtrix3 writes them */
    w->n = rows * columns;
    for (size_t i = 0; i < w->n && !status; i++) {
        if (!isfinite(w->values[i]))
            status = gls_fail(GLS_ERR_INPUT,
                              "%s: the value of streamline %zu (counted from 1) is not finite: give 0 to a streamline "
                              "without a value, or leave the streamline out",
                              text, i + 1);
        w->max = fmax(w->max, fabs(w->values[i]));
    }
    if (status) gls_tract_weights_close(w);
    return status;
}

gls_status gls_tract_weights_sink(const gls_tract_weights *w, const gls_tractogram_info *info, const char *path,
                                  gls_sink *sink)
{
    if (!w->values) return gls_tract_column_check(info, path, w->column);
    const gls_sink next = *sink;
    /* the filter adds the column to each block */
    const gls_column column = {w->column, GLS_TYPE_FLOAT64, 1, w->values};
    return gls_filter_dps_create_from(w->path, &column, w->n, &next, sink);
}

void gls_tract_weights_close(gls_tract_weights *w)
{
    free(w->values);
    w->values = NULL;
}
