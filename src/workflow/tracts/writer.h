/* A tractogram that a command writes: its header, its fields, and, for formats without columns, files beside it. */
#ifndef GLS_WORKFLOW_TRACTS_WRITER_H
#define GLS_WORKFLOW_TRACTS_WRITER_H

#include "workflow/tracts/job.h"

typedef struct gls_tract_output {
    const char *path;
    const gls_grid *grid;            /* NULL: the format needs none */
    const gls_tractogram_info *info; /* of the input: its header, and the columns that there will be */
    const char *fields;              /* "all" or NULL, "none", or names with commas */
    const char *added[72];           /* columns that come in addition, NULL-terminated */
    bool half_precision;
    bool drops_group_data;     /* dpg are about other streamlines */
    const gls_group_data *dpg; /* in place of those of the input; NULL: none */
    size_t n_dpg;
} gls_tract_output;

/* A sink that writes the file in the group of the job. A TCK file gets its columns beside it: OUT_weights.txt,
 * OUT_dps.tsv, OUT_NAME.tsf for values per vertex. What the format does not hold is told in a warning. */
gls_status gls_tract_writer_create(gls_tract_job *job, const gls_tract_output *output, gls_sink *sink);

/* TRX and TRK files lie on a grid. */
bool gls_tract_needs_grid(gls_tractogram_format format);

/* Files beside a TCK file for columns that it does not hold; takes the columns away and hands the rest on. */
gls_status gls_tract_side_create(gls_tract_job *job, const char *tck, const gls_sink *next, gls_sink *sink);
/* A track scalar file of MRtrix3: a component of a dpv column, in the group of the job. stamp: that of the TCK file to
 * which it belongs; NULL: it is written along with this one. Values that are not finite become 0, with a warning, as
 * NaN and infinity end streamlines and the file. */
gls_status gls_tract_tsf_create(gls_tract_job *job, const char *path, const char *stamp, const char *column,
                                uint32_t component, gls_sink *sink);
/* The same for a tractogram that is there: a TCK file with a stamp. */
gls_status gls_tract_scalars_create(gls_tract_job *job, const char *path, const gls_tractogram_info *info,
                                    const char *column, gls_sink *sink);

#endif
