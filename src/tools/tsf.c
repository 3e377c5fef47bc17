/* Writes track scalar files of MRtrix3: one number for each point, in the layout of a TCK file. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/tsf.h"
#include "record/tract_run.h"
#include "tractogram/pieces.h"
#include "tractogram/tck.h"
#include "util/status.h"

/* bytes before the values; the header is written last */
#define HEADER_BYTES 256

/* State of the writer. */
typedef struct tsf {
    /* the file of track scalars */
    gls_output output;
    /* writes numbers in blocks */
    gls_packer packer;
    char stamp[GLS_TCK_STAMP]; /* timestamp of the TCK file; empty: the timestamp of a TCK file that is written with the
                                  same streamlines */
    /* name of the column, borrowed */
    const char *column;
    uint32_t component; /* which component of the column is written */
    /* streamlines, points, and values that became 0 */
    uint64_t count, points, not_finite, rounded;
} tsf;

/* Function `abort` of the sink. finish() calls it, too, to free the state. */
static void discard(void *user)
{
    tsf *t = user;
    gls_packer_finish(&t->packer);
    gls_output_discard(&t->output);
    free(t);
}

/* Writes the values of each streamline and a NaN after them. */
static gls_status append(void *user, const gls_streamlines *in)
{
    static const uint32_t nan = 0x7fc00000;
    tsf *t = user;
    const gls_column *c = gls_column_find(in->dpv, in->n_dpv, t->column);
    if (!c || c->components <= t->component)
        return gls_fail(GLS_ERR_UNSUPPORTED, "%s: the tractogram has no column %s with a value for each point",
                        t->output.path, t->column);
    gls_status status = GLS_OK;
    for (size_t i = 0; i < in->n && !status; i++) {
        for (uint64_t p = in->offset[i]; p < in->offset[i + 1] && !status; p++) {
            const double exact = gls_column_value(c, p * c->components + t->component);
            float value = (float)exact;
            t->rounded += !gls_type_is_float(c->type) && exact != (double)value;
            t->not_finite += !isfinite(value);
            if (!isfinite(value)) value = 0;
            status = gls_packer_write(&t->packer, &value, sizeof value);
        }
        if (!status) status = gls_packer_write(&t->packer, &nan, sizeof nan);
    }
    t->count += in->n;
    t->points += in->offset[in->n];
    return status;
}

/* Writes the infinity that ends the file, and the header with the final count. */
static gls_status finish(void *user)
{
    static const uint32_t infinity = 0x7f800000;
    tsf *t = user;
    char header[HEADER_BYTES] = {0};
    /* the writer of the TCK file makes the same timestamp from the same counts */
    if (!*t->stamp) gls_tck_stamp(t->count, t->points, t->stamp);
    if (t->not_finite > 0)
        gls_log(GLS_LOG_WARNING, "%s: %" PRIu64 " of %" PRIu64 " values are not finite and are written as 0",
                t->output.path, t->not_finite, t->points);
    if (t->rounded > 0)
        gls_log(GLS_LOG_WARNING,
                "%s: track scalars are stored as float: integers above 16777216 are rounded (TRX keeps them)",
                t->output.path);
    snprintf(header, sizeof header,
             "mrtrix track scalars\ntimestamp: %s\ndatatype: Float32LE\nfile: . %d\ncount: %020llu\nEND\n", t->stamp,
             HEADER_BYTES, (unsigned long long)t->count);
    gls_status status = gls_packer_write(&t->packer, &infinity, sizeof infinity);
    if (!status) status = gls_packer_flush(&t->packer);
    if (!status) status = gls_output_write_at(&t->output, 0, header, sizeof header);
    if (!status) status = gls_output_commit(&t->output);
    discard(t);
    return status;
}

gls_status gls_tract_tsf_create(gls_tract_run *run, const char *path, const char *stamp, const char *column,
                                uint32_t component, gls_sink *sink)
{
    /* zeros in place of the header */
    static const char room[HEADER_BYTES];
    tsf *t = calloc(1, sizeof *t);
    if (!t) return gls_no_memory();
    t->output = GLS_OUTPUT_NONE;
    t->column = column;
    t->component = component;
    snprintf(t->stamp, sizeof t->stamp, "%s", stamp ? stamp : "");
    gls_status status = gls_output_create(path, run->files.force, &t->output);
    t->output.group = &run->files.group;
    if (!status) status = gls_output_write(&t->output, room, sizeof room);
    if (!status) status = gls_packer_init(&t->packer, &t->output);
    if (status)
        discard(t);
    else
        *sink = (gls_sink){append, finish, discard, t};
    return status;
}
